"""The desk where people from a panel arrive at one study, are known again, and leave with an outcome.

Ids of the panel are kept by `handful.recruit` and never reach the journal. May be used from any thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from handful.crowd import panel_messages
from handful.crowd.hosting.panel_words import WORDS
from handful.crowd.hosting.tokens import Secret, new_chance, panel_key
from handful.crowd.people import new_pseudonym
from handful.errors import RecruitingFailed
from handful.recruit.outcomes import FormPost, Identity, Outcome, Redirect, ServerCall, ShowCode
from handful.recruit.prolific.client import NotThere, ProlificClient
from handful.recruit.prolific.submissions import AWAITING, PAID, RETURNED, TIMED_OUT, Submission
from handful.recruit.records import Participant, Recruitment
from handful.recruit.store import Store
from handful.study.study import Study

PATIENCE_S = 60.0
"""Who cannot be given a question for so long is done, and paid in full."""

SEEN_EVERY_S = 30.0
"""How often it is stored that somebody is still there."""


class PanelDesk:
    """The people of one study who came from a panel."""

    def __init__(
        self,
        store: Store,
        recruitment: Recruitment,
        secret: Secret,
        client: ProlificClient | None = None,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.store, self.recruitment, self.client, self.wake = store, recruitment, client, wake
        self.study = recruitment.study
        self._key = panel_key(secret, recruitment.study)
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

    def arrive(self, given: Mapping[str, str], study_open: bool) -> tuple[Participant | None, panel_messages.Arrived]:
        """Who arrived with these parameters, and how they go on. Nobody, for a preview."""
        who = self.recruitment.panel.identity(given)
        if who is None:
            return None, panel_messages.Arrived(state="preview")
        verified: bool | None = True
        status: str | None = None
        if self.recruitment.on_prolific:
            if who.study is not None and self.recruitment.platform_id not in (None, who.study):
                return None, panel_messages.Arrived(state="preview")
            try:
                submission = self._submission(who)
            except NotThere:
                submission = None
            else:
                verified, status = (None, None) if submission is None else (True, submission.status)
            if verified and not self._matches(who, submission):
                return None, panel_messages.Arrived(state="preview")  # which counts nothing
            if status in (AWAITING, *PAID) and not any(who.participant == p.who.participant for p in self.people()):
                return None, panel_messages.Arrived(state="preview")  # over there it has ended: they were forgotten
        places = None if self.recruitment.on_prolific else self.recruitment.panel.places
        if not study_open and not self.recruitment.on_prolific:
            places = 0
        with self._lock:
            person, _ = self.store.arrive(self.study, who, verified, places, status, self._new)
            if person is None:
                return None, panel_messages.Arrived(state="ended", ending=self._ending("full", who))
            self._people[person.pseudonym] = person
            person = self._as_over_there(self._taken_up_again(person))
            if person.inside and not study_open:
                person = self.end(person, "finished")  # nothing is left to ask: paid in full
        if person.outcome is not None:
            return person, panel_messages.Arrived(state="ended", ending=self._ending(person.outcome, person.who))
        return person, panel_messages.Arrived(state="inside" if person.inside else "preview")

    def _submission(self, who: Identity) -> Submission | None:
        """The submission of whoever arrived; None if it cannot be found out now, NotThere if there clearly is none."""
        if self.client is None or who.session is None:
            return None
        try:
            return self.client.submission(who.session)
        except NotThere:
            raise
        except RecruitingFailed:  # our trouble or the platform's, and not the person's
            self.wake()
            return None

    def _matches(self, who: Identity, submission: Submission | None) -> bool:
        return (
            submission is not None
            and submission.participant == who.participant
            and submission.study == (self.recruitment.platform_id or submission.study)
        )

    def _new(self) -> tuple[str, bytes]:
        """A random name, and what the cookie is made from: only tables beside the journal tie the two."""
        return new_pseudonym(), new_chance()

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

    def was_just_seen(self, worker: str) -> bool:
        """Whether a worker is inside, and it need not be stored yet that they still are."""
        person = self._people.get(worker)
        seen = None if person is None or not person.inside else person.seen
        return seen is not None and self.store.clock() - seen < SEEN_EVERY_S

    def is_verifying(self, worker: str) -> bool:
        """Whether it is still to be found out if the panel sent a worker: until then nothing counts."""
        person = self._people.get(worker)
        return person is not None and person.inside and person.verified is None

    def ending_of(
        self, worker: str, study: Study, *, done: bool, has_questions: bool
    ) -> panel_messages.PanelEnding | None:
        """What became of somebody whom the panel sent, by what the study knows of them; None while they go on."""
        workers, rule = study.fold.workers, study.setup.rule
        conduct = study.fold.conducts.of(workers.number_if_known(worker))
        self.note_failed(worker, conduct.failed_instructed)
        entered = rule is None or rule.admission is None or conduct.admitted
        out: Outcome | None = None
        if workers.excludes(worker) and not workers.awaits_verifying(worker):
            out = "finished" if entered else "not_admitted"  # whoever the rule excludes later is paid like all others
        return self.after(worker, done=done, has_questions=has_questions, study_open=study.finished is None, out=out)

    def after(
        self, worker: str, *, done: bool, has_questions: bool, study_open: bool, out: Outcome | None = None
    ) -> panel_messages.PanelEnding | None:
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

    def note_failed(self, worker: str, failed: int) -> None:
        """Note how many instructed checks a worker failed: with enough of them the organizer may ask for a return."""
        if self.is_news(worker, failed):
            self._change(self._people[worker], failed=failed)

    def is_news(self, worker: str, failed: int) -> bool:
        """Whether `note_failed` would have something to note."""
        person = self._people.get(worker)
        return person is not None and person.failed != failed

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

    def _ending(self, outcome: Outcome, who: Identity) -> panel_messages.PanelEnding:
        title, words = WORDS[outcome]
        ending = panel_messages.PanelEnding(outcome=outcome, title=title, words=words)
        for action in self.recruitment.panel.actions(outcome, who, self._key):
            if isinstance(action, Redirect):
                ending.address = action.address
            elif isinstance(action, ShowCode):
                ending.code = action.code
            elif isinstance(action, FormPost):
                ending.address, ending.post = action.address, dict(action.fields)
        return ending

    def _change(self, person: Participant, **values: object) -> Participant:
        with self._lock:
            self.store.change(self.study, person.pseudonym, **values)
            changed = replace(self._people.get(person.pseudonym, person), **values)  # type: ignore[arg-type]
            self._people[person.pseudonym] = changed
        return changed
