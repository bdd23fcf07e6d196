"""What `handful serve` deletes again when it is refused, and what it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from handful.cli.crowd import LEFT_OUT, collection_of, leaving_nothing_if_refused
from handful.crowd.drafts import Drafts
from handful.crowd.messages import DraftSettings
from handful.crowd.registry import items_folder
from handful.errors import InvalidProblem, StorageLocked
from tests.crowd.pictures import folder_of


@pytest.mark.parametrize(
    ("error", "stays"), [(KeyboardInterrupt, True), (StorageLocked, True), (InvalidProblem, False)]
)
def test_items_are_deleted_on_a_refusal_only(tmp_path: Path, error: type[BaseException], stays: bool) -> None:
    folder = items_folder(str(tmp_path / "a.db"))
    with pytest.raises(error), leaving_nothing_if_refused(str(tmp_path / "a.db")):  # noqa: PT012
        folder.mkdir()
        raise error
    assert folder.exists() is stays


def test_drafts_that_another_server_began_meanwhile_stay(tmp_path: Path) -> None:
    storage = str(tmp_path / "a.db")
    with pytest.raises(InvalidProblem), leaving_nothing_if_refused(storage):  # noqa: PT012
        Drafts(items_folder(storage)).new(DraftSettings(), 0.0)
        raise InvalidProblem("refused")
    assert len(list(Drafts(items_folder(storage)))) == 1


def test_hidden_files_are_named_in_one_line_and_all_in_a_file_where_they_are_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = folder_of(2, tmp_path / "photos")
    (photos / ".hidden.jpg").touch()
    collection_of(photos, str(tmp_path / "few.db"))
    assert "left out: 1 hidden or system file was passed over: .hidden.jpg\n" in capsys.readouterr().out
    assert not (items_folder(str(tmp_path / "few.db")) / LEFT_OUT).exists()
    for number in range(100):
        (photos / f"._photo {number}.jpg").touch()
    collection_of(photos, str(tmp_path / "many.db"))
    said = capsys.readouterr().out
    assert "left out: 101 hidden or system files were passed over: ._photo 0.jpg, ._photo 1.jpg" in said
    assert "._photo 99.jpg" not in said
    assert "all are named in" in said
    assert "._photo 99.jpg, .hidden.jpg\n" in (items_folder(str(tmp_path / "many.db")) / LEFT_OUT).read_text()
