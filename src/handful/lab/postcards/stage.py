"""The stage: picture, light, tags and chance, handed from part to part of a scene."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from random import Random

from PIL import Image

from handful.lab.postcards.palette import Palette, palette_for
from handful.lab.postcards.pen import Pen
from handful.lab.postcards.water import Motif, Standing

Spot = tuple[float, float, float]
"""x, y and scale for something to be put."""


@dataclass(frozen=True)
class Stage:
    """What a scene is drawn with."""

    pen: Pen
    palette: Palette
    rng: Random
    tags: frozenset[str]

    @classmethod
    def on(cls, picture: Image.Image, tags: Collection[str], rng: Random) -> Stage:
        """A stage that fills the picture, in the light its tags ask for."""
        return cls(Pen.on(picture), palette_for(tags, rng), rng, frozenset(tags))

    @property
    def width(self) -> float:
        """The picture's width, in units of its height."""
        return self.pen.width

    def has(self, *tags: str) -> bool:
        """Whether any of the tags is there."""
        return not self.tags.isdisjoint(tags)

    def stand(self, motif: Motif, x: float, y: float, scale: float = 1.0, *, flip: bool = False) -> Standing:
        """A motif in its place, with a chance of its own."""
        return Standing(motif, x, y, scale, flip, self.rng.random())

    def put(self, motif: Motif, x: float, y: float, scale: float = 1.0, *, flip: bool = False) -> None:
        """Draw a motif on dry ground."""
        self.stand(motif, x, y, scale, flip=flip).upright(self.pen, self.palette)


@dataclass(frozen=True)
class Room:
    """Where a finished setting has room for more: on the water, and on the ground."""

    water: tuple[Spot, ...] = ()
    ground: tuple[Spot, ...] = ()
