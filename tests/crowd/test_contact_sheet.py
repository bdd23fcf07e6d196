from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from handful.crowd.collection.intake import ingest
from handful.crowd.collection.items import Collection
from handful.crowd.output.contact_sheet import contact_sheet


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
    picture = opened(contact_sheet(texts, texts.ids, "title " * 60, "note " * 300))
    paper = picture.getpixel((2, 2))
    edges = [(x, y) for x in range(0, picture.width, 3) for y in (3, picture.height - 3)]
    edges += [(x, y) for y in range(0, picture.height, 3) for x in (3, picture.width - 3)]
    assert {picture.getpixel(at) for at in edges} == {paper}
