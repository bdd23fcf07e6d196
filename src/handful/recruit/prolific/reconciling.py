"""Bringing both sides to agree: what the platform shows is read, what is open is settled, what is due is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from handful.errors import RecruitingFailed
from handful.recruit.money import money
from handful.recruit.outcomes import Identity, Outcome
from handful.recruit.prolific import paying
from handful.recruit.prolific.client import NotSent, Refused, Unknown
from handful.recruit.prolific.recruiter import BEFORE, BETWEEN, GRACE_S, Recruiter
from handful.recruit.prolific.submissions import (
    APPROVED,
    AWAITING,
    PAID,
    REJECTED,
    RETURNED,
    SCREENED_OUT,
    TIMED_OUT,
    Submission,
)
from handful.recruit.records import Entry, Participant, Recruitment
from handful.recruit.store import Store

GROW_AT = 0.6
"""More places are opened when this share of the open ones has reached the end."""

NO_DRAFT = "the draft has not been created: run `handful recruit create` again"
BONUS_GRACE_S = 900.0
"""Bonuses are paid within minutes."""


@dataclass(frozen=True)
class Waiting:
    """Something that only the organizer can decide: about a person, or about a line of the ledger."""

    words: str
    who: str | None = None
    line: int | None = None


@dataclass
class Report:
    """What a reconciliation saw, did and left open."""

    reached: bool = True
    status: str | None = None
    done: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    changed: list[Participant] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        """Whether both sides say the same and nothing is open."""
        return self.reached and not self.differences


def reconcile(recruiter: Recruiter, *, decided: bool = False) -> Report:
    """Read, settle and do what is due. `decided`: the study has its picks, so nobody new is needed.

    Called again and again; it may be killed at any moment.
    """
    report = Report()
    with recruiter.store.wallet(recruiter.study):
        recruitment = recruiter.recruitment()
        try:
            if recruitment.platform_id is None and recruiter.adopted(recruitment) is None:
                report.differences.append(NO_DRAFT)
                return report
            recruitment, told = recruiter.seen()
            report.status = told["status"]
            _settle_study(recruiter, recruitment, told, report)
            listed = recruiter.client.submissions(recruiter.id_of(recruitment))
            _take_over(recruiter, recruitment, listed, report)
            _settle_people(recruiter, report)
        except (Unknown, NotSent, Refused) as error:
            report.reached = False
            report.differences.append(f"{error}; nothing is concluded from that, and it is tried again")
            _say(recruiter.store, recruitment, report)
            return report
        _do_what_is_due(recruiter, recruitment, told, decided, report)
        _say(recruiter.store, recruitment, report)
    return report


def _settle_study(recruiter: Recruiter, recruitment: Recruitment, told: dict[str, Any], report: Report) -> None:
    """Find out what came of publishing and of opening places."""
    for entry in recruiter.open_entries("publish"):
        if told["status"] in BETWEEN:
            continue
        if told["status"] not in BEFORE:
            recruiter.store.settle([entry.number], "done", "found to be published")
            report.done.append("an interrupted call had published the study")
        elif entry.is_old(recruiter.clock(), GRACE_S):
            recruiter.store.settle([entry.number], "not_done", "found not to be published")
            report.done.append("an interrupted call had not published the study: publish it again")
    for entry in recruiter.open_entries("places"):
        meant = int(entry.words.split()[2])
        if told["total_available_places"] >= meant:
            recruiter.store.settle([entry.number], "done")
            report.done.append(f"an interrupted call had opened {meant} places")
        elif entry.is_old(recruiter.clock(), GRACE_S):
            recruiter.store.settle([entry.number], "not_done", f"{entry.words}, found not to be done")


def _take_over(recruiter: Recruiter, recruitment: Recruitment, listed: list[Submission], report: Report) -> None:
    """Take the platform's word for who they are and how their submissions stand."""
    store, study = recruiter.store, recruiter.study
    known = {person.who.session: person for person in store.people(study)}
    changes: list[tuple[str, dict[str, Any]]] = []
    for submission in listed:
        person = known.pop(submission.id, None)
        if person is None:
            if submission.status == AWAITING:  # reached the end over there, and was never here
                store.meet(study, Identity(submission.participant, submission.id, submission.study), AWAITING)
            continue
        values = _changes(person, submission, recruiter.clock())
        if values:
            changes.append((person.pseudonym, values))
            report.changed.append(replace(person, **values))
    for person in known.values():
        # A whole list without them is a clear no: they made their ids up. But it may be older than their arrival.
        arrived = person.arrived or 0.0
        if person.verified is None and recruiter.clock() - arrived > GRACE_S:
            changes.append((person.pseudonym, {"verified": False}))
            report.changed.append(replace(person, verified=False))
    store.change_many(study, changes)


def _changes(person: Participant, submission: Submission, now: float) -> dict[str, Any]:
    values: dict[str, Any] = {}
    genuine = person.who.participant == submission.participant
    if person.verified is not genuine:
        values["verified"] = genuine
    if not genuine:
        return values
    if person.status != submission.status:
        values["status"] = submission.status
    gone: dict[str, Outcome] = {RETURNED: "returned", TIMED_OUT: "timed_out"}
    if person.outcome is None and submission.status in gone:
        values |= {"outcome": gone[submission.status], "ended": now}
    elif person.outcome in gone.values() and submission.inside:  # the return was undone
        values |= {"outcome": None, "ended": None}
    return values


def _settle_people(recruiter: Recruiter, report: Report) -> None:
    """Find out what came of approvals, screen-outs and bonuses."""
    store = recruiter.store
    people = {person.pseudonym: person for person in store.people(recruiter.study)}
    done, undone = list[int](), list[int]()
    for entry in recruiter.open_entries("approve", "screen_out"):
        person = people.get(str(entry.who))
        status = None if person is None else person.status
        if status in PAID:
            done.append(entry.number)
        elif entry.is_old(recruiter.clock(), GRACE_S):
            undone.append(entry.number)
    store.settle(done, "done")
    store.settle(undone, "not_done", "found not to be done")
    if done:
        report.done.append(f"{len(done)} payments are confirmed")
    paying.settle_returns(recruiter)
    for entry in recruiter.open_entries("bonus"):
        person = people.get(str(entry.who))
        if person is not None and _was_paid(recruiter, entry, person):
            store.settle([entry.number], "done", "found to be paid")
            report.done.append("an interrupted call had paid a bonus")


def _was_paid(recruiter: Recruiter, entry: Entry, person: Participant) -> bool:
    """Whether the platform shows one more bonus of this amount than the ledger knows of."""
    try:
        shown = recruiter.client.submission(str(person.who.session)).bonuses or ()
    except (Refused, Unknown, NotSent):
        return False  # it stays unknown, and holds up nobody
    own = [e for e in recruiter.store.entries(recruiter.study) if e.kind == "bonus" and e.who == entry.who]
    known = sum(e.outcome == "done" and e.cents == entry.cents for e in own)
    return shown.count(entry.cents) > known


def _do_what_is_due(
    recruiter: Recruiter, recruitment: Recruitment, told: dict[str, Any], decided: bool, report: Report
) -> None:
    """Stop, complete, approve, grow, pay bonuses: each on its own, so that one that fails holds nothing up."""
    status = told["status"]
    if decided and recruitment.wanted == "active":
        recruitment = recruiter.store.keep(replace(recruitment, wanted="stopped"))
    if recruitment.wanted == "stopped" and status in ("ACTIVE", "PAUSED"):
        _try(report, "stop the study", lambda: recruiter.client.turn(recruiter.id_of(recruitment), "STOP"))
    elif recruitment.wanted == "paused" and status == "ACTIVE":
        _try(report, "pause the study", lambda: recruiter.client.turn(recruiter.id_of(recruitment), "PAUSE"))
    for person in recruiter.store.people(recruiter.study):
        trouble = paying.quietly_complete(recruiter, recruitment, person)
        if trouble is not None:
            report.differences.append(f"{person.pseudonym} has finished and is not completed yet: {trouble}")
    people = recruiter.store.people(recruiter.study)
    _try(report, "approve who has finished", lambda: paying.approve(recruiter, recruitment, people))
    if _wants_more(recruiter, recruitment, status, people):
        _try(report, "open more places", lambda: recruiter.grow(recruitment))
    _try(report, "pay bonuses", lambda: paying.pay_bonuses(recruiter, recruitment))


def _try(report: Report, what: str, call: Callable[[], object]) -> None:
    try:
        if call():
            report.done.append(what)
    except RecruitingFailed as error:
        report.differences.append(f"could not {what} yet: {error}")


def _wants_more(recruiter: Recruiter, recruitment: Recruitment, status: str, people: list[Participant]) -> bool:
    places = recruitment.places or 0
    if recruitment.wanted != "active" or places >= recruitment.plan.people or status in (*BEFORE, *BETWEEN):
        return False
    if recruiter.open_entries("places"):
        return False
    return sum(person.outcome == "finished" for person in people) >= GROW_AT * places


def known_here(store: Store, study: str) -> Report:
    """The differences and what waits for the organizer, as they are known without asking the platform."""
    recruitment, report = store.recruitment(study), Report()
    if recruitment is not None and recruitment.on_prolific:
        report.status = recruitment.status
        if recruitment.platform_id is None:
            report.differences.append(NO_DRAFT)
        _say(store, recruitment, report)
    return report


def _say(store: Store, recruitment: Recruitment, report: Report) -> None:
    """Every difference that is left, in words, and what waits for the organizer."""
    plan, now = recruitment.plan, store.clock()
    for person in store.people(recruitment.study):
        said = _waits(person, recruitment)
        if said is not None and person.decision is None:
            report.waiting.append(Waiting(f"{person.pseudonym} {said}", who=person.pseudonym))
        elif paying.is_paid_in_full(person, recruitment) and person.status not in PAID:
            report.differences.append(
                f"{person.pseudonym} is to be paid and is {person.status or 'unknown'} over there"
            )
        elif paying.is_screened_out(person, recruitment) and person.status == AWAITING:
            report.differences.append(f"{person.pseudonym} is to get the screen-out and is {person.status} over there")
    for entry in store.entries(recruitment.study):
        if not entry.unknown:
            continue
        amount = money(entry.cents, plan.currency)
        if entry.kind == "bonus" and entry.is_old(now, BONUS_GRACE_S):
            words = (
                f"line {entry.number}: a bonus of {amount} for {entry.who} was sent, its outcome is unknown, and "
                f"Prolific does not show it: look there, then `handful recruit decide --line {entry.number} --paid` "
                "or --unpaid"
            )
            report.waiting.append(Waiting(words, line=entry.number))
        what = f"asking {entry.who} for a return" if entry.kind == "return" else f"{entry.kind} of {amount}"
        report.differences.append(f"line {entry.number}: {what} has no known outcome yet")


_NOT_OWED: dict[Outcome | None, str] = {
    "refused": "did not consent, went back to Prolific",
    "returned": "had returned their place, went back to Prolific all the same",
    "timed_out": "had run out of time, went back to Prolific all the same",
    "full": "found no place here, went back to Prolific",
}


def _waits(person: Participant, recruitment: Recruitment) -> str | None:
    """Why a person waits for the organizer's decision; None if they do not."""
    if person.verified is None and person.outcome == "finished":
        return "has finished, and Prolific could not be asked whether they are real: pay them or leave it"
    if person.verified is not True:
        return None
    owed = paying.is_paid_in_full(person, recruitment) or paying.is_screened_out(person, recruitment)
    if person.status == AWAITING and not owed:
        came = "came back to Prolific before the end" if person.arrived else "never came here"
        return f"{_NOT_OWED.get(person.outcome, came)}, and asks for pay there: pay them or leave it"
    if person.outcome == "finished" and person.status in (RETURNED, TIMED_OUT):
        return f"has finished, but is {person.status} over there: approve them on Prolific's page, or leave it"
    if person.status == REJECTED:
        return "was rejected on Prolific's page, which handful never does"
    return None


def counts_of(people: list[Participant]) -> dict[str, int]:
    """People by state, as the organizer reads it."""
    counts: Counter[str] = Counter()
    for person in people:
        if person.verified is False:
            counts["not from the panel"] += 1
        elif person.outcome is None:
            counts["inside" if person.status != AWAITING else "waiting for a decision"] += 1
        elif person.status == APPROVED:
            counts["paid"] += 1
        elif person.status == SCREENED_OUT:
            counts["paid a screen-out"] += 1
        else:
            counts[person.outcome.replace("_", " ")] += 1
    return dict(counts)
