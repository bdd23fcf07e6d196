"""Retention: what ties answers to people goes by itself, so many days after their study was closed."""

from __future__ import annotations

from pathlib import Path

from handful.storage.opening import database_at
from handful.storage.people import FORGOTTEN, count_change, forget_due, make_tables, wipe, writing

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


def retire_due(url: str | Path, now: float) -> list[str]:
    """Forget everybody in all studies whose time is over, and network tags where theirs is; gives these studies."""
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
        due = [row.study for row in closed if row.closed + days.get(row.study, DAYS) * DAY_S <= now]
        rows = connection.execute(people.select().where(people.c.study.in_(due))).all() if due else []
        known = sorted({row.study for row in rows})
    if known:
        with writing(database) as connection:
            connection.execute(people.delete().where(people.c.study.in_(known)))
            used = invitations.c.study.in_(known) & invitations.c.pseudonym.is_not(None)
            connection.execute(invitations.update().where(used).values(pseudonym=FORGOTTEN))
            for study in known:
                count_change(connection, study)
        wipe(database)
    return due
