"""The keys of organizers: who may see or run which study. Of each key only a hash is stored."""

from __future__ import annotations

import secrets
import time
from base64 import b32encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from handful.errors import InvalidProblem, StorageError, StorageMissing

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from handful.storage.sql import Database

Role = Literal["own", "watch", "result"]
"""own: see and order everything; watch: see it; result: see what was chosen, and nothing else."""

ROLES: tuple[Role, ...] = get_args(Role)
LETTERS = 24  # of 5 bits each: too many to guess, so that a plain hash is enough


@dataclass(frozen=True)
class Key:
    """A key as it is stored. `study` is the one that it opens, None for all; `revoked` is when it was, if it was."""

    id: str
    study: str | None
    role: Role
    hash: bytes
    made: float
    revoked: float | None = None

    def allows(self, role: Role, study: str | None) -> bool:
        """Whether it opens what that role may see of that study, or of all (None)."""
        return self.revoked is None and self.study in (None, study) and ROLES.index(self.role) <= ROLES.index(role)


class Keys(Protocol):
    """All keys of one storage. May be used from any thread."""

    def all(self) -> list[Key]:
        """Every key, the oldest first."""

    def get(self, id: str) -> Key | None:
        """The key of that id."""

    def add(self, key: Key) -> None:
        """Store one more key."""

    def revoke(self, id: str, now: float) -> None:
        """From now on it opens nothing. StorageError if there is none of that id."""


def hash_of(key: str) -> bytes:
    """What is stored of a key; spaces and capitals do not matter to someone who types it."""
    return sha256("".join(key.split()).lower().encode()).digest()


def random_key() -> str:
    """A key that nobody can guess: 24 letters and digits."""
    return b32encode(secrets.token_bytes(LETTERS))[:LETTERS].decode().lower()


def new_key(keys: Keys, role: Role, study: str | None, now: float | None = None) -> tuple[Key, str]:
    """Store a key and give it as it is typed, which can be had only now."""
    if role not in ROLES:
        raise InvalidProblem(f"a key has one of the roles {', '.join(ROLES)}, got {role!r}")
    typed = random_key()
    key = Key(f"{role}-{secrets.token_hex(3)}", study, role, hash_of(typed), time.time() if now is None else now)
    keys.add(key)
    return key, typed


def link_of(key: Key, typed: str) -> str:
    """The address that a key is given away as: a page of its own for the result of one study, else the login page.

    What stands after the # never leaves the browser.
    """
    return f"/r/{typed}" if key.role == "result" and key.study is not None else f"/organize/login#{typed}"


def open_keys(url: str | Path | None) -> Keys:
    """The keys of a storage; without one, they are kept in memory."""
    from handful.storage.sql import database_at

    return MemoryKeys() if url is None else StoredKeys(database_at(url))


class MemoryKeys:
    """Keys that are gone with the process."""

    def __init__(self) -> None:
        self._keys: dict[str, Key] = {}

    def all(self) -> list[Key]:
        return list(self._keys.values())

    def get(self, id: str) -> Key | None:
        return self._keys.get(id)

    def add(self, key: Key) -> None:
        self._keys[key.id] = key

    def revoke(self, id: str, now: float) -> None:
        key = _known(self.get(id), id, "this server")
        if key.revoked is None:
            self._keys[id] = replace(key, revoked=now)


class StoredKeys:
    """Keys in the table `keys` of a database, which is made with the first of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._present = False

    def all(self) -> list[Key]:
        from sqlalchemy import select

        from handful.storage.sql import keys_table

        with self._reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(select(keys_table).order_by(keys_table.c.made, keys_table.c.id)).all()
            return [Key(*row) for row in rows]

    def get(self, id: str) -> Key | None:
        from sqlalchemy import select

        from handful.storage.sql import keys_table

        with self._reading() as connection:
            if connection is None:
                return None
            row = connection.execute(select(keys_table).where(keys_table.c.id == id)).one_or_none()
            return None if row is None else Key(*row)

    def add(self, key: Key) -> None:
        from sqlalchemy import insert

        from handful.storage.sql import create_missing, keys_table

        with self._database.explaining(), self._database.connect_to_write() as connection, connection.begin():
            create_missing(connection, [keys_table])
            connection.execute(insert(keys_table).values(vars(key)))

    def revoke(self, id: str, now: float) -> None:
        from sqlalchemy import update

        from handful.storage.sql import keys_table

        _known(self.get(id), id, self._database.where)
        own = (keys_table.c.id == id, keys_table.c.revoked.is_(None))
        with self._database.explaining(), self._database.connect_to_write() as connection, connection.begin():
            connection.execute(update(keys_table).where(*own).values(revoked=now))

    @contextmanager
    def _reading(self) -> Iterator[Connection | None]:
        """A connection; None while there is no table of keys."""
        from handful.storage.sql import keys_table

        if self._database.is_absent():
            raise StorageMissing(f"there is no file {self._database.where}: check the path")
        with self._database.explaining(), self._database.connect() as connection:
            if not self._present:
                from sqlalchemy import inspect

                self._present = inspect(connection).has_table(keys_table.name)
            yield connection if self._present else None


def _known(key: Key | None, id: str, where: str) -> Key:
    if key is None:
        raise StorageError(f"{where} has no key {id!r}: `handful keys list` shows all of them")
    return key
