"""Inks for a postcard: few, flat and matched, one set per light."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from random import Random

from handful.lab.postcards.pen import Colour, mix

WALLS: tuple[Colour, ...] = (
    (214, 108, 74), (232, 164, 92), (196, 84, 70), (238, 202, 146), (226, 140, 112), (176, 74, 62), (222, 182, 120),
    (204, 126, 96), (240, 218, 178),
)  # fmt: skip
CLOTHES: tuple[Colour, ...] = (
    (206, 52, 56),
    (244, 232, 210),
    (32, 108, 122),
    (226, 160, 52),
    (124, 54, 96),
    (60, 84, 140),
)
GLASS: tuple[Colour, ...] = (
    (214, 48, 58), (30, 130, 160), (236, 160, 40), (70, 150, 90), (130, 60, 140), (236, 110, 130), (60, 90, 180)
)  # fmt: skip


@dataclass(frozen=True)
class Palette:
    """One light: how it colours the air, the water and, by `tint`, everything that has a colour of its own."""

    light: str
    sky: Colour
    horizon: Colour
    sun: Colour
    far: Colour
    water: Colour
    deep: Colour
    tint: Colour
    tinted: float
    ink: Colour = (30, 36, 50)

    def lit(self, colour: Colour, share: float = 1.0) -> Colour:
        """A thing's own colour in this light."""
        return mix(colour, self.tint, self.tinted * share)

    def wall(self, rng: Random) -> Colour:
        """Some plaster."""
        return self.lit(rng.choice(WALLS))

    def cloth(self, rng: Random) -> Colour:
        """Something to wear; it stays brighter than the walls, so that people are seen."""
        return self.lit(rng.choice(CLOTHES), 0.5)

    @property
    def stone(self) -> Colour:
        """Istrian stone."""
        return self.lit((245, 234, 212), 0.9)

    @property
    def shade(self) -> Colour:
        """Istrian stone where the sun does not reach."""
        return mix(self.stone, self.ink, 0.22)

    @property
    def brick(self) -> Colour:
        """Towers and Gothic churches."""
        return self.lit((186, 92, 68))

    @property
    def roof(self) -> Colour:
        """Tiles."""
        return self.lit((160, 70, 52))

    @property
    def gold(self) -> Colour:
        """Angels, frames and mosaics."""
        return self.lit((228, 172, 66), 0.4)

    @property
    def red(self) -> Colour:
        """The one loud colour."""
        return self.lit((204, 48, 50), 0.5)

    @property
    def skin(self) -> Colour:
        """Faces and hands."""
        return self.lit((232, 186, 150), 0.6)

    @property
    def dark(self) -> Colour:
        """Windows by day."""
        return self.lit((62, 66, 78), 0.6)

    @property
    def glow(self) -> Colour:
        """Windows and lamps by night."""
        return (255, 208, 116)


DAY = (
    Palette(
        "day", (96, 176, 190), (250, 228, 192), (255, 244, 214), (146, 178, 184),
        (96, 172, 170), (30, 100, 116), (250, 226, 180), 0.05,
    ),
    Palette(
        "day", (236, 172, 142), (253, 224, 192), (255, 246, 220), (200, 158, 150),
        (150, 192, 178), (58, 120, 124), (255, 220, 180), 0.12,
    ),
    Palette(
        "day", (164, 208, 192), (250, 240, 208), (255, 250, 226), (156, 188, 176),
        (112, 178, 158), (32, 100, 100), (244, 234, 196), 0.10,
    ),
    Palette(
        "day", (52, 138, 180), (192, 226, 222), (255, 250, 226), (130, 172, 190),
        (62, 148, 166), (18, 82, 112), (230, 236, 226), 0.06,
    ),
    Palette(
        "day", (238, 190, 96), (252, 234, 180), (255, 248, 214), (204, 170, 120),
        (120, 172, 156), (36, 98, 104), (252, 214, 130), 0.14,
    ),
)  # fmt: skip
SUNSET = (
    Palette(
        "sunset", (92, 50, 104), (252, 146, 80), (255, 220, 130), (128, 66, 98),
        (226, 120, 90), (74, 40, 84), (120, 42, 78), 0.42,
    ),
    Palette(
        "sunset", (214, 76, 84), (255, 200, 122), (255, 240, 176), (176, 78, 86),
        (240, 140, 96), (112, 44, 74), (150, 48, 66), 0.36,
    ),
    Palette(
        "sunset", (60, 62, 120), (248, 168, 130), (255, 214, 150), (112, 82, 124),
        (212, 130, 124), (52, 46, 96), (92, 50, 100), 0.42,
    ),
)  # fmt: skip
NIGHT = (
    Palette(
        "night", (12, 20, 50), (50, 70, 124), (250, 240, 206), (34, 48, 94),
        (40, 62, 112), (8, 14, 36), (22, 30, 74), 0.66, (8, 12, 28),
    ),
    Palette(
        "night", (8, 30, 46), (36, 92, 106), (252, 244, 214), (24, 66, 82),
        (28, 82, 98), (4, 20, 32), (12, 44, 64), 0.66, (6, 16, 26),
    ),
    Palette(
        "night", (32, 18, 62), (96, 64, 124), (254, 236, 206), (62, 42, 96),
        (72, 52, 112), (18, 10, 40), (44, 26, 82), 0.64, (14, 10, 30),
    ),
)  # fmt: skip


def palette_for(tags: Collection[str], rng: Random) -> Palette:
    """The light the tags ask for, in one of its moods."""
    moods = NIGHT if "night" in tags else SUNSET if "sunset" in tags else DAY
    return rng.choice(moods)
