"""From tags to a picture: choose a setting, then put in what it does not show by itself."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from random import Random

from PIL import Image

from handful.lab.postcards.ashore import campo, facade, street
from handful.lab.postcards.boats import gondola, rowing, sail, water_bus
from handful.lab.postcards.human_figures import cloaked, girl, gowned
from handful.lab.postcards.indoors import Backdrop, gallery, portrait, showroom, window_sill
from handful.lab.postcards.masks import bunting, confetti, on_a_stick
from handful.lab.postcards.nave import nave
from handful.lab.postcards.piazza import piazza
from handful.lab.postcards.props import Paint, easel, glassware, lantern, pigeons, stall
from handful.lab.postcards.stage import Room, Spot, Stage
from handful.lab.postcards.water import Motif, afloat
from handful.lab.postcards.waterside import canal, grand_canal, lagoon, rialto_view

WATERY = ("water", "canal", "grandcanal", "gondola", "boat", "bridge", "ponte", "rialto", "island", "gondolier")
LIGHTS = ("night", "sunset", "blue", "bw", "blackwhite")


def compose(picture: Image.Image, tags: Collection[str], rng: Random) -> None:
    """Fill the picture with a scene in which the tags can be seen."""
    stage = Stage.on(picture, tags, rng)
    if stage.has("murano", "glass"):
        _glass(stage)
    elif stage.has("carnival", "mask", "costume") and not stage.has(*WATERY):
        _masked(stage)
    elif stage.has("art", "painting") and not stage.has(*WATERY, "piazzasanmarco", "street"):
        _pictures(stage)
    else:
        _furnish(stage, _place(stage)(stage))


def _place(stage: Stage) -> Backdrop:
    """The setting that shows the most particular of the tags."""
    if stage.has("rialto"):
        return rialto_view
    if stage.has("piazzasanmarco", "lion", "pigeons"):
        return piazza
    if stage.has("street"):
        return street
    if stage.has("grandcanal"):
        return grand_canal
    if stage.has("canal", "bridge", "ponte"):
        return canal
    if stage.has("water", "gondola", "gondolier", "boat", "island", "murano"):
        return lagoon
    if stage.has("church", "cathedral", "dome", "campanile", "mosaic"):
        return nave if stage.has("mosaic") and _may_go_inside(stage) and stage.rng.random() < 0.6 else campo
    if stage.has("architecture", "palazzo"):
        return facade
    return stage.rng.choice((lagoon, canal, piazza))


def _glass(stage: Stage) -> None:
    """On Murano: a sill with the view behind it, or, when all else is water, the island and its glass in front."""
    if stage.has("art", "painting"):
        _furnish(stage, showroom(stage, _scene(stage, _outside(stage))), without=("art", "painting", *WATERY))
    elif stage.has("glass") or not stage.has("boat", "water", "island"):
        _furnish(stage, window_sill(stage, _scene(stage, _outside(stage))), without=WATERY)
    else:
        _furnish(stage, lagoon(stage))
        for x in (0.1, 0.21, 0.31):
            stage.put(glassware, stage.width * x, 0.04, stage.rng.uniform(0.22, 0.34))


def _outside(stage: Stage) -> frozenset[str]:
    """What is seen through Murano's windows, and painted there: water at least, and something on it."""
    seen = stage.tags & {*WATERY, *LIGHTS, "church", "campanile"}
    if seen & {"boat", "gondola", "canal", "grandcanal"}:
        return seen | {"water"}
    return seen | {"water", "murano", stage.rng.choice(("boat", "gondola"))}


def _masked(stage: Stage) -> None:
    """A face close by, or whole figures where the place matters."""
    placed = stage.has("piazzasanmarco", "street", "church", "architecture")
    if placed and stage.has("costume", "carnival") and stage.rng.random() < 0.5:
        _furnish(stage, _place(stage)(stage))
        return
    if stage.has("art", "painting") and not stage.has("carnival", "architecture"):
        _furnish(
            stage, gallery(stage, _scene(stage, stage.tags & {"mask", *LIGHTS})), without=("art", "painting", "mask")
        )
        return
    room = portrait(stage, _place(stage) if placed else lagoon if stage.has("night", "sunset") else None)
    _furnish(stage, room, without=("carnival", "costume", "mask", "girl"))


def _pictures(stage: Stage) -> None:
    """Art: on a gallery's wall, in a church, or being made before it."""
    subject = stage.tags & {"church", "cathedral", "dome", "campanile", "architecture"}
    chance = stage.rng.random()
    if _may_go_inside(stage) and chance < 0.35:
        _furnish(stage, nave(stage), without=("art", "painting"))
        return
    if subject and chance < 0.65:
        _furnish(stage, _place(stage)(stage))
        return
    inside = (subject or frozenset({stage.rng.choice(("gondola", "canal", "grandcanal", "boat"))})) | (
        stage.tags & {*LIGHTS}
    )
    _furnish(stage, gallery(stage, _scene(stage, inside)), without=("art", "painting"))


def _may_go_inside(stage: Stage) -> bool:
    """Into a church, unless the tags speak of what is seen from outside."""
    return stage.has("church", "cathedral", "mosaic") and not stage.has("night", "sunset", "dome", "campanile")


def _furnish(stage: Stage, room: Room, without: Collection[str] = ()) -> None:
    """Add the boats, people and things that the tags still ask for, each in a free spot."""
    wanted = stage.tags.difference(without)
    water, ground = list(room.water), list(room.ground)
    if water:
        _launch(stage, wanted, water)
    if "carnival" in wanted:
        bunting(stage.pen, stage.palette, stage.rng, 0, stage.width, stage.rng.uniform(0.9, 0.98))
    if "market" in wanted and ground:
        x, y, _ = ground.pop()
        stage.put(stall, x, y, 0.3)
    if wanted & {"art", "painting"} and ground:
        x, y, scale = ground.pop(0)
        seen = (stage.tags & {*WATERY, *LIGHTS, "church", "dome", "campanile", "piazzasanmarco"}) or frozenset(
            {"gondola"}
        )
        easel(stage.pen.at(x, y, scale * 1.02), stage.palette, stage.rng, _scene(stage, seen))
    if wanted & {"carnival", "costume"} and ground:
        _parade(stage, ground)
    if "girl" in wanted and ground:
        x, y, scale = ground.pop(0)
        stage.put(girl, x, y, scale, flip=stage.rng.random() < 0.5)
    if wanted & {"lantern"} and ground:
        x, y, scale = ground.pop()
        stage.put(lantern, x, y, scale * 1.15)
    if "pigeons" in wanted:
        pigeons(stage.pen, stage.palette, stage.rng, stage.width * 0.15, 0.09, stage.width * 0.7)
    if "mask" in wanted and not wanted & {"carnival", "costume"}:
        corner = stage.rng.choice((0.2, 0.8))
        stage.put(on_a_stick, stage.width * corner, 0.03, 0.34, flip=corner < 0.5)
    if "carnival" in wanted:
        confetti(stage.pen, stage.palette, stage.rng, 50)


def _launch(stage: Stage, wanted: Collection[str], spots: list[Spot]) -> None:
    """Boats, the farthest first."""
    fleet: list[tuple[Motif, float]] = []
    if "gondola" in wanted or "gondolier" in wanted:
        fleet.append((partial(gondola, manned="gondolier" in wanted or stage.rng.random() < 0.7), 1.0))
    if "boat" in wanted:
        kind = stage.rng.choice(
            (sail, water_bus) if "grandcanal" in wanted or "water" in wanted else (sail, rowing, rowing)
        )
        fleet.append((kind, 0.72 if kind is sail else 0.9))
    if "gondola" in wanted and len(fleet) < 2 and stage.rng.random() < 0.5:
        fleet.append((gondola, 1.0))
    placed = [(motif, share, spot) for (motif, share), spot in zip(fleet, spots, strict=False)]
    for motif, share, (x, y, scale) in sorted(placed, key=lambda entry: -entry[2][1]):
        afloat(stage.pen, stage.palette, stage.stand(motif, x, y, scale * share, flip=stage.rng.random() < 0.5))


def _parade(stage: Stage, ground: list[Spot]) -> None:
    """One or two in costume."""
    for motif in stage.rng.sample((cloaked, gowned), 2)[: 1 if "girl" in stage.tags else 2]:
        if ground:
            x, y, scale = ground.pop(0)
            stage.put(motif, x, y, scale, flip=stage.rng.random() < 0.5)


def _scene(stage: Stage, tags: Collection[str]) -> Paint:
    """A picture within the picture."""
    chance = Random(stage.rng.random())

    def paint(picture: Image.Image) -> None:
        inner = Stage.on(picture, tags, chance)
        if inner.has("mask"):
            portrait(inner, None)
        else:
            _furnish(inner, _place(inner)(inner))

    return paint
