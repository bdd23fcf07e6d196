"""What a page is told of an item."""

from __future__ import annotations

import pytest

from handful.crowd.cards import item_card
from handful.crowd.collection import Item


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("IMG_2031.JPG", "Picture IMG 2031"),
        ("holiday/2019/san-marco__at.night.jpeg", "Picture san marco at night"),
        ("Campanile à l'aube.webp", "Picture Campanile à l aube"),
        ("鳥.png", "Picture 鳥"),
        ("___.png", "Picture"),
        ("x" * 150 + ".png", "Picture " + "x" * 60),
    ],
)
def test_a_picture_without_a_description_is_called_by_its_name_as_one_would_say_it(name: str, said: str) -> None:
    assert item_card(Item(name, "picture", picture="a")).alt == said


def test_a_name_is_introduced_in_the_language_of_the_page() -> None:
    said = {code: item_card(Item("venice.jpg", "picture", picture="a"), code).alt for code in ("en", "de", "ja", "ar")}
    assert said == {"en": "Picture venice", "de": "Bild venice", "ja": "画像 venice", "ar": "صورة venice"}


def test_a_description_comes_before_a_caption_and_a_caption_before_a_name() -> None:
    assert item_card(Item("a.jpg", "picture", caption="Rialto", alt="A bridge", picture="a")).alt == "A bridge"
    assert item_card(Item("a.jpg", "picture", caption="Rialto", picture="a")).alt == "Rialto"


def test_nothing_of_where_a_file_was_is_told() -> None:
    told = item_card(Item("home/ann/secret project/a.jpg", "picture", picture="f00")).model_dump_json()
    assert not any(word in told for word in ("home", "ann", "secret", ".jpg"))
