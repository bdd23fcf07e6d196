"""Who chooses alone keeps what was chosen, as files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from handful.crowd.outputs import picks_folder, write_picks
from handful.crowd.registry import Registry, solo_study
from tests.crowd.pictures import folder_of
from tests.crowd.test_solo import chosen_from


def put_picks(registry: Registry, source: Path, folder: Path) -> Path:
    hosted = solo_study(registry)
    return write_picks(hosted.collection, hosted.study.result(), hosted.theme, (source,), folder)


def picked(source: Path, tmp_path: Path) -> list[Path]:
    registry = chosen_from(source, tmp_path / "a.db")
    folder = put_picks(registry, source, tmp_path / "best")
    registry.close()
    return sorted(folder.iterdir())


def test_the_picks_are_the_files_of_the_folder(tmp_path: Path) -> None:
    folder = folder_of(4, tmp_path / "photos")
    one, two, sheet, words = picked(folder, tmp_path)
    assert words.name == "result.txt"
    assert "Won " in words.read_text()
    assert sheet.name == "contact-sheet.png"
    assert one.name.startswith("1-photo")
    assert two.read_bytes() == (folder / two.name.removeprefix("2-")).read_bytes()


def test_the_picks_are_the_files_of_the_zip(tmp_path: Path) -> None:
    folder = folder_of(4, tmp_path / "photos")
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"2019/{path.name}")
    one = picked(tmp_path / "photos.zip", tmp_path)[0]
    assert one.read_bytes() == (folder / one.name.removeprefix("1-")).read_bytes()


def test_the_picks_are_the_files_that_the_csv_names(tmp_path: Path) -> None:
    folder = folder_of(4, tmp_path / "photos")
    (tmp_path / "photos.csv").write_text("image\n" + "".join(f"photos/{path.name}\n" for path in folder.iterdir()))
    one = picked(tmp_path / "photos.csv", tmp_path)[0]
    assert one.read_bytes() == (folder / one.name.removeprefix("1-")).read_bytes()


def test_files_are_found_where_two_items_had_one_name(tmp_path: Path) -> None:
    folder = folder_of(4, tmp_path / "photos")
    rows = "".join(f"same,photos/{path.name}\n" for path in sorted(folder.iterdir()))
    (tmp_path / "photos.csv").write_text("id,image\n" + rows)
    one, two, *_ = picked(tmp_path / "photos.csv", tmp_path)
    assert {path.suffix for path in (one, two)} == {".jpg"}
    assert one.name.startswith("1-same")
    originals = {path.read_bytes() for path in folder.iterdir()}
    assert len({one.read_bytes(), two.read_bytes()} & originals) == 2


def test_a_file_that_was_changed_since_is_not_given_as_the_original(tmp_path: Path) -> None:
    folder = folder_of(4, tmp_path / "photos")
    registry = chosen_from(folder, tmp_path / "a.db")
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes() + b" ")
    best = put_picks(registry, folder, tmp_path / "best")
    registry.close()
    assert {path.suffix for path in best.iterdir()} == {".webp", ".png", ".txt"}


def test_where_the_files_are_gone_the_picks_are_as_they_were_shown(tmp_path: Path) -> None:
    folder_of(4, tmp_path / "photos")
    registry = chosen_from(tmp_path / "photos", tmp_path / "a.db")
    folder = put_picks(registry, tmp_path / "a.db", tmp_path / "best")
    registry.close()
    assert {path.suffix for path in folder.iterdir()} == {".webp", ".png", ".txt"}


def test_texts_become_files(tmp_path: Path) -> None:
    (tmp_path / "talks.csv").write_text("text\nOne talk\nAnother talk\nA third\n")
    one = picked(tmp_path / "talks.csv", tmp_path)[0]
    assert one.read_text() in ("One talk\n", "Another talk\n", "A third\n")


def test_nothing_is_ever_put_into_a_folder_that_is_there(tmp_path: Path) -> None:
    registry = chosen_from(folder_of(4, tmp_path / "photos"), tmp_path / "a.db")
    (tmp_path / "best").mkdir()
    assert put_picks(registry, tmp_path / "photos", tmp_path / "best") == tmp_path / "best-2"
    assert list((tmp_path / "best").iterdir()) == []
    registry.close()


def test_the_folder_of_the_picks_is_named_after_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "holiday").mkdir()
    monkeypatch.chdir(tmp_path / "holiday")
    assert picks_folder(Path()) == picks_folder(Path("../holiday/")) == Path("holiday-best")


def test_a_text_that_has_no_name_is_a_file_called_by_how_it_begins(tmp_path: Path) -> None:
    (tmp_path / "sayings.csv").write_text("text\n" + "".join(f"A city is read by walking, {n}!\n" for n in range(4)))
    one, two, *_ = picked(tmp_path / "sayings.csv", tmp_path)
    assert [path.name[:27] for path in (one, two)] == [f"{n}-A city is read by walking" for n in (1, 2)]


def test_the_name_of_a_text_keeps_the_marks_of_its_letters(tmp_path: Path) -> None:
    (tmp_path / "sayings.csv").write_text("text\n" + "".join(f"हिन्दी, {n}\n" for n in range(4)), encoding="utf-8")
    assert picked(tmp_path / "sayings.csv", tmp_path)[0].name.startswith("1-हिन्दी ")
