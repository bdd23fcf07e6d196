"""One hosted study, as its workers meet it: who holds which question, on which side, and what comes next.

The study decides and remembers; its host turns questions into pairs with a left and a right, tokens into questions, and
refusals into words for people. It may be used from any thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from handful.crowd import messages
from handful.crowd.collection import Collection
from handful.crowd.hosting.answering import Answering
from handful.crowd.hosting.caps import Caps
from handful.crowd.hosting.change_signal import ChangeSignal
from handful.crowd.hosting.deck import Deck
from handful.crowd.hosting.drawn_checks import DrawnChecks
from handful.crowd.hosting.expected_minutes import expected_minutes
from handful.crowd.hosting.expected_people import EXPECTED, ExpectedPeople, expected_in
from handful.crowd.hosting.pick_lines import summary_of
from handful.crowd.hosting.showing import Showing
from handful.crowd.hosting.storage_fault import StorageFault
from handful.crowd.hosting.stored_study import StoredStudy, history_of
from handful.crowd.hosting.study_words import WORDS, cleaned_words, settings_with
from handful.crowd.hosting.tokens import Worker
from handful.crowd.hosting.turning_events import TURNING
from handful.crowd.intake import check_cards
from handful.crowd.people import DAYS, People
from handful.crowd.settings import Settings
from handful.errors import StorageError
from handful.study.doors import Door, DoorKind
from handful.study.events import Event, Noted
from handful.study.results import Result
from handful.study.rules import EXCLUDE
from handful.study.study import Study

THEME = "theme"
UNVERIFIED = "unverified"
"""The topic under which it is noted what becomes of people whom their panel cannot verify."""
LOOK_AGAIN_S = 30.0


class HostedStudy(Answering):
    """A study, its theme and collection, and the workers who answer."""

    def __init__(
        self,
        study: Study,
        collection: Collection,
        settings: Settings,
        theme: str | None = None,
        clock: Callable[[], float] = time.time,
        stored: StoredStudy | None = None,
        link: str | None = None,
    ) -> None:
        super().__init__()
        self.study = study
        self._stored = stored
        self.name = link or study.name  # in addresses and cookies, where not every letter is safe
        self.collection = collection
        self.settings = self._server_settings = settings
        self.clock = clock
        self.change_signal = ChangeSignal()
        self.storage_works, self.fault = True, StorageFault(self.name)
        self.desk = None  # where people from a panel arrive
        self.k = study.setup.problem.k
        self.theme = theme or study.name
        self._lock = threading.Lock()
        self.people, self.over = People(study.name), False  # over: it was noted that the study is closed
        self.kept_days = DAYS  # for how long after the end, where the settings do not say it
        self.caps = Caps(study.setup.problem.in_flight, settings.limits.held_per_network, self._tag_of)
        self._turning = 0
        self._overdue: frozenset[int] = frozenset()
        self._attach(study)
        if theme is not None and not self.has_theme:
            self.say_theme(theme)

    def _attach(self, study: Study) -> None:
        """Count the events in the journal, and from now on those to come."""
        self.study, self.has_theme = study, False
        settings, has_words = self._server_settings, False
        self.expected: ExpectedPeople | None = None  # who will come, if the organizer has said it
        rule = study.setup.rule
        self.says_of_unverified = rule is not None and rule.unverified is not None  # in its beginning, or by a note
        self._result: tuple[int, float, Result] | None = None
        history = history_of(study, self._stored)
        self.statistics, self.began = history.statistics, history.began
        for note in history.notes:
            if note.topic == THEME:
                self.theme, self.has_theme = str(note.data), True
            elif note.topic == WORDS:
                settings, has_words = settings_with(settings, note.data), True
            else:
                self._heed_words(note)
        self.settings, self.has_words = settings, has_words  # at once: somebody may be reading them now
        self._deal()
        study.subscribe(self._happened)
        study.let_in_by(self.caps)
        self._latest = study.status()

    def _deal(self) -> None:
        """Lay out what people are shown: the items, and what checks show where the rule has any."""
        rule = self.study.setup.rule if self.open else None
        checked = rule is not None and (rule.checks is not None or (rule.admission and rule.admission.checks))
        options = self.study.setup.problem.feedback.options
        copies = self.k + options + 4  # so that some are left whatever is chosen
        cards = check_cards(self.collection, self.settings.instruction, copies) if checked else None
        self.showing = Showing(self.study, Deck(self.collection, self.name, cards, lambda: self.settings.language))
        self.checks = DrawnChecks(self.study, self.showing)

    def _tag_of(self, worker: str) -> bytes | None:
        person = self.people.named(worker)
        return None if person is None else person.network

    def _heed_words(self, event: Event) -> None:
        if isinstance(event, Noted) and event.topic == WORDS:
            self.settings, self.has_words = settings_with(self.settings, event.data), True
        if isinstance(event, Noted) and event.topic == EXPECTED:
            self.expected = expected_in(event.data)
        if isinstance(event, Noted) and event.topic == UNVERIFIED:
            self.says_of_unverified = True

    def fix_unverified(self) -> None:
        """Note before anybody comes from a panel what becomes of who cannot be verified, unless the rule says it."""
        if self.open and not self.says_of_unverified:
            self.study.note(UNVERIFIED, EXCLUDE)

    def say_theme(self, theme: str) -> None:
        """Note what the selection is about: a study that was stored without it was cut off while it began."""
        self.study.note(THEME, theme)
        self.theme, self.has_theme = theme, True

    def say_words(self, said: Mapping[str, Any]) -> None:
        """Use other words from now on; they go into the journal. What is not named stays as it is."""
        before = self.settings.instruction
        self.study.note(WORDS, cleaned_words(said))
        if self.settings.instruction != before:
            self._deal()

    def _happened(self, event: Event) -> None:
        self._heed_words(event)
        with self._lock:
            self.statistics.count(event, self.clock())
            self._turning += isinstance(event, TURNING)
        self.change_signal.changed()

    # For everybody

    @property
    def door(self) -> Door | None:
        """How people come now; None where nothing is known of that."""
        return self.study.fold.door

    def comes_by(self, kind: DoorKind) -> bool:
        """Whether people come by this kind of door now."""
        return self.door is not None and self.door.kind == kind

    @property
    def marks_networks(self) -> bool:
        """Whether it is kept which people came from one network."""
        return self.door is not None and self.door.caps_networks

    @property
    def goal(self) -> int | None:
        """How many questions a worker is asked to answer, checks among them; None: no number."""
        if self.desk is not None:  # as many checks as are paid for
            return self.desk.goal + (self.desk.recruitment.plan.checks_each if self.checks.any else 0)
        answers = self.settings.goal
        return None if answers is None else answers + self.checks.extra(answers)

    @property
    def minutes(self) -> int | None:
        """About how long that takes, as the plan of recruiting says it where there is one; None: no number."""
        if self.desk is not None:
            return self.desk.recruitment.plan.minutes
        return expected_minutes(self.settings.goal, self.study.setup.rule)

    @property
    def retention_days(self) -> int:
        """How many days after the end it is kept who gave which answers."""
        told = self.settings.retention_days
        return self.kept_days if told is None else told

    @property
    def state(self) -> messages.StudyState:
        """Whether there is anything to answer, now or later."""
        if not self.open:
            return "finished"
        return "paused" if self._latest.paused else "open"

    def progress(self, answered: int = 0) -> messages.WorkProgress:
        """How far somebody who gave so many answers is, and how far everybody together."""
        return messages.WorkProgress(
            answered=answered,
            goal=self.goal,
            # Where there are checks, a count that stands still would tell that one was answered.
            answers=0 if self.checks.any else self.study.fold.answers,
            budget=None if self.checks.any else self._latest.budget,
            chosen=self._picked,
            k=self.k,
            enough=self._has_enough,
        )

    @property
    def _has_enough(self) -> bool:
        """Whether all answers are given, those that can still be undone among them."""
        budget = self._latest.budget
        return budget is not None and self.study.fold.answers >= budget

    def tick(self) -> None:
        """Let answers settle whose time to undo is over, and refresh the status. Called twice a second.

        A question that nobody answered in time, or whose holder left, is free again, and those who wait are told.
        """
        try:
            if self.open:
                self.study.settle()
                self.judge_due()
                for worker in self._pages.gone(self.clock()):
                    self._pass_on(worker)
        except StorageError as error:
            self.storage_works = self.fault.note(str(error))
            if self._stored is None:
                raise
            self._take_up_again(self._stored)
        self.storage_works = self.fault.note(None)
        before, self._overdue = self._overdue, frozenset(self.study.fold.leases.overdue(self.clock()))
        self.refresh_status()
        if self._overdue - before:
            self.change_signal.changed()

    def _pass_on(self, worker: str) -> None:
        """Free what a worker holds who has left. In a study for one there is nobody else to ask."""
        if not self.settings.solo:
            with self._locks.of(worker):
                self.study.let_go(worker)

    def _take_up_again(self, stored: StoredStudy) -> None:
        """After the storage failed, go on from what is stored: nobody was told that anything else was taken."""
        with suppress(StorageError):
            self.study.close()
        self._attach(stored.open())

    def refresh_status(self) -> None:
        """Take the study's status anew; taking it for every answer would be too slow."""
        self._latest = self.study.status()
        self._presence.count(self.clock())
        self.caps.forget_absent(self.clock())

    def latest_result(self) -> Result:
        """What was found so far; a late answer may be missing from its numbers for half a minute, to save looking."""
        turning, now = self._turning, self.clock()
        if self._result is None or self._result[0] != turning or not 0 <= now - self._result[1] < LOOK_AGAIN_S:
            self._result = turning, now, self.study.result()
        return self._result[2]

    def close(self) -> None:
        """Close the study, so that others may open it."""
        self.study.close()

    # For one worker

    def summary(self) -> messages.Summary:
        """What was chosen, and what may be claimed of it."""
        return summary_of(self.theme, self.collection, self.latest_result(), self.settings.catalogue)

    def page_opened(self, worker: Worker) -> None:
        """A page of this worker has opened its event stream."""
        self._pages.opened(worker.id)

    def page_closed(self, worker: Worker) -> None:
        """A page of this worker was closed. What they hold goes to others, unless they are back within seconds."""
        self._pages.closed(worker.id, self.clock())
