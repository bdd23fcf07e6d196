"""Who is paid, and the calls that do it: complete, approve, screen out, bonus. Nobody is ever rejected from here."""

from __future__ import annotations

import secrets
from contextlib import suppress

from handful.errors import InvalidProblem, RecruitingFailed, StudyNotFound
from handful.recruit.money import money
from handful.recruit.prolific.client import MOST_APPROVALS, Busy, NotSent, NotThere, Refused, Unknown
from handful.recruit.prolific.draft import HERE, SCREENED
from handful.recruit.prolific.recruiter import GRACE_S, Recruiter
from handful.recruit.prolific.submissions import ACTIVE, AWAITING, PAID, RESERVED
from handful.recruit.records import Entry, Participant, Recruitment

MOST_BONUS = 20_000
"""In cents, for one person at once: more is a slip of the keyboard."""

NOT_ALLOWED = (401, 403)
"""What the platform says to a token that may not do this."""

SHORT_MINUTES = 5
SHORTEST_NAME = 6
"""So many letters of a pseudonym are needed to find somebody by its beginning."""
RETURN_REASON = "Some answers did not follow the instruction in the question itself."


def is_paid_in_full(person: Participant, recruitment: Recruitment) -> bool:
    """Whether a person is owed the reward.

    Everybody who reached the end is, whatever the study made of their answers; who was not admitted is, where the
    workspace has no screen-out; anybody is for whom the organizer decided so.
    """
    if person.verified is not True:
        return person.decision == "pay" and person.verified is None
    if person.decision is not None:
        return person.decision == "pay"
    return person.outcome == "finished" or (person.outcome == "not_admitted" and recruitment.screen_out is None)


def is_screened_out(person: Participant, recruitment: Recruitment) -> bool:
    """Whether a person is owed the fixed screen-out."""
    return person.verified is True and person.outcome == "not_admitted" and recruitment.screen_out is not None


def may_ask_return(person: Participant, minutes: int) -> bool:
    """Whether the organizer may ask this person to return: only for failed instructed checks, never for gold ones."""
    needed = 1 if minutes < SHORT_MINUTES else 2
    return person.failed >= needed and person.status not in PAID and person.who.session is not None


def complete(recruiter: Recruiter, recruitment: Recruitment, person: Participant) -> bool:
    """Complete from here what the person has finished, where the workspace can; whether that was done."""
    session = person.who.session
    if session is None or person.status not in (ACTIVE, RESERVED):
        return False
    if is_screened_out(person, recruitment):
        return _screen_out(recruiter, recruitment, person, session)
    code = recruitment.codes.get(HERE)
    if code is None or not is_paid_in_full(person, recruitment):
        return False
    # No money moves: the submission waits for a review, which is ours to give.
    told = recruiter.client.complete(session, code)
    recruiter.store.change(recruiter.study, person.pseudonym, status=told.status, completed=True)
    return True


def _screen_out(recruiter: Recruiter, recruitment: Recruitment, person: Participant, session: str) -> bool:
    if _has(recruiter.store.entries(recruiter.study), "screen_out", person.pseudonym):
        return False
    assert recruitment.screen_out is not None
    lines = [(person.pseudonym, recruitment.screen_out)]
    numbers = recruiter.store.write_down(recruiter.study, "screen_out", lines)
    recruiter.make(numbers, lambda: recruiter.client.complete(session, recruitment.codes[SCREENED]))
    recruiter.store.settle(numbers, "done")
    return True


def approve(recruiter: Recruiter, recruitment: Recruitment, people: list[Participant]) -> int:
    """Approve all who are owed the reward and wait for it; how many were sent. The platform does it later."""
    entries = recruiter.store.entries(recruiter.study)
    due = [
        person
        for person in people
        if person.status == AWAITING
        and is_paid_in_full(person, recruitment)
        and not _has(entries, "approve", person.pseudonym)
    ][:MOST_APPROVALS]
    if not due:
        return 0
    try:
        _approve(recruiter, recruitment, due)
    except Busy:
        raise
    except Refused:
        if len(due) == 1:
            raise
        for person in due:  # one of them is why all were refused
            with suppress(Refused):
                _approve(recruiter, recruitment, [person])
    return len(due)


def _approve(recruiter: Recruiter, recruitment: Recruitment, due: list[Participant]) -> None:
    lines = [(person.pseudonym, recruitment.plan.reward) for person in due]
    numbers = recruiter.store.write_down(recruiter.study, "approve", lines)
    sessions = [str(person.who.session) for person in due]
    # The lines stay open until the submissions are seen to be approved.
    recruiter.make(numbers, lambda: recruiter.client.approve(sessions))


def _has(entries: list[Entry], kind: str, who: str) -> bool:
    return any(entry.kind == kind and entry.who == who and entry.counts for entry in entries)


def _called(recruiter: Recruiter, pseudonym: str) -> Participant:
    """The person of this pseudonym, which is given whole: money is never sent to whoever happens to be called so."""
    person = recruiter.store.person(recruiter.study, pseudonym)
    if person is None:
        raise StudyNotFound(
            f"nobody called {pseudonym!r} came from Prolific: give the whole pseudonym; `handful status` names all who "
            "answered"
        )
    return person


def pseudonym_from(recruiter: Recruiter, beginning: str) -> str:
    """The whole pseudonym of the only person whose pseudonym begins so."""
    names = [person.pseudonym for person in recruiter.store.people(recruiter.study)]
    if beginning in names:
        return beginning
    found = [name for name in names if len(beginning) >= SHORTEST_NAME and name.startswith(beginning)]
    if len(found) > 1:
        raise InvalidProblem(f"{len(found)} people have names that begin with {beginning!r}: give more letters of it")
    if not found:
        raise StudyNotFound(
            f"nobody's name begins with {beginning!r}, of those from Prolific: give {SHORTEST_NAME} letters or "
            "more; `handful status` names all who answered"
        )
    return found[0]


def promise_bonus(
    recruiter: Recruiter, pseudonym: str, cents: int, reason: str = "", request: str | None = None
) -> int:
    """Write down that a person is to get a bonus; it is paid by the next reconciliation. Gives the ledger's number.

    `request` is a random name of what was asked for: whoever repeats it, because no reply came, promises nothing more.
    """
    if not 0 < cents <= MOST_BONUS:
        raise InvalidProblem(f"a bonus of {money(cents)} is not between {money(1)} and {money(MOST_BONUS)}")
    person = _called(recruiter, pseudonym)
    if person.verified is not True or person.who.session is None:
        raise InvalidProblem(f"{pseudonym} is not known to Prolific, as far as is known here, and cannot be paid")
    request = secrets.token_hex(16) if request is None else request
    return recruiter.store.promise_once(recruiter.study, request, person.pseudonym, cents, reason[:200])


def pay_bonuses(recruiter: Recruiter, recruitment: Recruitment) -> int:
    """Pay the bonuses that were promised and never sent, one call each; how many. Paying twice would pay twice.

    A bonus that is refused holds up none of the others: it is settled as refused, and told when all have been tried.
    """
    paid, refusals = 0, list[Refused]()
    for entry in recruiter.store.entries(recruiter.study):
        if entry.kind != "bonus" or entry.sent is not None or entry.outcome is not None:
            continue
        person = recruiter.store.person(recruiter.study, str(entry.who))
        if person is None or person.who.session is None:
            recruiter.store.settle([entry.number], "not_done", "the person has been erased")
            continue
        try:
            _pay_bonus(recruiter, recruitment, entry, person.who.session)
            paid += 1
        except Busy:
            raise
        except Refused as error:
            if error.status in NOT_ALLOWED:  # that is about us, and not about this person
                raise
            recruiter.store.settle([entry.number], "refused", str(error))
            refusals.append(error)
    if refusals:
        raise refusals[0]
    return paid


def _pay_bonus(recruiter: Recruiter, recruitment: Recruitment, entry: Entry, session: str) -> None:
    # Handing in pays nothing: should this be lost, it is handed in again.
    listed, _ = recruiter.client.hand_in_bonuses(recruiter.id_of(recruitment), [(session, entry.cents)])
    recruiter.store.mark_sent([entry.number], listed)
    try:
        recruiter.client.pay_bonuses(listed)
    except (NotSent, Refused) as error:
        if isinstance(error, NotSent | Busy) or error.status in NOT_ALLOWED:
            recruiter.store.mark_unsent([entry.number])  # nothing was paid: the promise stands
        raise
    recruiter.store.settle([entry.number], "done")


def ask_return(recruiter: Recruiter, pseudonym: str) -> None:
    """Ask a person to return their submission, once. Only ever because the organizer clicked."""
    recruitment = recruiter.recruitment()
    person = _called(recruiter, pseudonym)
    if not may_ask_return(person, recruitment.plan.minutes):
        raise InvalidProblem(
            f"{pseudonym} failed {person.failed} instructed checks, which is no reason to ask for a return: "
            f"one is needed in a study under {SHORT_MINUTES} minutes, two from then on; gold questions do not count"
        )
    session = str(person.who.session)
    with recruiter.store.wallet(recruiter.study):
        settle_returns(recruiter)
        entries = recruiter.store.entries(recruiter.study)
        if any(entry.kind == "return" and entry.who == pseudonym and entry.unknown for entry in entries):
            raise RecruitingFailed(
                f"{pseudonym} was asked, with an unknown outcome, and is not asked twice: `handful recruit reconcile` "
                f"finds out what came of it; that may take {GRACE_S / 60:.0f} minutes"
            )
        if not was_asked(entries, pseudonym):
            numbers = recruiter.store.write_down(recruiter.study, "return", [(pseudonym, 0)])
            recruiter.make(numbers, lambda: recruiter.client.request_return(session, RETURN_REASON))
            recruiter.store.settle(numbers, "done")


def was_asked(entries: list[Entry], pseudonym: str) -> bool:
    """Whether a person was asked to return their submission, or may have been."""
    return _has(entries, "return", pseudonym)


def settle_returns(recruiter: Recruiter) -> None:
    """Find out what came of asking for returns, where no reply came. One that cannot be looked up holds up nobody."""
    for entry in recruiter.open_entries("return"):
        person = recruiter.store.person(recruiter.study, str(entry.who))
        if person is None or person.who.session is None:
            recruiter.store.settle([entry.number], "not_done", "the person has been erased")
            continue
        try:
            asked = recruiter.client.submission(person.who.session).return_requested
        except NotThere:
            asked = None  # nobody can be asked for what is not there
        except (Refused, Unknown, NotSent):
            continue
        if asked:
            recruiter.store.settle([entry.number], "done", "found to be asked")
        elif entry.is_old(recruiter.clock(), GRACE_S):
            recruiter.store.settle([entry.number], "not_done", "found not to be asked")


def decide(recruiter: Recruiter, pseudonym: str, pay: bool) -> None:
    """Settle what waits for the organizer: pay a person, or leave them as they are."""
    person = _called(recruiter, pseudonym)
    recruiter.store.change(recruiter.study, person.pseudonym, decision="pay" if pay else "leave")


def decide_bonus(recruiter: Recruiter, number: int, paid: bool) -> None:
    """Say whether a bonus of unknown outcome was paid, after looking at Prolific's own page."""
    entry = next((e for e in recruiter.store.entries(recruiter.study) if e.number == number), None)
    if entry is None or entry.kind != "bonus" or not entry.unknown:
        raise InvalidProblem(f"line {number} of the ledger is no bonus whose outcome is unknown")
    recruiter.store.settle([number], "done" if paid else "not_done", "decided by the organizer")


def quietly_complete(recruiter: Recruiter, recruitment: Recruitment, person: Participant) -> str | None:
    """Complete, and give what went wrong in words: the next reconciliation tries again."""
    try:
        complete(recruiter, recruitment, person)
    except (NotSent, Unknown, Refused) as error:
        return str(error)
    return None
