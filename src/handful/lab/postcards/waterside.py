"""Settings with water: a narrow canal, the Grand Canal, the Rialto, the lagoon."""

from __future__ import annotations

from functools import partial
from random import Random

from handful.lab.postcards.boats import piles, pole
from handful.lab.postcards.bridges import humpback, rialto, sighs
from handful.lab.postcards.buildings import palazzo
from handful.lab.postcards.churches import basilica, campanile, domed, gothic, temple
from handful.lab.postcards.palette import Palette
from handful.lab.postcards.pen import Pen, mix, sheer
from handful.lab.postcards.sky import sky, skyline
from handful.lab.postcards.stage import Room, Stage
from handful.lab.postcards.water import Motif, Standing, flood

SACRED = ("church", "cathedral", "dome", "campanile", "mosaic")

QUAY = 0.115
"""How far up the quay in the foreground reaches."""


def canal(stage: Stage) -> Room:
    """Houses on both sides like the wings of a theatre, a bridge between them."""
    horizon, width, rng = 0.42, stage.width, stage.rng
    sky(stage.pen, stage.palette, rng, horizon)
    skyline(stage.pen, stage.palette, rng, horizon)
    middle = rng.uniform(0.44, 0.56) * width
    standing: list[Standing] = []
    if stage.has(*SACRED):
        standing.append(stage.stand(a_church(stage), middle, horizon - 0.01, 0.4))
    for y, opening, tall, scale in ((0.40, 0.42, 0.25, 0.75), (0.33, 0.56, 0.40, 1.0), (0.21, 0.84, 0.72, 1.5)):
        standing += _wings(stage, middle, opening * width / 2, y, tall, scale)
        if scale == 1.0:
            standing += _bridge(stage, middle, opening * width, y)
    flood(stage.pen, stage.palette, rng, horizon, standing)
    return _with_quay(stage, [(middle, 0.215, 0.44), (middle + 0.16, 0.3, 0.24), (middle - 0.2, 0.12, 0.4)])


def grand_canal(stage: Stage) -> Room:
    """Palaces along broad water, a dome at the end."""
    horizon, width, rng = 0.40, stage.width, stage.rng
    sky(stage.pen, stage.palette, rng, horizon)
    skyline(stage.pen, stage.palette, rng, horizon)
    side = 1 if rng.random() < 0.5 else -1
    standing = []
    if stage.has(*SACRED) or rng.random() < 0.5:
        x = width * (0.5 + side * 0.27)
        standing.append(stage.stand(a_church(stage), x, horizon - 0.01, rng.uniform(0.42, 0.5)))
    x, step = 0.0, 0
    while x < width * 0.78:
        wide = rng.uniform(0.16, 0.25) * (1.0 - 0.08 * step)
        tall, foot = rng.uniform(0.36, 0.5) * (1.0 - 0.11 * step), horizon - 0.07 + 0.014 * step
        house = partial(palazzo, wide=wide, tall=tall, fine=step < 2 or stage.has("architecture", "palazzo"))
        standing.append(stage.stand(house, x if side > 0 else width - x, foot, flip=side < 0))
        x, step = x + wide, step + 1
    standing.reverse()
    flood(stage.pen, stage.palette, rng, horizon, standing)
    _poles(stage, 0.08 * width if side > 0 else 0.92 * width, 0.24)
    return _with_quay(
        stage,
        [(width * (0.5 + side * 0.1), 0.185, 0.4), (width * (0.5 + side * 0.3), 0.3, 0.22), (width * 0.3, 0.13, 0.36)],
    )


def rialto_view(stage: Stage) -> Room:
    """The great bridge from the water, palaces at both ends."""
    horizon, width, rng = 0.40, stage.width, stage.rng
    sky(stage.pen, stage.palette, rng, horizon)
    skyline(stage.pen, stage.palette, rng, horizon)
    middle = width * rng.uniform(0.46, 0.54)
    standing = []
    if stage.has(*SACRED):
        standing.append(stage.stand(a_church(stage), middle + 0.2, horizon, 0.52))
    standing += _wings(stage, middle, width * 0.22, 0.385, 0.17, 0.7)
    standing += _wings(stage, middle, width * 0.40, 0.34, rng.uniform(0.42, 0.5), 1.05)
    standing.append(stage.stand(rialto, middle, 0.315, width * rng.uniform(0.86, 0.94)))
    standing += _wings(stage, middle, width * 0.455, 0.27, rng.uniform(0.5, 0.62), 1.2)
    flood(stage.pen, stage.palette, rng, horizon, standing)
    _poles(stage, width * rng.choice((0.1, 0.88)), 0.2)
    return _with_quay(stage, [(middle + 0.08, 0.2, 0.42), (middle - 0.2, 0.27, 0.24), (middle - 0.3, 0.13, 0.36)])


def lagoon(stage: Stage) -> Room:
    """Much sky, much water, an island or the city between them."""
    width, rng = stage.width, stage.rng
    horizon = rng.uniform(0.36, 0.46)
    sky(stage.pen, stage.palette, rng, horizon)
    skyline(stage.pen, stage.palette, rng, horizon)
    side = rng.choice((0.28, 0.7))
    standing = []
    if stage.has("murano"):
        standing += [stage.stand(_lighthouse, width * (side + 0.17), horizon - 0.015, 0.36)]
    if stage.has("murano", "palazzo") or (stage.has("island") and not stage.has(*SACRED)):
        standing += _cottages(stage, width * (side - 0.2), horizon - 0.02, 5)
    if stage.has(*SACRED):
        away = 0.52 if standing and side < 0.5 else -0.52 if standing else 0.0
        standing += [stage.stand(a_church(stage), width * (side + away), horizon - 0.015, rng.uniform(0.38, 0.46))]
    elif stage.has("island"):
        standing += [stage.stand(campanile, width * (side + 0.05), horizon - 0.015, 0.3)]
    elif not standing:
        standing += [stage.stand(a_church(stage), width * side, horizon - 0.015, rng.uniform(0.4, 0.5))]
    flood(stage.pen, stage.palette, rng, horizon, standing)
    for i in range(rng.randint(2, 3)):
        afar = stage.stand(piles, width * ((1 - side) + 0.13 * i - 0.1), horizon - 0.06 - 0.035 * i, 0.12 + 0.03 * i)
        afar.reflected(stage.pen, stage.palette)
        afar.upright(stage.pen, stage.palette)
    return _with_quay(
        stage,
        [(width * (1.02 - side), 0.2, 0.5), (width * (side + 0.05), horizon - 0.11, 0.26), (width * side, 0.14, 0.38)],
    )


def a_church(stage: Stage) -> Motif:
    """One that fits the tags."""
    if stage.has("mosaic"):
        return _with_tower(basilica) if stage.has("campanile") else basilica
    if stage.has("dome"):
        return _with_tower(domed) if stage.has("campanile") else domed
    if stage.has("campanile"):
        return stage.rng.choice((temple, gothic))
    return stage.rng.choice((domed, temple, gothic))


def _with_tower(church: Motif) -> Motif:
    def motif(pen: Pen, palette: Palette, rng: Random) -> None:
        campanile(pen.at(-0.45, 0, 1.12), palette, rng)
        church(pen, palette, rng)

    return motif


def quay(stage: Stage) -> None:
    """A strip of paving along the bottom, to stand on."""
    pen, palette, width = stage.pen, stage.palette, stage.width
    pen.rect(0, 0, width, QUAY, palette.shade)
    pen.rect(0, QUAY - 0.02, width, QUAY, palette.stone)
    pen.rect(0, QUAY - 0.034, width, QUAY - 0.02, mix(palette.shade, palette.ink, 0.25))
    for i in range(-6, 16):
        x = width * i / 9
        pen.line([(x, QUAY - 0.034), (width / 2 + (x - width / 2) * 1.5, 0)], sheer(palette.ink, 0.2), 0.003)
    pen.line([(0, 0.045), (width, 0.045)], sheer(palette.ink, 0.2), 0.003)


def _with_quay(stage: Stage, water: list[tuple[float, float, float]]) -> Room:
    """Only where somebody needs it."""
    if not stage.has(
        "girl", "carnival", "costume", "art", "painting", "pigeons", "lantern", "market", "street", "lion", "murano"
    ):
        return Room(water=tuple(water))
    quay(stage)
    raised = tuple((x, max(y, QUAY + 0.07), scale) for x, y, scale in water)
    order = stage.rng.sample((0.16, 0.84, 0.34, 0.66), 4)
    return Room(raised, tuple((x * stage.width, 0.05, 0.42) for x in order))


def _wings(stage: Stage, middle: float, half: float, y: float, tall: float, scale: float) -> list[Standing]:
    """A house on each side, its inner edge `half` from the middle."""
    pair, fine = [], stage.has("architecture", "palazzo")
    for edge, flip in ((middle - half, False), (middle + half, True)):
        outside = -0.08 if not flip else stage.width + 0.08
        wide = max(0.1, abs(edge - outside)) / scale
        house = partial(palazzo, wide=wide, tall=tall * stage.rng.uniform(0.88, 1.08) / scale, fine=fine)
        pair.append(stage.stand(house, edge - wide * scale if not flip else edge + wide * scale, y, scale, flip=flip))
    return pair


def _bridge(stage: Stage, middle: float, gap: float, y: float) -> list[Standing]:
    if stage.has("ponte") and not stage.has("bridge"):
        return [stage.stand(sighs, middle, y + 0.1, gap * 1.06)]
    if stage.has("bridge", "ponte") or stage.rng.random() < 0.25:
        return [stage.stand(humpback, middle, y - 0.01, gap * 1.16)]
    return []


def _poles(stage: Stage, x: float, y: float) -> None:
    for i in range(3):
        one = stage.stand(pole, x + (i - 1) * 0.055, y - 0.02 * (i % 2), stage.rng.uniform(0.2, 0.26))
        one.reflected(stage.pen, stage.palette)
        one.upright(stage.pen, stage.palette)


def _cottages(stage: Stage, x: float, y: float, count: int) -> list[Standing]:
    row = []
    for _ in range(count):
        wide, tall = stage.rng.uniform(0.06, 0.085), stage.rng.uniform(0.075, 0.11)
        row.append(stage.stand(partial(palazzo, wide=wide / 0.5, tall=tall / 0.5), x, y, 0.5))
        x += wide
    return row


def _lighthouse(pen: Pen, palette: Palette, rng: Random) -> None:
    """Murano's, white with a dark band."""
    pen.poly([(-0.085, 0), (0.085, 0), (0.06, 0.8), (-0.06, 0.8)], palette.stone)
    pen.poly([(-0.076, 0.3), (0.076, 0.3), (0.067, 0.52), (-0.067, 0.52)], palette.ink)
    pen.poly([(0.03, 0), (0.085, 0), (0.06, 0.8), (0.025, 0.8)], sheer(palette.ink, 0.15))
    pen.rect(-0.08, 0.8, 0.08, 0.83, palette.ink)
    pen.rect(-0.045, 0.83, 0.045, 0.92, palette.glow)
    pen.dome(0, 0.92, 0.055, 0.06, palette.ink)
