"""People, seen from behind or masked: one unit high, their feet at the origin."""

from __future__ import annotations

from random import Random

from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Pen, arc, both_sides, curve, mix, sheer, smooth

HAIR = ((52, 34, 30), (96, 54, 34), (150, 92, 46), (30, 28, 34))


def gondolier(pen: Pen, palette: Palette, rng: Random) -> None:
    """Striped shirt, straw hat, a long oar."""
    stripe = palette.red if rng.random() < 0.5 else palette.lit((36, 60, 110), 0.6)
    wood = palette.lit((176, 122, 72))
    pen.line([(-0.62, -0.5), (0.5, 0.78)], wood, 0.035)
    pen.poly([(-0.14, 0), (-0.03, 0), (0.01, 0.4), (0.05, 0), (0.16, 0), (0.13, 0.5), (-0.1, 0.5)], palette.ink)
    pen.poly([(-0.12, 0.46), (0.14, 0.46), (0.19, 0.76), (0.1, 0.82), (-0.07, 0.82), (-0.15, 0.76)], palette.stone)
    for i in range(5):
        y = 0.49 + i * 0.065
        pen.line([(-0.135, y), (0.16, y)], stripe, 0.024)
    pen.line([(-0.12, 0.76), (-0.06, 0.56), (0.24, 0.5)], palette.stone, 0.07)
    pen.line([(0.15, 0.75), (0.32, 0.66), (0.38, 0.64)], palette.stone, 0.065)
    pen.disc(0.25, 0.5, 0.035, palette.skin)
    pen.disc(0.4, 0.65, 0.035, palette.skin)
    pen.disc(0.02, 0.9, 0.075, palette.skin)
    pen.ellipse(0.02, 0.945, 0.15, 0.025, palette.gold)
    pen.rect(-0.06, 0.945, 0.10, 0.965, palette.red)
    pen.rect(-0.06, 0.96, 0.10, 1.0, palette.gold)


def girl(pen: Pen, palette: Palette, rng: Random) -> None:
    """A girl on a day out: a dress, long hair, a straw hat or a parasol."""
    dress, hair = palette.cloth(rng), palette.lit(rng.choice(HAIR), 0.5)
    with_parasol = rng.random() < 0.4
    pen.ellipse(0.03, 0.0, 0.24, 0.022, sheer(palette.ink, 0.25))
    for x in (-0.05, 0.05):
        pen.line([(x, 0.26), (x, 0.03)], palette.skin, 0.04)
        pen.ellipse(x, 0.018, 0.04, 0.02, palette.red)
    pen.line([(0.09, 0.7), (0.17, 0.58), (0.15, 0.66) if with_parasol else (0.13, 0.44)], palette.skin, 0.036)
    pen.line([(-0.09, 0.7), (-0.15, 0.56), (-0.12, 0.45)], palette.skin, 0.036)
    pen.poly(smooth(both_sides([(0.0, 0.185), (0.13, 0.195), (0.23, 0.225), (0.14, 0.4), (0.062, 0.53)])), dress)
    pen.poly([(-0.062, 0.5), (0.062, 0.5), (0.1, 0.72), (0.05, 0.765), (-0.05, 0.765), (-0.1, 0.72)], dress)
    pen.poly([(0.02, 0.2), (0.2, 0.225), (0.1, 0.45), (0.03, 0.5)], sheer(palette.ink, 0.10))
    pen.rect(-0.064, 0.505, 0.064, 0.54, mix(dress, palette.ink, 0.45))
    pen.rect(-0.028, 0.74, 0.028, 0.82, palette.skin)
    pen.disc(0, 0.865, 0.075, hair)
    pen.poly(smooth(both_sides([(0.0, 0.6), (0.05, 0.63), (0.085, 0.74), (0.08, 0.88), (0.0, 0.93)])), hair)
    if with_parasol:
        _parasol(pen.at(0.15, 0.66), palette, rng)
    else:
        pen.ellipse(0, 0.905, 0.16, 0.032, palette.gold)
        pen.dome(0, 0.905, 0.08, 0.085, palette.gold)
        pen.poly([*arc(0, 0.905, 0.082, 0.035, 0, 180)], palette.red)


def cloaked(pen: Pen, palette: Palette, rng: Random) -> None:
    """A carnival figure in cloak, white mask and three-cornered hat."""
    cloak = rng.choice(
        (palette.lit((120, 30, 52), 0.4), palette.lit((42, 44, 84), 0.4), palette.lit((28, 96, 92), 0.4))
    )
    pen.ellipse(0.02, 0.0, 0.3, 0.025, sheer(palette.ink, 0.3))
    pen.poly(smooth(both_sides([(0.0, 0.0), (0.26, 0.01), (0.24, 0.3), (0.17, 0.6), (0.12, 0.72), (0.0, 0.76)])), cloak)
    pen.poly([(0.0, 0.02), (0.07, 0.02), (0.03, 0.7), (-0.01, 0.7)], palette.gold)
    pen.poly([(0.07, 0.02), (0.25, 0.02), (0.13, 0.68), (0.03, 0.7)], sheer(palette.ink, 0.22))
    pen.poly(smooth(both_sides([(0.0, 0.68), (0.13, 0.7), (0.1, 0.76), (0.0, 0.78)])), palette.stone)
    _little_mask(pen.at(0, 0.73, 0.16), palette)
    pen.poly(
        [
            *curve((-0.24, 0.93), (-0.1, 0.86), (0.1, 0.86), (0.24, 0.93)),
            (0.09, 0.93),
            (0.05, 1.0),
            (-0.05, 1.0),
            (-0.09, 0.93),
        ],
        palette.ink,
    )
    pen.line(curve((-0.24, 0.93), (-0.1, 0.86), (0.1, 0.86), (0.24, 0.93)), palette.gold, 0.014)


def gowned(pen: Pen, palette: Palette, rng: Random) -> None:
    """A carnival figure in a wide gown with a crown of feathers and a half mask."""
    gown = palette.cloth(rng)
    plume = palette.cloth(rng)
    pen.ellipse(0.02, 0.0, 0.36, 0.025, sheer(palette.ink, 0.3))
    for angle in range(40, 141, 20):
        tip = arc(0, 0.8, 0.22, 0.24, angle, angle + 1)[0]
        pen.line([(0, 0.82), tip], plume, 0.045)
        pen.disc(*tip, 0.032, plume)
    pen.poly(
        smooth(both_sides([(0.0, 0.0), (0.22, 0.005), (0.34, 0.04), (0.27, 0.25), (0.13, 0.43), (0.06, 0.5)])), gown
    )
    pen.poly([(-0.06, 0.02), (0.06, 0.02), (0.02, 0.46), (-0.02, 0.46)], palette.stone)
    for y in (0.1, 0.2, 0.3):
        wide = 0.33 - y * 0.55
        pen.line(
            curve((-wide, y + 0.02), (-wide / 2, y - 0.03), (wide / 2, y - 0.03), (wide, y + 0.02)), palette.gold, 0.014
        )
    pen.poly([(-0.06, 0.46), (0.06, 0.46), (0.1, 0.66), (-0.1, 0.66)], mix(gown, palette.ink, 0.25))
    for side in (-1, 1):
        pen.line([(side * 0.09, 0.65), (side * 0.19, 0.5), (side * 0.11, 0.44)], mix(gown, palette.ink, 0.15), 0.055)
    pen.poly(smooth(both_sides([(0.0, 0.64), (0.12, 0.66), (0.1, 0.71), (0.0, 0.72)])), palette.stone)
    _little_mask(pen.at(0, 0.7, 0.16), palette)
    pen.line([(-0.08, 0.81), (0, 0.84), (0.08, 0.81)], palette.gold, 0.03)


def _parasol(pen: Pen, palette: Palette, rng: Random) -> None:
    cloth = palette.cloth(rng)
    pen.line([(0, 0), (-0.06, 0.36)], palette.ink, 0.014)
    top = arc(-0.06, 0.3, 0.26, 0.16, 0, 180)
    pen.poly(top, cloth)
    pen.poly([(-0.06, 0.46), *arc(-0.06, 0.3, 0.26, 0.16, 60, 0), (0.1, 0.3)], sheer(palette.ink, 0.15))
    pen.poly([(-0.06, 0.46), (-0.13, 0.3), (0.0, 0.3)], mix(cloth, palette.stone, 0.5))


def _little_mask(pen: Pen, palette: Palette) -> None:
    pen.poly(
        smooth(both_sides([(0.0, 0.0), (0.26, 0.15), (0.42, 0.55), (0.4, 0.9), (0.0, 1.05)])),
        palette.lit((250, 244, 232), 0.35),
    )
    for x in (-0.18, 0.18):
        pen.ellipse(x, 0.6, 0.12, 0.075, palette.ink)
    pen.ellipse(0, 0.22, 0.08, 0.035, palette.red)
    pen.poly([(-0.05, 0.36), (0.07, 0.36), (0.0, 0.6)], sheer(palette.ink, 0.18))
