"""Where a study's journal lives: in memory, in a SQLite file, or in PostgreSQL.

Storage keeps records in order and interprets none of them; what they mean is the study's business.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from handful.errors import InvalidProblem, StorageError, StorageMissing, StudyExists, StudyNotFound
from handful.storage.backup import backup
from handful.storage.journal import Journal, Mode, Record, StudySummary, Ticket, is_storable
from handful.storage.memory import MemoryJournal

if TYPE_CHECKING:
    from handful.storage.sql import Database

__all__ = [
    "Journal",
    "Mode",
    "Record",
    "StudySummary",
    "Ticket",
    "backup",
    "list_studies",
    "make_storage",
    "open_journal",
    "passwords_in",
    "probe",
    "without_password",
]

MAX_NAME = 200
CLOSE_IT = "close it there first, or open it read-only"
"""What to do about a study that another process writes; commands that cannot do that say something else."""


def open_journal(url: str | Path | None, name: str, *, mode: Mode = "create") -> Journal:
    """The journal of the study `name` in the storage at `url`; without a URL, a new one in memory."""
    if not 0 < len(name) <= MAX_NAME or not is_storable(name):
        raise InvalidProblem(f"a study's name has 1 to {MAX_NAME} characters, got {name[:MAX_NAME]!r}")
    if url is None:
        if mode != "create":
            raise StudyNotFound(f"a study in memory ends with its process, so there is no {name!r} to open: give a URL")
        return MemoryJournal()
    # Imported only now: most studies live in memory, and SQLAlchemy takes longer to import than they take to run.
    from handful.storage.sql import SqlReader, SqlWriter, database_at

    database = database_at(url)
    if mode == "create":
        database.prepare()
        if database.holds(name):
            raise _exists(database, name)
        writer = SqlWriter(database, name, new=True)
        if not writer.is_new:
            writer.close()
            raise _exists(database, name)
        return writer
    if not database.holds(name):
        raise StudyNotFound(f"{database.where} has no study {name!r}{_known(database)}")
    return SqlReader(database, name) if mode == "read" else SqlWriter(database, name)


def make_storage(url: str | Path) -> None:
    """Make the storage at `url`, without a study, unless it is there."""
    from handful.storage.sql import database_at

    database_at(url).prepare()


def list_studies(url: str | Path) -> list[StudySummary]:
    """Every study in the storage, by name."""
    from handful.storage.sql import database_at

    database = database_at(url)
    if database.is_absent():
        raise StorageMissing(f"there is no file {database.where}: check the path")
    return database.studies()


def probe(url: str | Path) -> None:
    """Write to the storage durably and read that back; StorageError, with its cause, if that fails.

    No study changes: what is written is the format that the tables have anyway.
    """
    from handful.storage.sql import database_at

    database = database_at(url)
    if database.is_absent():
        raise StorageError(f"there is no file {database.where}: it was moved or deleted")
    database.probe()


def _exists(database: Database, name: str) -> StudyExists:
    return StudyExists(
        f"{database.where} has a study {name!r} already: open it, or choose another name "
        f"(Study.open(url, name={name!r}) goes on with it)"
    )


def _known(database: Database) -> str:
    if database.is_absent():
        return ": there is no such file"
    names = [repr(summary.name) for summary in database.studies()]
    if not names:
        return "; it has none yet"
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"; it has {', '.join(names[:5])}{more}"


# Passwords in the URLs of databases: they are for the driver, and for nobody who reads a message.

_IN_URL = re.compile(r"(\w+(?:\+\w+)?://[^:/?#\s'\"]*):([^/?#\s'\"]*)@")
# With letters that a URL should not have, such as a slash, and that SQLAlchemy takes nevertheless: up to the next "@".
_UNQUOTED = re.compile(r"(postgres\w*(?:\+\w+)?://[^:/@\s]*):([^@\s]*)@")
_IN_QUERY = re.compile(r"([?&](?:ssl)?password=)([^&\s'\"]+)")


def without_password(text: str) -> str:
    """The text with every password of a URL left out, so that the URL can still be used with one from elsewhere."""
    return _IN_QUERY.sub(r"\1", _UNQUOTED.sub(r"\1@", _IN_URL.sub(r"\1@", text)))


def passwords_in(text: str) -> set[str]:
    """The passwords of all URLs in a text, as they are written there."""
    unquoted = _UNQUOTED.findall(_IN_URL.sub(r"\1@", text))
    return {password for _, password in (*_IN_URL.findall(text), *unquoted, *_IN_QUERY.findall(text)) if password}
