"""Who takes part in a study, outside its journal: what can be forgotten without changing what was answered.

The journal knows people by random pseudonyms. A row here ties a pseudonym to a cookie, to the id that a panel knows the
person by, and to a tag of their network. To forget somebody is to delete the row: no table, free page or write-ahead
log of the database holds it afterwards.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from base64 import b32encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    func,
    inspect,
    select,
)

from handful.errors import InvalidProblem, StorageError
from handful.recruit.ledger import Store, has_recruitments
from handful.storage.sql import Database, create_missing, database_at

JOINED = "joined"
WITHDRAWING = "withdrawing"
"""Asked to be taken out of the open round and forgotten, while another process has the study open: it will do so."""

DAY_S = 24 * 3600.0
DAYS = 90
"""How long people are kept after their study is closed, where nothing else is said."""
MOST_DAYS = 3650

KEPT_S = 7 * DAY_S
"""How long network tags and their key are kept after a study is closed."""

TAG_BYTES = 16
CODE_BYTES = 10
MOST_INVITATIONS = 100_000


# The tables

metadata = MetaData()

people_table = Table(
    "people",
    metadata,
    Column("study", Text, primary_key=True),
    Column("pseudonym", Text, primary_key=True),
    Column("link", LargeBinary),  # of a cookie, hashed under the secret of the server
    Column("panel", Text),
    Column("participant", Text),
    Column("session", Text),
    Column("network", LargeBinary),  # a keyed tag, never an address
    Column("state", Text, nullable=False),
    Column("joined", Double, nullable=False),
    UniqueConstraint("study", "link"),
    UniqueConstraint("study", "panel", "participant"),
)

# One row per study that people take part in.
studies_table = Table(
    "people_studies",
    metadata,
    Column("study", Text, primary_key=True),
    Column("key", LargeBinary),  # of the network tags
    Column("closed", Double),
    Column("changes", Integer, nullable=False),  # grows with every change, so that others notice
)

# How long a study's rows about people are kept after it is closed; where nothing is said, they stay.
retention_table = Table(
    "people_retention",
    metadata,
    Column("study", Text, primary_key=True),
    Column("days", Integer, nullable=False),
)

invitations_table = Table(
    "invitations",
    metadata,
    Column("study", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("code", LargeBinary, nullable=False),  # hashed
    Column("made", Double, nullable=False),
    Column("revoked", Double),
    Column("pseudonym", Text),  # of whoever used it
    UniqueConstraint("study", "code"),
)

FORGOTTEN = "forgotten"
"""In the place of the pseudonym of whoever used an invitation."""


def make_tables(database: Database) -> None:
    """Make the tables about people where they are missing. May be called by several processes at once."""
    with database.writing() as connection:
        create_missing(connection, metadata.sorted_tables)


# The people of a study


@dataclass(frozen=True)
class Person:
    """What is kept of one person in one study, beside the journal."""

    pseudonym: str
    link: bytes | None = None
    panel: str | None = None
    participant: str | None = None
    session: str | None = None
    network: bytes | None = None
    state: str = JOINED
    joined: float = 0.0


def new_pseudonym() -> str:
    """A random name for the journal, which says nothing about anybody."""
    return "w" + secrets.token_hex(8)


class People:
    """The people of one study. Everything is in memory too, so that looking somebody up costs nothing.

    May be used from any thread. Without a database they are known for as long as the process runs.
    """

    def __init__(self, study: str, url: str | Path | None = None) -> None:
        self.study = study
        self._lock = threading.RLock()
        self._database: Database | None = None if url is None else database_at(url)
        self._changes = 0
        self._key: bytes | None = secrets.token_bytes(32)
        self._rows: dict[str, Person] = {}
        self._by_link: dict[bytes, str] = {}
        if self._database is not None:
            make_tables(self._database)
            with self._writing(changed=False) as connection:
                self._make_key(connection)
            self._load()

    def __len__(self) -> int:
        return len(self._rows)

    def all(self) -> list[Person]:
        """Everybody who is known, in the order they joined."""
        with self._lock:
            known = list(self._rows.values())
        return sorted(known, key=lambda person: (person.joined, person.pseudonym))

    def named(self, pseudonym: str) -> Person | None:
        """Who is behind a pseudonym."""
        return self._rows.get(pseudonym)

    def linked(self, link: bytes) -> Person | None:
        """Who joined with this cookie."""
        return self._rows.get(self._by_link.get(link, ""))

    def of_panel(self, panel: str, participant: str) -> Person | None:
        """Who came from a panel under this id."""
        with self._lock:
            found = (row for row in self._rows.values() if row.panel == panel and row.participant == participant)
            return next(found, None)

    def tag_of(self, network: str) -> bytes | None:
        """The tag of a network under the study's own key; None once the key is gone."""
        return None if self._key is None else hmac.digest(self._key, network.encode(), sha256)[:TAG_BYTES]

    def add(self, person: Person) -> None:
        """Keep one more person; StorageError if the pseudonym, the cookie or the panel's id is known already."""
        with self._lock:
            taken = person.link is not None and person.link in self._by_link
            if person.panel is not None and person.participant is not None:
                taken = taken or self.of_panel(person.panel, person.participant) is not None
            if taken or person.pseudonym in self._rows:
                raise StorageError(f"somebody is known in study {self.study!r} by this already; nothing was stored")
            with self._writing() as connection:
                if connection is not None:
                    connection.execute(people_table.insert().values(study=self.study, **asdict(person)))
            self._put(person)

    def change(self, pseudonym: str, **fields: Any) -> Person:
        """Change what is kept of a person; gives them as they are now."""
        with self._lock:
            before = self._rows[pseudonym]
            person = replace(before, **fields)
            with self._writing() as connection:
                if connection is not None:
                    connection.execute(people_table.update().where(self._own(pseudonym)).values(**fields))
            self._drop(before)
            self._put(person)
        return person

    def forget(self, pseudonym: str) -> bool:
        """Delete somebody's row, and every trace of it in the database; False if nobody is known by that name."""
        with self._lock:
            before = self._rows.get(pseudonym)
            if before is None:
                return False
            with self._writing() as connection:
                if connection is not None:
                    connection.execute(people_table.delete().where(self._own(pseudonym)))
                    used = (invitations_table.c.study == self.study) & (invitations_table.c.pseudonym == pseudonym)
                    connection.execute(invitations_table.update().where(used).values(pseudonym=FORGOTTEN))
            self._drop(before)
            if self._database is not None:
                _wipe(self._database)
        return True

    def closed(self, when: float) -> None:
        """Note when the study was closed: the tags go some days later."""
        with self._lock, self._writing(changed=False) as connection:
            if connection is not None:
                unknown = (studies_table.c.study == self.study) & studies_table.c.closed.is_(None)
                connection.execute(studies_table.update().where(unknown).values(closed=when))

    def look_again(self) -> bool:
        """Read the table again if another process has changed it; whether it has."""
        if self._database is None or self._changes_now() == self._changes:
            return False
        self._load()
        return True

    @contextmanager
    def _writing(self, *, changed: bool = True) -> Iterator[Connection | None]:
        """A transaction; None where there is no database."""
        if self._database is None:
            yield None
            return
        with self._database.writing() as connection:
            if changed:
                self._changes = _count_change(connection, self.study)
            yield connection

    def _own(self, pseudonym: str) -> Any:
        return (people_table.c.study == self.study) & (people_table.c.pseudonym == pseudonym)

    def _make_key(self, connection: Connection | None) -> None:
        """A key for network tags, unless there is one, or the study is closed and its key is gone for good."""
        if connection is not None:
            own = studies_table.c.study == self.study
            found = connection.execute(studies_table.select().where(own)).first()
            if found is None:
                row = {"study": self.study, "key": secrets.token_bytes(32), "changes": 0}
                connection.execute(studies_table.insert().values(**row))
            elif found.key is None and found.closed is None:
                connection.execute(studies_table.update().where(own).values(key=secrets.token_bytes(32)))

    def _changes_now(self) -> int:
        assert self._database is not None
        with self._database.reading() as connection:
            found = connection.execute(studies_table.select().where(studies_table.c.study == self.study)).first()
            return 0 if found is None else int(found.changes)

    def _load(self) -> None:
        assert self._database is not None
        with self._lock, self._database.reading() as connection:
            of_study = connection.execute(studies_table.select().where(studies_table.c.study == self.study)).one()
            rows = connection.execute(people_table.select().where(people_table.c.study == self.study)).mappings().all()
            self._changes, self._key = int(of_study.changes), of_study.key
            self._rows, self._by_link = {}, {}
            for row in rows:
                self._put(Person(**{name: value for name, value in row.items() if name != "study"}))

    def _put(self, person: Person) -> None:
        self._rows[person.pseudonym] = person
        if person.link is not None:
            self._by_link[person.link] = person.pseudonym

    def _drop(self, person: Person) -> None:
        self._rows.pop(person.pseudonym, None)
        if person.link is not None:
            self._by_link.pop(person.link, None)


def _count_change(connection: Connection, study: str) -> int:
    """One change more to what is known of a study's people; gives how many there were."""
    own = studies_table.c.study == study
    connection.execute(studies_table.update().where(own).values(changes=studies_table.c.changes + 1))
    return int(connection.execute(studies_table.select().where(own)).one().changes)


def _wipe(database: Database) -> None:
    """Leave nothing of deleted rows about people: not in free pages, and not in the write-ahead log."""
    with database.explaining():
        database.wipe((people_table.name, studies_table.name, invitations_table.name))


# Invitations


@dataclass(frozen=True)
class Invitation:
    """One invitation, without its code: that is told once, to whoever makes it."""

    number: int
    made: float
    revoked: float | None
    pseudonym: str | None

    @property
    def state(self) -> str:
        """How the invitation stands: open, used or revoked."""
        return "used" if self.pseudonym is not None else "revoked" if self.revoked is not None else "open"


class Invitations:
    """The invitations to one study: codes that let one person in each, kept as hashes."""

    def __init__(self, study: str, url: str | Path) -> None:
        self._study = study
        self._database = database_at(url)
        make_tables(self._database)

    def make(self, count: int, now: float) -> list[tuple[int, str]]:
        """Make so many invitations; gives the number and the code of each."""
        if not 1 <= count <= MOST_INVITATIONS:
            raise InvalidProblem(f"invitations are made 1 to {MOST_INVITATIONS:,} at a time, got {count}")
        with self._database.writing() as connection:
            highest = select(func.max(invitations_table.c.number)).where(invitations_table.c.study == self._study)
            last: int = connection.execute(highest).scalar() or 0
            made = [(last + at, _new_code()) for at in range(1, count + 1)]
            rows = [{"study": self._study, "number": number, "code": _hash(code), "made": now} for number, code in made]
            connection.execute(invitations_table.insert(), rows)
        return made

    def all(self) -> list[Invitation]:
        """All invitations of the study, in the order made."""
        own = invitations_table.select().where(invitations_table.c.study == self._study)
        with self._database.writing() as connection:
            rows = connection.execute(own.order_by(invitations_table.c.number))
            return [Invitation(row.number, row.made, row.revoked, row.pseudonym) for row in rows]

    def revoke(self, numbers: list[int], now: float) -> int:
        """Let nobody in by these any more; who is in stays in. Gives how many were open."""
        still = (
            (invitations_table.c.study == self._study)
            & invitations_table.c.number.in_(numbers)
            & invitations_table.c.revoked.is_(None)
            & invitations_table.c.pseudonym.is_(None)
        )
        with self._database.writing() as connection:
            return connection.execute(invitations_table.update().where(still).values(revoked=now)).rowcount

    def use(self, code: str, pseudonym: str) -> str | None:
        """Who has the invitation now: `pseudonym` if it was open, whoever used it before, or None if it lets nobody in.

        Of two who come with the same code at once, one has it.
        """
        same = (invitations_table.c.study == self._study) & (invitations_table.c.code == _hash(code))
        with self._database.writing() as connection:
            found = connection.execute(invitations_table.select().where(same).with_for_update()).first()
            if found is None or (found.pseudonym is None and found.revoked is not None):
                return None
            if found.pseudonym == FORGOTTEN:
                return None  # whoever had it was forgotten, and cannot be told from somebody new
            if found.pseudonym is not None:
                return str(found.pseudonym)
            connection.execute(invitations_table.update().where(same).values(pseudonym=pseudonym))
        return pseudonym


def invitation_of(study: str, url: str | Path, code: str) -> Invitation | None:
    """The invitation with this code, if it may still let somebody in or has; None for any other code.

    It is read without holding up anybody who writes: whoever has a link may ask. Without the table nobody is invited.
    """
    same = (invitations_table.c.study == study) & (invitations_table.c.code == _hash(code))
    with database_at(url).reading() as connection:
        if not inspect(connection).has_table(invitations_table.name):
            return None
        row = connection.execute(invitations_table.select().where(same)).first()
    if row is None or row.pseudonym == FORGOTTEN:
        return None
    found = Invitation(row.number, row.made, row.revoked, row.pseudonym)
    return None if found.state == "revoked" else found


def _new_code() -> str:
    return b32encode(secrets.token_bytes(CODE_BYTES)).decode().lower()


def _hash(code: str) -> bytes:
    """Spaces, dashes and capitals do not matter to someone who types it."""
    return sha256("".join(code.split()).replace("-", "").lower().encode()).digest()


# Retention: what ties answers to people goes by itself, so many days after their study was closed


def keep_for(url: str | Path, study: str, days: int) -> None:
    """Keep the rows about a study's people for so many days after it is closed."""
    database = database_at(url)
    make_tables(database)
    own = retention_table.c.study == study
    with database.writing() as connection:
        found = connection.execute(retention_table.select().where(own)).first()
        if found is None:
            connection.execute(retention_table.insert().values(study=study, days=days))
        elif found.days != days:
            connection.execute(retention_table.update().where(own).values(days=days))


def kept_for(url: str | Path, study: str, now: float) -> int:
    """How many days after it is closed a study's people are kept: as was said before, else the default from now on.

    A study that was closed before anything was said of it is kept for the default from now, not from its end.
    """
    database = database_at(url)
    make_tables(database)
    with database.writing() as connection:
        found = connection.execute(retention_table.select().where(retention_table.c.study == study)).first()
        if found is not None:
            return int(found.days)
        of_study = connection.execute(studies_table.select().where(studies_table.c.study == study)).first()
        closed = None if of_study is None else of_study.closed
        days = DAYS + (0 if closed is None else max(0, ceil((now - closed) / DAY_S)))
        connection.execute(retention_table.insert().values(study=study, days=days))
    return days


def retire(url: str | Path, now: float) -> list[str]:
    """Forget everybody in all studies whose time is over, and network tags where theirs is; gives these studies.

    A study of which nothing was ever said keeps its people: what is deleted cannot be brought back. The ids that
    Prolific knows people by go once their pay is settled. Where the organizer pays by hand nobody here knows when that
    was done: the panel's ids stay until somebody asks.
    """
    retire_tags(url, now)
    due = _retire_rows(url, now)
    store = Store(url) if due and has_recruitments(url) else None
    for study in due if store is not None else ():
        assert store is not None
        recruitment = store.recruitment(study)
        if recruitment is None or not recruitment.on_prolific:
            continue
        for person in store.people(study):
            store.mark_to_forget(study, person.pseudonym)
        forget_settled(store, study)
    return due


def retire_tags(url: str | Path, now: float) -> list[str]:
    """Delete network tags and their key in all studies that were closed long enough ago; gives their names."""
    database = database_at(url)
    if database.is_absent():
        return []
    with database.reading() as connection:
        if not inspect(connection).has_table(studies_table.name):
            return []
        over = (studies_table.c.closed <= now - KEPT_S) & studies_table.c.key.is_not(None)
        due = [row.study for row in connection.execute(studies_table.select().where(over))]
    if due:
        with database.writing() as connection:
            connection.execute(people_table.update().where(people_table.c.study.in_(due)).values(network=None))
            connection.execute(studies_table.update().where(studies_table.c.study.in_(due)).values(key=None))
            for study in due:
                _count_change(connection, study)
        _wipe(database)
    return due


def _retire_rows(url: str | Path, now: float) -> list[str]:
    """Delete the rows of everybody in studies that were closed long enough ago; gives their names."""
    database = database_at(url)
    if database.is_absent():
        return []
    with database.reading() as connection:
        there = inspect(connection)
        if not there.has_table(studies_table.name):
            return []
        told = connection.execute(retention_table.select()).all() if there.has_table(retention_table.name) else []
        days = {row.study: row.days for row in told}
        closed = connection.execute(studies_table.select().where(studies_table.c.closed.is_not(None))).all()
        due = [row.study for row in closed if row.study in days and row.closed + days[row.study] * DAY_S <= now]
        known = select(people_table.c.study).where(people_table.c.study.in_(due)).distinct()
        with_people = sorted(connection.execute(known).scalars()) if due else []
    if with_people:
        with database.writing() as connection:
            connection.execute(people_table.delete().where(people_table.c.study.in_(with_people)))
            used = invitations_table.c.study.in_(with_people) & invitations_table.c.pseudonym.is_not(None)
            connection.execute(invitations_table.update().where(used).values(pseudonym=FORGOTTEN))
            for study in with_people:
                _count_change(connection, study)
        _wipe(database)
    return due


# People who came from a panel: its ids, and what ties a cookie to them, go once nothing is left to pay. Until then they
# are known by their cookie, so that they can go on, and go back to be paid.


def ask_to_forget(store: Store, study: str, pseudonym: str) -> bool:
    """Forget somebody now, or else by `forget_settled` as soon as their pay is settled; whether it was done now."""
    if store.person(study, pseudonym) is None:
        return True
    store.mark_to_forget(study, pseudonym)
    return pseudonym in forget_settled(store, study)


def forget_settled(store: Store, study: str) -> list[str]:
    """Forget those who are to be forgotten and have nothing more to be paid; gives their names."""
    done = store.settled_to_forget(study)
    known = People(study, store.storage) if done else None
    for who in done:
        assert known is not None
        known.forget(who)
        store.forget(study, who)  # last, for it strikes them off the list
    return done
