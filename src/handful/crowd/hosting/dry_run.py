"""Dry runs of studies that are being set up: each in a thread of its own, one at a time, with its progress."""

from __future__ import annotations

import threading
import time

from handful.crowd.collection import Collection
from handful.crowd.dry_crowd import DryCrowd, DryOutcome, TurnClock
from handful.crowd.hosting.expected_people import ExpectedPeople
from handful.crowd.hosting.study_plan import StudyPlan, new_study, suited
from handful.crowd.settings import Settings
from handful.errors import HandfulError, InvalidProblem
from handful.study.small_budget import small_budgets_heard
from handful.study.study import Study

MOST_ANSWERS = 20_000
YIELD_S = 0.002

_one_at_a_time = threading.Lock()


class DryRun:
    """One dry run. How far it is may be looked at from any thread."""

    def __init__(self, plan: StudyPlan, collection: Collection) -> None:
        plan, items = suited(plan, collection), len(collection)
        self.total, self.done = plan.answers(items, solo=False), 0
        if self.total > MOST_ANSWERS:
            raise InvalidProblem(
                f"a dry run takes {MOST_ANSWERS:,} answers at most, and this study would have {self.total:,}: try it "
                "with fewer people first"
            )
        self.outcome: DryOutcome | None = None
        self.fault: str | None = None
        expected = plan.expected or ExpectedPeople(min(self.total, plan.in_flight), self.total)

        def make(clock: TurnClock) -> Study:
            with small_budgets_heard():  # that answers are few is said on the page
                return new_study(collection.ids, plan, Settings(), clock=clock)

        crowd = DryCrowd(make, expected.people, expected.answers_each, plan.seed)
        self._stop, self._over = threading.Event(), False
        threading.Thread(target=self._work, args=(crowd,), name="handful-dry-run", daemon=True).start()

    @property
    def running(self) -> bool:
        """Whether it still goes on."""
        return not self._over

    def stop(self) -> None:
        """End it; there is no outcome then."""
        self._stop.set()

    def _work(self, crowd: DryCrowd) -> None:
        try:
            with _one_at_a_time:
                outcome = crowd.answer_all(self._progress, self._stop.is_set)
            self.outcome = None if self._stop.is_set() else outcome
        except HandfulError as error:
            self.fault = str(error)
        finally:
            self._over = True

    def _progress(self, answers: int) -> None:
        self.done = answers
        time.sleep(YIELD_S)  # other threads serve people
