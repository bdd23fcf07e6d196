"""Forgetting people who came from a panel: its ids, and what ties a cookie to them, go once nothing is left to pay.

Until then they are known by their cookie, so that they can go on, and go back to be paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from handful.recruit.prolific.submissions import GONE, PAID, REJECTED
from handful.recruit.records import Entry, Participant, Recruitment
from handful.recruit.store import Store, has_recruitments
from handful.storage.people import People
from handful.storage.retention import retire_due


def known_as(store: Store, study: str, who: str) -> list[Participant]:
    """Everybody with this pseudonym, or with this id of a person or of a visit."""
    return [p for p in store.people(study) if who in (p.pseudonym, p.who.participant, p.who.session)]


def ask_to_forget(store: Store, study: str, pseudonym: str) -> bool:
    """Forget somebody now, or else by `forget_settled` as soon as their pay is settled; whether it was done now."""
    if store.person(study, pseudonym) is None:
        return True
    store.mark_to_forget(study, pseudonym)
    return pseudonym in forget_settled(store, study)


def retire(url: str | Path, now: float) -> list[str]:
    """Forget everybody in studies whose retention is over; gives these studies.

    The ids that Prolific knows people by go once their pay is settled. Where the organizer pays by hand nobody here
    knows when that was done: the panel's ids stay until somebody asks.
    """
    due = retire_due(url, now)
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


def forget_settled(store: Store, study: str) -> list[str]:
    """Forget those who are to be forgotten and have nothing more to be paid; gives their names."""
    waiting, recruitment = store.to_forget(study), store.recruitment(study)
    if not waiting or recruitment is None:
        return []
    entries, people = store.entries(study), {person.pseudonym: person for person in store.people(study)}
    done = [who for who in waiting if who not in people or pay_is_settled(people[who], recruitment, entries)]
    known = People(study, store.storage) if done else None
    for who in done:
        assert known is not None
        # A name that could be made from its cookie, as it was once, is kept alone: nobody takes it up again.
        if not known.forget(who, keep_name=True):
            known.keep_names([who])
        store.forget(study, who)  # last, for it strikes them off the list
    return done


def pay_is_settled(person: Participant, recruitment: Recruitment, entries: Sequence[Entry]) -> bool:
    """Whether the panel's ids of a person are needed no more, as far as is known here.

    On panels where the organizer pays by hand, that is when the person is done.
    """
    if any(entry.who == person.pseudonym and entry.outcome is None for entry in entries):
        return False
    if not recruitment.on_prolific:
        call_due = recruitment.panel.call is not None and person.outcome == "finished" and not person.completed
        return person.outcome is not None and not call_due
    if person.verified is not True:
        return person.verified is False
    if person.status in PAID:
        return True
    if person.status in GONE:
        return person.outcome != "finished" or person.decision == "leave"
    # Whoever awaits a review would be listed again, with their ids.
    return person.status == REJECTED and person.decision == "leave"
