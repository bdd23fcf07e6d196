"""Settings on dry ground: a street, a church and its campo, a palace front."""

from __future__ import annotations

from functools import partial
from random import Random

from handful.lab.postcards.bridges import humpback
from handful.lab.postcards.buildings import palazzo, tracery
from handful.lab.postcards.churches import basilica, campanile, domed, gothic, temple
from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Pen, mix, sheer, smooth
from handful.lab.postcards.props import lantern, washing
from handful.lab.postcards.sky import gradient, sky
from handful.lab.postcards.stage import Room, Stage
from handful.lab.postcards.water import Motif


def street(stage: Stage) -> Room:
    """A calle: high houses, a strip of sky, washing, and something at the far end."""
    width, rng, foot = stage.width, stage.rng, 0.36
    sky(stage.pen, stage.palette, rng, foot)
    middle = width * rng.uniform(0.44, 0.56)
    end = rng.choice((gothic, domed)) if stage.has("church", "cathedral", "dome") else campanile
    stage.put(end, middle, foot - 0.01, 0.42)
    stage.put(partial(palazzo, wide=0.5, tall=0.16), middle - 0.25, foot - 0.02)
    pavement(stage, foot - 0.005)
    if stage.has("bridge", "ponte", "rialto", "canal"):
        stage.pen.rect(middle - 0.25, foot - 0.05, middle + 0.25, foot - 0.005, stage.palette.deep)
        stage.put(humpback, middle, foot - 0.055, 0.44)
    for y, half, tall, scale in ((0.33, 0.16, 0.52, 0.9), (0.25, 0.25, 0.72, 1.3), (0.13, 0.36, 0.98, 1.9)):
        for edge, flip in ((middle - half * width, False), (middle + half * width, True)):
            wide = (edge + 0.1 if not flip else width + 0.1 - edge) / scale
            x = edge - wide * scale if not flip else edge + wide * scale
            stage.put(
                partial(palazzo, wide=wide, tall=tall / scale, fine=stage.has("architecture")), x, y, scale, flip=flip
            )
            shadow = [
                (edge, y),
                (edge + (0.1 if not flip else -0.1), y - 0.12),
                (edge, y - 0.14),
                (x, y - 0.14),
                (x, y),
            ]
            stage.pen.poly(shadow, sheer(stage.palette.ink, 0.2))
    for y in (0.66, 0.8):
        if rng.random() < 0.8:
            washing(
                stage.pen,
                stage.palette,
                rng,
                middle - 0.27 * width,
                middle + 0.27 * width,
                y + rng.uniform(-0.03, 0.03),
            )
    if stage.has("night") or rng.random() < 0.3:
        stage.put(lantern, middle - 0.2 * width, 0.14, 0.46)
    return Room(ground=((middle + 0.03, 0.09, 0.46), (middle + 0.2, 0.05, 0.5), (middle - 0.16, 0.06, 0.5)))


def campo(stage: Stage) -> Room:
    """A church, filling the view, with its little square: a well, a tree."""
    width, rng, foot = stage.width, stage.rng, stage.rng.uniform(0.19, 0.25)
    sky(stage.pen, stage.palette, rng, foot - 0.02)
    pavement(stage, foot)
    for x in (-0.06, width * rng.uniform(0.68, 0.76)):
        stage.put(partial(palazzo, wide=width * 0.36, tall=rng.uniform(0.2, 0.36)), x, foot - 0.005)
    side = rng.choice((-1, 1))
    style = _style_of_church(stage)
    middle = width * (0.5 + side * rng.uniform(0.0, 0.09))
    if style is basilica or (style is domed and stage.has("campanile")):
        stage.put(campanile, width * (0.5 - side * 0.38), foot - 0.005, 0.72)
    stage.put(
        style,
        middle,
        foot - 0.01,
        rng.uniform(0.74, 0.86) if style is basilica else rng.uniform(0.68, 0.75),
        flip=side < 0,
    )
    for x in rng.sample((0.08, 0.93, 0.16), rng.randint(0, 2)):
        stage.put(_tree, width * x, foot - 0.03, rng.uniform(0.36, 0.5))
    if rng.random() < 0.6:
        stage.put(_well, width * (0.5 + side * 0.26), 0.08, 0.15)
    spots = ((0.5 - side * 0.3, 0.05, 0.42), (0.5 + side * 0.32, 0.05, 0.42), (0.5 - side * 0.1, 0.04, 0.42))
    return Room(ground=tuple((width * x, y, scale) for x, y, scale in spots))


def _style_of_church(stage: Stage) -> Motif:
    if stage.has("mosaic"):
        return basilica
    if stage.has("dome"):
        return stage.rng.choice((domed, domed, basilica))
    if stage.has("cathedral"):
        return stage.rng.choice((basilica, domed, gothic))
    if stage.has("campanile"):
        return stage.rng.choice((gothic, temple))
    return stage.rng.choice((domed, gothic, temple))


def _tree(pen: Pen, palette: Palette, rng: Random) -> None:
    """A plane tree, or a cypress."""
    green = palette.lit(rng.choice(((74, 118, 84), (96, 132, 76), (52, 96, 86))))
    pen.rect(-0.025, 0, 0.025, 0.45, palette.lit((104, 78, 62)))
    if rng.random() < 0.4:
        pen.poly(smooth([(-0.09, 0.1), (0.09, 0.1), (0.1, 0.5), (0.0, 1.0), (-0.1, 0.5)]), green)
        return
    for x, y, r in ((-0.16, 0.55, 0.17), (0.17, 0.57, 0.18), (0.0, 0.74, 0.22), (0.02, 0.52, 0.16)):
        pen.disc(x, y, r, green)
    for x, y, r in ((0.2, 0.52, 0.12), (0.08, 0.66, 0.13)):
        pen.disc(x, y, r, sheer(palette.ink, 0.1))


def _well(pen: Pen, palette: Palette, rng: Random) -> None:
    """A stone well-head."""
    pen.rect(-0.6, 0, 0.6, 0.12, palette.shade)
    pen.poly([(-0.36, 0.12), (0.36, 0.12), (0.44, 0.8), (-0.44, 0.8)], palette.stone)
    pen.poly([(0.1, 0.12), (0.36, 0.12), (0.44, 0.8), (0.12, 0.8)], sheer(palette.ink, 0.12))
    pen.rect(-0.5, 0.78, 0.5, 0.9, palette.shade)
    pen.disc(-0.04, 0.45, 0.16, palette.shade)
    pen.ellipse(0, 0.9, 0.44, 0.06, palette.ink)


def facade(stage: Stage) -> Room:
    """A palace from close by: nothing but architecture."""
    width, rng, pen, palette = stage.width, stage.rng, stage.pen, stage.palette
    sky(pen, palette, rng, 0.8)
    wall = palette.wall(rng)
    pen.rect(0, 0.1, width, 0.9, wall)
    for i in range(9):
        for j in range(6):
            x, y = (i + 0.5 * (j % 2)) * width / 8, 0.16 + j * 0.135
            pen.poly([(x, y), (x + 0.04, y + 0.05), (x, y + 0.1), (x - 0.04, y + 0.05)], mix(wall, palette.stone, 0.22))
    stage.put(partial(tracery, wide=width * 0.84, tall=0.34), width * 0.08, 0.5)
    stage.put(partial(tracery, wide=width * 0.84, tall=0.24), width * 0.08, 0.25)
    count = 7
    pen.rect(0, 0.0, width, 0.22, palette.stone)
    for i in range(count):
        x = width * (i + 0.5) / count
        pen.arch(x, 0.0, width / count * 0.74, 0.185, palette.glow if palette.light == "night" else palette.dark)
        pen.rect(x - width / count * 0.5 - 0.014, 0.0, x - width / count * 0.5 + 0.014, 0.12, palette.shade)
    pen.rect(0, 0.205, width, 0.23, palette.shade)
    for i in range(24):
        x = width * i / 23
        pen.poly([(x - 0.018, 0.9), (x + 0.018, 0.9), (x, 0.955)], palette.stone)
    pen.rect(0, 0.88, width, 0.905, palette.stone)
    pen.poly([(width * 0.55, 0), (width, 0), (width, 0.9), (width * 0.85, 0.9)], sheer(palette.ink, 0.12))
    return Room(ground=((width * 0.3, 0.03, 0.36), (width * 0.7, 0.03, 0.36), (width * 0.5, 0.03, 0.36)))


def pavement(stage: Stage, top: float) -> None:
    """Paving that runs to a point at the back."""
    pen, palette, width = stage.pen, stage.palette, stage.width
    ground = palette.lit((196, 176, 156))
    gradient(pen, 0.0, top, mix(ground, palette.ink, 0.18), mix(ground, palette.stone, 0.3))
    for i in range(-8, 9):
        x = width / 2 + i * width * 0.085
        pen.line([(x, top), (width / 2 + i * width * 0.26, 0)], sheer(palette.stone, 0.55), 0.005)
    for share in (0.12, 0.3, 0.56):
        pen.line(
            [(0, top * (1 - share)), (width, top * (1 - share))], sheer(palette.stone, 0.55), 0.003 + 0.006 * share
        )
