"""Settings close at hand: a picture gallery, a window sill on Murano, a masked face."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from handful.lab.postcards.masks import beaked, bunting, confetti, feathers, lady, neck, volto
from handful.lab.postcards.palette import CLOTHES, Palette
from handful.lab.postcards.pen import Pen, arc, both_sides, curve, mix, sheer, smooth
from handful.lab.postcards.props import Paint, framed, glassware, hang
from handful.lab.postcards.sky import gradient
from handful.lab.postcards.stage import Room, Stage

Backdrop = Callable[[Stage], Room]


def gallery(stage: Stage, paint: Paint) -> Room:
    """A great picture in a golden frame on a damask wall, smaller ones beside it."""
    width, rng, pen, palette = stage.width, stage.rng, stage.pen, stage.palette
    wall = palette.lit(rng.choice(((128, 40, 46), (34, 84, 84), (52, 62, 104), (110, 78, 50))), 0.5)
    gradient(pen, 0.16, 1.0, wall, mix(wall, palette.ink, 0.25))
    for i in range(12):
        for j in range(9):
            x, y = (i + 0.5 * (j % 2)) * width / 11, 0.2 + j * 0.1
            pen.poly(
                smooth([(x, y - 0.035), (x + 0.02, y), (x, y + 0.035), (x - 0.02, y)], 3), sheer(palette.ink, 0.09)
            )
    floor = palette.lit((150, 104, 70))
    gradient(pen, 0.0, 0.16, mix(floor, palette.ink, 0.3), floor)
    for i in range(-8, 9):
        pen.line([(width / 2 + i * 0.11, 0.16), (width / 2 + i * 0.24, 0)], sheer(palette.ink, 0.25), 0.004)
    pen.rect(0, 0.155, width, 0.185, mix(wall, palette.ink, 0.5))
    pen.poly(
        [(width * 0.5 - 0.1, 1.0), (width * 0.5 + 0.1, 1.0), (width * 0.5 + 0.45, 0.2), (width * 0.5 - 0.45, 0.2)],
        sheer((255, 240, 200), 0.10),
    )
    big = rng.uniform(0.46, 0.54)
    middle = width * rng.choice((0.42, 0.5, 0.58))
    framed(pen.at(middle, 0.6), palette, big * 1.3, big, paint)
    for x in (middle - 0.62, middle + 0.62):
        if 0.1 < x < width - 0.1:
            framed(
                pen.at(x, 0.62),
                palette,
                0.16,
                0.21,
                lambda picture: _small_portrait(Stage.on(picture, (), Random(rng.random()))),
            )
    return Room(
        ground=((middle + rng.choice((-0.3, 0.3)), 0.05, 0.46), (middle - 0.5, 0.05, 0.42), (middle + 0.5, 0.05, 0.42))
    )


def showroom(stage: Stage, paint: Paint) -> Room:
    """The gallery again, with glass on plinths: Murano's art."""
    room = gallery(stage, paint)
    for x in (0.14, 0.86):
        here = stage.pen.at(stage.width * x, 0.0)
        here.rect(-0.1, 0.0, 0.1, 0.3, stage.palette.stone)
        here.rect(0.04, 0.0, 0.1, 0.3, sheer(stage.palette.ink, 0.15))
        here.rect(-0.12, 0.28, 0.12, 0.31, stage.palette.stone)
        here.rect(-0.12, 0.275, 0.12, 0.282, stage.palette.shade)
        stage.put(glassware, stage.width * x, 0.31, stage.rng.uniform(0.3, 0.4))
    return room


def window_sill(stage: Stage, paint: Paint) -> Room:
    """Glass from Murano in a window, and the lagoon outside."""
    width, rng, pen, palette = stage.width, stage.rng, stage.pen, stage.palette
    wall = palette.lit(rng.choice(((226, 190, 150), (120, 150, 150), (180, 96, 76), (236, 218, 190))), 0.8)
    pen.rect(0, 0, width, 1, wall)
    middle = width / 2
    hang(pen.at(middle, 0.62), width * 0.72, 0.66, paint)
    for x in (middle - width * 0.36, middle, middle + width * 0.36):
        pen.rect(x - 0.018, 0.27, x + 0.018, 0.97, palette.stone)
    for y in (0.94, 0.66):
        pen.rect(middle - width * 0.36, y - 0.012, middle + width * 0.36, y + 0.012, palette.stone)
    pen.rect(middle - width * 0.38, 0.94, middle + width * 0.38, 0.98, palette.stone)
    curtain = sheer(palette.cloth(rng), 0.92)
    for flip in (False, True):
        here = pen.at(width if flip else 0, 0, flip=flip)
        here.poly(
            [(0, 1.0), (0.3, 1.0), *curve((0.3, 1.0), (0.3, 0.7), (0.1, 0.6), (0.09, 0.5)), (0.14, 0.2), (0, 0.2)],
            curtain,
        )
        here.poly([(0, 1.0), (0.1, 1.0), (0.05, 0.5), (0.06, 0.2), (0, 0.2)], sheer(palette.ink, 0.12))
        here.rect(0.0, 0.485, 0.105, 0.515, palette.gold)
    pen.rect(0, 0.0, width, 0.27, mix(palette.lit((150, 98, 62)), palette.ink, 0.1))
    pen.rect(0, 0.235, width, 0.27, palette.lit((190, 136, 90)))
    pen.rect(0, 0.222, width, 0.235, sheer(palette.ink, 0.3))
    count = rng.randint(4, 5)
    for i in range(count):
        x = width * (0.14 + 0.72 * (i + 0.5) / count) + rng.uniform(-0.02, 0.02)
        stage.put(glassware, x, rng.uniform(0.13, 0.2), rng.uniform(0.3, 0.5))
    return Room(ground=((width * 0.16, 0.03, 0.5), (width * 0.84, 0.03, 0.5), (width * 0.5, 0.02, 0.4)))


def portrait(stage: Stage, backdrop: Backdrop | None) -> Room:
    """A masked face, near enough to be greeted, before rays or before a place gone dim."""
    width, rng, pen, palette = stage.width, stage.rng, stage.pen, stage.palette
    middle = width * rng.uniform(0.4, 0.6)
    if backdrop is None:
        _rays(stage, middle)
    else:
        backdrop(stage)
        dim = 0.42 if palette.light == "day" else 0.2
        pen.rect(0, 0, width, 1, sheer(mix(palette.deep, palette.ink, 0.3), dim))
        bunting(pen, palette, rng, 0, width, rng.uniform(0.93, 0.99))
    confetti(pen, palette, rng, 70)
    wear = rng.choice((_ruff, _cloak))
    if stage.has("girl"):
        neck(pen.at(middle, 0.3, 0.5), palette, rng)
    wear(pen.at(middle, 0.0), palette, rng)
    if stage.has("girl"):
        feathers(
            pen.at(middle, 0.72), (palette.cloth(rng), palette.gold, palette.cloth(rng)), spread=62, count=9, long=0.3
        )
        lady(pen.at(middle, 0.3, 0.5), palette, rng)
    elif stage.has("carnival", "costume"):
        rng.choice((volto, volto, beaked))(pen.at(middle, 0.3, 0.46), palette, rng)
    else:
        rng.choice((volto, beaked))(pen.at(middle, 0.28, 0.48), palette, rng)
    return Room(ground=((width * 0.12, 0.0, 0.5), (width * 0.88, 0.0, 0.5), (width * 0.5, 0.0, 0.4)))


def _rays(stage: Stage, middle: float) -> None:
    """A sunburst of two inks, as printers of posters love it."""
    pen, palette, rng = stage.pen, stage.palette, stage.rng
    first = palette.lit(rng.choice(CLOTHES), 0.7)
    second = mix(first, palette.stone if rng.random() < 0.5 else palette.gold, 0.3)
    pen.rect(0, 0, stage.width, 1, first)
    for i in range(0, 36, 2):
        edge = arc(middle, 0.5, 1.6, 1.6, i * 10, i * 10 + 10)
        pen.poly([(middle, 0.5), *edge], second)
    pen.disc(middle, 0.56, 0.42, mix(second, palette.stone, 0.35))


def _ruff(pen: Pen, palette: Palette, rng: Random) -> None:
    """A pleated collar over a striped costume."""
    coat = palette.cloth(rng)
    pen.poly(
        smooth(both_sides([(0.0, -0.2), (0.6, -0.2), (0.5, 0.1), (0.24, 0.24), (0.0, 0.28)])),
        mix(coat, palette.ink, 0.15),
    )
    for x in (-0.3, -0.12, 0.06, 0.24):
        pen.poly([(x, -0.1), (x + 0.07, -0.1), (x * 0.55 + 0.04, 0.26), (x * 0.55, 0.26)], palette.gold)
    for i in range(11):
        angle = 200 + i * 14
        for r, colour in ((0.085, palette.shade), (0.07, palette.stone)):
            x, y = arc(0, 0.33, 0.27, 0.14, angle, angle + 1)[0]
            pen.disc(x, y, r, colour)
    pen.ellipse(0, 0.31, 0.2, 0.08, palette.shade)


def _cloak(pen: Pen, palette: Palette, rng: Random) -> None:
    """A dark cloak with a golden clasp and a veil behind the head."""
    cloak = palette.lit(rng.choice(((44, 34, 60), (96, 24, 44), (24, 60, 66))), 0.5)
    pen.poly(
        smooth(both_sides([(0.0, -0.2), (0.66, -0.2), (0.5, 0.16), (0.34, 0.42), (0.3, 0.72), (0.0, 0.86)])),
        mix(cloak, palette.ink, 0.25),
    )
    pen.poly(smooth(both_sides([(0.0, -0.2), (0.62, -0.2), (0.46, 0.12), (0.2, 0.27), (0.0, 0.3)])), cloak)
    for side in (-1, 1):
        pen.line(
            curve((side * 0.08, 0.26), (side * 0.2, 0.1), (side * 0.26, 0.0), (side * 0.3, -0.1)), palette.gold, 0.014
        )
    pen.disc(0, 0.2, 0.035, palette.gold)
    pen.disc(0, 0.2, 0.018, palette.red)


def _small_portrait(stage: Stage) -> None:
    """Somebody's ancestor."""
    pen, palette, rng = stage.pen, stage.palette, stage.rng
    pen.rect(0, 0, stage.width, 1, (58, 44, 38))
    middle = stage.width / 2
    pen.poly(
        smooth([(middle - 0.4, -0.1), (middle + 0.4, -0.1), (middle + 0.25, 0.4), (middle - 0.25, 0.4)]),
        palette.cloth(rng),
    )
    pen.disc(middle, 0.62, 0.19, palette.lit((60, 40, 34)))
    pen.ellipse(middle, 0.58, 0.13, 0.17, palette.skin)
    pen.ellipse(middle, 0.38, 0.17, 0.06, palette.stone)
