"""Palaces and houses, as flat as stage scenery."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Colour, Pen, mix, sheer

Window = Callable[[float, float, float, float, Colour], None]


def palazzo(pen: Pen, palette: Palette, rng: Random, *, wide: float, tall: float, fine: bool = False) -> None:
    """A house `wide` and `tall`, its left foot at the origin; a `fine` one has Gothic tracery."""
    wall = palette.wall(rng)
    floors = max(2, round(tall / rng.uniform(0.15, 0.19)))
    storey = tall / floors
    columns = max(2, round(wide / (storey * rng.uniform(0.55, 0.8))))
    pen.rect(0, 0, wide, tall, wall)
    pen.rect(wide * 0.9, 0, wide, tall, sheer(palette.ink, 0.10))
    _patches(pen, palette, rng, wide, tall, wall)
    for floor in range(floors):
        bottom = floor * storey
        if floor == 0:
            _ground_floor(pen, palette, rng, wide, storey)
        elif fine and floor == 1:
            tracery(pen.at(wide * 0.1, bottom), palette, rng, wide=wide * 0.8, tall=storey * 0.95)
        else:
            _row(pen, palette, rng, wide, bottom, storey, columns, balcony=rng.random() < 0.3)
    _roof(pen, palette, rng, wide, tall)


def tracery(pen: Pen, palette: Palette, rng: Random, *, wide: float, tall: float) -> None:
    """A row of ogee arches with quatrefoils above and a balustrade below: Venice's own Gothic."""
    count = max(3, round(wide / (tall * 0.42)))
    step = wide / count
    pen.rect(0, 0, wide, tall, palette.stone)
    for i in range(count):
        x = (i + 0.5) * step
        pen.ogee(x, tall * 0.16, step * 0.72, tall * 0.56, _pane(palette, rng, 0.5))
        pen.line([(x, tall * 0.16), (x, tall * 0.6)], palette.shade, step * 0.05)
    for i in range(count - 1):
        x, y, r = (i + 1) * step, tall * 0.8, step * 0.15
        for dx, dy in ((r, 0), (-r, 0), (0, r), (0, -r)):
            pen.disc(x + dx * 0.72, y + dy * 0.72, r * 0.7, _pane(palette, rng, 0.2))
    pen.rect(-step * 0.1, 0, wide + step * 0.1, tall * 0.15, palette.stone)
    for i in range(count * 3):
        x = (i + 0.5) * step / 3
        pen.rect(x - step * 0.05, tall * 0.02, x + step * 0.05, tall * 0.11, palette.shade)
    pen.rect(-step * 0.12, tall * 0.12, wide + step * 0.12, tall * 0.16, palette.shade)
    pen.rect(-step * 0.12, tall * 0.94, wide + step * 0.12, tall, palette.shade)


def arcade(pen: Pen, palette: Palette, rng: Random, *, wide: float, tall: float) -> None:
    """The long galleries around the square: a row of arches, two rows of windows, a crest."""
    step = tall * 0.27
    count = max(2, round(wide / step))
    step = wide / count
    pen.rect(0, 0, wide, tall, palette.stone)
    for i in range(count):
        x = (i + 0.5) * step
        pen.arch(x, 0, step * 0.72, tall * 0.4, mix(palette.dark, palette.stone, 0.15))
        for bottom in (0.5, 0.75):
            pen.arch(x, tall * bottom, step * 0.42, tall * 0.17, _pane(palette, rng, 0.4))
        pen.poly([(x - step * 0.2, tall), (x + step * 0.2, tall), (x, tall * 1.06)], palette.shade)
    for line in (0.44, 0.69, 0.96):
        pen.rect(0, tall * line, wide, tall * (line + 0.03), palette.shade)


def _pane(palette: Palette, rng: Random, chance: float) -> Colour:
    """A window: dark by day, by night perhaps with somebody at home."""
    at_home = rng.random() < chance
    if palette.light == "night":
        return palette.glow if at_home else mix(palette.ink, palette.tint, 0.4)
    if palette.light == "sunset" and at_home and chance > 0.3:
        return mix(palette.glow, palette.horizon, 0.3)
    return palette.dark


def _row(
    pen: Pen, palette: Palette, rng: Random, wide: float, bottom: float, storey: float, columns: int, *, balcony: bool
) -> None:
    step = wide / columns
    style = rng.choice(("arch", "ogee", "plain", "shutters"))
    shutters = palette.lit(rng.choice(((62, 110, 92), (48, 92, 112), (120, 66, 54))))
    broad, high = min(step * 0.42, storey * 0.36), storey * 0.58
    for i in range(columns):
        x, y = (i + 0.5) * step, bottom + storey * 0.2
        frame: Window = pen.ogee if style == "ogee" else pen.arch
        if style in ("arch", "ogee"):
            frame(x, y - storey * 0.03, broad * 1.4, high * 1.14, palette.stone)
            frame(x, y, broad, high, _pane(palette, rng, 0.45))
        else:
            pen.rect(x - broad * 0.68, y - storey * 0.03, x + broad * 0.68, y + high * 1.05, palette.stone)
            pen.rect(x - broad / 2, y, x + broad / 2, y + high, _pane(palette, rng, 0.45))
            if style == "shutters":
                for side in (-1, 1):
                    pen.rect(x + side * broad * 0.5, y, x + side * broad * 0.98, y + high, shutters)
        if rng.random() < 0.16:
            _flowers(pen.at(x, y, broad), palette, rng)
    if balcony:
        pen.rect(step * 0.2, bottom + storey * 0.1, wide - step * 0.2, bottom + storey * 0.24, palette.stone)
        for i in range(columns * 4):
            x = step * 0.25 + i * (wide - step * 0.5) / (columns * 4)
            pen.rect(x, bottom + storey * 0.12, x + step * 0.05, bottom + storey * 0.21, palette.shade)


def _flowers(pen: Pen, palette: Palette, rng: Random) -> None:
    pen.rect(-0.7, -0.25, 0.7, 0.0, palette.roof)
    for i in range(7):
        colour = palette.red if rng.random() < 0.5 else palette.lit((70, 120, 70))
        pen.disc(-0.6 + i * 0.2, 0.06, 0.17, colour)


def _ground_floor(pen: Pen, palette: Palette, rng: Random, wide: float, storey: float) -> None:
    pen.rect(0, 0, wide, storey * 0.16, mix(palette.shade, palette.deep, 0.35))
    door = rng.uniform(0.3, 0.7) * wide
    broad = min(storey * 0.5, wide * 0.3)
    pen.arch(door, 0, broad * 1.35, storey * 0.88, palette.stone)
    pen.arch(door, 0, broad, storey * 0.76, _pane(palette, rng, 0.6))
    for x in (door - broad * 1.7, door + broad * 1.7):
        if broad * 0.4 < x < wide - broad * 0.4:
            pen.rect(x - broad * 0.28, storey * 0.34, x + broad * 0.28, storey * 0.74, palette.stone)
            pen.rect(x - broad * 0.19, storey * 0.38, x + broad * 0.19, storey * 0.7, _pane(palette, rng, 0.4))
    pen.rect(0, storey * 0.95, wide, storey, palette.shade)


def _patches(pen: Pen, palette: Palette, rng: Random, wide: float, tall: float, wall: Colour) -> None:
    """Where the plaster has come off, near the water."""
    for _ in range(3):
        x, y = rng.uniform(0, wide * 0.9), rng.uniform(0, tall * 0.4)
        pen.rect(x, y, x + wide * rng.uniform(0.05, 0.14), y + tall * 0.03, mix(wall, palette.brick, 0.45))


def _roof(pen: Pen, palette: Palette, rng: Random, wide: float, tall: float) -> None:
    eaves = wide * 0.03
    pen.rect(-eaves, tall - 0.012, wide + eaves, tall + 0.008, palette.stone)
    pen.poly(
        [(-eaves, tall + 0.008), (wide + eaves, tall + 0.008), (wide * 0.9, tall + 0.045), (wide * 0.1, tall + 0.045)],
        palette.roof,
    )
    for _ in range(rng.randint(0, 2)):
        x, y = wide * rng.uniform(0.2, 0.8), tall + 0.04
        pen.rect(x - 0.008, y, x + 0.008, y + 0.035, palette.brick)
        pen.poly(
            [(x - 0.008, y + 0.03), (x + 0.008, y + 0.03), (x + 0.02, y + 0.06), (x - 0.02, y + 0.06)], palette.roof
        )
