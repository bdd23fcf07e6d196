"""What is kept about recruiting, in the study's own database and outside its journal: who came, and the ledger.

A call that moves money is written into the ledger before it is made, and its outcome after. Every write is durable.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    RowMapping,
    Table,
    Text,
    UniqueConstraint,
    and_,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)

from handful.errors import InvalidProblem, StorageLocked, StorageMissing
from handful.recruit.panel import FREES_ITS_PLACE, Identity, Outcome
from handful.recruit.recruitment import Recruitment
from handful.storage.sql import create_missing, database_at

LOCK_SECONDS = 30.0

Kind = Literal["approve", "bonus"]
EntryOutcome = Literal["done", "refused", "not_done"]
Decision = Literal["pay", "leave"]

RESERVED, ACTIVE, AWAITING, APPROVED = "RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED"
REJECTED, RETURNED, TIMED_OUT, SCREENED_OUT = "REJECTED", "RETURNED", "TIMED-OUT", "SCREENED OUT"
PARTLY_APPROVED = "PARTIALLY APPROVED"

GONE = frozenset({RETURNED, TIMED_OUT})
OVER = frozenset({AWAITING, APPROVED, REJECTED, SCREENED_OUT, PARTLY_APPROVED})
PAID = frozenset({APPROVED, SCREENED_OUT, PARTLY_APPROVED})
"""How a submission stands on the platform, as Prolific spells it."""

metadata = MetaData()
recruitments = Table(
    "recruitments", metadata, Column("study", Text, primary_key=True), Column("setup", Text, nullable=False)
)
recruited = Table(
    "recruited",
    metadata,
    Column("study", Text, primary_key=True),
    Column("pseudonym", Text, primary_key=True),
    Column("participant", Text, nullable=False),
    Column("session", Text, nullable=False),  # empty where the panel has none
    Column("panel_study", Text),
    Column("arrived", Double),
    Column("seen", Double),
    Column("consented", Double),
    Column("verified", Boolean),
    Column("status", Text),
    Column("outcome", Text),
    Column("ended", Double),
    Column("completed", Boolean, nullable=False, default=False),
    Column("decision", Text),
    Column("chance", LargeBinary),
    UniqueConstraint("study", "participant", "session"),
)
ledger = Table(
    "ledger",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("study", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("cents", Integer, nullable=False),
    Column("made", Double, nullable=False),
    Column("sent", Double),
    Column("outcome", Text),
    Column("settled", Double),
    Column("reference", Text),
    Column("words", Text, nullable=False, default=""),
    sqlite_autoincrement=True,
)
promised = Table(  # which line of the ledger was written for a request, so that repeating the request writes no other
    "ledger_requests",
    metadata,
    Column("study", Text, primary_key=True),
    Column("request", Text, primary_key=True),
    Column("number", Integer, nullable=False),
)
to_forget = Table(
    "recruited_to_forget",
    metadata,
    Column("study", Text, primary_key=True),
    Column("pseudonym", Text, primary_key=True),
)


@dataclass(frozen=True)
class Participant:
    """Somebody who came from a panel. Only here a pseudonym stands beside the panel's ids.

    verified: whether the platform knows them; None while that is not known.
    status:   of their submission on the platform, as it was seen last.
    outcome:  what became of them here; None while they are inside.
    chance:   what their cookie is made from, the same on every device of theirs.
    """

    pseudonym: str
    who: Identity
    arrived: float | None = None
    seen: float | None = None
    consented: float | None = None
    verified: bool | None = None
    status: str | None = None
    outcome: Outcome | None = None
    ended: float | None = None
    completed: bool = False
    decision: Decision | None = None
    chance: bytes | None = field(default=None, repr=False)

    @property
    def inside(self) -> bool:
        """Whether they may be asked something."""
        return self.outcome is None and self.verified is not False

    @property
    def owed(self) -> bool:
        """Whether they are owed the reward.

        Everybody who reached the end is, whatever the study made of their answers, and who was not admitted; anybody is
        for whom the organizer decided so.
        """
        if self.verified is not True:
            return self.decision == "pay" and self.verified is None
        if self.decision is not None:
            return self.decision == "pay"
        return self.outcome in ("finished", "not_admitted")

    def settled(self, recruitment: Recruitment, entries: Sequence[Entry]) -> bool:
        """Whether the panel's ids of this person are needed no more, as far as is known here.

        On panels where the organizer pays by hand, that is when the person is done.
        """
        if any(entry.who == self.pseudonym and entry.outcome is None for entry in entries):
            return False
        if not recruitment.on_prolific:
            call_due = recruitment.panel.call is not None and self.outcome == "finished" and not self.completed
            return self.outcome is not None and not call_due
        if self.verified is not True:
            return self.verified is False
        if self.status in PAID:
            return True
        if self.status in GONE:
            return self.decision == "leave" or not replace(self, decision=None).owed
        # Whoever awaits a review would be listed again, with their ids.
        return self.status == REJECTED and self.decision == "leave"


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: a call that moves money, written down before it is made.

    sent:    when the call was about to be made; None while it has not been.
    outcome: what is known of it; None while nothing is.
    """

    number: int
    kind: Kind
    who: str
    cents: int
    made: float
    sent: float | None = None
    outcome: EntryOutcome | None = None
    settled: float | None = None
    reference: str | None = None
    words: str = ""

    @property
    def unknown(self) -> bool:
        """Whether the call was made, or may have been, and nothing is known of what came of it."""
        return self.sent is not None and self.outcome is None

    @property
    def promised(self) -> bool:
        """Whether it is written down and the call has not been made."""
        return self.sent is None and self.outcome is None

    def is_old(self, now: float, grace_s: float) -> bool:
        """Whether the call was made so long ago that it would have had its effect by now."""
        return self.sent is not None and now - self.sent > grace_s

    @property
    def counts(self) -> bool:
        """Whether the money has moved, or may have."""
        return self.outcome == "done" or self.unknown


class Store:
    """Recruitments, the people who came, and the ledger. May be used from any thread."""

    def __init__(self, storage: str | Path, clock: Callable[[], float] = time.time) -> None:
        self.storage = storage
        self._database = database_at(storage)
        if self._database.is_absent():
            raise StorageMissing(f"there is no file {self._database.where}: begin a study in it first")
        self._wallets = threading.Lock()
        self.clock = clock
        with self._writing() as connection:
            create_missing(connection, metadata.sorted_tables)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction; what was done in it is durable afterwards."""
        with self._database.explaining(), self._database.connect_to_write() as connection, connection.begin():
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._database.explaining(), self._database.connect() as connection:
            yield connection

    @contextmanager
    def wallet(self, study: str) -> Iterator[None]:
        """Only one at a time, among all processes, makes calls that move money. Freed by kill -9 as well."""
        with self._wallets:
            deadline = time.monotonic() + LOCK_SECONDS
            while True:
                try:
                    session = self._database.lock(f"recruiting {study}")
                    break
                except StorageLocked:
                    if time.monotonic() >= deadline:
                        raise
                    time.sleep(0.05)
            try:
                yield
            finally:
                session.close()

    # Recruitments

    def recruitment(self, study: str) -> Recruitment | None:
        """How people are recruited for a study; None if they are not."""
        with self._reading() as connection:
            setup = connection.execute(select(recruitments.c.setup).where(recruitments.c.study == study)).scalar()
        return None if setup is None else Recruitment.from_json(setup)

    def keep(self, recruitment: Recruitment) -> Recruitment:
        """Store a recruitment in the place of the one before."""
        with self._writing() as connection:
            connection.execute(recruitments.delete().where(recruitments.c.study == recruitment.study))
            connection.execute(insert(recruitments).values(study=recruitment.study, setup=recruitment.to_json()))
        return recruitment

    # People

    def people(self, study: str) -> list[Participant]:
        """Everybody who came, in the order they came."""
        with self._reading() as connection:
            rows = connection.execute(select(recruited).where(recruited.c.study == study).order_by(recruited.c.arrived))
            return [_person(row) for row in rows.mappings()]

    def person(self, study: str, pseudonym: str) -> Participant | None:
        """One person by pseudonym."""
        with self._reading() as connection:
            own = and_(recruited.c.study == study, recruited.c.pseudonym == pseudonym)
            row = connection.execute(select(recruited).where(own)).mappings().first()
        return None if row is None else _person(row)

    def known_as(self, study: str, who: str) -> list[Participant]:
        """Everybody with this pseudonym, or with this id of a person or of a visit."""
        return [one for one in self.people(study) if who in (one.pseudonym, one.who.participant, one.who.session)]

    def arrive(
        self,
        study: str,
        who: Identity,
        verified: bool | None,
        places: int | None = None,
        status: str | None = None,
        new: Callable[[], tuple[str, bytes | None]] = lambda: (new_pseudonym(), None),
    ) -> tuple[Participant | None, bool]:
        """The person who arrived, and whether they are new. None when there is no place left.

        Somebody who came before is known again by participant and session, whatever browser they use, and with another
        session too, if that is verified: they go on in the new visit, unless they reached an end in an earlier one.
        `new` gives the pseudonym of somebody new, and what their cookie is made from.
        """
        now = self.clock()
        with self._writing() as connection:
            _one_at_a_time(connection, recruited)
            known = _visit(connection, study, who)
            if known is not None:
                return _come_again(connection, known, verified, status, now), False
            full = places is not None and _taken(connection, study) >= places
            earlier = _earlier_visit(connection, study, who.participant) if verified else None
            if earlier is not None and earlier["outcome"] not in (None, *FREES_ITS_PLACE):
                return _person(earlier), False
            if full and (earlier is None or earlier["outcome"] is not None):
                return None, False
            if earlier is not None:
                return _moved(connection, earlier, who, status, now), False
            pseudonym, chance = new()
            person = Participant(pseudonym, who, arrived=now, seen=now, verified=verified, status=status, chance=chance)
            return _added(connection, study, person), True

    def meet(self, study: str, who: Identity, status: str) -> Participant:
        """Somebody whom the platform knows, and who never came here."""
        with self._writing() as connection:
            return _added(connection, study, Participant(new_pseudonym(), who, verified=True, status=status))

    def change(self, study: str, pseudonym: str, **values: Any) -> None:
        """Change what is known of a person."""
        with self._writing() as connection:
            own = and_(recruited.c.study == study, recruited.c.pseudonym == pseudonym)
            connection.execute(update(recruited).where(own).values(**values))

    def change_many(self, study: str, changes: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """Change several people at once."""
        if changes:
            with self._writing() as connection:
                for pseudonym, values in changes:
                    own = and_(recruited.c.study == study, recruited.c.pseudonym == pseudonym)
                    connection.execute(update(recruited).where(own).values(**values))

    def mark_to_forget(self, study: str, pseudonym: str) -> None:
        """Note that a person is to be forgotten, now or later."""
        with self._writing() as connection:
            own = and_(to_forget.c.study == study, to_forget.c.pseudonym == pseudonym)
            connection.execute(to_forget.delete().where(own))
            connection.execute(insert(to_forget).values(study=study, pseudonym=pseudonym))

    def to_forget(self, study: str) -> list[str]:
        """Who is to be forgotten and has not been yet."""
        with self._reading() as connection:
            return list(connection.execute(select(to_forget.c.pseudonym).where(to_forget.c.study == study)).scalars())

    def settled_to_forget(self, study: str) -> list[str]:
        """Who is to be forgotten and has nothing more to be paid."""
        waiting, recruitment = self.to_forget(study), self.recruitment(study)
        if not waiting or recruitment is None:
            return []
        entries, people = self.entries(study), {person.pseudonym: person for person in self.people(study)}
        return [who for who in waiting if who not in people or people[who].settled(recruitment, entries)]

    def forget(self, study: str, pseudonym: str) -> None:
        """Leave nothing of the panel's ids of a person, nor of their cookie, in the database. What they did stays."""
        own = and_(recruited.c.study == study, recruited.c.pseudonym == pseudonym)
        with self._writing() as connection:
            row = connection.execute(select(recruited).where(own).with_for_update()).mappings().first()
            if row is not None:
                gone = {"participant": pseudonym, "session": "", "panel_study": None, "chance": None}
                connection.execute(recruited.delete().where(own))
                connection.execute(insert(recruited).values(**{**row, **gone}))
        with self._database.explaining():
            self._database.wipe((recruited.name,))
        with self._writing() as connection:  # only now: should wiping fail, it is done again
            done = and_(to_forget.c.study == study, to_forget.c.pseudonym == pseudonym)
            connection.execute(to_forget.delete().where(done))

    def taken(self, study: str) -> int:
        """How many places are taken: those who are inside, finished or not admitted."""
        with self._reading() as connection:
            return _taken(connection, study)

    # The ledger

    def entries(self, study: str) -> list[Entry]:
        """All lines of the ledger, in order."""
        with self._reading() as connection:
            rows = connection.execute(select(ledger).where(ledger.c.study == study).order_by(ledger.c.number))
            return [_entry(row) for row in rows.mappings()]

    def write_down(
        self, study: str, kind: Kind, lines: Sequence[tuple[str, int]], *, sent: bool = True, words: str = ""
    ) -> list[int]:
        """Write down calls that are about to be made, one for each (who, cents); give their numbers."""
        now = self.clock()
        common = {"study": study, "kind": kind, "made": now, "words": words, "sent": now if sent else None}
        with self._writing() as connection:
            return [_add_line(connection, **common, who=who, cents=cents) for who, cents in lines]

    def promise_once(self, study: str, request: str, who: str, cents: int, words: str) -> int:
        """Write down a bonus that is not sent yet; give its number, which for a repeated request is the first one's."""
        own = and_(promised.c.study == study, promised.c.request == request)
        with self._writing() as connection:
            _one_at_a_time(connection, promised)
            first = connection.execute(select(ledger).join(promised, promised.c.number == ledger.c.number).where(own))
            line = first.mappings().first()
            if line is None:
                values = {"study": study, "who": who, "cents": cents, "made": self.clock(), "words": words}
                number = _add_line(connection, **values, kind="bonus")
                connection.execute(insert(promised).values(study=study, request=request, number=number))
                return number
        if (line["who"], line["cents"]) != (who, cents):
            raise InvalidProblem(
                f"a bonus for {line['who']} of {line['cents']} cents was promised by a request with the same id: "
                "give every bonus an id of its own"
            )
        return int(line["number"])

    def mark_sent(self, numbers: Sequence[int], reference: str) -> None:
        """The call is about to be made."""
        with self._writing() as connection:
            values = {"sent": self.clock(), "reference": reference}
            connection.execute(update(ledger).where(ledger.c.number.in_(numbers)).values(**values))

    def mark_unsent(self, numbers: Sequence[int]) -> None:
        """The call had no effect: it is to be made again."""
        with self._writing() as connection:
            values = {"sent": None, "reference": None}
            connection.execute(update(ledger).where(ledger.c.number.in_(numbers)).values(**values))

    def settle(self, numbers: Sequence[int], outcome: EntryOutcome, words: str | None = None) -> None:
        """Write down what came of it."""
        if numbers:
            values: dict[str, Any] = {"outcome": outcome, "settled": self.clock()}
            if words is not None:
                values["words"] = words
            with self._writing() as connection:
                connection.execute(update(ledger).where(ledger.c.number.in_(numbers)).values(**values))


def new_pseudonym() -> str:
    """A random name, which says nothing about anybody."""
    return f"w{secrets.token_hex(8)}"


def has_recruitments(storage: str | Path) -> bool:
    """Whether people are recruited for any study there; nothing is written to find out."""
    database = database_at(storage)
    if database.is_absent():
        return False
    with database.explaining(), database.connect() as connection:
        return inspect(connection).has_table(recruitments.name)


def is_recruited_for(storage: str | Path, study: str) -> bool:
    """Whether people are recruited for this study; nothing is written to find out."""
    if not has_recruitments(storage):
        return False
    database = database_at(storage)
    with database.explaining(), database.connect() as connection:
        found = connection.execute(select(recruitments.c.study).where(recruitments.c.study == study)).first()
    return found is not None


def _add_line(connection: Connection, **values: Any) -> int:
    result = connection.execute(insert(ledger).values(**values))
    assert result.inserted_primary_key is not None
    return int(result.inserted_primary_key[0])


def _one_at_a_time(connection: Connection, table: Table) -> None:
    """Let no other transaction write to this table until this one ends; SQLite's transactions are so anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"LOCK TABLE {table.name} IN SHARE ROW EXCLUSIVE MODE"))


def _visit(connection: Connection, study: str, who: Identity) -> RowMapping | None:
    """The row of this person in this visit."""
    ids = (recruited.c.participant == who.participant, recruited.c.session == (who.session or ""))
    return connection.execute(select(recruited).where(recruited.c.study == study, *ids)).mappings().first()


def _come_again(
    connection: Connection, row: RowMapping, verified: bool | None, status: str | None, now: float
) -> Participant:
    """Somebody in a visit that is known, or who was met on the platform before they came."""
    changed: dict[str, Any] = {"seen": now}
    if row["arrived"] is None:
        changed["arrived"] = now
    if verified is not None:
        changed |= {"verified": verified, "status": status}
    return _changed(connection, row, changed)


def _moved(connection: Connection, row: RowMapping, who: Identity, status: str | None, now: float) -> Participant:
    """Somebody who goes on in another visit than before."""
    visit = {"session": who.session or "", "panel_study": who.study, "status": status, "verified": True, "seen": now}
    return _changed(connection, row, visit | {"outcome": None, "ended": None, "completed": False, "decision": None})


def _changed(connection: Connection, row: RowMapping, values: dict[str, Any]) -> Participant:
    own = and_(recruited.c.study == row["study"], recruited.c.pseudonym == row["pseudonym"])
    connection.execute(update(recruited).where(own).values(**values))
    return _person({**row, **values})


def _added(connection: Connection, study: str, person: Participant) -> Participant:
    """Store somebody new."""
    ids = {"participant": person.who.participant, "session": person.who.session or "", "panel_study": person.who.study}
    rest = {name: getattr(person, name) for name in _OF_PERSON}
    connection.execute(insert(recruited).values(study=study, **ids, **rest))
    return person


def _earlier_visit(connection: Connection, study: str, participant: str) -> RowMapping | None:
    """The last visit of somebody who comes in another one now. What is not verified may be another person's."""
    own = and_(recruited.c.study == study, recruited.c.participant == participant, recruited.c.verified.is_(True))
    came = recruited.c.arrived.is_not(None)
    found = connection.execute(select(recruited).where(own, came).order_by(recruited.c.arrived.desc()))
    return found.mappings().first()


def _taken(connection: Connection, study: str) -> int:
    free = recruited.c.outcome.in_(sorted(FREES_ITS_PLACE))
    holding = and_(recruited.c.study == study, recruited.c.outcome.is_(None) | ~free)
    return int(connection.execute(select(func.count()).select_from(recruited).where(holding)).scalar_one())


def _person(row: RowMapping | dict[str, Any]) -> Participant:
    who = Identity(row["participant"], row["session"] or None, row["panel_study"])
    return Participant(who=who, **{name: row[name] for name in _OF_PERSON})


_OF_PERSON = tuple(
    column.name for column in recruited.c if column.name not in ("study", "participant", "session", "panel_study")
)


def _entry(row: RowMapping) -> Entry:
    kept = ("number", "kind", "who", "cents", "made", "sent", "outcome", "settled", "reference", "words")
    return Entry(**{name: row[name] for name in kept})
