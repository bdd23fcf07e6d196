"""Bridges: the humpback over every canal, the Rialto, the Bridge of Sighs. One unit wide, middle at the origin."""

from __future__ import annotations

from random import Random

from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Pen, Point, arc, mix, sheer


def humpback(pen: Pen, palette: Palette, rng: Random) -> None:
    """A stone arch with a parapet; sometimes of brick, sometimes with iron railings."""
    body = palette.stone if rng.random() < 0.5 else palette.brick
    rim = palette.stone if body == palette.brick else palette.shade
    top = _hump(0.30, 0.13)
    pen.poly([(-0.5, 0), *top, (0.5, 0), *arc(0, 0, 0.33, 0.22, 0, 180)], body)
    pen.poly([*arc(0, 0, 0.37, 0.255, 0, 180), *arc(0, 0, 0.33, 0.22, 180, 0)], rim)
    pen.poly([*arc(0, 0, 0.33, 0.22, 0, 180), *arc(0.018, 0, 0.312, 0.2, 180, 0)], mix(body, palette.ink, 0.45))
    if rng.random() < 0.5:
        pen.poly([*top, *((x, y + 0.055) for x, y in reversed(top))], body)
    else:
        pen.line([(x, y + 0.06) for x, y in top], palette.ink, 0.008)
        for x, y in top[::2]:
            pen.line([(x, y), (x, y + 0.06)], palette.ink, 0.005)
    pen.line(top, rim, 0.014)
    if rng.random() < 0.6:
        for _ in range(rng.randint(1, 3)):
            x, y = rng.choice(top[4:-4])
            _passer_by(pen.at(x, y, 0.13), palette, rng)


def rialto(pen: Pen, palette: Palette, rng: Random) -> None:
    """One great arch, two flights of shops under a sloping roof, a portico in the middle."""
    pen.poly(
        [
            (-0.5, 0),
            (-0.5, 0.07),
            (-0.1, 0.235),
            (0.1, 0.235),
            (0.5, 0.07),
            (0.5, 0),
            *arc(0, -0.02, 0.3, 0.19, 0, 180),
        ],
        palette.stone,
    )
    pen.poly([*arc(0, -0.02, 0.33, 0.215, 4, 176), *arc(0, -0.02, 0.3, 0.19, 176, 4)], palette.shade)
    pen.poly(
        [*arc(0, -0.02, 0.3, 0.19, 4, 176), *arc(0.015, -0.02, 0.285, 0.175, 176, 4)],
        mix(palette.shade, palette.ink, 0.45),
    )
    for side in (-1, 1):
        here = pen.at(0, 0, flip=side < 0)
        here.poly([(0.085, 0.22), (0.47, 0.065), (0.47, 0.135), (0.085, 0.335)], palette.stone)
        for i in range(6):
            x = 0.125 + i * 0.058
            y = 0.22 - (x - 0.085) * 0.4
            lamp = palette.glow if palette.light == "night" else palette.dark
            here.arch(x, y + 0.012, 0.036, 0.074 - i * 0.004, lamp)
        here.poly([(0.08, 0.335), (0.485, 0.13), (0.485, 0.145), (0.08, 0.362)], palette.roof)
        here.poly([(0.06, 0.228), (0.5, 0.05), (0.5, 0.075), (0.06, 0.252)], palette.shade)
        here.poly([(0.36, 0), (0.5, 0), (0.5, 0.05), (0.36, 0.105)], sheer(palette.ink, 0.06))
        here.disc(0.38, 0.05, 0.02, palette.shade)
    pen.rect(-0.085, 0.225, 0.085, 0.37, palette.stone)
    pen.arch(0, 0.245, 0.085, 0.115, mix(palette.sky, palette.horizon, 0.5))
    pen.poly([(-0.1, 0.37), (0.1, 0.37), (0, 0.425)], palette.stone)
    pen.poly([(-0.075, 0.377), (0.075, 0.377), (0, 0.413)], palette.shade)
    pen.rect(-0.1, 0.362, 0.1, 0.374, palette.shade)


def sighs(pen: Pen, palette: Palette, rng: Random) -> None:
    """A closed white bridge high between two walls."""
    pen.poly([(-0.5, 0.12), (0.5, 0.12), (0.5, 0.44), *arc(0, 0.44, 0.5, 0.12, 0, 180), (-0.5, 0.44)], palette.stone)
    pen.poly([(-0.5, -0.02), (-0.5, 0.2), (0.5, 0.2), (0.5, -0.02), *arc(0, -0.02, 0.45, 0.17, 0, 180)], palette.stone)
    pen.poly([*arc(0, -0.02, 0.5, 0.215, 10, 170), *arc(0, -0.02, 0.45, 0.17, 170, 10)], palette.shade)
    for x in (-0.19, 0.19):
        pen.rect(x - 0.1, 0.25, x + 0.1, 0.41, palette.shade)
        pen.rect(x - 0.08, 0.265, x + 0.08, 0.395, palette.glow if palette.light == "night" else palette.dark)
        for i in range(5):
            pen.line([(x - 0.064 + i * 0.032, 0.265), (x - 0.064 + i * 0.032, 0.395)], palette.stone, 0.008)
        for i in range(3):
            pen.line([(x - 0.08, 0.297 + i * 0.032), (x + 0.08, 0.297 + i * 0.032)], palette.stone, 0.008)
    for x in (-0.36, 0.0, 0.36):
        pen.rect(x - 0.022, 0.22, x + 0.022, 0.44, palette.shade)
    for y in (0.21, 0.44):
        pen.rect(-0.5, y, 0.5, y + 0.022, palette.shade)
    for x in (-0.3, -0.15, 0.15, 0.3):
        pen.disc(x, 0.49, 0.025, palette.shade)
    pen.disc(0, 0.505, 0.032, palette.shade)


def _hump(height: float, ends: float) -> list[Point]:
    return [(-0.5 + i / 20, ends + (height - ends) * (1 - (i / 10 - 1) ** 2)) for i in range(21)]


def _passer_by(pen: Pen, palette: Palette, rng: Random) -> None:
    coat = palette.cloth(rng)
    pen.poly([(-0.16, 0), (0.16, 0), (0.11, 0.75), (-0.11, 0.75)], coat)
    pen.disc(0, 0.88, 0.12, palette.ink if rng.random() < 0.5 else palette.skin)
