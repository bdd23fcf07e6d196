"""Items have short names, and no two of them look alike."""

from __future__ import annotations

from pathlib import Path

from handful.crowd.collection import Collection, Item, cut_apart, told_apart
from handful.crowd.intake import ingest
from tests.crowd.pictures import folder_of


def cut(*texts: str, most: int = 24) -> list[str]:
    shown = cut_apart(texts, lambda text: len(text) <= most)
    assert all(len(one) <= most for one in shown)
    return shown


def test_names_that_fit_stay_and_others_are_cut_at_a_word() -> None:
    assert cut("short", "a name that is much too long for that") == ["short", "a name that is much …"]


def test_names_that_begin_alike_are_shown_from_where_they_differ() -> None:
    beginning = "the harbour of the old town "
    assert cut(f"{beginning}in winter", f"{beginning}in summer") == ["… town in winter", "… town in summer"]
    assert cut("x" * 60 + "1.jpg", "x" * 60 + "2.jpg") == ["… xxxxxxx1.jpg", "… xxxxxxx2.jpg"]
    assert len(set(cut(beginning * 3, beginning * 3 + "today"))) == 2, "also where one is the other's beginning"


def test_of_names_that_begin_alike_the_beginning_is_shown_where_there_is_room() -> None:
    same = "Santa Maria della Salute seen from the bridge "
    assert cut(f"{same}(a.jpg)", f"{same}(b.jpg)") == ["Santa … bridge (a.jpg)", "Santa … bridge (b.jpg)"]
    assert cut(f"{same}(venice-10.jpg)", f"{same}(venice-11.jpg)", most=30) == [
        "Santa Maria … (venice-10.jpg)",
        "Santa Maria … (venice-11.jpg)",
    ]
    assert cut(f"{same}(a.jpg)", f"{same}(b.jpg)", most=20)[0] == "… bridge (a.jpg)"


def test_no_two_items_of_a_collection_are_called_the_same(tmp_path: Path) -> None:
    same = "The city is read by walking through it, and "
    items = (
        Item("row 2", "text", text=f"{same}by boat."),
        Item("row 3", "text", text=f"{same}by night."),
        Item("row 4", "text", text="A short one."),
        Item("row 5", "text", text="A short one."),
        Item("2019/harbour.jpg", "picture", picture="a"),
        Item("2020/harbour.jpg", "picture", picture="b"),
        Item("boat.jpg", "picture", picture="c", caption="A boat"),
    )
    collection = Collection(tmp_path, items)
    assert [collection.name_of(item.id) for item in items] == [
        "“The city is read by … and by boat.”",
        "“The city is read by … and by night.”",
        "“A short one.” (row 4)",
        "“A short one.” (row 5)",
        "harbour (2019/harbour.jpg)",
        "harbour (2020/harbour.jpg)",
        "A boat",
    ]


def test_a_photo_is_called_by_its_file(tmp_path: Path) -> None:
    collection = ingest(folder_of(2, tmp_path / "photos"), tmp_path / "items")
    assert [collection.name_of(id_) for id_ in collection.ids] == [Path(id_).stem for id_ in collection.ids]


def test_a_name_with_an_id_is_not_the_name_of_another() -> None:
    told = told_apart({"1": "X", "2": "X", "3": "X (1)"})
    assert len(set(told.values())) == 3
    assert told["2"] == "X (2)"
