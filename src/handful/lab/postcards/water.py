"""Water: what stands at its edge is seen again in it, upside down and broken by ripples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from PIL import Image

from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Pen, mix, sheer
from handful.lab.postcards.sky import gradient

Motif = Callable[[Pen, Palette, Random], None]

DROWNED = 0.52
"""How much of a reflection's colour is the water's."""


@dataclass(frozen=True)
class Standing:
    """A motif and where it stands. The same `key` draws the same thing again: upright, and in the water."""

    motif: Motif
    x: float
    y: float
    scale: float = 1.0
    flip: bool = False
    key: float = 0.0

    def upright(self, pen: Pen, palette: Palette) -> None:
        """As it is."""
        self.motif(pen.at(self.x, self.y, self.scale, flip=self.flip), palette, Random(self.key))

    def reflected(self, pen: Pen, palette: Palette) -> None:
        """As the water shows it."""
        water = mix(palette.water, palette.deep, 0.45)
        mirrored = pen.at(self.x, self.y, self.scale, flip=self.flip).mirrored(water, DROWNED)
        self.motif(mirrored, palette, Random(self.key))


def flood(pen: Pen, palette: Palette, rng: Random, horizon: float, standing: Sequence[Standing]) -> None:
    """Fill everything below the horizon with water and put `standing`, far things first, at its edges."""
    gradient(pen, 0.0, horizon, palette.deep, mix(palette.water, palette.horizon, 0.35))
    if palette.light != "day":
        _path_of_light(pen, palette, rng, horizon)
    for thing in standing:
        thing.reflected(pen, palette)
    _ripple(pen, horizon, rng)
    _glints(pen, palette, rng, horizon)
    for thing in standing:
        thing.upright(pen, palette)


def afloat(pen: Pen, palette: Palette, thing: Standing) -> None:
    """Something on the water: its reflection, itself, and the ripples it makes."""
    thing.reflected(pen, palette)
    here = pen.at(thing.x, thing.y, thing.scale)
    pale = sheer(mix(palette.water, (255, 255, 255), 0.55), 0.5)
    for dx, dy, wide in ((-0.2, -0.05, 0.4), (0.22, -0.075, 0.34), (-0.05, -0.11, 0.26), (0.3, -0.135, 0.14)):
        here.ellipse(dx, dy, wide / 2, 0.006, pale)
    thing.upright(pen, palette)


def _path_of_light(pen: Pen, palette: Palette, rng: Random, horizon: float) -> None:
    x = rng.uniform(0.3, 0.7) * pen.width
    for step in range(26):
        y = horizon * (1 - (step + 0.5) / 26)
        wide = 0.03 + 0.10 * (1 - y / horizon) * rng.uniform(0.5, 1.2)
        pen.ellipse(x + rng.uniform(-0.02, 0.02), y, wide, 0.0045, sheer(palette.sun, 0.42))


def _ripple(pen: Pen, horizon: float, rng: Random) -> None:
    """Shift the rows of the water sideways, more the nearer they are."""
    picture = pen.picture
    first = round((1 - horizon) * pen.unit)
    rows = np.asarray(picture)[first:]
    nearness = np.linspace(0.1, 1.0, len(rows))
    phase = rng.uniform(0, 2 * math.pi)
    wave = np.sin(np.cumsum(0.9 / (2.0 + 9.0 * nearness)) * 2.2 + phase) + 0.5 * np.sin(
        np.arange(len(rows)) * 0.11 + phase
    )
    shift = np.rint(wave * nearness * pen.unit * 0.0055).astype(np.intp)
    columns = np.clip(np.arange(picture.width) + shift[:, np.newaxis], 0, picture.width - 1)
    rippled = rows[np.arange(len(rows))[:, np.newaxis], columns]
    picture.paste(Image.fromarray(rippled), (0, first))


def _glints(pen: Pen, palette: Palette, rng: Random, horizon: float) -> None:
    pale = mix(palette.water, mix(palette.sun, (255, 255, 255), 0.3), 0.6)
    dark = mix(palette.deep, palette.ink, 0.2)
    for _ in range(95):
        near = rng.random() ** 0.8
        wide = 0.012 + 0.06 * near * rng.random()
        colour = sheer(pale, 0.34) if rng.random() < 0.62 else sheer(dark, 0.28)
        pen.ellipse(rng.uniform(0, pen.width), horizon * (1 - near), wide, 0.0012 + 0.0026 * near, colour)
