"""Retention: what ties answers to people goes by itself, so many days after their study was closed."""

from __future__ import annotations

from dataclasses import asdict
from math import ceil
from pathlib import Path

from handful.storage.people import FORGOTTEN, Person, count_change, forget_due, make_tables, wipe, writing
from handful.storage.sql import database_at

DAYS = 90
MOST_DAYS = 3650
DAY_S = 24 * 3600.0


def keep_for(url: str | Path, study: str, days: int) -> None:
    """Keep the rows about a study's people for so many days after it is closed."""
    from handful.storage.people_tables import retention

    database = database_at(url)
    make_tables(database)
    own = retention.c.study == study
    with writing(database) as connection:
        found = connection.execute(retention.select().where(own)).first()
        if found is None:
            connection.execute(retention.insert().values(study=study, days=days))
        elif found.days != days:
            connection.execute(retention.update().where(own).values(days=days))


def kept_for(url: str | Path, study: str, now: float) -> int:
    """How many days after it is closed a study's people are kept: as was said before, else the default from now on.

    A study that was closed before anything was said of it is kept for the default from now, not from its end.
    """
    from handful.storage.people_tables import retention
    from handful.storage.people_tables import studies_of_people as studies

    database = database_at(url)
    make_tables(database)
    with writing(database) as connection:
        found = connection.execute(retention.select().where(retention.c.study == study)).first()
        if found is not None:
            return int(found.days)
        of_study = connection.execute(studies.select().where(studies.c.study == study)).first()
        closed = None if of_study is None else of_study.closed
        days = DAYS + (0 if closed is None else max(0, ceil((now - closed) / DAY_S)))
        connection.execute(retention.insert().values(study=study, days=days))
    return days


def retire_due(url: str | Path, now: float) -> list[str]:
    """Forget everybody in all studies whose time is over, and network tags where theirs is; gives these studies.

    A study of which nothing was ever said keeps its people: what is deleted cannot be brought back.
    """
    from sqlalchemy import inspect

    from handful.storage.people_tables import invitations, people, retention
    from handful.storage.people_tables import studies_of_people as studies

    forget_due(url, now)
    database = database_at(url)
    if database.is_absent():
        return []
    with database.explaining(), database.connect() as connection:
        there = inspect(connection)
        if not there.has_table(studies.name):
            return []
        told = connection.execute(retention.select()).all() if there.has_table(retention.name) else []
        days = {row.study: row.days for row in told}
        closed = connection.execute(studies.select().where(studies.c.closed.is_not(None))).all()
        due = [row.study for row in closed if row.study in days and row.closed + days[row.study] * DAY_S <= now]
        over = people.c.study.in_(due) & (people.c.state != FORGOTTEN)
        rows = connection.execute(people.select().where(over)).all() if due else []
        known = sorted({row.study for row in rows})
    if known:
        # Names that were made from a cookie would be taken up again by it; the journal has all of them anyway.
        names = [{"study": row.study, **asdict(Person(row.pseudonym, state=FORGOTTEN))} for row in rows]
        with writing(database) as connection:
            left = people.c.study.in_(known) & (people.c.state != FORGOTTEN)
            connection.execute(people.delete().where(left))
            connection.execute(people.insert(), names)
            used = invitations.c.study.in_(known) & invitations.c.pseudonym.is_not(None)
            connection.execute(invitations.update().where(used).values(pseudonym=FORGOTTEN))
            for study in known:
                count_change(connection, study)
        wipe(database)
    return due
