"""How a new study is to be made, and the study that is made so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from handful import Preferences, Study
from handful.crowd.collection import Collection
from handful.crowd.hosting.expected_people import ExpectedPeople
from handful.crowd.hosting.inherited import Inherited
from handful.crowd.hosting.study_words import check_lessons
from handful.crowd.settings import Settings
from handful.crowd.setup_messages import DraftSettings
from handful.errors import InvalidProblem, UnknownExplorer
from handful.study.doors import Door
from handful.study.rules import EXCLUDE, ONLY_VERIFIED, Rule
from handful.study.small_budget import small_budgets_heard

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
