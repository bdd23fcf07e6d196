"""`handful recover`, as somebody meets it whose database came back older."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.errors import StorageBehind
from handful.storage import backup
from tests.cli.test_studies import Handful, handful

__all__ = ["handful"]


@pytest.fixture
def older(handful: Handful, tmp_path: Path) -> Path:
    """photos.db lost its latest answers; newer.db has them."""
    with Study(range(10), 2, feedback=Preferences(), budget=60, storage="photos.db", name="photos") as study:
        for number in range(40):
            if number == 20:
                backup("photos.db", "older.db")
            (question,) = study.ask()
            study.tell(question.id, question.item > question.rival)
        backup("photos.db", "newer.db")
    shutil.copy("older.db", "photos.db")
    return tmp_path / "photos.db"


def answers_in(path: str, name: str = "photos") -> int:
    return Study.open(path, name, read_only=True).status().answers


def test_a_study_that_came_back_older_stops_with_a_sentence(handful: Handful, older: Path) -> None:
    before = older.read_bytes()
    with pytest.raises(StorageBehind, match="handful recover"):
        Study.open("photos.db", "photos")
    said = handful("status", "photos", "-s", "photos.db")
    assert said.code == 3
    assert "older copy" in said.err
    said = handful("recover", "photos", "-s", "photos.db", "--other", "newer.db")
    assert said.code == 1
    assert "missing: records 41 to 81" in said.out
    assert "it holds the record that was noted last" in said.out
    assert "the first 41 records are the same; after them 0 only here, 41 only there" in said.out
    assert older.read_bytes() == before


def test_the_newer_copy_goes_on_if_that_is_said(handful: Handful, older: Path) -> None:
    said = handful("recover", "photos", "-s", "photos.db", "--other", "newer.db", "--keep", "other")
    assert said.code == 0
    assert "photos goes on with 82 records" in said.out
    assert answers_in("photos.db") == 40
    assert handful("replay", "photos", "-s", "photos.db", "--check").code == 0
    notes = [event for _, event in Study.open("photos.db", "photos", read_only=True).journal() if event.kind == "noted"]
    assert [note.topic for note in notes] == ["recovered"]
    assert handful("recover", "photos", "-s", "photos.db").code == 0


def test_the_older_one_goes_on_if_that_is_said_and_the_newer_is_kept(handful: Handful, older: Path) -> None:
    said = handful("recover", "photos", "-s", "photos.db", "--other", "newer.db", "--keep", "here", "--json")
    assert json.loads(said.out)["noted_records"] == 82
    assert answers_in("photos.db") == 20
    assert answers_in("photos.db", "photos-other-version") == 40


def test_a_name_that_no_study_has_is_refused(handful: Handful, older: Path) -> None:
    said = handful("recover", "fotos", "-s", "photos.db")
    assert said.code == 2
    assert "has no study 'fotos'" in said.err


def test_a_choice_that_cannot_be_followed_is_refused(handful: Handful, older: Path) -> None:
    said = handful("recover", "photos", "-s", "photos.db", "--keep", "other")
    assert said.code == 2
    assert "needs --other" in said.err


def test_a_copy_without_its_noted_end_says_so_in_the_terminal(handful: Handful, older: Path) -> None:
    said = handful("recover", "photos", "-s", "older.db", "--keep", "here")
    assert said.code == 0
    assert "so whether more was stored cannot be told" in said.out
