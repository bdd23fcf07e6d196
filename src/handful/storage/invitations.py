"""Invitations to a study: codes that let one person in each, kept as hashes."""

from __future__ import annotations

import secrets
from base64 import b32encode
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from handful.errors import InvalidProblem
from handful.storage.people import FORGOTTEN, make_tables, writing
from handful.storage.sql import database_at

CODE_BYTES = 10
MOST = 100_000


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
    """The invitations of one study."""

    def __init__(self, study: str, url: str | Path) -> None:
        self._study = study
        self._database = database_at(url)
        make_tables(self._database)

    def make(self, count: int, now: float) -> list[tuple[int, str]]:
        """Make so many invitations; gives the number and the code of each."""
        from sqlalchemy import func, select

        from handful.storage.people_tables import invitations

        if not 1 <= count <= MOST:
            raise InvalidProblem(f"invitations are made 1 to {MOST:,} at a time, got {count}")
        with writing(self._database) as connection:
            highest = select(func.max(invitations.c.number)).where(invitations.c.study == self._study)
            last: int = connection.execute(highest).scalar() or 0
            made = [(last + at, _new_code()) for at in range(1, count + 1)]
            rows = [{"study": self._study, "number": number, "code": _hash(code), "made": now} for number, code in made]
            connection.execute(invitations.insert(), rows)
        return made

    def all(self) -> list[Invitation]:
        """All invitations of the study, in the order made."""
        from handful.storage.people_tables import invitations

        with writing(self._database) as connection:
            own = invitations.select().where(invitations.c.study == self._study).order_by(invitations.c.number)
            return [Invitation(row.number, row.made, row.revoked, row.pseudonym) for row in connection.execute(own)]

    def revoke(self, numbers: list[int], now: float) -> int:
        """Let nobody in by these any more; who is in stays in. Gives how many were open."""
        from handful.storage.people_tables import invitations

        with writing(self._database) as connection:
            still = (
                (invitations.c.study == self._study)
                & invitations.c.number.in_(numbers)
                & invitations.c.revoked.is_(None)
                & invitations.c.pseudonym.is_(None)
            )
            return connection.execute(invitations.update().where(still).values(revoked=now)).rowcount

    def use(self, code: str, pseudonym: str) -> str | None:
        """Who has the invitation now: `pseudonym` if it was open, whoever used it before, or None if it lets nobody in.

        Of two who come with the same code at once, one has it.
        """
        from handful.storage.people_tables import invitations

        with writing(self._database) as connection:
            same = (invitations.c.study == self._study) & (invitations.c.code == _hash(code))
            found = connection.execute(invitations.select().where(same).with_for_update()).first()
            if found is None or (found.pseudonym is None and found.revoked is not None):
                return None
            if found.pseudonym == FORGOTTEN:
                return None  # whoever had it was forgotten, and cannot be told from somebody new
            if found.pseudonym is not None:
                return str(found.pseudonym)
            connection.execute(invitations.update().where(same).values(pseudonym=pseudonym))
        return pseudonym


def invitation_of(study: str, url: str | Path, code: str) -> Invitation | None:
    """The invitation with this code, if it may still let somebody in or has; None for any other code.

    It is read without holding up anybody who writes: whoever has a link may ask. Without the table nobody is invited.
    """
    from sqlalchemy import inspect

    from handful.storage.people_tables import invitations

    database = database_at(url)
    same = (invitations.c.study == study) & (invitations.c.code == _hash(code))
    with database.explaining(), database.connect() as connection:
        if not inspect(connection).has_table(invitations.name):
            return None
        row = connection.execute(invitations.select().where(same)).first()
    if row is None or row.pseudonym == FORGOTTEN:
        return None
    found = Invitation(row.number, row.made, row.revoked, row.pseudonym)
    return None if found.state == "revoked" else found


def _new_code() -> str:
    return b32encode(secrets.token_bytes(CODE_BYTES)).decode().lower()


def _hash(code: str) -> bytes:
    """Spaces, dashes and capitals do not matter to someone who types it."""
    return sha256("".join(code.split()).replace("-", "").lower().encode()).digest()
