"""Sky, sun and moon, clouds, stars, gulls, and the city far away."""

from __future__ import annotations

from random import Random

import numpy as np
from PIL import Image

from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Colour, Pen, arc, mix, sheer


def gradient(pen: Pen, bottom: float, top: float, low: Colour, high: Colour) -> None:
    """A smooth change of colour over the full width."""
    picture = pen.picture
    first, last = round((1 - top) * pen.unit), round((1 - bottom) * pen.unit)
    share = np.linspace(0.0, 1.0, last - first)[:, np.newaxis]
    column = np.array(high) * (1 - share) + np.array(low) * share
    strip = Image.fromarray(np.rint(column).astype(np.uint8)[:, np.newaxis, :], "RGB")
    picture.paste(strip.resize((picture.width, last - first), Image.Resampling.NEAREST), (0, first))


def sky(pen: Pen, palette: Palette, rng: Random, horizon: float) -> None:
    """Everything above the horizon that is not Venice."""
    gradient(pen, horizon, 1.0, palette.horizon, palette.sky)
    x = rng.uniform(0.2, 0.8) * pen.width
    if palette.light == "night":
        _stars(pen, rng, horizon)
        _moon(pen, palette, rng, x, rng.uniform(0.78, 0.88))
    elif palette.light == "sunset":
        _halo(pen, palette.sun, x, horizon + 0.09, 0.13)
        _bands(pen, palette, rng, horizon)
    else:
        _halo(pen, palette.sun, x, rng.uniform(0.78, 0.9), 0.06)
        for _ in range(rng.randint(2, 4)):
            _cloud(pen.at(rng.uniform(0, pen.width), rng.uniform(0.66, 0.92), rng.uniform(0.1, 0.22)), palette, rng)
    if palette.light != "night":
        for _ in range(rng.randint(0, 5)):
            _gull(pen.at(rng.uniform(0.1, 0.9) * pen.width, rng.uniform(0.6, 0.92), rng.uniform(0.016, 0.03)), palette)


def skyline(pen: Pen, palette: Palette, rng: Random, horizon: float) -> None:
    """Roofs, towers and domes in the haze, in two layers."""
    for haze, height in ((0.55, 0.085), (0.15, 0.055)):
        colour = mix(palette.far, palette.horizon, haze)
        x = -0.05
        while x < pen.width:
            wide, tall = rng.uniform(0.04, 0.11), height * rng.uniform(0.6, 1.1)
            pen.rect(x, horizon, x + wide, horizon + tall, colour)
            if rng.random() < 0.35:
                pen.poly(
                    [(x, horizon + tall), (x + wide, horizon + tall), (x + wide / 2, horizon + tall * 1.25)], colour
                )
            x += wide
        for _ in range(rng.randint(2, 3)):
            _landmark(pen.at(rng.uniform(0, pen.width), horizon, height * rng.uniform(1.7, 2.4)), colour, rng)


def _landmark(pen: Pen, colour: Colour, rng: Random) -> None:
    if rng.random() < 0.5:
        pen.rect(-0.07, 0, 0.07, 0.72, colour)
        pen.poly([(-0.09, 0.72), (0.09, 0.72), (0, 1.05)], colour)
    else:
        pen.rect(-0.26, 0, 0.26, 0.45, colour)
        pen.dome(0, 0.45, 0.24, 0.34, colour)
        pen.rect(-0.04, 0.75, 0.04, 0.9, colour)


def _halo(pen: Pen, colour: Colour, x: float, y: float, r: float) -> None:
    for ring, opacity in ((2.4, 0.10), (1.8, 0.14), (1.35, 0.22), (1.0, 1.0)):
        pen.disc(x, y, r * ring, sheer(colour, opacity))


def _moon(pen: Pen, palette: Palette, rng: Random, x: float, y: float) -> None:
    r = rng.uniform(0.045, 0.065)
    for ring, opacity in ((3.0, 0.05), (2.0, 0.08), (1.4, 0.12)):
        pen.disc(x, y, r * ring, sheer(palette.sun, opacity))
    if rng.random() < 0.5:
        pen.poly([*arc(x, y, r, r, 60, 300), *arc(x + r * 0.5, y, r * 0.5, r * 0.87, 270, 90)], palette.sun)
    else:
        pen.disc(x, y, r, palette.sun)
        for dx, dy, size in ((-0.3, 0.2, 0.2), (0.25, -0.3, 0.26), (0.3, 0.35, 0.12)):
            pen.disc(x + dx * r, y + dy * r, size * r, mix(palette.sun, palette.sky, 0.13))


def _stars(pen: Pen, rng: Random, horizon: float) -> None:
    for _ in range(90):
        y = horizon + (1 - horizon) * (1 - rng.random() ** 1.5)
        pen.disc(
            rng.uniform(0, pen.width),
            y,
            rng.choice((0.0012, 0.0018, 0.003)),
            sheer((255, 246, 220), rng.uniform(0.4, 1)),
        )


def _cloud(pen: Pen, palette: Palette, rng: Random) -> None:
    """Puffs on a flat base, as printers cut them."""
    colour = mix(palette.horizon, (255, 255, 255), 0.6)
    for dx in (-0.8, -0.35, 0.15, 0.65):
        r = rng.uniform(0.22, 0.42) * (1.1 - abs(dx) * 0.5)
        pen.dome(dx, 0.0, r * 1.3, r, colour)
    pen.poly([*arc(0, 0.0, 1.3, 0.07, 0, 360)], colour)


def _bands(pen: Pen, palette: Palette, rng: Random, horizon: float) -> None:
    for _ in range(rng.randint(5, 8)):
        x, y = rng.uniform(0, pen.width), rng.uniform(horizon + 0.08, 0.92)
        wide, tall = rng.uniform(0.12, 0.42), rng.uniform(0.006, 0.016)
        high = (y - horizon) / (1 - horizon)
        colour = sheer(mix(mix(palette.sun, palette.horizon, 0.4), palette.sky, high * 0.75), 0.7)
        pen.poly([*arc(x, y, wide, tall, 0, 180), (x, y - tall * 0.6)], colour)


def _gull(pen: Pen, palette: Palette) -> None:
    colour = mix(palette.ink, palette.sky, 0.25)
    pen.poly(
        [(-1, 0.35), (-0.5, 0.55), (0, 0.1), (0.5, 0.55), (1, 0.35), (0.5, 0.38), (0, -0.08), (-0.5, 0.38)], colour
    )
