from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from random import Random
from time import process_time
from types import FrameType

import numpy as np
import pytest
from PIL import Image as Picture

from handful.errors import InvalidCollection
from handful.lab.collections import Image, load_csv, venice
from handful.lab.postcards import draw, postcard_sheet, write_folder
from tests.pace import slowness

SMALL = (160, 120)
LIGHTS = {"night", "sunset", "blue", "bw", "blackwhite"}
CHURCHES = {"basilica", "domed", "gothic", "temple", "nave"}
MASKED = {"portrait", "cloaked", "gowned"}
SHOWN_BY = {
    "gondola": {"gondola"}, "gondolier": {"gondolier"}, "boat": {"sail", "rowing", "water_bus"}, "water": {"flood"},
    "canal": {"flood"}, "grandcanal": {"grand_canal", "rialto_view", "_molo"}, "island": {"lagoon"},
    "bridge": {"humpback", "rialto", "sighs"}, "ponte": {"humpback", "rialto", "sighs"}, "rialto": {"rialto"},
    "piazzasanmarco": {"piazza"}, "lion": {"lion_column"}, "pigeons": {"pigeons"},
    "street": {"street", "piazza", "quay"},
    "lantern": {"lantern"}, "market": {"stall"}, "murano": {"glassware"}, "glass": {"glassware"},
    "art": {"framed", "easel"}, "painting": {"framed", "easel"}, "girl": {"girl", "lady"}, "carnival": MASKED,
    "costume": MASKED, "mask": {*MASKED, "on_a_stick"}, "architecture": {*CHURCHES, "tracery"},
    "palazzo": {"palazzo", "tracery"}, "church": CHURCHES, "cathedral": CHURCHES, "dome": {"_dome"},
    "campanile": {"campanile"}, "mosaic": {"mosaic", "basilica"},
}  # fmt: skip
"""Which motifs and settings make a tag visible."""


def card(*tags: str, seed: int = 0, size: tuple[int, int] = SMALL) -> Picture.Image:
    return draw(Image("one", tags, 100), seed, size)


def pixels(picture: Picture.Image) -> np.ndarray:
    return np.asarray(picture, dtype=np.float64)


def scene(picture: Picture.Image) -> np.ndarray:
    """Without border and caption."""
    return pixels(picture)[10:100, 12:148]


def difference(one: Picture.Image, other: Picture.Image) -> float:
    return float(np.abs(scene(one) - scene(other)).mean())


def test_the_same_image_and_seed_give_the_same_picture() -> None:
    assert card("gondola", "canal").tobytes() == card("gondola", "canal").tobytes()


def test_another_seed_or_another_image_gives_another_picture() -> None:
    first = card("gondola", "canal")
    assert difference(first, card("gondola", "canal", seed=1)) > 5
    assert difference(first, draw(Image("two", ("gondola", "canal"), 100), 0, SMALL)) > 5


def drawn(image: Image) -> set[str]:
    """The names of all functions that took part in drawing a card."""
    names: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "postcards" in frame.f_code.co_filename:
            names.add(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        draw(image, 0, (96, 72))
    finally:
        sys.setprofile(None)
    return names


@pytest.mark.parametrize("seed", range(3))
def test_every_tag_of_every_card_can_be_seen(seed: int) -> None:
    missing = [
        (image.tags, tag)
        for image in venice(seed).images
        for names in [drawn(image)]
        for tag in image.tags
        if tag not in LIGHTS and not names & SHOWN_BY[tag]
    ]
    assert missing == []


@pytest.mark.parametrize("tag", ["bw", "blackwhite"])
def test_black_and_white_has_no_colour(tag: str) -> None:
    red, green, blue = np.moveaxis(scene(card("carnival", "girl", tag)), 2, 0)
    assert max(np.abs(red - green).max(), np.abs(green - blue).max()) < 12
    assert red.std() > 30


def test_blue_is_blue_and_night_is_dark_and_sunset_is_warm() -> None:
    def colour(tag: str) -> np.ndarray:
        return np.mean([scene(card("canal", tag, seed=seed)).mean(axis=(0, 1)) for seed in range(4)], axis=0)

    red, _, blue = colour("blue")
    assert blue > red + 40
    assert colour("night").mean() < 0.5 * colour("gondola").mean()
    red, _, blue = colour("sunset")
    assert red > blue + 20


@pytest.mark.parametrize("size", [(640, 480), (320, 320), (300, 400), (48, 48)])
def test_a_card_has_the_size_asked_for(size: tuple[int, int]) -> None:
    assert card("rialto", "gondola", size=size).size == size


def test_a_card_too_small_to_draw_is_refused() -> None:
    with pytest.raises(InvalidCollection, match="at least 48"):
        card("rialto", size=(640, 20))


def test_any_tags_at_all_can_be_drawn() -> None:
    rng = Random(0)
    words = [*SHOWN_BY, *sorted(LIGHTS), "unheard-of"]
    pictures = [card(*rng.sample(words, rng.randint(0, 9)), seed=seed) for seed in range(60)]
    assert all(scene(picture).std() > 10 for picture in pictures)


def test_a_folder_holds_a_picture_per_image_and_a_table_that_loads_as_the_collection(tmp_path: Path) -> None:
    collection, told = venice(n=4), []
    paths = write_folder(collection, tmp_path / "cards", lambda done, total: told.append((done, total)))
    assert [path.name for path in paths] == [f"{name}.jpg" for name in collection.ids]
    for path in paths:
        with Picture.open(path) as picture:
            assert (picture.format, picture.size) == ("JPEG", (640, 480))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    loaded = load_csv(tmp_path / "cards" / "tags.csv")
    assert [(image.id, image.tags, image.views) for image in loaded.images] == [
        (image.id, image.tags, image.views) for image in collection.images
    ]


def test_an_id_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("id,tags,views\n../a,sea,10\n")
    with pytest.raises(InvalidCollection, match="use ids without slashes"):
        write_folder(load_csv(path), tmp_path / "cards")


def test_a_collection_has_no_two_cards_alike() -> None:
    cards = {hashlib.sha256(draw(image, 0, SMALL).tobytes()).digest() for image in venice().images}
    assert len(cards) == 60


def test_sixty_cards_take_seconds() -> None:
    start = process_time()
    for image in venice().images[:6]:
        draw(image)
    assert (process_time() - start) * 10 < 15 * slowness()


def test_a_contact_sheet_shows_all_pictures_in_reading_order() -> None:
    inks = ((200, 0, 0), (0, 200, 0), (0, 0, 200), (200, 200, 0))
    sheet = postcard_sheet([Picture.new("RGB", (40, 30), ink) for ink in inks], list("abcd"), 3, "Four", width=600)
    found = {ink: np.argwhere((np.asarray(sheet) == ink).all(axis=2)).mean(axis=0) for ink in inks}
    centres = [found[ink] for ink in inks]
    assert centres[0][1] < centres[1][1] < centres[2][1]
    assert centres[3][0] > centres[0][0] + 100
    assert centres[3][1] == pytest.approx(centres[0][1], abs=3)
    assert sheet.width == 600


def test_a_sheet_of_nothing_or_with_captions_missing_is_refused() -> None:
    picture = Picture.new("RGB", (40, 30))
    with pytest.raises(InvalidCollection, match="at least one"):
        postcard_sheet([])
    with pytest.raises(InvalidCollection, match="1 captions for 2 pictures"):
        postcard_sheet([picture, picture], ["one"])


def test_long_captions_are_cut_at_the_edge_of_their_cell() -> None:
    picture = Picture.new("RGB", (40, 30))
    sheet = postcard_sheet([picture, picture], ["a very long caption indeed " * 5, ""], 2, width=400)
    gutter = np.asarray(sheet)[:, 200:203]
    assert (gutter[-20:] == gutter[0, 0]).all()


def test_without_pillow_the_error_names_the_extra_to_install() -> None:
    program = """
import sys
sys.modules["PIL"] = None
from handful.errors import MissingExtra
try:
    import handful.lab.postcards
except MissingExtra as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "Drawing postcards needs" in said
    assert "handful[lab]" in said
