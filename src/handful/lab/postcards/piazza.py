"""The square of San Marco, from one side or another."""

from __future__ import annotations

from functools import partial
from random import Random

from handful.lab.postcards.ashore import pavement
from handful.lab.postcards.bridges import humpback
from handful.lab.postcards.buildings import arcade
from handful.lab.postcards.churches import basilica, campanile
from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Pen, arc, curve, mix, sheer
from handful.lab.postcards.props import lantern, lion_column, winged_lion
from handful.lab.postcards.sky import sky, skyline
from handful.lab.postcards.stage import Room, Stage
from handful.lab.postcards.water import flood
from handful.lab.postcards.waterside import QUAY, a_church, quay


def piazza(stage: Stage) -> Room:
    """San Marco: basilica, tower, clock and arcades from one side or another; by the water, the two columns."""
    if stage.has("water", "gondola", "boat", "canal", "grandcanal", "bridge", "ponte"):
        return _molo(stage)
    width, rng = stage.width, stage.rng
    foot = rng.uniform(0.26, 0.33)
    sky(stage.pen, stage.palette, rng, foot - 0.02)
    pavement(stage, foot)
    side = rng.choice((-1, 1))
    for x in (-0.02, width * 0.42):
        stage.put(partial(arcade, wide=width * 0.6, tall=0.24), x, foot - 0.005)
    views = [_before_the_basilica, _below_the_tower]
    if not stage.has("church", "cathedral", "campanile"):
        views.append(_before_the_clock)
    rng.choice(views)(stage, foot, side)
    if stage.has("lion"):
        stage.put(lion_column, width * (0.5 + side * 0.4), 0.14, 0.74)
    if stage.has("night"):
        for x in (0.08, 0.93):
            stage.put(lantern, width * x, foot - 0.07, 0.34)
    spots = ((0.5 - side * 0.17, 0.06, 0.5), (0.5 + side * 0.16, 0.08, 0.46), (0.5 + side * 0.3, 0.05, 0.48))
    return Room(ground=tuple((width * x, y, scale) for x, y, scale in spots))


def _before_the_basilica(stage: Stage, foot: float, side: int) -> None:
    rng, width = stage.rng, stage.width
    middle = width * (0.5 + side * rng.uniform(0.0, 0.1))
    stage.put(basilica, middle, foot - 0.01, rng.uniform(0.54, 0.68))
    for dx in (-0.24, 0.0, 0.24):
        stage.put(_flag, middle + dx, foot - 0.05, 0.44)
    stage.put(campanile, width * (0.5 - side * 0.39), foot - 0.03, rng.uniform(0.64, 0.69))


def _below_the_tower(stage: Stage, foot: float, side: int) -> None:
    width, rng = stage.width, stage.rng
    stage.put(basilica, width * (0.5 + side * 0.36), foot - 0.02, rng.uniform(0.64, 0.74))
    stage.put(campanile, width * (0.5 - side * rng.uniform(0.12, 0.2)), foot - 0.06, 0.8)


def _before_the_clock(stage: Stage, foot: float, side: int) -> None:
    width, rng = stage.width, stage.rng
    stage.put(_clock_tower, width * (0.5 + side * rng.uniform(0.0, 0.12)), foot - 0.01, rng.uniform(0.56, 0.62))
    stage.put(basilica, width * (0.5 + side * 0.52), foot - 0.03, 0.7)


def _flag(pen: Pen, palette: Palette, rng: Random) -> None:
    """One of the three poles before the basilica."""
    pen.rect(-0.03, 0, 0.03, 0.07, palette.shade)
    pen.line([(0, 0.05), (0, 0.97)], palette.ink, 0.012)
    pen.disc(0, 0.98, 0.016, palette.gold)
    top = curve((0, 0.95), (0.08, 1.0), (0.12, 0.88), (0.22, 0.93))
    pen.poly([*top, *((x, y - 0.15) for x, y in reversed(top))], palette.red)
    pen.disc(0.09, 0.865, 0.035, palette.gold)


def _clock_tower(pen: Pen, palette: Palette, rng: Random) -> None:
    """The clock with the zodiac, the lion on blue stars, the bell above."""
    blue = palette.lit((36, 74, 138), 0.5)
    pen.rect(-0.36, 0, 0.36, 0.5, palette.stone)
    for x in (-0.27, 0.27):
        for y in (0.1, 0.3):
            pen.arch(x, y, 0.09, 0.13, palette.dark)
    pen.rect(-0.17, 0, 0.17, 0.9, palette.stone)
    pen.rect(0.1, 0, 0.17, 0.9, sheer(palette.ink, 0.08))
    pen.arch(0, 0, 0.16, 0.26, palette.dark)
    pen.disc(0, 0.43, 0.145, palette.gold)
    pen.disc(0, 0.43, 0.122, blue)
    pen.disc(0, 0.43, 0.07, mix(blue, palette.ink, 0.3))
    for angle in range(0, 360, 30):
        pen.disc(*arc(0, 0.43, 0.098, 0.098, angle, angle + 1)[0], 0.01, palette.gold)
    pen.line([(0, 0.43), (0.06, 0.48)], palette.gold, 0.014)
    pen.line([(0, 0.43), (-0.02, 0.52)], palette.gold, 0.01)
    pen.arch(0, 0.6, 0.07, 0.09, palette.gold)
    pen.rect(-0.13, 0.72, 0.13, 0.86, blue)
    for _ in range(12):
        pen.disc(rng.uniform(-0.12, 0.12), rng.uniform(0.73, 0.85), 0.005, palette.gold)
    winged_lion(pen.at(0, 0.73, 0.12), palette.gold)
    for y in (0.27, 0.58, 0.7, 0.88):
        pen.rect(-0.185, y, 0.185, y + 0.018, palette.shade)
    pen.dome(0, 0.9, 0.045, 0.075, mix(palette.gold, palette.ink, 0.35))
    for x in (-0.09, 0.09):
        pen.poly([(x - 0.022, 0.9), (x + 0.022, 0.9), (x + 0.012, 0.99), (x - 0.012, 0.99)], palette.ink)
        pen.disc(x, 1.005, 0.016, palette.ink)


def _molo(stage: Stage) -> Room:
    width, rng, horizon = stage.width, stage.rng, 0.36
    sky(stage.pen, stage.palette, rng, horizon)
    skyline(stage.pen, stage.palette, rng, horizon)
    side = rng.choice((-1, 1))
    standing = [stage.stand(a_church(stage), width * (0.5 + side * 0.05), horizon - 0.01, 0.34)]
    if stage.has("bridge", "ponte"):
        standing.append(stage.stand(humpback, width * (0.5 - side * 0.22), horizon - 0.08, 0.44))
    flood(stage.pen, stage.palette, rng, horizon, standing)
    quay(stage)
    stage.put(lion_column, width * (0.5 - side * 0.33), QUAY - 0.03, 0.8)
    stage.put(lion_column, width * (0.5 + side * 0.36), QUAY - 0.03, 0.8, flip=True)
    water = ((width * 0.5, QUAY + 0.075, 0.4), (width * (0.5 + side * 0.15), 0.275, 0.22), (width * 0.3, 0.24, 0.26))
    return Room(water, tuple((width * x, 0.045, 0.4) for x in (0.5 - side * 0.12, 0.5 + side * 0.18, 0.5)))
