"""When a storage holds an older or another version of a study: see what is missing, and say which version goes on.

Nothing is guessed and nothing is thrown away: whoever asks for it says which version keeps the study's name, and the
other stays beside it as a study of its own name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlalchemy import bindparam, update

from handful.errors import StorageCorrupt, StorageError, StorageMissing
from handful.storage.chain import EMPTY, Tip, hash_after
from handful.storage.opening import MAX_NAME, database_at
from handful.storage.records import Record
from handful.storage.sql import chain_old_journals
from handful.storage.tables import (
    CHUNK,
    FORMAT,
    chain_study,
    check_format,
    events,
    identity_of,
    insert_records,
    last_seq,
    rows_after,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from handful.storage.database import Database

Keep = Literal["here", "other"]


@dataclass(frozen=True)
class Version:
    """One version of a study. `records` can be read; `whole` of them, from the first on, are as they were stored."""

    where: str
    records: int
    whole: int
    last_time: float | None
    damage: str | None  # why no more can be read, or are whole
    hashes: tuple[bytes, ...] = field(repr=False)  # of the records as they are now

    def holds(self, tip: Tip) -> bool:
        """Whether the record of that number is there, and all before it are as they were."""
        return tip == EMPTY or (tip.seq < self.whole and self.hashes[tip.seq] == tip.hash)


@dataclass(frozen=True)
class Findings:
    """What is known of a study: the version in the storage, another one, and where the study was noted to end."""

    study: str
    here: Version
    noted: Tip | None
    noted_in: Path
    other: Version | None = None

    @property
    def is_well(self) -> bool:
        """Whether the study opens."""
        return self.here.damage is None and (self.noted is None or self.here.holds(self.noted))

    @property
    def common(self) -> int:
        """How many records, from the first on, both versions have alike."""
        if self.other is None:
            return 0
        pairs = zip(self.here.hashes, self.other.hashes, strict=False)
        return next((n for n, (a, b) in enumerate(pairs) if a != b), min(self.here.records, self.other.records))


@dataclass(frozen=True)
class Recovered:
    """What was done: how many records the study has now, and the name under which the other version was kept."""

    records: int
    kept_as: str | None


def examine(url: str | Path, study: str, other: str | Path | None = None) -> Findings:
    """Look at a study, and at another copy of it, without writing anything."""
    database = _present(url)
    noted = database.tip_file(study)
    with database.explaining(), database.connect() as connection:
        tip = noted.read(identity_of(connection))
    beside = None if other is None else _version_in(_present(other), study)
    if beside is not None and not beside.records:
        raise StorageError(f"{beside.where} has no study {study!r}: give the copy that has it")
    return Findings(study, _version_in(database, study), tip, noted.path, beside)


def recover(url: str | Path, study: str, keep: Keep, other: str | Path | None = None) -> Recovered:
    """Let the study go on with the version in the storage ("here") or with that of another copy ("other").

    The version that does not go on is kept in the storage under a name of its own, unless it has nothing that the
    other has not. All in one transaction.
    """
    database = _present(url)
    with database.explaining():
        with database.connect() as connection:
            if not database.has_tables(connection):
                raise StorageError(f"{database.where} holds no study: there is nothing to go on with")
        chain_old_journals(database)
        session = database.lock(study)
        try:
            found = examine(url, study, other)
            with session.connection.begin():
                done, tip = _resolve(session.connection, found, keep, other)
            noted = database.tip_file(study)
            if tip == EMPTY:
                noted.forget()
            else:
                noted.write(tip)
                noted.close()
            return done
        finally:
            session.close()


def _resolve(connection: Connection, found: Findings, keep: Keep, other: str | Path | None) -> tuple[Recovered, Tip]:
    here, study = found.here, found.study
    if keep == "here":
        if found.other is not None and other is not None and found.common < found.other.records:
            name = _free_name(connection, study)
            _copy(connection, _present(other), study, name, found.other.records, EMPTY)
        else:
            name = None
        if here.damage is None:
            return Recovered(here.records, name), _tip_after(here, here.records)
        if not here.whole:
            raise StorageError(f"no record of study {study!r} in {here.where} is whole: give --other a copy that is")
        as_found = _move_aside(connection, study)
        tip = _copy_within(connection, as_found, study, here.whole)
        return Recovered(here.whole, as_found if name is None else f"{name} and {as_found}"), tip
    if found.other is None or other is None:
        raise StorageError("which other version? Give --other the copy that should go on")
    if found.other.damage is not None:
        raise StorageError(f"the copy in {found.other.where} is damaged itself: {found.other.damage}")
    source = _present(other)
    if here.damage is None and found.common == here.records:
        tip = _copy(connection, source, study, study, found.other.records, _tip_after(here, here.records))
        return Recovered(found.other.records, None), tip
    as_found = _move_aside(connection, study)
    return Recovered(found.other.records, as_found), _copy(connection, source, study, study, found.other.records, EMPTY)


def _tip_after(version: Version, records: int) -> Tip:
    return Tip(records - 1, version.hashes[records - 1]) if records else EMPTY


def _version_in(database: Database, study: str) -> Version:
    """All that can be read of a study, and how much of it is as it was stored."""
    hashes: list[bytes] = []
    whole, time, damage = 0, None, None
    with database.explaining(), database.connect() as connection:
        if not database.has_tables(connection):
            return Version(database.where, 0, 0, None, None, ())
        chained = check_format(connection, database.where) == FORMAT
        try:
            for record, stored in _all_rows(connection, study, chained):
                hashes.append(hash_after(hashes[-1] if hashes else EMPTY.hash, record))
                time = record.time
                if damage is None and chained and stored != hashes[-1]:
                    damage = f"record {record.seq} is not as it was stored, or does not follow the one before it"
                whole += damage is None
        except StorageCorrupt as error:
            damage = damage or str(error)
    return Version(database.where, len(hashes), whole, time, damage, tuple(hashes))


def _all_rows(connection: Connection, study: str, chained: bool) -> Iterator[tuple[Record, object]]:
    after, found = -1, True
    while found:
        found = False
        for record, stored in rows_after(connection, study, after, CHUNK, chained=chained):
            after, found = record.seq, True
            yield record, stored


def _copy(connection: Connection, source: Database, study: str, name: str, records: int, after: Tip) -> Tip:
    """Copy records of a study in another storage; those up to `after` are there already."""
    with source.explaining(), source.connect() as reading:
        return _append(connection, reading, study, name, records, after, check_format(reading, source.where) == FORMAT)


def _copy_within(connection: Connection, study: str, name: str, records: int) -> Tip:
    return _append(connection, connection, study, name, records, EMPTY, chained=True)


def _append(
    connection: Connection, reading: Connection, study: str, name: str, records: int, after: Tip, chained: bool
) -> Tip:
    tip = after
    while tip.seq < records - 1:
        limit = min(CHUNK, records - 1 - tip.seq)
        chunk = [record for record, _ in rows_after(reading, study, tip.seq, limit, chained=chained)]
        tip = insert_records(connection, name, chunk, tip)
    return tip


def _move_aside(connection: Connection, study: str) -> str:
    """Give all that is stored of a study another name, damage and all; what can be read of it can be opened there."""
    name = _free_name(connection, study)
    connection.execute(update(events).where(events.c.study == bindparam("old")).values(study=name), {"old": study})
    chain_study(connection, name)
    return name


def _free_name(connection: Connection, study: str) -> str:
    for number in count(1):
        ending = f"-other-version{'' if number == 1 else f'-{number}'}"
        name = study[: MAX_NAME - len(ending)] + ending
        if last_seq(connection, name) < 0:
            return name
    raise AssertionError


def _present(url: str | Path) -> Database:
    database = database_at(url)
    if database.is_absent():
        raise StorageMissing(f"there is no file {database.where}: check the path")
    return database
