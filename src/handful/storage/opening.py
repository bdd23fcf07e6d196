"""From a URL and a name to a journal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from handful.errors import InvalidProblem, StorageBehind, StorageError, StorageMissing, StudyExists, StudyNotFound
from handful.storage.base import Journal, Mode, StudySummary
from handful.storage.memory import MemoryJournal
from handful.storage.passwords import without_password
from handful.storage.records import is_storable

if TYPE_CHECKING:
    from handful.storage.database import Database

FILE_ENDINGS = (".db", ".sqlite", ".sqlite3")
EXPORTED = (".jsonl", ".ndjson")
SUPPORTED = "expected 'sqlite:///file.db', a path that ends in .db or .sqlite, or 'postgresql://user@host/database'"
MAX_NAME = 200


def open_journal(url: str | Path | None, name: str, *, mode: Mode = "create") -> Journal:
    """The journal of the study `name` in the storage at `url`; without a URL, a new one in memory."""
    if not 0 < len(name) <= MAX_NAME or not is_storable(name):
        raise InvalidProblem(f"a study's name has 1 to {MAX_NAME} characters, got {name[:MAX_NAME]!r}")
    if url is None:
        if mode != "create":
            raise StudyNotFound(f"a study in memory ends with its process, so there is no {name!r} to open: give a URL")
        return MemoryJournal()
    # Imported only now: most studies live in memory, and SQLAlchemy takes longer to import than they take to run.
    from handful.storage.sql import SqlReader, SqlWriter

    database = database_at(url)
    if mode == "create":
        database.prepare()
    exists = _exists(database, name)
    if mode == "create" and exists:
        raise StudyExists(
            f"{database.where} has a study {name!r} already: open it, or choose another name "
            f"(Study.open(url, name={name!r}) goes on with it)"
        )
    if not exists:
        _check_never_was(database, name)
    if mode != "create" and not exists:
        raise StudyNotFound(f"{database.where} has no study {name!r}{_known(database)}")
    if mode == "read":
        _check_end(database, name)
        return SqlReader(database, name)
    writer = SqlWriter(database, name)
    if mode == "create" and not writer.is_new:
        writer.close()
        raise StudyExists(
            f"{database.where} has a study {name!r} already: "
            f"open it, or choose another name (Study.open(url, name={name!r}) goes on with it)"
        )
    return writer


def make_storage(url: str | Path) -> None:
    """Make the storage at `url`, without a study, unless it is there."""
    database_at(url).prepare()


def list_studies(url: str | Path) -> list[StudySummary]:
    """Every study in the storage, by name."""
    database = database_at(url)
    if database.is_absent():
        raise StorageMissing(f"there is no file {database.where}: check the path")
    return _studies_in(database)


def database_at(url: str | Path) -> Database:
    """The database that a URL or a path means; nothing is opened yet."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    from handful.storage.postgres import PostgresDatabase
    from handful.storage.sqlite import SqliteFile

    text = str(url)
    if "://" not in text:
        if text.endswith(EXPORTED):
            raise StorageError(
                f"{text} is a journal that was exported as JSON lines, which cannot be opened or replayed by itself: "
                "give the database that it was exported from, or a backup of that"
            )
        if not text.endswith(FILE_ENDINGS):
            raise StorageError(f"cannot tell what storage {without_password(text)!r} is: {SUPPORTED}")
        return SqliteFile(Path(text))
    try:
        parsed = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise StorageError(f"a storage URL cannot be read ({type(error).__name__}): {SUPPORTED}") from error
    backend = parsed.get_backend_name()
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:") and not parsed.query and not parsed.host:
        return SqliteFile(Path(str(parsed.database)))
    if backend in ("postgresql", "postgres"):
        return PostgresDatabase(parsed)
    raise StorageError(f"no storage for {without_password(str(parsed))!r}: {SUPPORTED}")


def _exists(database: Database, name: str) -> bool:
    from handful.storage.tables import last_seq

    if database.is_absent():
        return False
    with database.explaining(), database.connect() as connection:
        return database.has_tables(connection) and last_seq(connection, name) >= 0


def _check_end(database: Database, name: str) -> None:
    """Raise StorageBehind if the study ends before where it was noted to end."""
    from handful.storage.sql import check_holds
    from handful.storage.tables import FORMAT, format_of, identity_of

    with database.explaining(), database.connect() as connection:
        identity = identity_of(connection)
        connection.rollback()
        # Before the records are looked at: the writer notes what the database already holds.
        tip = database.tip_file(name).read(identity)
        if tip is not None:
            chained = format_of(connection, database.where) == FORMAT
            check_holds(connection, name, tip, database.where, chained=chained)


def _check_never_was(database: Database, name: str) -> None:
    """Raise StorageBehind if a study that is not there was there before."""
    from handful.storage.tables import identity_of

    noted, tip = database.tip_file(name), None
    if not database.is_absent():
        with database.explaining(), database.connect() as connection:
            tip = noted.read(identity_of(connection))
    if tip is not None:
        raise StorageBehind(
            f"{database.where} has no study {name!r}, but {tip.seq + 1:,} records of it were stored there: it is an "
            "older copy. `handful recover` shows how to go on; if the study was deleted on purpose, delete "
            f"{noted.path}"
        )


def _studies_in(database: Database) -> list[StudySummary]:
    from handful.storage.tables import summaries

    with database.explaining(), database.connect() as connection:
        return list(summaries(connection)) if database.has_tables(connection) else []


def _known(database: Database) -> str:
    if database.is_absent():
        return ": there is no such file"
    names = [repr(summary.name) for summary in _studies_in(database)]
    if not names:
        return "; it has none yet"
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"; it has {', '.join(names[:5])}{more}"
