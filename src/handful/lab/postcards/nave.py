"""The inside of a church."""

from __future__ import annotations

from functools import partial
from random import Random

from handful.lab.postcards.churches import mosaic
from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Colour, Pen, Point, arc, curve, mix, sheer
from handful.lab.postcards.props import altarpiece, framed
from handful.lab.postcards.sky import gradient
from handful.lab.postcards.stage import Room, Stage


def nave(stage: Stage) -> Room:
    """Inside a church: arch behind arch, light falling in, a mosaic or an altarpiece at the end."""
    width, rng, pen, palette = stage.width, stage.rng, stage.pen, stage.palette
    warm = palette.lit(rng.choice(((176, 122, 70), (150, 70, 62), (86, 108, 120), (196, 160, 118), (92, 112, 88))), 0.6)
    middle = width * rng.uniform(0.4, 0.6)
    gradient(pen, 0.0, 1.0, mix(warm, palette.ink, 0.3), mix(warm, palette.ink, 0.6))
    pen.poly([(-0.5, 0), (width + 0.5, 0), (middle + 0.19, 0.26), (middle - 0.19, 0.26)], mix(palette.shade, warm, 0.4))
    for i in range(-8, 9):
        pen.line([(middle + i * 0.026, 0.26), (middle + i * 0.2, 0)], sheer(palette.ink, 0.28), 0.004)
    for y in (0.06, 0.13, 0.19, 0.23):
        pen.line([(0, y), (width, y)], sheer(palette.ink, 0.2), 0.003)
    _sanctuary(stage, middle, warm)
    pointed, grow = rng.random() < 0.4, rng.uniform(1.28, 1.5)
    for depth in range(4):
        half, foot = 0.2 * grow**depth, 0.24 - 0.08 * depth
        _arch(
            stage,
            middle,
            half,
            0.74 + 0.1 * depth,
            foot,
            mix(mix(warm, palette.stone, 0.3), palette.ink, 0.13 * depth),
            pointed,
        )
    side = rng.choice((-1, 1))
    for shift, opacity in ((0.0, 0.16), (0.2, 0.11)):
        beam = [(-0.6, 1.0), (-0.42, 1.0), (0.2, 0.04), (-0.1, 0.04)]
        pen.poly([(middle + side * (x + shift), y) for x, y in beam], sheer((255, 240, 196), opacity))
    if rng.random() < 0.6:
        _lamp(pen.at(middle - side * 0.13, 0.66), palette)
    return Room(ground=tuple((middle + side * x, 0.04, 0.44) for x in (0.24, -0.26, 0.08)))


def _lamp(pen: Pen, palette: Palette) -> None:
    """A sanctuary lamp on its chain."""
    pen.line([(0, 0.4), (0, 0.06)], palette.ink, 0.004)
    for r, opacity in ((0.1, 0.12), (0.06, 0.2)):
        pen.disc(0, 0, r, sheer(palette.glow, opacity))
    pen.poly([(-0.03, 0.05), (0.03, 0.05), (0.02, -0.02), (0, -0.05), (-0.02, -0.02)], palette.gold)
    pen.disc(0, 0.02, 0.012, palette.red)


def _sanctuary(stage: Stage, middle: float, warm: Colour) -> None:
    pen, palette = stage.pen, stage.palette
    pen.rect(middle - 0.2, 0.26, middle + 0.2, 0.9, mix(warm, palette.gold, 0.45))
    if stage.has("art", "painting"):
        framed(pen.at(middle, 0.46), palette, 0.15, 0.19, partial(altarpiece, rng=Random(stage.rng.random())))
        stage.put(mosaic, middle, 0.585, 0.27)
    else:
        pen.rect(middle - 0.13, 0.26, middle + 0.13, 0.53, mix(warm, palette.ink, 0.35))
        for x in (-0.1, 0.0, 0.1):
            pen.arch(middle + x, 0.36, 0.06, 0.15, palette.glow)
        stage.put(mosaic, middle, 0.54, 0.34)
    pen.rect(middle - 0.11, 0.26, middle + 0.11, 0.315, palette.stone)
    for x in (-0.08, -0.04, 0.04, 0.08):
        pen.rect(middle + x - 0.005, 0.315, middle + x + 0.005, 0.36, palette.stone)
        pen.ellipse(middle + x, 0.372, 0.006, 0.013, palette.glow)


def _arch(stage: Stage, middle: float, half: float, top: float, foot: float, stone: Colour, pointed: bool) -> None:
    """A wall with a great opening, columns at its sides and gold along its edge."""
    pen, palette = stage.pen, stage.palette
    rise = half * (1.15 if pointed else 0.85)
    spring = top - rise

    def edge(grown: float) -> list[Point]:
        if not pointed:
            return arc(middle, spring, half * grown, rise * grown, 0, 180)
        right = curve((half * grown, 0), (half * grown, rise * 0.5), (half * 0.5, rise * 0.8), (0, rise * grown))
        return [(middle + x, spring + y) for x, y in [*right, *((-x, y) for x, y in reversed(right))]]

    outside = [(-0.6, foot), (-0.6, 1.4), (stage.width + 0.6, 1.4), (stage.width + 0.6, foot)]
    pen.poly([(middle + half, foot), *edge(1.0), (middle - half, foot), *outside], stone)
    pen.poly([*edge(1.0), *reversed(edge(1.13))], palette.gold)
    for x, y in edge(1.065)[1:-1:2]:
        pen.disc(x, y, half * 0.022, mix(palette.gold, palette.ink, 0.35))
    for side in (-1, 1):
        x = middle + side * (half + 0.02)
        pen.rect(x - 0.025, foot, x + 0.025, spring, palette.lit((188, 128, 110), 0.7))
        pen.rect(x - 0.038, spring - 0.03, x + 0.038, spring + 0.005, palette.gold)
        pen.rect(x - 0.036, foot, x + 0.036, foot + 0.03, palette.stone)
