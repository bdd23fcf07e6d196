"""Storage that is wrong, broken, foreign or newer: a named error that says what to do, and nothing is lost."""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, text

from handful.errors import (
    HandfulError,
    InvalidProblem,
    JournalTooNew,
    MissingExtra,
    StorageCorrupt,
    StorageError,
    StudyExists,
    StudyNotFound,
)
from handful.storage import Mode, backup, list_studies, open_journal, probe
from handful.testing import record, records

ANY_MODE: tuple[Mode, ...] = ("create", "write", "read")


def good_file(path: Path) -> None:
    with closing(open_journal(path, "a")) as journal:
        journal.append(records(0, 1000)).wait()


def garbage(path: Path) -> None:
    path.write_bytes(b"This is not a database. " * 500)


def foreign_file(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
        connection.commit()


def changed(*statements: str) -> Callable[[Path], None]:
    """A good file that somebody has changed by hand."""

    def make(path: Path) -> None:
        good_file(path)
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    return make


def overwritten(path: Path) -> None:
    good_file(path)
    with path.open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\xff" * 4096 * 5)


BAD_FILES: list[tuple[str, Callable[[Path], None], tuple[Mode, ...], type[HandfulError], str]] = [
    ("garbage", garbage, ANY_MODE, StorageCorrupt, "restore it from a backup"),
    ("foreign", foreign_file, ANY_MODE, StorageCorrupt, "choose another file"),
    ("a folder", Path.mkdir, ANY_MODE, StorageError, "is a folder, expected a file"),
    ("no events", changed("DROP TABLE events"), ANY_MODE, StorageCorrupt, "no such table"),
    ("no payload", changed("ALTER TABLE events DROP payload"), ANY_MODE, StorageCorrupt, "no such column"),
    ("no format", changed("DELETE FROM handful_format"), ANY_MODE, StorageCorrupt, "names 0 storage formats"),
    ("newer", changed("UPDATE handful_format SET version = 3"), ANY_MODE, JournalTooNew, "upgrade handful"),
    ("hole", changed("DELETE FROM events WHERE seq = 3"), ("write", "read"), StorageCorrupt, "record 3 of study 'a'"),
    ("no start", changed("DELETE FROM events WHERE seq = 0"), ("write", "read"), StorageCorrupt, "record 0 of study"),
    (
        "not UTF-8",
        changed("UPDATE events SET payload = CAST(x'22ff22' AS TEXT) WHERE seq = 5"),
        ("write", "read"),
        StorageCorrupt,
        "Could not decode",
    ),
    (
        "not text",
        changed("UPDATE events SET payload = x'00' WHERE seq = 5"),
        ("write", "read"),
        StorageCorrupt,
        "record 5 of study 'a' is not a record",
    ),
    ("overwritten", overwritten, ("write", "read"), StorageCorrupt, "malformed"),
    ("there already", good_file, ("create",), StudyExists, "open it, or choose another name"),
    ("nothing there", lambda path: None, ("write", "read"), StudyNotFound, "there is no such file"),
    ("empty", Path.touch, ("write", "read"), StudyNotFound, "it has none yet"),
]


@pytest.mark.parametrize(
    ("make", "modes", "error", "words"), [row[1:] for row in BAD_FILES], ids=[r[0] for r in BAD_FILES]
)
def test_a_bad_file_is_refused_by_name_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], None], modes: tuple[Mode, ...], error: type[HandfulError], words: str
) -> None:
    path = tmp_path / "journal.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    for mode in modes:
        with pytest.raises(error, match=words) as raised, closing(open_journal(path, "a", mode=mode)) as journal:
            list(journal.read())
        assert type(raised.value) is error
        assert (path.read_bytes() if path.is_file() else None) == before
    assert list(tmp_path.glob("*.lock")) == []


BAD_URLS = [
    ("mysql://root:secret@host/db", "postgresql://"),
    ("journal.txt", "a path that ends in .db"),
    ("", "a path that ends in .db"),
    ("sqlite://", "sqlite:///file.db"),
    ("sqlite:///:memory:", "sqlite:///file.db"),
    ("sqlite:///a.db?mode=ro", "sqlite:///file.db"),
    ("postgresql://root:secret@host:port/db", "postgresql://"),
    ("://", "postgresql://"),
    ("postgresql://root:secret@127.0.0.1:1/db", "cannot be used"),
]


@pytest.mark.parametrize(("url", "words"), BAD_URLS)
def test_a_url_that_means_no_storage_is_refused_without_telling_the_password(url: str, words: str) -> None:
    for act in (lambda: open_journal(url, "a"), lambda: list_studies(url), lambda: backup(url, "backup.db")):
        with pytest.raises(StorageError, match=words) as raised:
            act()
        assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["", "x" * 201, "nul\x00", "half \ud800"])
def test_a_name_that_cannot_be_stored_is_refused(name: str) -> None:
    with pytest.raises(InvalidProblem, match="1 to 200 characters"):
        open_journal(None, name)


def test_a_missing_study_is_told_with_those_that_are_there(storage: str) -> None:
    with closing(open_journal(storage, "venice")) as journal:
        journal.append(records(0, 1)).wait()
    with pytest.raises(StudyNotFound, match="'venise'; it has 'venice'"):
        open_journal(storage, "venise", mode="write")


def test_there_is_nothing_to_list_in_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no file"):
        list_studies(tmp_path / "missing.db")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"there is no folder .*nowhere; create it first"):
        open_journal(tmp_path / "nowhere" / "a.db", "a")


@pytest.fixture
def protected() -> Iterator[Path]:
    """A folder with a good journal that everyone may read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        good_file(Path(folder) / "journal.db")
        for file in Path(folder).iterdir():
            file.chmod(0o644)
        yield Path(folder)


@contextmanager
def without_rights(folder: Path) -> Iterator[None]:
    """As somebody who may not write there; nothing is forbidden to root."""
    if os.geteuid() == 0:
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)
    else:
        folder.chmod(0o555)
        (folder / "journal.db").chmod(0o444)
        try:
            yield
        finally:
            folder.chmod(0o755)


def test_a_folder_that_cannot_be_written_is_refused_for_writing_and_serves_readers(protected: Path) -> None:
    path = protected / "journal.db"
    with without_rights(protected):
        with pytest.raises(StorageError, match="choose a folder that exists and can be written"):
            open_journal(protected / "new.db", "a")
        with pytest.raises(StorageError, match="choose a folder that exists and can be written"):
            open_journal(path, "a", mode="write")
        with closing(open_journal(path, "a", mode="read")) as journal:
            assert list(journal.read()) == records(0, 1000)


def test_a_file_that_cannot_be_written_is_refused_before_the_first_answer(protected: Path) -> None:
    protected.chmod(0o777)
    (protected / "journal.db").chmod(0o444)
    refused = pytest.raises(StorageError, match=r"readonly database|cannot make the lock file")
    with without_rights(protected), refused:
        open_journal(protected / "journal.db", "a", mode="write")


def test_nothing_is_put_beside_a_file_that_cannot_be_written(protected: Path) -> None:
    """It would be as read-only as the file, and in the way of everybody who may write later."""
    protected.chmod(0o777)
    path = protected / "journal.db"
    path.chmod(0o444)
    before = sorted(protected.iterdir())
    assert [study.name for study in list_studies(path)] == ["a"], "also as root, to whom nothing is forbidden"
    with without_rights(protected):
        list_studies(path)
        with pytest.raises(StorageError, match="readonly database"):
            probe(path)
    assert sorted(protected.iterdir()) == before


def test_postgres_without_its_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"handful\[postgres\]"):
        open_journal("postgresql://localhost/db", "a")


BAD_POSTGRES: list[tuple[str, str, tuple[Mode, ...], type[HandfulError], str]] = [
    ("newer", "UPDATE handful_format SET version = 3", ANY_MODE, JournalTooNew, "upgrade handful"),
    ("no events", "DROP TABLE events", ANY_MODE, StorageCorrupt, "does not exist"),
    ("foreign", "DROP TABLE handful_format", ANY_MODE, StorageCorrupt, "of another program"),
    ("no payload", "ALTER TABLE events DROP payload", ANY_MODE, StorageCorrupt, "does not exist"),
    ("hole", "DELETE FROM events WHERE seq = 3", ("write", "read"), StorageCorrupt, "record 3 of study 'a'"),
    ("emptied", "DELETE FROM events", ("write", "read"), StudyNotFound, "it has none yet"),
]


@pytest.mark.parametrize(
    ("statement", "modes", "error", "words"), [row[1:] for row in BAD_POSTGRES], ids=[row[0] for row in BAD_POSTGRES]
)
def test_a_bad_database_is_refused_by_name(
    postgres_storage: str, statement: str, modes: tuple[Mode, ...], error: type[HandfulError], words: str
) -> None:
    with closing(open_journal(postgres_storage, "a")) as journal:
        journal.append(records(0, 10)).wait()
    with create_engine(postgres_storage, poolclass=NullPool).begin() as connection:
        connection.execute(text(statement))
    for mode in modes:
        with (
            pytest.raises(error, match=words) as raised,
            closing(open_journal(postgres_storage, "a", mode=mode)) as journal,
        ):
            list(journal.read())
        assert type(raised.value) is error


def test_a_journal_of_another_storage_may_begin_beside_a_foreign_postgres_table(postgres_storage: str) -> None:
    with create_engine(postgres_storage, poolclass=NullPool).begin() as connection:
        connection.execute(text("CREATE TABLE bookmarks (url TEXT)"))
    with closing(open_journal(postgres_storage, "a")) as journal:
        journal.append([record(0)]).wait()
        assert [study.name for study in list_studies(postgres_storage)] == ["a"]
