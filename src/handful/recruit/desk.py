"""The desk where people from a panel arrive at one study, are known again, and leave with an outcome.

Ids of the panel are kept in the ledger's tables and never reach the journal. May be used from any thread.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import httpx

from handful.errors import HandfulError, InvalidProblem, RecruitingFailed, StudyFinished
from handful.recruit.ledger import AWAITING, PAID, RETURNED, TIMED_OUT, Participant, Store, new_pseudonym
from handful.recruit.panel import Identity, Outcome, PanelEnding, ServerCall
from handful.recruit.payroll import Payroll, Report
from handful.recruit.prolific import NotThere, ProlificClient
from handful.recruit.recruitment import Recruitment
from handful.study import Study
from handful.workers import NOT_VERIFIED

log = logging.getLogger("handful.crowd")

PATIENCE_S = 60.0
"""Who cannot be given a question for so long is done, and paid in full."""

SEEN_EVERY_S = 30.0
"""How often it is stored that somebody is still there."""

EVERY_S = 30.0
SOONER_S = 5.0
"""While somebody waits to be verified or paid."""

LEAST_S = 1.0
CALL_S = 20.0
ARRIVAL_S = 4.0
"""How long somebody who arrives waits at most until the platform has been asked about them."""


@dataclass(frozen=True)
class Arrival:
    """How somebody from a panel goes on: as themselves, as somebody who only looks, or not at all."""

    state: Literal["inside", "preview", "ended"]
    person: Participant | None = None
    ending: PanelEnding | None = None


class Desk:
    """The people of one study who came from a panel."""

    def __init__(
        self,
        store: Store,
        recruitment: Recruitment,
        key: bytes,
        new_chance: Callable[[], bytes],
        client: ProlificClient | None = None,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.store, self.recruitment, self.client, self.wake = store, recruitment, client, wake
        self.study = recruitment.study
        self._key, self._new_chance = key, new_chance
        self._lock = threading.RLock()
        self._people: dict[str, Participant] = {}
        self._stuck_since: dict[str, float] = {}
        self.look()

    @property
    def goal(self) -> int:
        """How many answers each is paid for."""
        return self.recruitment.plan.answers_each

    def look(self) -> None:
        """Take over what other processes have stored."""
        with self._lock:
            self.recruitment = self.store.recruitment(self.study) or self.recruitment
            self._people = {person.pseudonym: person for person in self.store.people(self.study)}

    def person(self, worker: str) -> Participant | None:
        """Who a worker is; None for somebody who is not from the panel."""
        return self._people.get(worker)

    def people(self) -> list[Participant]:
        """Everybody who came."""
        return list(self._people.values())

    # Arriving

    def arrive(self, given: Mapping[str, str], study_open: bool) -> Arrival:
        """Who arrived with these parameters, and how they go on. Nobody, for a preview, which counts nothing."""
        who = self.recruitment.panel.identity(given)
        if who is None:
            return Arrival("preview")
        found: tuple[bool | None, str | None] | None = (True, None)
        places = self.recruitment.panel.places if study_open else 0
        if self.recruitment.on_prolific:
            found, places = self._found_there(who), None  # there the platform counts the places
        if found is None:
            return Arrival("preview")
        verified, status = found
        with self._lock:
            person, _ = self.store.arrive(self.study, who, verified, places, status, self._new)
            if person is None:
                return Arrival("ended", None, self._ending("full", who))
            self._people[person.pseudonym] = person
            person = self._as_over_there(self._taken_up_again(person))
            if person.inside and not study_open:
                person = self.end(person, "finished")  # nothing is left to ask: paid in full
        if person.outcome is not None:
            return Arrival("ended", person, self._ending(person.outcome, person.who))
        return Arrival("inside" if person.inside else "preview", person)

    def _found_there(self, who: Identity) -> tuple[bool | None, str | None] | None:
        """Whether Prolific knows them, and how their submission stands; None where it clearly does not know them.

        Not known yet are those whom Prolific cannot be asked about now, and those who come before it is known which
        study there sends them. The next reconciliation finds out.
        """
        study = self.recruitment.platform_id
        if who.session is None or (study is not None and who.study not in (None, study)):
            return None
        if self.client is None:
            return None, None
        try:
            submission = self.client.submission(who.session)
        except NotThere:
            return None
        except RecruitingFailed:  # our trouble or the platform's, and not the person's
            self.wake()
            return None, None
        if submission.participant != who.participant or submission.study != (study or submission.study):
            return None
        known = any(who.participant == person.who.participant for person in self.people())
        if submission.status in (AWAITING, *PAID) and not known:
            return None  # over there it has ended: they were forgotten
        if study is None:
            self.wake()
            return None, None
        return True, submission.status

    def _new(self) -> tuple[str, bytes]:
        """A random name, and what the cookie is made from: only tables beside the journal tie the two."""
        return new_pseudonym(), self._new_chance()

    def _as_over_there(self, person: Participant) -> Participant:
        """End a visit that has ended at the platform."""
        gone: dict[str | None, Outcome] = {RETURNED: "returned", TIMED_OUT: "timed_out"}
        if person.outcome is None and person.status in gone:
            return self._change(person, outcome=gone[person.status], ended=self.store.clock())
        return person

    def _taken_up_again(self, person: Participant) -> Participant:
        """Somebody whose time was over here goes on, if their place is still free."""
        places = self.recruitment.panel.places
        if person.outcome != "timed_out" or self.recruitment.on_prolific:
            return person
        if places is not None and self.store.taken(self.study) >= places:
            return person
        return self._change(person, outcome=None, ended=None)

    def of_chance(self, chance: bytes | None) -> Participant | None:
        """Whose visit this is, by what their cookies are made from."""
        if chance is None:
            return None
        everybody = self.people()  # as they are now: others arrive meanwhile, in other threads
        return next((person for person in everybody if person.chance == chance), None)

    def consent(self, person: Participant) -> None:
        """Note that a person agreed; on another device they are not asked again."""
        if person.consented is None:
            self._change(person, consented=self.store.clock())

    # While they are inside

    def may_ask(self, worker: str) -> bool:
        """Whether a worker may be given a question that counts: only whom the panel is known to have sent."""
        person = self._people.get(worker)
        return person is not None and person.inside and person.verified is True

    def is_verifying(self, worker: str) -> bool:
        """Whether it is still to be found out if the panel sent a worker: until then nothing counts."""
        person = self._people.get(worker)
        return person is not None and person.inside and person.verified is None

    def ending_of(self, worker: str, study: Study, *, done: bool, has_questions: bool) -> PanelEnding | None:
        """What became of somebody whom the panel sent, by what the study knows of them; None while they go on."""
        workers, rule = study.state.workers, study.setup.rule
        conduct = study.state.conducts.of(workers.number_if_known(worker))
        entered = rule is None or rule.admission is None or conduct.admitted
        out: Outcome | None = None
        if workers.excludes(worker) and not workers.awaits_verifying(worker):
            out = "finished" if entered else "not_admitted"  # whoever the rule excludes later is paid like all others
        return self.after(worker, done=done, has_questions=has_questions, study_open=study.finished is None, out=out)

    def after(
        self, worker: str, *, done: bool, has_questions: bool, study_open: bool, out: Outcome | None = None
    ) -> PanelEnding | None:
        """What became of a worker; None while they go on.

        done: they answered all they were asked for. out: what the rule makes of them, if it lets them go no further.
        """
        person = self._people.get(worker)
        if person is None:
            return None
        now = self.store.clock()
        if person.inside:
            if has_questions and not done:
                self._stuck_since.pop(worker, None)
            elif out is not None or done or not study_open or self._is_stuck(worker, now):
                person = self.end(person, out or "finished")
            if person.seen is None or now - person.seen >= SEEN_EVERY_S:
                person = self._change(person, seen=now)
        return None if person.outcome is None else self._ending(person.outcome, person.who)

    def _is_stuck(self, worker: str, now: float) -> bool:
        """Whether there has been no question for them for too long."""
        return now - self._stuck_since.setdefault(worker, now) >= PATIENCE_S

    def end(self, person: Participant, outcome: Outcome) -> Participant:
        """They are done, with this outcome; what the platform must know of it is told to it soon."""
        with self._lock:
            person = self._people.get(person.pseudonym, person)
            if person.outcome is None:
                person = self._change(person, outcome=outcome, ended=self.store.clock())
                self.wake()
            self._stuck_since.pop(person.pseudonym, None)
        return person

    def end_all(self) -> list[str]:
        """The study has its picks: all who are inside are done, and paid. Gives their names."""
        return [self.end(person, "finished").pseudonym for person in self.people() if person.inside and person.arrived]

    def end_silent(self) -> list[str]:
        """On panels where we count the places: those not seen for too long have lost theirs. Gives their names."""
        if self.recruitment.on_prolific:
            return []
        minutes = self.recruitment.panel.minutes or self.recruitment.plan.longest_minutes
        before = self.store.clock() - 60 * minutes
        silent = [person for person in self.people() if person.inside and (person.seen or 0.0) < before]
        return [self.end(person, "timed_out").pseudonym for person in silent]

    def unverified(self) -> bool:
        """Whether somebody is inside of whom the platform has not been asked yet."""
        return any(person.inside and person.verified is None for person in self.people())

    def calls_due(self) -> list[tuple[Participant, str]]:
        """Addresses that our server has to call for those who finished."""
        due = []
        for person in self.people():
            if person.outcome == "finished" and not person.completed and self.recruitment.panel.call is not None:
                actions = self.recruitment.panel.actions("finished", person.who, self._key)
                due += [(person, action.address) for action in actions if isinstance(action, ServerCall)]
        return due

    def called(self, person: Participant) -> None:
        """Note that the address for this person was called, and answered well."""
        self._change(person, completed=True)

    # Leaving

    def _ending(self, outcome: Outcome, who: Identity) -> PanelEnding:
        return self.recruitment.panel.ending(outcome, who, self._key)

    def _change(self, person: Participant, **values: object) -> Participant:
        with self._lock:
            self.store.change(self.study, person.pseudonym, **values)
            changed = replace(self._people.get(person.pseudonym, person), **values)  # type: ignore[arg-type]
            self._people[person.pseudonym] = changed
        return changed


class PanelLoop:
    """What runs beside a study that people are recruited for: both sides are brought to agree, again and again.

    key:     of the codes that people get, one each.
    new_chance: makes what a person's cookie is made from.
    study:   the study that is served now.
    forget:  forgets those who are to be forgotten and have nothing more to be paid; whether there was anybody.
    changed: is told when something may have changed.
    """

    def __init__(
        self,
        store: Store,
        recruitment: Recruitment,
        key: bytes,
        new_chance: Callable[[], bytes],
        study: Callable[[], Study],
        forget: Callable[[], bool] = lambda: False,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.store, self.study, self.forget, self.changed = store, study, forget, changed
        self.trouble: str | None = None
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._one_at_a_time = threading.Lock()
        self.client = self._client(CALL_S) if recruitment.on_prolific else None
        quick = self._client(ARRIVAL_S) if recruitment.on_prolific else None
        self.desk = Desk(store, recruitment, key, new_chance, quick, self._wake.set)
        self.report: Report | None = None
        self._thread = threading.Thread(target=self._run, name=f"recruiting {recruitment.study}", daemon=True)
        self._thread.start()

    @property
    def payroll(self) -> Payroll:
        """The pay of the study's people; InvalidProblem where there is no platform that could be called."""
        if self.client is None:
            raise InvalidProblem(self.trouble or "This panel has no interface that could be called.")
        return Payroll(self.store, self.desk.study, self.client)

    def _client(self, patience_s: float) -> ProlificClient | None:
        try:
            return ProlificClient.from_environment(patience_s)
        except InvalidProblem as error:
            self.trouble = f"nobody can be verified or paid: {error}"
            return None

    def stop(self) -> None:
        """Let a call under way end; what it moved is written down before and after."""
        self._stopping.set()
        self._wake.set()
        self._thread.join()

    def soon(self) -> None:
        """Wake the thread, so that it reconciles now instead of at its next turn."""
        self._wake.set()

    def _run(self) -> None:
        before = ""
        while not self._stopping.is_set():
            try:
                self.once()
                well = self.report is None or self.report.reached
                said = "" if well else "; ".join(self.report.differences if self.report else [])
            except HandfulError as error:
                said = str(error)
            except Exception as error:  # the thread must live; its words might hold an id
                said = type(error).__name__
            if said != before and said:
                log.warning("recruiting", extra={"study": self.desk.study, "cause": said})
            before = said
            self._stopping.wait(LEAST_S)
            self._wake.wait(SOONER_S if self.desk.unverified() else EVERY_S)
            self._wake.clear()

    def once(self) -> None:
        """Reconcile once, and pass on what people hold who are done. One at a time: whoever comes later waits."""
        with self._one_at_a_time:
            decided = self.study().finished is not None
            self.desk.look()
            if decided:
                self.desk.end_all()
            self.desk.end_silent()
            self._call_back()
            if self.client is not None:
                self.report = self.payroll.reconcile(decided=decided)
                self.desk.look()
            self._let_go([person.pseudonym for person in self.desk.people() if not person.inside])
            self._exclude_unverified()
            if self.forget():
                self.desk.look()
            self.changed()

    def _let_go(self, workers: list[str]) -> None:
        """Free the questions that people hold who are done, for others."""
        study = self.study()
        holding = set(study.state.leases.holders()) if study.finished is None else set()
        for worker in (worker for worker in workers if worker in holding):
            with suppress(StudyFinished):
                study.let_go(worker)

    def _call_back(self) -> None:
        """Addresses to be called for those who finished: tried again until they answer well."""
        for person, address in self.desk.calls_due():
            with suppress(httpx.HTTPError, httpx.InvalidURL):
                httpx.get(address, timeout=CALL_S, follow_redirects=True).raise_for_status()
                self.desk.called(person)

    def _exclude_unverified(self) -> None:
        """By the rule that holds from the start: who is not from the panel does not count, nor who cannot be verified
        by the time they are done. Once: whom the organizer restores after that stays restored.
        """
        study = self.study()
        for person in self.desk.people():
            name, workers = person.pseudonym, study.state.workers
            done = person.verified is False or (person.verified is None and person.outcome is not None)
            settled = workers.excludes(name) or workers.kept_unverified(name)
            if workers.knows(name) and done and not settled:
                study.exclude(name, NOT_VERIFIED, by_rule=True)
            elif person.verified and workers.awaits_verifying(name):
                study.restore(name, verified=True)
