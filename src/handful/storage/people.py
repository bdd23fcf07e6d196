"""Who takes part in a study, outside its journal: what can be forgotten without changing what was answered.

The journal knows people by random pseudonyms. A row here ties a pseudonym to a cookie, to the id that a panel knows the
person by, and to a tag of their network. To forget somebody is to delete the row: no table, free page or write-ahead
log of the database holds it afterwards.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.errors import StorageError
from handful.storage.sql import database_at

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from handful.storage.sql import Database

JOINED = "joined"
FORGOTTEN = "forgotten"
"""Of a pseudonym that could be made again from its cookie: it is kept, alone, so that nobody takes it up again."""
WITHDRAWING = "withdrawing"
"""Asked to be taken out of the open round and forgotten, while another process has the study open: it will do so."""

KEPT_S = 7 * 24 * 3600.0
"""How long network tags and their key are kept after a study is closed."""

TAG_BYTES = 16


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
        return len(self.all())

    def all(self) -> list[Person]:
        """Everybody who is known, in the order they joined."""
        with self._lock:
            known = [person for person in self._rows.values() if person.state != FORGOTTEN]
        return sorted(known, key=lambda person: (person.joined, person.pseudonym))

    def named(self, pseudonym: str) -> Person | None:
        """Who is behind a pseudonym; also one of which only the name is left."""
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
        from handful.storage.people_tables import people

        with self._lock:
            taken = person.link is not None and person.link in self._by_link
            if person.panel is not None and person.participant is not None:
                taken = taken or self.of_panel(person.panel, person.participant) is not None
            if taken or person.pseudonym in self._rows:
                raise StorageError(f"somebody is known in study {self.study!r} by this already; nothing was stored")
            with self._writing() as connection:
                if connection is not None:
                    connection.execute(people.insert().values(study=self.study, **asdict(person)))
            self._put(person)

    def change(self, pseudonym: str, **fields: Any) -> Person:
        """Change what is kept of a person; gives them as they are now."""
        from handful.storage.people_tables import people

        with self._lock:
            before = self._rows[pseudonym]
            person = replace(before, **fields)
            with self._writing() as connection:
                if connection is not None:
                    own = (people.c.study == self.study) & (people.c.pseudonym == pseudonym)
                    connection.execute(people.update().where(own).values(**fields))
            self._drop(before)
            self._put(person)
        return person

    def forget(self, pseudonym: str, *, keep_name: bool = False) -> bool:
        """Delete somebody's row, and every trace of it in the database; False if nobody is known by that name.

        `keep_name`: the pseudonym alone stays, where it could be made again from a cookie of an older version.
        """
        from handful.storage.people_tables import invitations, people

        with self._lock:
            before = self._rows.get(pseudonym)
            if before is None:
                return False
            with self._writing() as connection:
                if connection is not None:
                    own = (people.c.study == self.study) & (people.c.pseudonym == pseudonym)
                    connection.execute(people.delete().where(own))
                    used = (invitations.c.study == self.study) & (invitations.c.pseudonym == pseudonym)
                    connection.execute(invitations.update().where(used).values(pseudonym=FORGOTTEN))
                    if keep_name:
                        left = Person(pseudonym, state=FORGOTTEN)
                        connection.execute(people.insert().values(study=self.study, **asdict(left)))
            self._drop(before)
            if keep_name:
                self._put(Person(pseudonym, state=FORGOTTEN))
            self._wipe()
        return True

    def keep_names(self, names: Iterable[str]) -> None:
        """Let nobody take up these names any more that nobody is known by here: they are kept, alone."""
        from handful.storage.people_tables import people

        with self._lock:
            left = [Person(name, state=FORGOTTEN) for name in names if name not in self._rows]
            if left:
                with self._writing() as connection:
                    if connection is not None:
                        rows = [{"study": self.study, **asdict(person)} for person in left]
                        connection.execute(people.insert(), rows)
                for person in left:
                    self._put(person)

    def closed(self, when: float) -> None:
        """Note when the study was closed: the tags go some days later."""
        from handful.storage.people_tables import studies_of_people as studies

        with self._lock, self._writing(changed=False) as connection:
            if connection is not None:
                unknown = (studies.c.study == self.study) & studies.c.closed.is_(None)
                connection.execute(studies.update().where(unknown).values(closed=when))

    def reopened(self) -> None:
        """The study goes on: nothing goes until it is closed again."""
        from handful.storage.people_tables import studies_of_people as studies

        with self._lock, self._writing(changed=False) as connection:
            if connection is not None:
                connection.execute(studies.update().where(studies.c.study == self.study).values(closed=None))
                self._make_key(connection)

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
        with writing(self._database) as connection:
            if changed:
                self._changes = count_change(connection, self.study)
            yield connection

    def _make_key(self, connection: Connection | None) -> None:
        from handful.storage.people_tables import studies_of_people as studies

        if connection is not None:
            own = studies.c.study == self.study
            found = connection.execute(studies.select().where(own)).first()
            if found is None:
                row = {"study": self.study, "key": secrets.token_bytes(32), "changes": 0}
                connection.execute(studies.insert().values(**row))
            elif found.key is None and found.closed is None:
                connection.execute(studies.update().where(own).values(key=secrets.token_bytes(32)))

    def _changes_now(self) -> int:
        from handful.storage.people_tables import studies_of_people as studies

        assert self._database is not None
        with self._database.explaining(), self._database.connect() as connection:
            found = connection.execute(studies.select().where(studies.c.study == self.study)).first()
            return 0 if found is None else int(found.changes)

    def _load(self) -> None:
        from handful.storage.people_tables import people
        from handful.storage.people_tables import studies_of_people as studies

        assert self._database is not None
        with self._lock, self._database.explaining(), self._database.connect() as connection:
            of_study = connection.execute(studies.select().where(studies.c.study == self.study)).one()
            rows = connection.execute(people.select().where(people.c.study == self.study)).mappings().all()
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

    def _wipe(self) -> None:
        if self._database is not None:
            wipe(self._database)


@contextmanager
def writing(database: Database) -> Iterator[Connection]:
    """A transaction on the tables about people."""
    with database.explaining(), database.connect_to_write() as connection, connection.begin():
        yield connection


def make_tables(database: Database) -> None:
    """Make the tables about people where they are missing. May be called by several processes at once."""
    from handful.storage.people_tables import metadata
    from handful.storage.sql import create_missing

    with writing(database) as connection:
        create_missing(connection, metadata.sorted_tables)


def count_change(connection: Connection, study: str) -> int:
    """One change more to what is known of a study's people; gives how many there were."""
    from handful.storage.people_tables import studies_of_people as studies

    own = studies.c.study == study
    connection.execute(studies.update().where(own).values(changes=studies.c.changes + 1))
    return int(connection.execute(studies.select().where(own)).one().changes)


def wipe(database: Database) -> None:
    """Leave nothing of deleted rows about people: not in free pages, and not in the write-ahead log."""
    with database.explaining():
        database.wipe(("people", "people_studies", "invitations"))


def forget_due(url: str | Path, now: float) -> list[str]:
    """Delete network tags and their key in all studies that were closed long enough ago; gives their names."""
    from sqlalchemy import inspect

    from handful.storage.people_tables import people
    from handful.storage.people_tables import studies_of_people as studies

    database = database_at(url)
    if database.is_absent():
        return []
    with database.explaining(), database.connect() as connection:
        if not inspect(connection).has_table(studies.name):
            return []
        over = (studies.c.closed <= now - KEPT_S) & studies.c.key.is_not(None)
        due = [row.study for row in connection.execute(studies.select().where(over))]
    if due:
        with writing(database) as connection:
            connection.execute(people.update().where(people.c.study.in_(due)).values(network=None))
            connection.execute(studies.update().where(studies.c.study.in_(due)).values(key=None))
            for study in due:
                count_change(connection, study)
        wipe(database)
    return due
