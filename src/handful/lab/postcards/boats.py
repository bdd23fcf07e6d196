"""What floats: gondolas, sails, the water bus; and the poles they are moored to. Length one, waterline at y = 0."""

from __future__ import annotations

from random import Random

from handful.lab.postcards.human_figures import gondolier
from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Colour, Pen, curve, mix, sheer


def gondola(pen: Pen, palette: Palette, rng: Random, *, manned: bool = True) -> None:
    """Black, curved, with an iron comb at the bow; perhaps two in love on the cushions."""
    if manned:
        gondolier(pen.at(-0.33, 0.095, 0.31), palette, rng)
    if rng.random() < 0.6:
        for x, colour in ((0.02, palette.cloth(rng)), (0.075, palette.cloth(rng))):
            pen.ellipse(x, 0.075, 0.033, 0.05, colour)
            pen.disc(x, 0.14, 0.021, palette.skin)
            pen.poly([(x - 0.022, 0.142), (x + 0.022, 0.142), (x + 0.015, 0.165), (x - 0.015, 0.165)], palette.ink)
    pen.poly([(-0.08, 0.03), (-0.06, 0.13), (-0.03, 0.135), (-0.02, 0.03)], palette.red)
    pen.rect(-0.07, 0.02, 0.14, 0.066, palette.red)
    deck = curve((-0.5, 0.175), (-0.3, 0.06), (0.2, -0.005), (0.475, 0.17))
    keel = curve((0.485, 0.13), (0.28, -0.045), (-0.28, -0.045), (-0.49, 0.135))
    black = mix(palette.ink, (0, 0, 0), 0.35)
    pen.poly([*deck, *keel], black)
    pen.line([(x, y - 0.008) for x, y in deck[1:-1]], palette.gold, 0.006)
    pen.line([(x, y * 0.5 - 0.012) for x, y in keel[3:-3]], sheer((255, 255, 255), 0.14), 0.008)
    _comb(pen, mix(palette.stone, palette.shade, 0.5))
    pen.line(curve((-0.49, 0.15), (-0.52, 0.2), (-0.5, 0.22), (-0.475, 0.215)), black, 0.014)


def sail(pen: Pen, palette: Palette, rng: Random) -> None:
    """A fishing boat of the lagoon, its sails dyed and painted."""
    colour = palette.lit(rng.choice(((222, 120, 44), (196, 62, 48), (232, 176, 70))), 0.6)
    pen.line([(0.02, 0.06), (0.02, 0.98)], palette.ink, 0.014)
    pen.poly([*curve((0.0, 0.14), (-0.12, 0.4), (-0.1, 0.7), (0.08, 0.98)), (0.3, 0.62), (0.36, 0.16)], colour)
    pen.poly([(0.0, 0.14), (0.36, 0.16), (0.35, 0.26), (-0.03, 0.24)], mix(colour, palette.stone, 0.65))
    pen.disc(0.13, 0.54, 0.075, mix(colour, palette.stone, 0.75))
    pen.poly(
        [(-0.04, 0.16), *curve((-0.04, 0.7), (-0.12, 0.5), (-0.2, 0.3), (-0.42, 0.15))], mix(colour, palette.ink, 0.2)
    )
    _hull(pen, palette.lit(rng.choice(((36, 84, 110), (170, 54, 48), (52, 104, 84)))), palette)


def rowing(pen: Pen, palette: Palette, rng: Random) -> None:
    """A small boat, tied up or rowed standing."""
    if rng.random() < 0.6:
        gondolier(pen.at(-0.2, 0.06, 0.4), palette, rng)
    _hull(pen, palette.lit(rng.choice(((54, 122, 140), (196, 78, 58), (226, 178, 92), (76, 130, 100)))), palette)


def water_bus(pen: Pen, palette: Palette, rng: Random) -> None:
    """A vaporetto: a white cabin with many windows and a yellow band."""
    pen.poly([(-0.5, 0.1), (0.5, 0.1), (0.44, -0.012), (-0.46, -0.012)], palette.ink)
    pen.rect(-0.5, 0.085, 0.5, 0.12, palette.gold)
    pen.rect(-0.42, 0.12, 0.36, 0.26, palette.stone)
    pane = palette.glow if palette.light == "night" else mix(palette.dark, palette.water, 0.3)
    for i in range(7):
        x = -0.39 + i * 0.105
        pen.rect(x, 0.15, x + 0.075, 0.225, pane)
    pen.rect(-0.44, 0.255, 0.39, 0.28, palette.shade)
    pen.poly([(0.2, 0.28), (0.34, 0.28), (0.32, 0.35), (0.22, 0.35)], palette.stone)
    pen.rect(0.235, 0.295, 0.31, 0.335, pane)
    pen.line([(-0.36, 0.28), (-0.36, 0.4)], palette.ink, 0.008)
    pen.poly([(-0.36, 0.4), (-0.26, 0.37), (-0.36, 0.33)], palette.red)


def pole(pen: Pen, palette: Palette, rng: Random) -> None:
    """A mooring pole one unit high, striped like a stick of candy."""
    colour = palette.lit(rng.choice(((200, 46, 48), (38, 84, 146), (30, 110, 100))), 0.6)
    pen.rect(-0.04, -0.05, 0.04, 0.9, palette.stone)
    for i in range(6):
        y = 0.02 + i * 0.15
        pen.poly([(-0.04, y), (0.04, y + 0.05), (0.04, y + 0.125), (-0.04, y + 0.075)], colour)
    pen.rect(0.012, -0.05, 0.04, 0.9, sheer(palette.ink, 0.16))
    pen.poly([(-0.055, 0.9), (0.055, 0.9), (0.03, 0.97), (-0.03, 0.97)], palette.gold)
    pen.disc(0, 0.99, 0.035, palette.gold)


def piles(pen: Pen, palette: Palette, rng: Random) -> None:
    """Three oak piles leaning together, as they mark the channels of the lagoon."""
    wood = palette.lit((104, 78, 62))
    for x, lean, top in ((-0.1, 0.06, 0.86), (0.1, -0.06, 0.9), (0.0, 0.0, 1.0)):
        pen.poly(
            [(x - 0.05, -0.05), (x + 0.05, -0.05), (x + lean + 0.045, top), (x + lean - 0.045, top)],
            mix(wood, palette.ink, 0.3 * abs(x) * 10),
        )
    pen.rect(-0.12, 0.6, 0.12, 0.66, palette.ink)


def _hull(pen: Pen, colour: Colour, palette: Palette) -> None:
    deck = curve((-0.5, 0.17), (-0.25, 0.08), (0.25, 0.08), (0.5, 0.19))
    keel = curve((0.46, 0.05), (0.25, -0.04), (-0.25, -0.04), (-0.45, 0.05))
    pen.poly([*deck, *keel], colour)
    pen.line(deck, palette.stone, 0.018)
    pen.poly([*keel, *((x, y + 0.03) for x, y in reversed(keel))], sheer(palette.ink, 0.3))


def _comb(pen: Pen, iron: Colour) -> None:
    pen.poly(
        [
            (0.462, 0.08),
            (0.49, 0.09),
            (0.503, 0.2),
            (0.49, 0.27),
            (0.455, 0.285),
            (0.452, 0.26),
            (0.475, 0.245),
            (0.478, 0.2),
        ],
        iron,
    )
    for i in range(6):
        pen.rect(0.495, 0.115 + i * 0.02, 0.527, 0.124 + i * 0.02, iron)
