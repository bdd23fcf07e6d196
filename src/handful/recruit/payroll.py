"""Who is paid, and that each is paid once: what Prolific shows is read, what is open is settled, what is due is done.

Nobody is ever rejected from here. Each call that moves money stands in the ledger before it is made; whether one took
effect whose reply was lost is found out from what Prolific shows, and it is never simply made again.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from handful.errors import InvalidProblem, RecruitingFailed, StudyNotFound
from handful.recruit.ledger import (
    AWAITING,
    GONE,
    PAID,
    REJECTED,
    RETURNED,
    TIMED_OUT,
    Entry,
    Kind,
    Participant,
    Store,
)
from handful.recruit.panel import Identity, Outcome
from handful.recruit.plan import Plan, money
from handful.recruit.prolific import (
    MOST_APPROVALS,
    MOST_BONUSES,
    Busy,
    NotSent,
    NotThere,
    ProlificClient,
    Refused,
    Submission,
    Unknown,
)
from handful.recruit.recruitment import Recruitment, is_study_of, on_prolific

GRACE_S = 120.0
"""For how long an approval whose outcome is unknown may still take effect."""

BONUS_GRACE_S = 900.0
"""Bonuses are paid within minutes."""

MOST_BONUS = 20_000
"""In cents, for one person at once: more is a slip of the keyboard."""

SHORTEST_NAME = 6
"""So many letters of a pseudonym are needed to find somebody by its beginning."""

_ABOUT_US = (401, 403)
"""What the platform says to a token that may not do this."""

_ASKED_AT_ONCE = 20
"""Of so many people it is asked at most, by which study on Prolific they came."""

_ENDED_THERE: dict[str, Outcome] = {RETURNED: "returned", TIMED_OUT: "timed_out"}


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

    @property
    def agrees(self) -> bool:
        """Whether both sides say the same and nothing is open."""
        return self.reached and not self.differences


class Payroll:
    """The pay of one study's people on Prolific. Every method may be called again after a crash at any moment."""

    def __init__(self, store: Store, study: str, client: ProlificClient) -> None:
        self.store, self.study, self.client = store, study, client

    def recruitment(self) -> Recruitment:
        """What is stored; StudyNotFound if the study is not recruited for on Prolific."""
        found = self.store.recruitment(self.study)
        if found is None or not found.on_prolific:
            raise StudyNotFound(f"study {self.study!r} has nobody from Prolific: `handful recruit prolific` begins it")
        return found

    def reconcile(self, *, decided: bool = False) -> Report:
        """Read, settle and do what is due. `decided`: the study has its picks, so nobody new is needed.

        Called again and again; it may be killed at any moment.
        """
        report = Report()
        with self.store.wallet(self.study):
            recruitment = self.recruitment()
            try:
                recruitment = self._seen(recruitment)
                report.status = recruitment.status
                if recruitment.platform_id is not None:
                    self._take_over(self.client.submissions(recruitment.platform_id))
                    self._settle(report)
            except (Unknown, NotSent, Refused) as error:
                report.reached = False
                report.differences.append(f"{error}; nothing is concluded from that, and it is tried again")
            else:
                if recruitment.platform_id is not None:
                    self._do_what_is_due(recruitment, recruitment.platform_id, decided, report)
            _say_what_is_open(self.store, recruitment, report)
        return report

    # Reading what the platform shows

    def _seen(self, recruitment: Recruitment) -> Recruitment:
        """The study as Prolific shows it now, kept; as it was, while nobody has come from there."""
        id_ = recruitment.platform_id
        told = self._sought(recruitment) if id_ is None else self.client.study(id_)
        if told is None:
            return recruitment
        seen = replace(
            recruitment,
            platform_id=str(told["id"]),
            status=told.get("status"),
            places=told.get("total_available_places"),
            reward=told.get("reward"),
        )
        return recruitment if seen == recruitment else self.store.keep(seen)

    def _sought(self, recruitment: Recruitment) -> dict[str, Any] | None:
        """The study on Prolific that sends people here, from the submissions of those who came first."""
        came = [person.who.session for person in self.store.people(self.study) if person.verified is None]
        for session in came[:_ASKED_AT_ONCE]:
            with suppress(NotThere):
                told = self.client.study(self.client.submission(session or "").study)
                if is_study_of(recruitment, told):
                    return told
        return None

    def _take_over(self, listed: Sequence[Submission]) -> None:
        """Take the platform's word for who they are and how their submissions stand."""
        store, now = self.store, self.store.clock()
        known = {person.who.session: person for person in store.people(self.study)}
        changes: list[tuple[str, dict[str, Any]]] = []
        for submission in listed:
            person = known.pop(submission.id, None)
            if person is None:
                if submission.status == AWAITING:  # reached the end over there, and was never here
                    who = Identity(submission.participant, submission.id, submission.study)
                    store.meet(self.study, who, AWAITING)
            elif values := _changes(person, submission, now):
                changes.append((person.pseudonym, values))
        for person in known.values():
            # A whole list without them is a clear no: they made their ids up. But it may be older than their arrival.
            if person.verified is None and now - (person.arrived or 0.0) > GRACE_S:
                changes.append((person.pseudonym, {"verified": False}))
        store.change_many(self.study, changes)

    def _settle(self, report: Report) -> None:
        """Find out what came of approvals and bonuses whose outcome was unknown."""
        store = self.store
        people = {person.pseudonym: person for person in store.people(self.study)}
        done, undone = list[int](), list[int]()
        for entry in self.open_entries("approve"):
            person = people.get(entry.who)
            if person is not None and person.status in PAID:
                done.append(entry.number)
            elif entry.is_old(store.clock(), GRACE_S):
                undone.append(entry.number)
        store.settle(done, "done")
        store.settle(undone, "not_done", "found not to be done")
        if done:
            report.done.append(f"{len(done)} payments are confirmed")
        for entry in self.open_entries("bonus"):
            person = people.get(entry.who)
            if person is not None and self._was_paid(entry, person):
                store.settle([entry.number], "done", "found to be paid")
                report.done.append("an interrupted call had paid a bonus")

    def _was_paid(self, entry: Entry, person: Participant) -> bool:
        """Whether the platform shows one more bonus of this amount than the ledger knows of."""
        try:
            shown = self.client.submission(str(person.who.session)).bonuses or ()
        except (Refused, Unknown, NotSent):
            return False  # it stays unknown, and holds up nobody
        own = [e for e in self.store.entries(self.study) if e.kind == "bonus" and e.who == entry.who]
        known = sum(e.outcome == "done" and e.cents == entry.cents for e in own)
        return shown.count(entry.cents) > known

    def open_entries(self, kind: Kind) -> list[Entry]:
        """Lines of the ledger whose outcome is unknown."""
        return [entry for entry in self.store.entries(self.study) if entry.kind == kind and entry.unknown]

    # Doing what is due

    def _do_what_is_due(self, recruitment: Recruitment, id_: str, decided: bool, report: Report) -> None:
        """Stop, approve, pay bonuses: each on its own, so that one that fails holds nothing up."""

        def attempt(what: str, call: Callable[[], object]) -> None:
            try:
                if call():
                    report.done.append(what)
            except RecruitingFailed as error:
                report.differences.append(f"could not {what} yet: {error}")

        if decided and recruitment.status in ("ACTIVE", "PAUSED"):
            attempt("stop the study", lambda: self.client.stop(id_))
        attempt("approve who has finished", lambda: self._approve_all(recruitment))
        attempt("pay bonuses", lambda: self._pay_bonuses(id_))

    def _approve_all(self, recruitment: Recruitment) -> int:
        """Approve all who are owed the reward and wait for it; how many were sent. The platform does it later."""
        counted = {e.who for e in self.store.entries(self.study) if e.kind == "approve" and e.counts}
        due = [
            person
            for person in self.store.people(self.study)
            if person.status == AWAITING and person.owed and person.pseudonym not in counted
        ][:MOST_APPROVALS]
        if not due:
            return 0
        try:
            self._approve(recruitment, due)
        except Busy:
            raise
        except Refused:
            if len(due) == 1:
                raise
            for person in due:  # one of them is why all were refused
                with suppress(Refused):
                    self._approve(recruitment, [person])
        return len(due)

    def _approve(self, recruitment: Recruitment, due: Sequence[Participant]) -> None:
        """Write down and make one call. The lines stay open until the submissions are seen to be approved."""
        numbers = self.store.write_down(self.study, "approve", [(one.pseudonym, recruitment.pays) for one in due])
        try:
            self.client.approve([str(person.who.session) for person in due])
        except (Refused, NotSent) as error:
            self.store.settle(numbers, "not_done" if isinstance(error, NotSent | Busy) else "refused", str(error))
            raise

    def _pay_bonuses(self, id_: str) -> int:
        """Pay the bonuses that were promised and never sent, in lists; how many. Paying twice would pay twice.

        One that is refused holds up none of the others: it is settled as refused, and told when all have been tried.
        """
        due: list[tuple[Entry, str]] = []
        sessions = {person.pseudonym: person.who.session for person in self.store.people(self.study)}
        for entry in self.store.entries(self.study):
            if entry.kind == "bonus" and entry.promised:
                session = sessions.get(entry.who)
                if session is None:
                    self.store.settle([entry.number], "not_done", "the person has been erased")
                else:
                    due.append((entry, session))
        refusals = list[Refused]()
        for start in range(0, len(due), MOST_BONUSES):
            refusals += self._pay_list(id_, due[start : start + MOST_BONUSES])
        if refusals:
            raise refusals[0]
        return len(due)

    def _pay_list(self, id_: str, due: Sequence[tuple[Entry, str]]) -> list[Refused]:
        """Pay these bonuses in one list, or each alone where the list is refused; the refusals that are left."""
        numbers = [entry.number for entry, _ in due]
        try:
            # Handing in pays nothing: should this be lost, it is handed in again.
            listed = self.client.hand_in_bonuses(id_, [(session, entry.cents) for entry, session in due])
            self.store.mark_sent(numbers, listed)
            try:
                self.client.pay_bonuses(listed)
            except (NotSent, Refused):
                self.store.mark_unsent(numbers)  # nothing was paid: the promises stand
                raise
        except Refused as error:
            if isinstance(error, Busy) or error.status in _ABOUT_US:  # that is not about these people
                raise
            if len(due) > 1:  # one of them is why all were refused
                return [refusal for one in due for refusal in self._pay_list(id_, [one])]
            self.store.settle(numbers, "refused", str(error))
            return [error]
        self.store.settle(numbers, "done")
        return []

    # What the organizer says

    def promise_bonus(self, pseudonym: str, cents: int, reason: str = "", request: str | None = None) -> int:
        """Write down that a person is to get a bonus, which the next reconciliation pays. Gives the ledger's number.

        `request` is a random name of what was asked for: whoever repeats it, because no reply came, promises no more.
        """
        if not 0 < cents <= MOST_BONUS:
            raise InvalidProblem(f"a bonus of {money(cents)} is not between {money(1)} and {money(MOST_BONUS)}")
        person = self._named(pseudonym)
        if person.verified is not True or person.who.session is None:
            raise InvalidProblem(f"{pseudonym} is not known to Prolific, as far as is known here, and cannot be paid")
        request = secrets.token_hex(16) if request is None else request
        return self.store.promise_once(self.study, request, person.pseudonym, cents, reason[:200])

    def decide(self, pseudonym: str, pay: bool) -> None:
        """Settle what waits for the organizer: pay a person, or leave them as they are."""
        self.store.change(self.study, self._named(pseudonym).pseudonym, decision="pay" if pay else "leave")

    def decide_bonus(self, number: int, paid: bool) -> None:
        """Say whether a bonus of unknown outcome was paid, after looking at Prolific's own page."""
        if all(entry.number != number for entry in self.open_entries("bonus")):
            raise InvalidProblem(f"line {number} of the ledger is no bonus whose outcome is unknown")
        self.store.settle([number], "done" if paid else "not_done", "decided by the organizer")

    def _named(self, pseudonym: str) -> Participant:
        """The person of this pseudonym, given whole: money is never sent to whoever happens to be called so."""
        person = self.store.person(self.study, pseudonym)
        if person is None:
            raise StudyNotFound(
                f"nobody called {pseudonym!r} came from Prolific: give the whole pseudonym; `handful status` names all "
                "who answered"
            )
        return person

    def whole_name(self, beginning: str) -> str:
        """The whole pseudonym of the only person whose pseudonym begins so."""
        names = [person.pseudonym for person in self.store.people(self.study)]
        if beginning in names:
            return beginning
        found = [name for name in names if len(beginning) >= SHORTEST_NAME and name.startswith(beginning)]
        if len(found) > 1:
            raise InvalidProblem(
                f"{len(found)} people have names that begin with {beginning!r}: give more letters of it"
            )
        if not found:
            raise StudyNotFound(
                f"nobody's name begins with {beginning!r}, of those from Prolific: give {SHORTEST_NAME} letters or "
                "more; `handful status` names all who answered"
            )
        return found[0]


def begin_on_prolific(store: Store, study: str, address: str, plan: Plan) -> Recruitment:
    """Receive people from Prolific from now on. Said again, it changes the address and the plan until somebody came."""
    before = store.recruitment(study)
    if before is None:
        return store.keep(on_prolific(study, address, plan))
    if not before.on_prolific:
        raise InvalidProblem(f"people come to study {study!r} from {before.panel.name}: one study has one panel")
    anew = on_prolific(study, address, plan, before.codes)
    if plan != before.plan and store.people(study):
        raise InvalidProblem(
            f"people have come to study {study!r} already: each of them is paid by the plan they came by"
        )
    return store.keep(replace(before, address=anew.address, plan=plan))


def known_here(store: Store, study: str) -> Report:
    """The differences and what waits for the organizer, as they are known without asking the platform."""
    recruitment, report = store.recruitment(study), Report()
    if recruitment is not None and recruitment.on_prolific:
        report.status = recruitment.status
        _say_what_is_open(store, recruitment, report)
    return report


def counts_of(people: Sequence[Participant]) -> dict[str, int]:
    """People by state, as the organizer reads it."""
    counts: Counter[str] = Counter()
    for person in people:
        if person.verified is False:
            counts["not from the panel"] += 1
        elif person.outcome is None:
            counts["inside" if person.status != AWAITING else "waiting for a decision"] += 1
        elif person.status in PAID:
            counts["paid"] += 1
        else:
            counts[person.outcome.replace("_", " ")] += 1
    return dict(counts)


def _changes(person: Participant, submission: Submission, now: float) -> dict[str, Any]:
    """What is to be changed of a person, by their submission."""
    values: dict[str, Any] = {}
    genuine = person.who.participant == submission.participant
    if person.verified is not genuine:
        values["verified"] = genuine
    if not genuine:
        return values
    if person.status != submission.status:
        values["status"] = submission.status
    if person.outcome is None and submission.status in _ENDED_THERE:
        values |= {"outcome": _ENDED_THERE[submission.status], "ended": now}
    elif person.outcome in _ENDED_THERE.values() and submission.inside:  # the return was undone
        values |= {"outcome": None, "ended": None}
    return values


def _say_what_is_open(store: Store, recruitment: Recruitment, report: Report) -> None:
    """Every difference that is left, in words, and what waits for the organizer."""
    for person in store.people(recruitment.study):
        said = _why_waiting(person)
        if said is not None and person.decision is None:
            report.waiting.append(Waiting(f"{person.pseudonym} {said}", who=person.pseudonym))
        elif person.owed and person.status not in PAID:
            report.differences.append(
                f"{person.pseudonym} is to be paid and is {person.status or 'unknown'} over there"
            )
    for entry in store.entries(recruitment.study):
        if not entry.unknown:
            continue
        amount = money(entry.cents, recruitment.plan.currency)
        if entry.kind == "bonus" and entry.is_old(store.clock(), BONUS_GRACE_S):
            words = (
                f"line {entry.number}: a bonus of {amount} for {entry.who} was sent, its outcome is unknown, and "
                f"Prolific does not show it: look there, then `handful recruit decide --line {entry.number} --paid` "
                "or --unpaid"
            )
            report.waiting.append(Waiting(words, line=entry.number))
        report.differences.append(f"line {entry.number}: {entry.kind} of {amount} has no known outcome yet")


_NOT_OWED: dict[Outcome | None, str] = {
    "refused": "did not consent, went back to Prolific",
    "returned": "had returned their place, went back to Prolific all the same",
    "timed_out": "had run out of time, went back to Prolific all the same",
    "full": "found no place here, went back to Prolific",
}


def _why_waiting(person: Participant) -> str | None:
    """Why a person waits for the organizer's decision; None if they do not."""
    if person.verified is None and person.outcome == "finished":
        return "has finished, and Prolific could not be asked whether they are real: pay them or leave it"
    if person.verified is not True:
        return None
    if person.status == AWAITING and not person.owed:
        came = "came back to Prolific before the end" if person.arrived else "never came here"
        return f"{_NOT_OWED.get(person.outcome, came)}, and asks for pay there: pay them or leave it"
    if person.status in GONE and person.owed:
        return f"has finished, but is {person.status} over there: approve them on Prolific's page, or leave it"
    if person.status == REJECTED:
        return "was rejected on Prolific's page, which handful never does"
    return None
