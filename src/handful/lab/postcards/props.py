"""Things that tell a place: lamps, columns, pigeons, stalls, washing, glass and pictures in frames."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random

from PIL import Image

from handful.lab.postcards.palette import GLASS, Palette
from handful.lab.postcards.pen import Colour, Pen, arc, both_sides, curve, mix, sheer, smooth

Paint = Callable[[Image.Image], None]
"""Draws a picture within the picture, filling the image it is given."""


def lantern(pen: Pen, palette: Palette, rng: Random) -> None:
    """A street lamp with three arms and rose-coloured glass, one unit high."""
    rose = palette.glow if palette.light == "night" else palette.lit((240, 176, 170), 0.5)
    pen.rect(-0.018, 0, 0.018, 0.8, palette.ink)
    pen.poly([(-0.06, 0), (0.06, 0), (0.03, 0.08), (-0.03, 0.08)], palette.ink)
    pen.line(curve((-0.17, 0.72), (-0.17, 0.6), (0, 0.66), (0, 0.6)), palette.ink, 0.016)
    pen.line(curve((0.17, 0.72), (0.17, 0.6), (0, 0.66), (0, 0.6)), palette.ink, 0.016)
    for x, y in ((-0.17, 0.72), (0.17, 0.72), (0, 0.82)):
        if palette.light == "night":
            for r, opacity in ((0.3, 0.08), (0.19, 0.14), (0.11, 0.22)):
                pen.disc(x, y + 0.07, r, sheer(palette.glow, opacity))
        pen.poly([(x - 0.032, y), (x + 0.032, y), (x + 0.055, y + 0.12), (x - 0.055, y + 0.12)], rose)
        pen.poly([(x - 0.06, y + 0.12), (x + 0.06, y + 0.12), (x, y + 0.175)], palette.ink)


def lion_column(pen: Pen, palette: Palette, rng: Random) -> None:
    """The winged lion of Saint Mark on its column, one unit high."""
    for i, half in enumerate((0.13, 0.11, 0.09)):
        pen.rect(-half, i * 0.03, half, (i + 1) * 0.03, palette.stone if i % 2 else palette.shade)
    pen.poly([(-0.055, 0.09), (0.055, 0.09), (0.042, 0.72), (-0.042, 0.72)], palette.lit((186, 150, 140)))
    pen.poly([(0.012, 0.09), (0.055, 0.09), (0.042, 0.72), (0.012, 0.72)], sheer(palette.ink, 0.15))
    pen.poly([(-0.045, 0.72), (0.045, 0.72), (0.085, 0.77), (-0.085, 0.77)], palette.stone)
    pen.rect(-0.1, 0.77, 0.1, 0.79, palette.shade)
    winged_lion(pen.at(0, 0.79, 0.2), mix(palette.ink, palette.gold, 0.35))


def pigeons(pen: Pen, palette: Palette, rng: Random, x: float, y: float, wide: float) -> None:
    """A dozen on the ground between x and x + wide, some in the air."""
    for _ in range(rng.randint(9, 14)):
        here = pen.at(
            x + rng.random() * wide, y + rng.uniform(-0.05, 0.05), rng.uniform(0.03, 0.042), flip=rng.random() < 0.5
        )
        grey = palette.lit(rng.choice(((120, 128, 146), (150, 150, 160), (96, 100, 122))), 0.6)
        here.poly(smooth([(-0.6, 0.25), (-0.2, 0.1), (0.25, 0.25), (0.35, 0.5), (0.0, 0.55), (-0.3, 0.42)]), grey)
        here.disc(0.36, 0.66, 0.14, mix(grey, palette.ink, 0.3))
        here.line([(0.0, 0.15), (0.0, 0.0)], palette.red, 0.05)
    for _ in range(rng.randint(2, 4)):
        here = pen.at(
            x + rng.random() * wide, y + rng.uniform(0.14, 0.36), rng.uniform(0.03, 0.045), flip=rng.random() < 0.5
        )
        grey = palette.lit((140, 146, 160), 0.6)
        here.poly(smooth([(-0.6, 0.0), (0.0, -0.12), (0.5, 0.1), (0.0, 0.14)]), grey)
        here.poly([(-0.2, 0.05), (0.2, 0.05), (-0.25, 0.8)], mix(grey, palette.stone, 0.4))


def stall(pen: Pen, palette: Palette, rng: Random) -> None:
    """A market stall under a striped awning, one unit wide."""
    pen.rect(-0.42, 0, -0.39, 0.6, palette.ink)
    pen.rect(0.39, 0, 0.42, 0.6, palette.ink)
    pen.rect(-0.45, 0.0, 0.45, 0.26, palette.lit((150, 100, 64)))
    for row in range(2):
        for i in range(9):
            colour = palette.lit(rng.choice(((226, 120, 40), (204, 52, 48), (120, 160, 60), (240, 200, 80))), 0.5)
            pen.disc(-0.38 + i * 0.095 + row * 0.02, 0.29 + row * 0.055, 0.05, colour)
    colour = palette.cloth(rng)
    for i in range(8):
        x = -0.52 + i * 0.13
        pen.poly(
            [(x, 0.55), (x + 0.13, 0.55), (x * 0.85 + 0.11, 0.78), (x * 0.85, 0.78)], colour if i % 2 else palette.stone
        )
        pen.poly(arc(x + 0.065, 0.55, 0.065, 0.05, 180, 360), colour if i % 2 else palette.stone)


def washing(pen: Pen, palette: Palette, rng: Random, left: float, right: float, y: float) -> None:
    """A line from house to house with the week's washing."""
    line = curve(
        (left, y), (left + (right - left) * 0.3, y - 0.035), (left + (right - left) * 0.7, y - 0.035), (right, y), 12
    )
    pen.line(line, palette.ink, 0.003)
    for (x0, y0), (x1, y1) in pairwise(line[1:]):
        if rng.random() < 0.75:
            wide, long = (x1 - x0) * 0.8, rng.uniform(0.04, 0.085)
            pen.poly(
                [(x0, y0), (x0 + wide, y1), (x0 + wide * 0.95, y1 - long), (x0 + 0.003, y0 - long)], palette.cloth(rng)
            )


def glassware(pen: Pen, palette: Palette, rng: Random) -> None:
    """A piece from Murano, one unit high: vase, goblet or flask, with light in it."""
    colour = palette.lit(rng.choice(GLASS), 0.25)
    other = palette.lit(rng.choice(GLASS), 0.25)
    outline = rng.choice((
        [(0.0, 0.0), (0.16, 0.0), (0.27, 0.22), (0.3, 0.42), (0.15, 0.7), (0.1, 0.82), (0.2, 1.0), (0.0, 1.0)],
        [(0.0, 0.0), (0.2, 0.0), (0.04, 0.06), (0.03, 0.4), (0.18, 0.52), (0.27, 0.75), (0.25, 1.0), (0.0, 1.0)],
        [(0.0, 0.0), (0.22, 0.02), (0.34, 0.18), (0.3, 0.36), (0.08, 0.52), (0.06, 0.9), (0.1, 1.0), (0.0, 1.0)],
        [(0.0, 0.0), (0.14, 0.0), (0.12, 0.08), (0.36, 0.34), (0.42, 0.62), (0.36, 0.64), (0.1, 0.5), (0.0, 0.5)],
    ))  # fmt: skip
    body = smooth(both_sides(outline))
    top = max(y for _, y in body)
    pen.ellipse(0.05, 0.0, 0.3, 0.035, sheer(mix(colour, palette.ink, 0.5), 0.35))
    pen.poly(body, sheer(colour, 0.82))
    pen.poly([(x, y) for x, y in body if x > 0.0], sheer(mix(colour, palette.ink, 0.6), 0.3))
    for i in range(1, 5):
        y = top * (0.12 + 0.17 * i)
        half = max((x for x, py in body if abs(py - y) < 0.05), default=0.05)
        pen.line(
            curve((-half * 0.9, y), (-half * 0.3, y + 0.05), (half * 0.3, y - 0.05), (half * 0.9, y)),
            sheer(other, 0.75),
            0.03,
        )
    pen.poly([(x * 0.72 - 0.02, top * 0.1 + y * 0.78) for x, y in body if x < -0.05], sheer((255, 255, 255), 0.32))


def framed(pen: Pen, palette: Palette, wide: float, tall: float, paint: Paint) -> None:
    """A picture in a carved golden frame, its middle at the origin."""
    rim = 0.07 * max(wide, tall)
    pen.rect(
        -wide / 2 - rim + 0.012, -tall / 2 - rim - 0.02, wide / 2 + rim + 0.02, tall / 2 + rim, sheer(palette.ink, 0.28)
    )
    pen.rect(-wide / 2 - rim, -tall / 2 - rim, wide / 2 + rim, tall / 2 + rim, palette.gold)
    deep = mix(palette.gold, palette.ink, 0.38)
    for inset in (0.25, 0.85):
        x, y = wide / 2 + rim * (1 - inset), tall / 2 + rim * (1 - inset)
        pen.line([(-x, -y), (x, -y), (x, y), (-x, y), (-x, -y), (x, -y)], deep, rim * 0.14)
    for x in (-wide / 2 - rim / 2, 0.0, wide / 2 + rim / 2):
        for y in (-tall / 2 - rim / 2, tall / 2 + rim / 2):
            pen.disc(x, y, rim * 0.62, palette.gold)
            pen.disc(x, y, rim * 0.3, deep)
    hang(pen, wide, tall, paint)


def altarpiece(picture: Image.Image, rng: Random) -> None:
    """A mother and child before a golden sky."""
    pen = Pen.on(picture)
    middle, skin = pen.width / 2, (236, 192, 156)
    pen.rect(0, 0, pen.width, 1, rng.choice(((222, 176, 84), (150, 186, 196), (196, 120, 84))))
    pen.rect(0, 0, pen.width, 0.3, (84, 96, 72))
    pen.disc(middle, 0.76, 0.17, (250, 226, 150))
    cloak = [(-0.32, 0.0), (0.32, 0.0), (0.2, 0.5), (0.0, 0.92), (-0.2, 0.5)]
    pen.poly(smooth([(middle + x, y) for x, y in cloak]), rng.choice(((38, 74, 140), (30, 96, 96), (96, 44, 84))))
    pen.poly([(middle - 0.12, 0.1), (middle + 0.12, 0.1), (middle + 0.08, 0.6), (middle - 0.08, 0.6)], (176, 44, 48))
    pen.ellipse(middle, 0.73, 0.085, 0.11, skin)
    pen.disc(middle + 0.1, 0.44, 0.07, skin)
    pen.ellipse(middle + 0.08, 0.3, 0.08, 0.1, (246, 236, 214))


def easel(pen: Pen, palette: Palette, rng: Random, paint: Paint) -> None:
    """A painter's easel one unit high with a canvas on it."""
    wood = palette.lit((146, 98, 60))
    pen.ellipse(0.03, 0.0, 0.34, 0.02, sheer(palette.ink, 0.25))
    for foot, head in (((-0.28, 0.0), (-0.03, 1.02)), ((0.28, 0.0), (0.03, 1.02)), ((0.05, 0.04), (0.0, 0.98))):
        pen.line([foot, head], wood, 0.035)
    pen.rect(-0.34, 0.31, 0.34, 0.35, mix(wood, palette.ink, 0.25))
    here = pen.at(0, 0.62)
    here.rect(-0.36, -0.275, 0.36, 0.275, palette.stone)
    hang(here, 0.66, 0.5, paint)


def hang(pen: Pen, wide: float, tall: float, paint: Paint) -> None:
    """Put a picture of its own, `wide` and `tall`, with its middle at the pen's origin."""
    pixels = (max(8, round(wide * abs(pen.across) * pen.unit)), max(8, round(tall * abs(pen.up) * pen.unit)))
    picture = Image.new("RGB", pixels)
    paint(picture)
    left, top = pen.x * pen.unit - pixels[0] / 2, pen.picture.height - pen.y * pen.unit - pixels[1] / 2
    pen.picture.paste(picture, (round(left), round(top)))


def winged_lion(pen: Pen, bronze: Colour) -> None:
    """Striding to the left, one paw on a book, wings up."""
    pen.poly(
        [(0.05, 0.5), (0.5, 1.0), (0.62, 0.92), (0.44, 0.82), (0.6, 0.74), (0.4, 0.68), (0.52, 0.58), (0.25, 0.44)],
        bronze,
    )
    pen.poly(
        smooth([(-0.35, 0.3), (0.0, 0.25), (0.4, 0.28), (0.48, 0.45), (0.2, 0.52), (-0.2, 0.6), (-0.42, 0.5)]), bronze
    )
    for x, lean in ((-0.34, -0.1), (-0.16, 0.02), (0.28, -0.03), (0.44, 0.05)):
        pen.poly([(x - 0.06, 0.36), (x + 0.06, 0.36), (x + lean + 0.05, 0.0), (x + lean - 0.06, 0.0)], bronze)
    pen.disc(-0.38, 0.62, 0.19, bronze)
    pen.disc(-0.5, 0.62, 0.12, bronze)
    pen.line(curve((0.45, 0.42), (0.62, 0.4), (0.6, 0.2), (0.75, 0.22)), bronze, 0.06)
    pen.rect(-0.6, 0.0, -0.4, 0.14, bronze)
