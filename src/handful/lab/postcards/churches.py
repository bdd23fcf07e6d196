"""Churches and towers, one unit high, their middle at the origin."""

from __future__ import annotations

from random import Random

from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Colour, Pen, arc, mix, sheer


def campanile(pen: Pen, palette: Palette, rng: Random) -> None:
    """A bell tower with its angel."""
    pen.rect(-0.085, 0, 0.085, 0.66, palette.brick)
    pen.rect(0.045, 0, 0.085, 0.66, sheer(palette.ink, 0.14))
    for x in (-0.045, 0.0, 0.045):
        pen.rect(x - 0.008, 0.03, x + 0.008, 0.62, mix(palette.brick, palette.ink, 0.12))
    pen.rect(-0.098, 0.65, 0.098, 0.80, palette.stone)
    lamp = palette.glow if palette.light == "night" else palette.dark
    for x in (-0.06, -0.02, 0.02, 0.06):
        pen.arch(x, 0.675, 0.027, 0.09, lamp)
    pen.rect(-0.09, 0.80, 0.09, 0.85, palette.brick)
    pen.rect(-0.1, 0.845, 0.1, 0.855, palette.stone)
    pen.poly([(-0.085, 0.855), (0.085, 0.855), (0, 0.985)], _lead(palette, rng))
    pen.poly([(0, 0.855), (0.085, 0.855), (0, 0.985)], sheer(palette.ink, 0.14))
    pen.line([(0, 0.98), (0, 1.02)], palette.gold, 0.012)
    pen.disc(0, 1.02, 0.012, palette.gold)


def domed(pen: Pen, palette: Palette, rng: Random) -> None:
    """Like Santa Maria della Salute: a great dome on an octagon, volutes, a lesser dome and two bell turrets."""
    lead = _lead(palette, rng)
    for x in (0.36, 0.47):
        pen.rect(x - 0.03, 0, x + 0.03, 0.56, palette.shade)
        pen.dome(x, 0.56, 0.035, 0.06, lead)
        pen.line([(x, 0.61), (x, 0.66)], palette.gold, 0.008)
    pen.rect(0.2, 0, 0.52, 0.36, palette.shade)
    _dome(pen.at(0.34, 0.36), palette, lead, 0.13, 0.16)
    pen.rect(-0.36, 0, 0.36, 0.34, palette.stone)
    pen.poly([(-0.36, 0.34), (0.36, 0.34), (0.27, 0.42), (-0.27, 0.42)], palette.shade)
    for x in (-0.27, -0.14, 0.14, 0.27):
        pen.disc(x, 0.42, 0.052, palette.stone)
        pen.disc(x, 0.42, 0.026, palette.shade)
    pen.rect(-0.23, 0.40, 0.23, 0.55, palette.stone)
    for x in (-0.17, -0.06, 0.06, 0.17):
        pen.arch(x, 0.43, 0.05, 0.09, _pane(palette))
    _dome(pen.at(0, 0.55), palette, lead, 0.25, 0.29)
    pen.arch(0, 0, 0.2, 0.32, palette.shade)
    pen.arch(0, 0, 0.13, 0.26, _pane(palette))
    for x in (-0.29, -0.19, 0.19, 0.29):
        pen.rect(x - 0.014, 0.03, x + 0.014, 0.33, palette.shade)
    for x in (-0.24, 0.24):
        pen.arch(x, 0.1, 0.05, 0.15, _pane(palette))
    pen.rect(-0.37, 0.325, 0.37, 0.35, palette.shade)
    _steps(pen, palette, 0.34)


def temple(pen: Pen, palette: Palette, rng: Random) -> None:
    """Like San Giorgio Maggiore: a white temple front, a brick nave, a dome and a tower."""
    campanile(pen.at(0.42, 0, 1.0), palette, rng)
    pen.rect(-0.32, 0, 0.44, 0.36, palette.brick)
    pen.poly([(-0.32, 0.36), (0.44, 0.36), (0.36, 0.44), (-0.24, 0.44)], palette.roof)
    pen.rect(0.1, 0.4, 0.28, 0.5, palette.stone)
    _dome(pen.at(0.19, 0.5), palette, _lead(palette, rng), 0.12, 0.16)
    pen.rect(-0.36, 0, 0.14, 0.3, palette.stone)
    pen.poly([(-0.38, 0.3), (0.16, 0.3), (-0.02, 0.37), (-0.2, 0.37)], palette.shade)
    pen.rect(-0.27, 0, 0.05, 0.46, palette.stone)
    for x in (-0.24, -0.16, -0.06, 0.02):
        pen.rect(x - 0.013, 0.06, x + 0.013, 0.44, palette.shade)
        pen.rect(x - 0.02, 0.03, x + 0.02, 0.07, palette.shade)
    pen.poly([(-0.3, 0.46), (0.08, 0.46), (-0.11, 0.58)], palette.stone)
    pen.poly([(-0.26, 0.472), (0.04, 0.472), (-0.11, 0.56)], palette.shade)
    pen.arch(-0.11, 0, 0.07, 0.2, _pane(palette))
    for x in (-0.31, 0.09):
        pen.arch(x, 0.1, 0.05, 0.11, palette.shade)
    for x, y in ((-0.3, 0.46), (0.08, 0.46), (-0.11, 0.58)):
        _statue(pen.at(x, y, 0.07), palette)


def gothic(pen: Pen, palette: Palette, rng: Random) -> None:
    """Like the Frari: brick, curved gables, a rose window and pinnacles."""
    plaster = rng.choice((palette.brick, palette.brick, palette.lit((222, 160, 118)), palette.lit((236, 208, 168))))
    side = rng.choice((-1, 1))
    campanile(pen.at(side * 0.42, 0, 1.04), palette, rng)
    right = [
        (0.36, 0.0),
        (0.36, 0.42),
        *arc(0.36, 0.56, 0.16, 0.14, 270, 180),
        (0.2, 0.66),
        *arc(0.0, 0.66, 0.2, 0.17, 0, 90),
    ]
    outline = [*right, *((-x, y) for x, y in reversed(right))]
    pen.poly([(x * 1.05, y * 1.025) for x, y in outline], palette.stone)
    pen.poly(outline, plaster)
    for x, y in ((-0.36, 0.44), (0.36, 0.44), (-0.2, 0.66), (0.2, 0.66), (0.0, 0.83)):
        pen.rect(
            x - 0.028, y - 0.44 if abs(x) > 0.1 else y, x + 0.028, y + 0.03, palette.stone if abs(x) < 0.1 else plaster
        )
        pen.rect(x - 0.035, y + 0.03, x + 0.035, y + 0.075, palette.stone)
        pen.poly([(x - 0.035, y + 0.075), (x + 0.035, y + 0.075), (x, y + 0.15)], palette.stone)
    _rose(pen.at(0, 0.58), palette, 0.105)
    for x in (-0.26, 0.26):
        _rose(pen.at(x, 0.4), palette, 0.05)
    pen.ogee(0, 0, 0.2, 0.36, palette.stone)
    pen.ogee(0, 0, 0.13, 0.28, _pane(palette))
    for x in (-0.26, 0.26):
        pen.ogee(x, 0.08, 0.06, 0.2, palette.stone)
        pen.ogee(x, 0.09, 0.036, 0.16, _pane(palette))


def basilica(pen: Pen, palette: Palette, rng: Random) -> None:
    """Like San Marco: five portals with golden mosaics, five lunettes, five domes."""
    lead = _lead(palette, rng)
    for x, y, r in ((-0.42, 0.54, 0.11), (0.42, 0.54, 0.11), (-0.22, 0.58, 0.13), (0.22, 0.58, 0.13), (0, 0.62, 0.16)):
        pen.rect(x - r * 0.8, 0.4, x + r * 0.8, y, palette.shade)
        _dome(pen.at(x, y), palette, lead, r, r * 1.1)
    pen.rect(-0.62, 0, 0.62, 0.34, palette.stone)
    for i, x in enumerate((-0.48, -0.25, 0.0, 0.25, 0.48)):
        big = 1.2 if i == 2 else 1.0
        pen.arch(x, 0.34, 0.21 * big, 0.2 * big, palette.stone)
        pen.poly(
            arc(x, 0.44 + 0.02 * (big - 1), 0.085 * big, 0.085 * big, 0, 180), palette.gold if i != 2 else palette.dark
        )
        pen.poly(
            [
                (x - 0.03, 0.53 * (1 + (big - 1) * 0.32)),
                (x + 0.03, 0.53 * (1 + (big - 1) * 0.32)),
                (x, 0.6 * (1 + (big - 1) * 0.3)),
            ],
            palette.stone,
        )
        pen.arch(x, 0, 0.2 * big, 0.29 * big, palette.shade)
        pen.poly(arc(x, 0.17 * big, 0.083 * big, 0.1 * big, 0, 180), palette.gold)
        pen.poly(arc(x, 0.17 * big, 0.055 * big, 0.07 * big, 0, 180), palette.lit((52, 96, 140), 0.5))
        pen.rect(x - 0.075 * big, 0, x + 0.075 * big, 0.165 * big, _pane(palette))
        for side in (-1, 1):
            pen.rect(
                x + side * 0.095 * big - 0.01,
                0,
                x + side * 0.095 * big + 0.01,
                0.17 * big,
                palette.lit((176, 120, 110)),
            )
    for x in (-0.6, -0.365, -0.125, 0.125, 0.365, 0.6):
        pen.rect(x - 0.018, 0.3, x + 0.018, 0.5, palette.stone)
        pen.poly([(x - 0.022, 0.5), (x + 0.022, 0.5), (x, 0.6)], palette.stone)
    pen.rect(-0.63, 0.325, 0.63, 0.345, palette.shade)


def mosaic(pen: Pen, palette: Palette, rng: Random) -> None:
    """A golden lunette one unit wide with a haloed figure, made of little stones."""
    pen.poly(arc(0, 0, 0.56, 0.56, 0, 180), palette.stone)
    pen.poly(arc(0, 0, 0.5, 0.5, 0, 180), palette.gold)
    for _ in range(70):
        x, y = rng.uniform(-0.45, 0.42), rng.uniform(0.01, 0.44)
        if x * x + y * y < 0.2:
            pen.rect(x, y, x + 0.022, y + 0.022, mix(palette.gold, rng.choice(((255, 244, 190), (170, 110, 30))), 0.4))
    pen.disc(0, 0.3, 0.12, mix(palette.gold, (255, 250, 210), 0.6))
    pen.poly([(-0.2, 0), (0.2, 0), (0.09, 0.2), (-0.09, 0.2)], palette.lit((40, 84, 150), 0.4))
    pen.disc(0, 0.29, 0.065, palette.skin)
    for x in (-0.3, 0.3):
        pen.poly([(x - 0.09, 0), (x + 0.09, 0), (x, 0.2)], palette.red)
        pen.disc(x, 0.2, 0.05, palette.skin)


def _dome(pen: Pen, palette: Palette, lead: Colour, rx: float, ry: float) -> None:
    onion = [*arc(0, 0, rx, ry * 0.95, 0, 80), (0, ry * 1.05), *arc(0, 0, rx, ry * 0.95, 100, 180)]
    pen.poly(onion, lead)
    pen.poly([*arc(0, 0, rx, ry * 0.95, 0, 80), (rx * 0.25, 0)], sheer(palette.ink, 0.13))
    pen.rect(-rx * 1.04, -ry * 0.06, rx * 1.04, ry * 0.04, palette.stone)
    pen.rect(-rx * 0.16, ry * 0.98, rx * 0.16, ry * 1.24, palette.stone)
    pen.dome(0, ry * 1.24, rx * 0.18, ry * 0.14, lead)
    pen.line([(0, ry * 1.35), (0, ry * 1.6)], palette.gold, 0.012)
    pen.line([(-rx * 0.1, ry * 1.5), (rx * 0.1, ry * 1.5)], palette.gold, 0.01)


def _lead(palette: Palette, rng: Random) -> Colour:
    """Lead, copper gone green, or slate."""
    return palette.lit(rng.choice(((142, 172, 166), (112, 164, 146), (134, 150, 172))))


def _rose(pen: Pen, palette: Palette, r: float) -> None:
    pen.disc(0, 0, r, palette.stone)
    pen.disc(0, 0, r * 0.8, _pane(palette))
    for angle in range(0, 180, 30):
        (x, y), *_ = arc(0, 0, r * 0.8, r * 0.8, angle, angle + 1)
        pen.line([(-x, -y), (x, y)], palette.stone, r * 0.1)
    pen.disc(0, 0, r * 0.25, palette.stone)


def _statue(pen: Pen, palette: Palette) -> None:
    pen.poly([(-0.2, 0), (0.2, 0), (0.12, 0.7), (-0.12, 0.7)], palette.shade)
    pen.disc(0, 0.82, 0.14, palette.shade)


def _steps(pen: Pen, palette: Palette, half: float) -> None:
    for i in range(3):
        pen.rect(
            -half - 0.02 * (3 - i),
            0.012 * i,
            half + 0.02 * (3 - i),
            0.012 * (i + 1),
            palette.stone if i % 2 else palette.shade,
        )


def _pane(palette: Palette) -> Colour:
    return palette.glow if palette.light == "night" else palette.dark
