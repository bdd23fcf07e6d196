"""A pen that draws in its own coordinates: x to the right, y up, the picture one unit high.

Everything in a postcard is drawn with pens, so that one motif serves near and far, upright and mirrored in the water.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PIL import Image, ImageDraw

Colour = tuple[int, ...]
"""RGB, or RGBA to let through what is below."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Pen:
    """Draws on `picture`, `unit` pixels per unit; `at` and `mirrored` give pens that stand elsewhere."""

    picture: Image.Image
    ink: ImageDraw.ImageDraw
    unit: int
    x: float = 0.0
    y: float = 0.0
    across: float = 1.0
    up: float = 1.0
    veil: Colour = (0, 0, 0)
    veiled: float = 0.0

    @classmethod
    def on(cls, picture: Image.Image) -> Pen:
        """A pen for the whole picture: y is 0 at the bottom and 1 at the top."""
        return cls(picture, ImageDraw.Draw(picture, "RGBA"), picture.height)

    @property
    def width(self) -> float:
        """The width of the whole picture, in units of its height."""
        return self.picture.width / self.picture.height

    def at(self, x: float, y: float, scale: float = 1.0, *, flip: bool = False) -> Pen:
        """A pen whose origin is at (x, y) and whose unit is `scale`; with `flip`, left is right."""
        return replace(
            self,
            x=self.x + self.across * x,
            y=self.y + self.up * y,
            across=self.across * scale * (-1 if flip else 1),
            up=self.up * scale,
        )

    def mirrored(self, veil: Colour, veiled: float, squeeze: float = 0.8) -> Pen:
        """The same upside down in the water: a little shorter, its colours drowned in those of the water."""
        return replace(self, up=-self.up * squeeze, veil=veil, veiled=veiled)

    def poly(self, points: Sequence[Point], fill: Colour) -> None:
        """A filled polygon."""
        self.ink.polygon([self._pixel(point) for point in points], fill=self._seen(fill))

    def rect(self, left: float, bottom: float, right: float, top: float, fill: Colour) -> None:
        """A filled rectangle."""
        self.poly([(left, bottom), (right, bottom), (right, top), (left, top)], fill)

    def ellipse(self, x: float, y: float, rx: float, ry: float, fill: Colour) -> None:
        """A filled ellipse around (x, y)."""
        (x0, y0), (x1, y1) = self._pixel((x - rx, y - ry)), self._pixel((x + rx, y + ry))
        self.ink.ellipse([min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)], fill=self._seen(fill))

    def disc(self, x: float, y: float, r: float, fill: Colour) -> None:
        """A filled circle around (x, y)."""
        self.ellipse(x, y, r, r, fill)

    def line(self, points: Sequence[Point], fill: Colour, width: float) -> None:
        """A line of a width that scales with the pen; never thinner than a pixel of the finished picture."""
        pixels = max(2, round(width * abs(self.across) * self.unit))
        self.ink.line([self._pixel(point) for point in points], fill=self._seen(fill), width=pixels, joint="curve")

    def dome(self, x: float, y: float, rx: float, ry: float, fill: Colour) -> None:
        """The upper half of an ellipse, standing on y."""
        self.poly(arc(x, y, rx, ry, 0, 180), fill)

    def arch(self, x: float, y: float, width: float, height: float, fill: Colour) -> None:
        """A door with a round top, standing on (x, y)."""
        half = width / 2
        straight = max(0.0, height - half)
        self.poly([(x - half, y), (x + half, y), *arc(x, y + straight, half, height - straight, 0, 180)], fill)

    def ogee(self, x: float, y: float, width: float, height: float, fill: Colour) -> None:
        """A Venetian window: round shoulders drawn out into a point."""
        half, spring = width / 2, y + height * 0.5
        right = curve(
            (x + half, spring), (x + half, y + height * 0.82), (x + half * 0.15, y + height * 0.72), (x, y + height)
        )
        left = [(2 * x - px, py) for px, py in reversed(right)]
        self.poly([(x - half, y), (x + half, y), *right, *left], fill)

    def _pixel(self, point: Point) -> Point:
        x, y = self.x + self.across * point[0], self.y + self.up * point[1]
        return x * self.unit, self.picture.height - y * self.unit

    def _seen(self, fill: Colour) -> Colour:
        return (*mix(fill[:3], self.veil, self.veiled), *fill[3:])


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """`share` of the other colour in the one."""
    return tuple(round(a + (b - a) * share) for a, b in zip(one, other, strict=True))


def sheer(colour: Colour, opacity: float) -> Colour:
    """The colour, letting through what is below."""
    return (*colour[:3], round(255 * opacity))


def arc(x: float, y: float, rx: float, ry: float, start: float, end: float) -> list[Point]:
    """Points on an ellipse, from one angle to another in degrees, anticlockwise from the right."""
    steps = max(8, round(abs(end - start) / 6))
    angles = [math.radians(start + (end - start) * step / steps) for step in range(steps + 1)]
    return [(x + rx * math.cos(angle), y + ry * math.sin(angle)) for angle in angles]


def curve(a: Point, b: Point, c: Point, d: Point, steps: int = 16) -> list[Point]:
    """A Bézier curve from a to d, pulled towards b and c."""
    points = []
    for step in range(steps + 1):
        t = step / steps
        s = 1 - t
        weights = (s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t)
        points.append((_blend(weights, (a[0], b[0], c[0], d[0])), _blend(weights, (a[1], b[1], c[1], d[1]))))
    return points


def smooth(corners: Sequence[Point], steps: int = 8) -> list[Point]:
    """A closed curve through all the corners (Catmull-Rom)."""
    count, points = len(corners), []
    for i in range(count):
        a, b, c, d = (corners[(i + offset) % count] for offset in (-1, 0, 1, 2))
        one = (b[0] + (c[0] - a[0]) / 6, b[1] + (c[1] - a[1]) / 6)
        two = (c[0] - (d[0] - b[0]) / 6, c[1] - (d[1] - b[1]) / 6)
        points += curve(b, one, two, c, steps)[:-1]
    return points


def both_sides(right: Sequence[Point]) -> list[Point]:
    """A symmetric outline from its right half, given from bottom to top."""
    return [*right, *((-x, y) for x, y in reversed(right) if x != 0.0)]


def turned(points: Sequence[Point], degrees: float, x: float = 0.0, y: float = 0.0) -> list[Point]:
    """The points turned about the origin and then moved to (x, y)."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [(x + px * cos - py * sin, y + px * sin + py * cos) for px, py in points]


def _blend(weights: Sequence[float], values: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, values, strict=True))
