"""How a new study is to be made: its plan, who is expected, what that buys, a dry run; and the study made so."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from handful import Preferences, Study
from handful.crowd.collection import Collection
from handful.crowd.dry_crowd import DryCrowd, DryOutcome, TurnClock
from handful.crowd.messages import DraftSettings
from handful.crowd.settings import Settings
from handful.crowd.words import check_lessons
from handful.errors import HandfulError, InvalidProblem, UnknownExplorer
from handful.pricing import Bought, bought
from handful.recruit.plan import MOST_ANSWERS_EACH, Plan, check_currency
from handful.rules import EXCLUDE, ONLY_VERIFIED, Door, Rule
from handful.setup import Setup, small_budgets_heard

EXPECTED = "people expected"
"""The topic under which the journal notes it."""


@dataclass(frozen=True)
class ExpectedPeople:
    """So many people, with so many answers each, paid so many cents per hour (None: nobody is paid)."""

    people: int
    answers_each: int
    per_hour: int | None = None
    currency: str = "GBP"

    @property
    def answers(self) -> int:
        """What they give together."""
        return self.people * self.answers_each

    def pay(self, rule: Rule | None) -> Plan | None:
        """What they are paid, with the checks that this rule asks of them; None where nobody is."""
        if self.per_hour is None:
            return None
        return Plan(self.people, self.answers_each, per_hour=self.per_hour, currency=self.currency).by_rule(rule)

    def to_dict(self) -> dict[str, Any]:
        """As the journal notes it."""
        pay = {} if self.per_hour is None else {"per_hour": self.per_hour, "currency": self.currency}
        return {"people": self.people, "answers_each": self.answers_each, **pay}


def expected_in(noted: object) -> ExpectedPeople | None:
    """What the journal notes; None where that is something else."""
    if not isinstance(noted, Mapping):
        return None
    people, each = noted.get("people"), noted.get("answers_each")
    if not isinstance(people, int) or not isinstance(each, int) or min(people, each) < 1:
        return None
    per_hour, currency = noted.get("per_hour"), noted.get("currency")
    if not isinstance(per_hour, int) or not isinstance(currency, str):
        return ExpectedPeople(people, each)
    try:
        return ExpectedPeople(people, each, per_hour, check_currency(currency))
    except InvalidProblem:
        return ExpectedPeople(people, each)


def note_expected(study: Study, expected: ExpectedPeople | None) -> None:
    """Note who will come in the journal, if that is known."""
    if expected is not None:
        study.note(EXPECTED, expected.to_dict())


def expected_minutes(answers: int | None, rule: Rule | None) -> int | None:
    """The minutes for so many answers that count, with reading, practice and this rule's checks; None: no number."""
    return Plan(people=1, answers_each=min(answers, MOST_ANSWERS_EACH)).by_rule(rule).minutes if answers else None


@dataclass(frozen=True)
class Inherited:
    """The name and the door of an earlier study; nothing where there was none.

    `dropped` names what a study that is set up in the browser cannot have.
    """

    continues: str | None = None
    door: Door | None = None
    dropped: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, setup: Setup, door: Door | None) -> Inherited:
        """What the study of this name passes on, with these settings and this door now."""
        problem = setup.problem
        without = {"its ratio": problem.ratio is not None, "its prior": problem.prior is not None}
        return cls(name, door, tuple(name for name, there in without.items() if there))

    def door_for(self, told: DraftSettings) -> Door:
        """How people come; the earlier door only where they come in the same way."""
        return self.door if self.door is not None and self.door.kind == told.door else Door(told.door)

    def words_for(self, told: DraftSettings) -> str | None:
        """What is taken over and not shown among the settings, in whole sentences; None if nothing."""
        said, door = [], self.door_for(told)
        if self.continues is not None:
            said.append(f"It continues {self.continues}, and its certificate says that picks were seen before.")
        if door != Door(told.door):
            networks = f"networks of IPv4 /{door.ipv4} and IPv6 /{door.ipv6} with {100 * door.share:g}% of a round each"
            said.append(f"Taken over from the earlier study: {networks}.")
        if self.dropped:
            said.append(f"Not taken over: {' and '.join(self.dropped)}.")
        return " ".join(said) or None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, for the draft's file."""
        return {
            "continues": self.continues,
            "door": None if self.door is None else self.door.to_dict(),
            "dropped": list(self.dropped),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Inherited:
        """What `to_dict` wrote."""
        return cls(
            data["continues"], None if data["door"] is None else Door.from_dict(data["door"]), tuple(data["dropped"])
        )


ANSWERS_PER_ITEM = 4
FEWEST_ANSWERS = 25
MOST_ALONE = {2: 25, 3: 15}
MOST_ALONE_OF_MANY = 10
"""For each pick, one person is asked as many questions as there are items, but no more than this: a few minutes.

By how many are shown at a time, and where that is four or more: such a question tells as much as several pairs.
"""

DUELS = "duels"
ASKING = ("explorer", "options", "sure", "epsilon")
"""The settings that say how is asked, which have to go together."""
SHOWN = 4
SOLO_IN_FLIGHT = 6
"""Two to see and load ahead; the others are those that were skipped and come again at the end of the round."""


@dataclass(frozen=True)
class StudyPlan:
    """How a new study is to be made. `budget` is answers in all; None is four per item and pick, or alone one.

    `options` is how many are shown at a time; None is four, and two for texts and for explorers that ask pairs alone.
    """

    k: int = 6
    explorer: str | None = None
    budget: int | None = None
    options: int | None = None
    epsilon: float | None = None
    delta: float = 0.05
    in_flight: int = 200
    lease_s: float = 60.0
    seed: int = 0
    rule: Rule | None = None
    door: Door | None = None
    sure: float | None = None  # how likely the best a pick must be, by the belief, for its round to end
    chosen: tuple[str, ...] = ()  # from the start, in order; k counts them
    continues: str | None = None  # the study that it goes on from
    expected: ExpectedPeople | None = None  # who will come: without a budget, what they give together

    @property
    def explored_by(self) -> str | None:
        """The explorer, with `sure` among its options; None for the default."""
        if self.sure is None:
            return self.explorer
        name, _, written = (self.explorer or DUELS).partition(":")
        if name.strip() != DUELS or (self.explorer is None and self.epsilon is not None):
            wanted = "a claim of ε" if self.explorer is None else f"the explorer {name.strip()}"
            raise InvalidProblem(f"sure={self.sure:g} is for duels, whose belief it asks, and not for {wanted}")
        return f"{DUELS}:{','.join(filter(None, (written.strip(), f'sure={self.sure!r}')))}"

    @property
    def who_counts(self) -> Rule | None:
        """The rule, with its default: of people from a panel, those whom it verifies."""
        of_panel = self.door is not None and self.door.kind == "panel"
        return ONLY_VERIFIED if self.rule is None and of_panel else self.rule

    def shown(self, items: int) -> int:
        """How many are shown at a time, with its default."""
        if self.options is not None:
            return self.options
        asks_pairs = self.epsilon is not None or (self.explorer or DUELS).partition(":")[0] != DUELS
        return 2 if asks_pairs else min(SHOWN, items)

    def answers(self, items: int, solo: bool) -> int:
        """The budget, with its default."""
        if self.budget is not None:
            return self.budget
        if self.expected is not None and not solo:
            return self.expected.answers
        if solo:
            return self.k * min(items, MOST_ALONE.get(self.shown(items), MOST_ALONE_OF_MANY))
        return self.k * max(FEWEST_ANSWERS, ANSWERS_PER_ITEM * items)


def suited(plan: StudyPlan, collection: Collection) -> StudyPlan:
    """The plan with as many shown at a time as suits the items, unless it says how many."""
    if plan.options is None and all(item.kind == "text" for item in collection):
        return replace(plan, options=2)  # four texts take twice as long to read as two
    return plan


def plan_of(told: DraftSettings, inherited: Inherited | None = None) -> StudyPlan:
    """How a study with these settings is made, and with what it takes from an earlier one."""
    inherited = inherited or Inherited()
    goal = Settings().goal if told.words.goal is None else told.words.goal
    return StudyPlan(
        told.k,
        told.explorer,
        told.budget,
        told.options,
        in_flight=told.in_flight,
        lease_s=told.lease,
        seed=told.seed,
        sure=told.sure,
        expected=ExpectedPeople(told.people, goal, told.per_hour, told.currency) if goal else None,
        epsilon=told.epsilon,
        delta=StudyPlan.delta if told.delta is None else told.delta,
        rule=_rule_of(told),
        door=inherited.door_for(told),
        chosen=tuple(told.chosen),
        continues=inherited.continues,
    )


def _rule_of(told: DraftSettings) -> Rule | None:
    """Who counts, where people are checked."""
    if not told.checks:
        return None
    rule = Rule() if told.rule is None else Rule.from_dict(told.rule)
    return replace(rule, unverified=EXCLUDE)


def check_settings(told: DraftSettings, inherited: Inherited | None, before: DraftSettings | None = None) -> None:
    """Refuse settings that no study could have, whatever its items are.

    How is asked and the practice may stay as they were `before`: whether a study can be made so is seen when it is.
    """
    plan, before = plan_of(told, inherited), before or DraftSettings()
    if plan.expected is not None:
        plan.expected.pay(plan.rule)
    if told.words.practice != before.words.practice:
        check_lessons(told.words.model_dump())
    if any(getattr(told, name) != getattr(before, name) for name in ASKING):
        _check_explorer(plan)


def _check_explorer(plan: StudyPlan) -> None:
    """Refuse an explorer that is none, or does not go with the plan: with as few items as it could be for."""
    try:
        if plan.explored_by is not None:
            left = max(1, plan.k - len(plan.chosen))
            items = range(max(left + 1, plan.shown(SHOWN)))
            with small_budgets_heard():
                new_study(items, replace(plan, k=left, chosen=()), Settings())
    except InvalidProblem as error:
        raise UnknownExplorer(str(error)) from error


def new_study(items: Sequence[Any], plan: StudyPlan, settings: Settings, **where: Any) -> Study:
    """A study of these items by the plan; `where` is what `Study` needs to know of storage and clock."""
    if plan.k == len(items):
        raise InvalidProblem(f"to choose {plan.k} of {len(items)} items leaves nothing to choose: give a smaller k")
    unknown = [name for name in plan.chosen if name not in set(items)]
    if unknown:
        raise InvalidProblem(f"{unknown[0]!r} cannot be chosen from the start: there is no such item")
    return Study(
        items,
        plan.k,
        feedback=Preferences(options=plan.shown(len(items))),
        explorer=plan.explored_by,
        epsilon=plan.epsilon,
        delta=plan.delta,
        budget=plan.answers(len(items), settings.solo),
        in_flight=SOLO_IN_FLIGHT if settings.solo else plan.in_flight,
        lease_s=plan.lease_s,
        seed=plan.seed,
        solo=settings.solo,
        rule=None if settings.solo else plan.who_counts,
        door=None if settings.solo else plan.door,
        chosen=plan.chosen,
        continues=plan.continues,
        **where,
    )


MOST_SIMULATED = 100_000
_one_simulation = threading.Lock()


def quality_of(plan: StudyPlan, collection: Collection) -> Bought | None:
    """How good a selection the plan's answers are likely to give; None where there are too many to simulate.

    It takes some seconds the first time.
    """
    plan, items = suited(plan, collection), len(collection)
    if plan.answers(items, solo=False) > MOST_SIMULATED or not len(plan.chosen) < plan.k < items:
        return None
    people = 1 if plan.expected is None else plan.expected.people
    with _one_simulation:
        return bought(
            items - len(plan.chosen),
            plan.k - len(plan.chosen),
            plan.answers(items, solo=False),
            plan.shown(items),
            plan.explored_by or DUELS,
            min(people, plan.in_flight),
        )


MOST_ANSWERS = 20_000
YIELD_S = 0.002

_one_dry_run = threading.Lock()


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
            with _one_dry_run:
                outcome = crowd.answer_all(self._progress, self._stop.is_set)
            self.outcome = None if self._stop.is_set() else outcome
        except HandfulError as error:
            self.fault = str(error)
        finally:
            self._over = True

    def _progress(self, answers: int) -> None:
        self.done = answers
        time.sleep(YIELD_S)  # other threads serve people
