"""After an older or another version of a study came back: see what is missing, say what goes on, lose nothing."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine

from handful.errors import StorageBehind, StorageError, StorageLocked
from handful.storage import Record, backup, list_studies, open_journal
from handful.storage.recovery import examine, recover
from handful.testing import record, records
from tests.storage.old_format import write_format_1


def stored(url: str | Path, name: str = "a") -> list[Record]:
    with closing(open_journal(url, name, mode="write")) as journal:
        return list(journal.read())


def fill(url: str | Path, first: int, stop: int, payload: object = None) -> None:
    with closing(open_journal(url, "a", mode="write" if first else "create")) as journal:
        journal.append([record(seq, payload) for seq in range(first, stop)]).wait()


def change(url: str, statement: str) -> None:
    with create_engine(url, poolclass=NullPool).begin() as connection:
        connection.exec_driver_sql(statement)


@pytest.fixture
def newer(storage: str, tmp_path: Path) -> Path:
    """A whole copy of a study whose storage then lost records 7 to 9."""
    fill(storage, 0, 10)
    path = backup(storage, tmp_path / "newer.db")
    change(storage, "DELETE FROM events WHERE seq >= 7")
    return path


def test_what_is_missing_is_told_and_nothing_is_written(storage: str, newer: Path) -> None:
    found = examine(storage, "a", newer)
    assert not found.is_well
    assert (found.here.records, found.here.whole, found.here.damage) == (7, 7, None)
    assert found.noted is not None
    assert found.noted.seq == 9
    assert found.other is not None
    assert found.other.holds(found.noted)
    assert (found.other.records, found.common) == (10, 7)
    with pytest.raises(StorageBehind):
        open_journal(storage, "a", mode="write")


def test_what_is_missing_comes_back_from_a_copy(storage: str, newer: Path) -> None:
    done = recover(storage, "a", "other", newer)
    assert (done.records, done.kept_as) == (10, None)
    assert stored(storage) == records(0, 10)
    assert [study.name for study in list_studies(storage)] == ["a"]
    assert examine(storage, "a").is_well


def test_the_study_goes_on_without_what_is_missing_if_that_is_said(storage: str, newer: Path) -> None:
    done = recover(storage, "a", "here")
    assert (done.records, done.kept_as) == (7, None)
    fill(storage, 7, 8)
    assert stored(storage) == records(0, 8)


@pytest.mark.parametrize("keep", ["here", "other"])
def test_the_version_that_does_not_go_on_is_kept_under_a_name_of_its_own(storage: str, newer: Path, keep: str) -> None:
    recover(storage, "a", "here")
    fill(storage, 7, 12, "elsewhere")
    mine, theirs = stored(storage), records(0, 10)
    assert examine(storage, "a", newer).common == 7
    done = recover(storage, "a", "here" if keep == "here" else "other", newer)
    assert done.kept_as == "a-other-version"
    assert stored(storage) == (mine if keep == "here" else theirs)
    assert stored(storage, "a-other-version") == (theirs if keep == "here" else mine)
    assert examine(storage, "a").is_well


def test_a_second_other_version_gets_another_name(storage: str, newer: Path) -> None:
    recover(storage, "a", "here")
    fill(storage, 7, 12, "elsewhere")
    assert recover(storage, "a", "here", newer).kept_as == "a-other-version"
    assert recover(storage, "a", "here", newer).kept_as == "a-other-version-2"


@pytest.mark.parametrize(
    "statement", ["UPDATE events SET kind = 'asked' WHERE seq = 4", "DELETE FROM events WHERE seq = 4"]
)
def test_a_damaged_study_goes_on_from_what_is_whole_and_stays_as_it_was_found(storage: str, statement: str) -> None:
    fill(storage, 0, 10)
    change(storage, statement)
    found = examine(storage, "a")
    assert not found.is_well
    assert found.here.whole == 4
    assert "record 4" in (found.here.damage or "")
    done = recover(storage, "a", "here")
    assert (done.records, done.kept_as) == (4, "a-other-version")
    assert stored(storage) == records(0, 4)
    if "UPDATE" in statement:
        assert [r.kind for r in stored(storage, "a-other-version")] == ["told"] * 4 + ["asked"] + ["told"] * 5
    else:
        summary = {study.name: study.records for study in list_studies(storage)}
        assert summary["a-other-version"] == 10  # up to the last, with the hole


def test_a_damaged_study_is_replaced_by_a_whole_copy(storage: str, tmp_path: Path) -> None:
    fill(storage, 0, 10)
    copy = backup(storage, tmp_path / "copy.db")
    change(storage, "UPDATE events SET kind = 'asked' WHERE seq = 4")
    assert recover(storage, "a", "other", copy).kept_as == "a-other-version"
    assert stored(storage) == records(0, 10)


def test_a_study_that_is_gone_comes_back_from_a_copy_or_is_forgotten(storage: str, tmp_path: Path) -> None:
    fill(storage, 0, 10)
    copy = backup(storage, tmp_path / "copy.db")
    change(storage, "DELETE FROM events")
    assert not examine(storage, "a").is_well
    recover(storage, "a", "other", copy)
    assert stored(storage) == records(0, 10)
    change(storage, "DELETE FROM events")
    assert recover(storage, "a", "here").records == 0
    fill(storage, 0, 2)
    assert stored(storage) == records(0, 2)


def test_a_copy_of_an_older_format_serves_too(storage: str, newer: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    write_format_1(f"sqlite:///{old}", {"a": records(0, 10)})
    recover(storage, "a", "other", old)
    assert stored(storage) == records(0, 10)


def test_nothing_is_recovered_under_the_hands_of_a_writer(storage: str, newer: Path) -> None:
    recover(storage, "a", "here")
    with closing(open_journal(storage, "a", mode="write")), pytest.raises(StorageLocked):
        recover(storage, "a", "other", newer)


def test_a_copy_that_cannot_help_is_refused(storage: str, newer: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="which other version"):
        recover(storage, "a", "other")
    with pytest.raises(StorageError, match="there is no file"):
        examine(storage, "a", tmp_path / "missing.db")
    with closing(open_journal(tmp_path / "b.db", "b")) as journal:
        journal.append(records(0, 1)).wait()
    with pytest.raises(StorageError, match="has no study 'a'"):
        examine(storage, "a", tmp_path / "b.db")
    change(f"sqlite:///{newer}", "UPDATE events SET kind = 'asked' WHERE seq = 4")
    with pytest.raises(StorageError, match="damaged itself"):
        recover(storage, "a", "other", newer)
    assert examine(storage, "a").here.records == 7
