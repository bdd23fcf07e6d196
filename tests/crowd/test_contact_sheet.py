"""The contact sheet shows what was chosen, and says what is said of it without a formula."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from handful import Preferences, Study
from handful.crowd.collection.intake import ingest
from handful.crowd.collection.items import Collection
from handful.crowd.output.contact_sheet import contact_sheet, result_sheet


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


def test_the_sheet_of_a_result_says_how_often_each_pick_won_and_no_formula(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study(collection.ids, 3, feedback=Preferences(options=4), budget=60, seed=1)
    result = study.run(lambda q: min(q.options))
    written: list[str] = []
    write = ImageDraw.ImageDraw.text

    def note(pen: Any, at: Any, text: str, *rest: Any, **more: Any) -> None:
        written.append(text)
        write(pen, at, text, *rest, **more)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", note)
    result_sheet(collection, result, "A theme")
    text = " ".join(written)
    for pick in result.picks:
        assert f"Won {pick.wins.won} of {pick.wins.of} showings." in text
    assert written.count("runner-up") == 3
    assert result.verdict in text
    for symbol in ("f(", "ε", "δ", "≥", "OPT"):
        assert symbol not in text
