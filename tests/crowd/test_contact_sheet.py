"""The contact sheet shows what was chosen, and says what is said of it without a formula."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from handful import Preferences, Study
from handful.crowd.collection import Collection
from handful.crowd.intake import ingest
from handful.crowd.outputs import contact_sheet, result_sheet
from handful.results import CUT_SHORT, NO_WINS, Believed, PickStatement, Wins
from tests.crowd.pictures import folder_of


def opened(png: bytes) -> Image.Image:
    with Image.open(BytesIO(png)) as picture:
        picture.load()
        return picture


@pytest.mark.parametrize("number", [1, 2, 3, 4, 6, 8])
def test_the_sheet_grows_with_the_number_of_picks(collection: Collection, number: int) -> None:
    picture = opened(contact_sheet(collection, collection.ids[:number], "A theme", "A note."))
    columns = {1: 1, 2: 2, 4: 2}.get(number, 3)
    assert picture.width == 2 * 56 + columns * 560 + (columns - 1) * 28
    assert picture.height > 420 * -(-number // columns)


def test_the_pictures_are_on_it_in_order(collection: Collection) -> None:
    one, other = (
        opened(contact_sheet(collection, ids, "A", "")) for ids in (collection.ids[:2], collection.ids[1::-1])
    )
    left, right = (300, 400), (888, 400)
    assert one.getpixel(left) == other.getpixel(right) != one.getpixel(right)


def test_long_texts_and_titles_stay_on_the_sheet(tmp_path: Path) -> None:
    table = tmp_path / "texts.csv"
    table.write_text("text,caption\n" + "".join(f"{'word ' * 900}{n},{'caption ' * 30}\n" for n in range(3)))
    texts = ingest(table, tmp_path / "items")
    picks = Study(texts.ids, 3, feedback=Preferences(), budget=12).run(lambda q: q.item < q.rival).picks
    assert max(len(" ".join(pick.sentences(texts.name_of))) for pick in picks) > 250
    picture = opened(contact_sheet(texts, [pick.item for pick in picks], "title " * 60, "note " * 300, picks))
    paper = picture.getpixel((2, 2))
    edges = [(x, y) for x in range(0, picture.width, 3) for y in (3, picture.height - 3)]
    edges += [(x, y) for y in range(0, picture.height, 3) for x in (3, picture.width - 3)]
    assert {picture.getpixel(at) for at in edges} == {paper}


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything that is written on a sheet, line by line."""
    written: list[str] = []
    write = ImageDraw.ImageDraw.text

    def note(pen: Any, at: Any, text: str, *rest: Any, **more: Any) -> None:
        written.append(text)
        write(pen, at, text, *rest, **more)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", note)
    return written


def test_the_sheet_names_every_picture_and_no_two_names_look_alike(tmp_path: Path, written: list[str]) -> None:
    photos = folder_of(4, tmp_path / "photos")
    for number, path in enumerate(sorted(photos.iterdir())):
        path.rename(photos / (f"{'holiday in the south ' * 5}{number}.jpg" if number < 3 else "boat.jpg"))
    collection = ingest(photos, tmp_path / "items")
    contact_sheet(collection, collection.ids, "A theme")
    assert written[2::2] == [
        "boat",
        *(f"holiday in the south holiday in … in the south {number}" for number in range(3)),
    ]


@pytest.mark.parametrize("alike", [False, True])
def test_what_is_said_of_a_pick_is_whole_also_where_captions_are_long(
    tmp_path: Path, written: list[str], alike: bool
) -> None:
    photos, long = (
        folder_of(4, tmp_path / "photos"),
        "Santa Maria della Salute seen from the bridge of the Academy on a windy morning",
    )
    lines = [f"photo {n}.jpg,{long if alike else f'{long} in {n} May'}\n" for n in range(4)]
    (photos / "table.csv").write_text("image,caption\n" + "".join(lines))
    collection = ingest(photos / "table.csv", tmp_path / "items")
    first, *rest = collection.ids
    believed = Believed(0.61, 3, 202, (rest[1], rest[2]))
    for basis in ("answers", "cut short"):
        pick = PickStatement(first, basis, Wins(12, 20), NO_WINS, rest[0], Wins(9, 14), True, believed)  # type: ignore[arg-type]
        contact_sheet(collection, [first], "A theme", picks=[pick])
        said = re.sub(r"\s+", " ", " ".join(written))
        near = [r"Santa Maria … \(photo \d.jpg\)" if alike else r"Santa … morning in \d May"] * 3
        assert re.search(f"near-tie with {near[0]} and {near[1]}\\.", said)
        assert re.search(rf"Seen beside the runner-up, {near[2]}, it was preferred 9 of 14 times\.", said)
        assert (CUT_SHORT in said) == (basis == "cut short")
        written.clear()


def test_the_sheet_of_a_result_says_how_often_each_pick_won_and_no_formula(
    collection: Collection, written: list[str]
) -> None:
    study = Study(collection.ids, 3, feedback=Preferences(options=4), budget=60, seed=1)
    result = study.run(lambda q: min(q.options))
    result_sheet(collection, result, "A theme")
    text = " ".join(written)
    for pick in result.picks:
        assert f"Won {pick.wins.won} of {pick.wins.of} showings." in text
    assert written.count("runner-up") == 3
    assert result.verdict in text
    for symbol in ("f(", "ε", "δ", "≥", "OPT"):
        assert symbol not in text


def test_the_sheet_of_a_study_that_was_closed_in_its_last_round_says_so(
    collection: Collection, written: list[str]
) -> None:
    study = Study(collection.ids, 1, feedback=Preferences(options=4), budget=60, seed=1)
    (q,) = study.ask()
    study.tell(q.id, min(q.options))
    result_sheet(collection, study.finish(), "A theme")
    assert CUT_SHORT in " ".join(written)
