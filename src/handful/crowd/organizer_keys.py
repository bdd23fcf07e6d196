"""Who may run the studies of a server, and who may see what was chosen in one.

There is one organizer's key, and for each study at most one link to its result. Both are made from the server's secret
and a number, and only the number is stored: with the next one there is another key, and the one before opens nothing.
"""

from __future__ import annotations

import hmac
import time
from base64 import b32encode
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Boolean, Column, Connection, Integer, MetaData, Table, Text, insert, inspect, select

from handful.crowd.tokens import Secret, key_in_session, new_session
from handful.storage.sql import Database, create_missing, database_at, lock_tables

LETTERS = 24  # of 5 bits each: too many to guess

metadata = MetaData()
keys_table = Table(
    "keys",
    metadata,
    Column("study", Text, primary_key=True),  # empty for the organizer's key
    Column("number", Integer, nullable=False),
    Column("open", Boolean, nullable=False),
)

ORGANIZER = ""


class OrganizerKeys:
    """The keys of a server. Other processes may renew and revoke them: they are looked up whenever one is used."""

    def __init__(
        self, secret: Secret, storage: str | Path | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._secret = secret
        self._database: Database | None = None if storage is None else database_at(storage)
        self._clock = clock
        self._kept: dict[str, tuple[int, bool]] = {}  # where there is no database
        self.cookie = f"handful_organizer_{secret.derive('cookie').hex()[:8]}"
        """What the cookie of a session is called: a browser has the same ones for all ports of a machine, and there may
        be another server.
        """

    # The organizer's key

    @property
    def organizer(self) -> str:
        """What the organizer types; the same after a restart."""
        return self._secret.organizer_key(self._organizers_number())

    @property
    def login(self) -> str:
        """The address that lets the organizer in. What stands after the # never leaves the browser."""
        return f"/organize/login#{self.organizer}"

    def opens(self, typed: str) -> bool:
        """Whether this is the organizer's key."""
        return _same(typed, self.organizer)

    def renew(self) -> None:
        """Let the organizer's key be another one: the one before opens nothing, and its sessions end."""
        self._change(ORGANIZER, lambda number, _: (max(number, 1) + 1, True))

    def session(self, seconds: float) -> str:
        """A cookie that opens what the organizer's key opens, for so long, unless the key is renewed before."""
        return new_session(self._secret, str(self._organizers_number()), self._clock() + seconds)

    def in_session(self, cookie: str | None) -> bool:
        """Whether this is the cookie of a session that the organizer's present key has opened."""
        number = key_in_session(self._secret, cookie, self._clock())
        return number is not None and number == str(self._organizers_number())

    # Links to results

    def link(self, study: str) -> str | None:
        """The address that shows the result of a study to whoever has it; None if there is none."""
        number, is_open = self._all().get(study, (0, False))
        return f"/r/{self._link_key(study, number)}" if is_open else None

    def share(self, study: str) -> None:
        """Let there be a link to the result of a study; one that is there stays as it is."""
        self._change(study, lambda number, is_open: (number if is_open else number + 1, True))

    def revoke(self, study: str) -> None:
        """Let the link to the result of a study open nothing any more."""
        self._change(study, lambda number, _: (number, False))

    def study_of(self, key: str) -> str | None:
        """The study whose result a link with this key shows."""
        links = ((study, number) for study, (number, is_open) in self._all().items() if study and is_open)
        return next((study for study, number in links if _same(key, self._link_key(study, number))), None)

    # What is stored

    def _organizers_number(self) -> int:
        number, _ = self._all().get(ORGANIZER, (1, True))
        return number

    def _link_key(self, study: str, number: int) -> str:
        return b32encode(self._secret.derive("result", study, str(number)))[:LETTERS].decode().lower()

    def _all(self) -> dict[str, tuple[int, bool]]:
        if self._database is None:
            return self._kept
        with self._database.reading() as connection:
            return _rows(connection) if inspect(connection).has_table(keys_table.name) else {}

    def _change(self, study: str, change: Callable[[int, bool], tuple[int, bool]]) -> None:
        if self._database is None:
            self._kept[study] = change(*self._kept.get(study, (0, False)))
            return
        with self._database.writing() as connection:
            create_missing(connection, metadata.sorted_tables)
            lock_tables(connection)  # of two who renew at once, one comes second
            number, is_open = change(*_rows(connection).get(study, (0, False)))
            connection.execute(keys_table.delete().where(keys_table.c.study == study))
            connection.execute(insert(keys_table).values(study=study, number=number, open=is_open))


def _rows(connection: Connection) -> dict[str, tuple[int, bool]]:
    return {study: (number, is_open) for study, number, is_open in connection.execute(select(keys_table))}


def _same(typed: str, key: str) -> bool:
    """Spaces and capitals do not matter to someone who types it."""
    return hmac.compare_digest("".join(typed.split()).lower().encode(), key.encode())
