"""Carnival masks, one unit high, chin at the origin; and what flies around them."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from handful.lab.postcards.palette import CLOTHES, Palette
from handful.lab.postcards.pen import Colour, Pen, Point, both_sides, curve, mix, sheer, smooth, turned

FACE = [(0.0, 0.0), (0.15, 0.04), (0.27, 0.22), (0.345, 0.5), (0.335, 0.75), (0.21, 0.95), (0.0, 1.0)]
HALF = [
    (0.0, 0.50), (0.07, 0.40), (0.2, 0.36), (0.35, 0.42), (0.46, 0.58), (0.56, 0.82), (0.36, 0.76), (0.15, 0.76),
    (0.0, 0.70),
]  # fmt: skip


def volto(pen: Pen, palette: Palette, rng: Random) -> None:
    """The whole face, white, one cheek chequered, a crown of feathers."""
    first, second = rng.sample([palette.lit(colour, 0.4) for colour in CLOTHES if colour[1] < 150], 2)
    feathers(pen.at(0, 0.78), (first, second, palette.gold), spread=75, count=11, long=0.62)
    white = palette.lit((252, 247, 236), 0.3)
    face = smooth(both_sides(FACE))
    pen.poly([(x * 1.045, y * 1.03 - 0.015) for x, y in face], palette.gold)
    pen.poly(face, white)
    _chequers(pen, first, second)
    pen.poly([(x, y) for x, y in face if x >= -0.001], sheer(palette.ink, 0.09))
    _brow(pen, palette)
    for side in (-1, 1):
        _eye(pen.at(side * 0.155, 0.585, flip=side < 0), palette)
    pen.poly(
        [*curve((0.03, 0.62), (0.045, 0.48), (0.09, 0.40), (0.055, 0.365)), (0.0, 0.35), (0.0, 0.6)],
        sheer(palette.ink, 0.2),
    )
    _lips(pen.at(0, 0.2), palette.red, palette)
    pen.poly([(-0.17, 0.42), (-0.14, 0.36), (-0.17, 0.30), (-0.2, 0.36)], palette.red)
    pen.disc(0, 0.83, 0.045, palette.red)
    pen.disc(-0.01, 0.842, 0.014, (255, 240, 230))


def colombina(pen: Pen, palette: Palette, rng: Random) -> None:
    """A half mask with plumes on one side."""
    colour = palette.lit(rng.choice(((150, 34, 56), (36, 80, 130), (30, 110, 100), (112, 48, 110))), 0.35)
    feathers(
        pen.at(0.3, 0.7),
        (mix(colour, palette.stone, 0.55), palette.gold, colour),
        spread=38,
        count=6,
        long=0.6,
        lean=-22,
    )
    mask = smooth(both_sides(HALF))
    pen.poly([(x * 1.05, y + (y - 0.58) * 0.12) for x, y in mask], palette.gold)
    pen.poly(mask, colour)
    for side in (-1, 1):
        here = pen.at(side * 0.2, 0.575, flip=side < 0)
        here.poly(smooth([(-0.115, -0.02), (0.0, -0.065), (0.12, 0.03), (0.01, 0.062)]), palette.gold)
        here.poly(smooth([(-0.095, -0.015), (0.0, -0.05), (0.1, 0.025), (0.01, 0.045)]), palette.ink)
        for i in range(4):
            here.disc(0.12 + i * 0.05, 0.08 + i * 0.035, 0.014, palette.gold)
        here.line(curve((-0.1, 0.1), (0.0, 0.16), (0.1, 0.14), (0.2, 0.2)), palette.gold, 0.012)
    pen.poly([(0, 0.63), (0.035, 0.69), (0, 0.76), (-0.035, 0.69)], palette.red)


def beaked(pen: Pen, palette: Palette, rng: Random) -> None:
    """The plague doctor: a long beak, round spectacles, a black hat."""
    white = palette.lit((250, 242, 226), 0.3)
    head = smooth([(-0.12, 0.1), (0.2, 0.06), (0.33, 0.4), (0.3, 0.78), (0.0, 0.92), (-0.26, 0.78), (-0.3, 0.5)])
    pen.poly(head, white)
    beak = [
        *curve((-0.05, 0.72), (-0.45, 0.7), (-0.78, 0.4), (-0.85, -0.02)),
        *curve((-0.85, -0.02), (-0.6, 0.22), (-0.3, 0.24), (0.0, 0.2)),
    ]
    pen.poly(beak, white)
    pen.poly(
        [
            *curve((-0.3, 0.5), (-0.55, 0.42), (-0.75, 0.25), (-0.85, -0.02)),
            *curve((-0.85, -0.02), (-0.6, 0.22), (-0.3, 0.24), (0.0, 0.2)),
        ],
        sheer(palette.ink, 0.13),
    )
    for i in range(7):
        x, y = curve((-0.2, 0.42), (-0.45, 0.4), (-0.65, 0.28), (-0.78, 0.1), 7)[i]
        pen.disc(x, y, 0.012, palette.gold)
    for x, r in ((-0.14, 0.125), (0.16, 0.115)):
        pen.disc(x, 0.6, r, palette.gold)
        pen.disc(x, 0.6, r * 0.74, palette.ink)
        pen.disc(x - r * 0.25, 0.6 + r * 0.3, r * 0.16, (255, 255, 255))
    pen.poly(smooth([(-0.62, 0.8), (-0.2, 0.76), (0.3, 0.76), (0.62, 0.84), (0.3, 0.95), (-0.3, 0.93)]), palette.ink)
    pen.poly(smooth([(-0.28, 0.88), (0.3, 0.88), (0.27, 1.2), (0.0, 1.28), (-0.25, 1.2)]), palette.ink)
    pen.poly([(-0.275, 0.9), (0.3, 0.9), (0.3, 0.99), (-0.275, 0.99)], palette.red)


def lady(pen: Pen, palette: Palette, rng: Random) -> None:
    """A girl's face behind a half mask."""
    hair = palette.lit(rng.choice(((60, 36, 32), (130, 70, 38), (38, 32, 40))), 0.4)
    pen.poly(
        smooth(both_sides([(0.0, -0.2), (0.34, -0.12), (0.46, 0.3), (0.44, 0.8), (0.26, 1.08), (0.0, 1.14)])), hair
    )
    pen.poly(smooth(both_sides(FACE)), palette.skin)
    pen.poly(
        smooth(
            [
                (-0.33, 0.72),
                (-0.2, 0.96),
                (0.0, 1.04),
                (0.2, 0.96),
                (0.33, 0.72),
                (0.2, 0.86),
                (0.0, 0.9),
                (-0.16, 0.84),
            ]
        ),
        hair,
    )
    pen.poly([(0.0, 0.34), (0.05, 0.36), (0.02, 0.5)], sheer(palette.ink, 0.2))
    _lips(pen.at(0, 0.18), palette.red, palette)
    for x in (-0.37, 0.37):
        pen.disc(x, 0.28, 0.035, palette.gold)
    colombina(pen.at(0, 0.035, 0.97), palette, rng)


def neck(pen: Pen, palette: Palette, rng: Random) -> None:
    """What `lady` rests on, to be drawn before her clothes."""
    pen.rect(-0.12, -0.4, 0.12, 0.15, mix(palette.skin, palette.ink, 0.12))


def on_a_stick(pen: Pen, palette: Palette, rng: Random) -> None:
    """A half mask to hold before the eyes, ribbons fluttering."""
    pen.line([(0.44, 0.55), (0.56, -0.35)], palette.gold, 0.03)
    for bend, colour in ((0.1, palette.red), (-0.06, palette.gold)):
        pen.line(curve((-0.45, 0.6), (-0.6, 0.3), (-0.4 + bend, 0.1), (-0.55 + bend, -0.25)), colour, 0.025)
    colombina(pen, palette, rng)


def feathers(
    pen: Pen, colours: tuple[Colour, ...], *, spread: float, count: int, long: float, lean: float = 0.0
) -> None:
    """A fan of feathers around the vertical, the middle ones longest."""
    blade: list[Point] = smooth([(0.0, 0.0), (0.075, 0.45), (0.055, 0.85), (0.0, 1.0), (-0.055, 0.85), (-0.075, 0.45)])
    order = sorted(range(count), key=lambda i: -abs(i - (count - 1) / 2))
    for i in order:
        side = (i - (count - 1) / 2) / ((count - 1) / 2)
        length = long * (1.0 - 0.28 * side * side)
        angle = lean - side * spread
        colour = colours[i % len(colours)]
        pen.poly(turned([(x * length, y * length) for x, y in blade], angle), colour)
        pen.line(turned([(0, 0.1 * length), (0, 0.92 * length)], angle), mix(colour, (255, 255, 255), 0.35), 0.008)


def confetti(pen: Pen, palette: Palette, rng: Random, count: int = 90) -> None:
    """Paper in the air, all over the picture."""
    for _ in range(count):
        x, y, size = rng.uniform(0, pen.width), rng.random(), rng.uniform(0.005, 0.011)
        scrap = turned(
            [(-size, -size / 2), (size, -size / 2), (size, size / 2), (-size, size / 2)], rng.uniform(0, 180), x, y
        )
        pen.poly(scrap, rng.choice((palette.red, palette.gold, palette.stone, palette.cloth(rng))))


def bunting(pen: Pen, palette: Palette, rng: Random, left: float, right: float, y: float) -> None:
    """A string of little flags from one side to the other."""
    sag = curve(
        (left, y), (left + (right - left) * 0.3, y - 0.08), (left + (right - left) * 0.7, y - 0.08), (right, y), 18
    )
    pen.line(sag, palette.ink, 0.003)
    for (x0, y0), (x1, y1) in pairwise(sag):
        pen.poly([(x0, y0), (x1, y1), ((x0 + x1) / 2, (y0 + y1) / 2 - 0.045)], palette.cloth(rng))


def _chequers(pen: Pen, first: Colour, second: Colour) -> None:
    """Diamonds over the forehead and one temple."""
    for row in range(3):
        for column in range(-2, 4):
            x, y = column * 0.1 + (row % 2) * 0.05, 0.72 + row * 0.085
            if abs(x) < 0.3 - row * 0.05 and y < 0.93:
                colour = first if (row + column) % 2 else second
                pen.poly([(x, y - 0.075), (x + 0.045, y), (x, y + 0.075), (x - 0.045, y)], colour)


def _brow(pen: Pen, palette: Palette) -> None:
    for side in (-1, 1):
        here = pen.at(0, 0, flip=side < 0)
        here.line(curve((0.05, 0.63), (0.1, 0.72), (0.22, 0.72), (0.3, 0.64)), palette.gold, 0.022)


def _eye(pen: Pen, palette: Palette) -> None:
    pen.poly(smooth([(-0.11, -0.015), (0.0, -0.06), (0.125, 0.03), (0.01, 0.055)]), palette.gold)
    pen.poly(smooth([(-0.088, -0.012), (0.0, -0.044), (0.1, 0.024), (0.01, 0.04)]), palette.ink)


def _lips(pen: Pen, colour: Colour, palette: Palette) -> None:
    pen.poly(smooth([(-0.095, 0.0), (-0.04, 0.032), (0.0, 0.02), (0.04, 0.032), (0.095, 0.0), (0.0, -0.045)]), colour)
    pen.line([(-0.085, 0.0), (0.0, -0.006), (0.085, 0.0)], mix(colour, palette.ink, 0.5), 0.01)
