"""A new study from an earlier one: it takes the picks so far as chosen, and any of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from handful import Duels
from handful.crowd.hosting.draft_file import settings_as_made
from handful.crowd.hosting.drafts import Draft
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.inherited import Inherited
from handful.crowd.hosting.own_words import own_words
from handful.crowd.hosting.registry import Registry
from handful.crowd.hosting.study_plan import DUELS, StudyPlan
from handful.crowd.setup_messages import DraftSettings
from handful.errors import InvalidCollection
from handful.study.rules import ONLY_VERIFIED, Rule
from handful.study.setup import Setup


def draft_from(
    registry: Registry, hosted: HostedStudy, items: Sequence[str] | None = None, chosen: Sequence[str] | None = None
) -> Draft:
    """A draft with the settings, rule, door and words of a study, those of its items, and what is chosen at the start.

    It names this study as the one it continues. Without `items` it has all of them, without `chosen` the picks so far.
    The study itself stays as it is.
    """
    picks = list(hosted.latest_result().chosen if chosen is None else chosen)
    known = hosted.collection.ids
    taken = set(known if items is None else items) | set(picks)
    unknown = sorted(taken - set(known))
    if unknown:
        raise InvalidCollection(f"this study has no item {unknown[0]!r}")
    settings = _settings_of(hosted, picks, len(taken))
    inherited = Inherited.of(hosted.study.name, hosted.study.setup, hosted.door)
    sources = registry.originals_of(hosted)
    return registry.drafts.new_from(settings, registry.clock(), hosted.collection, taken, inherited, sources)


def _explorer_of(setup: Setup) -> tuple[str | None, float | None]:
    """What decides what is asked, None for the default; and how sure it must be to end a round."""
    never = replace(setup, explorer=replace(setup.explorer, sure=None)) if isinstance(setup.explorer, Duels) else setup
    usual = never.explorer_spelled == DUELS and setup.problem.epsilon is None
    return None if usual else never.explorer_spelled, setup.sure


def _settings_of(hosted: HostedStudy, picks: list[str], items: int) -> DraftSettings:
    setup, defaults = hosted.study.setup, DraftSettings()
    problem, expected = setup.problem, hosted.expected
    explorer, sure = _explorer_of(setup)
    checks = setup.rule not in (None, ONLY_VERIFIED)
    k = problem.k if len(picks) < problem.k else len(picks) + max(1, min(problem.k, items - len(picks) - 1))
    return settings_as_made(
        {
            "theme": hosted.theme,
            "chosen": picks,
            "k": min(k, 1_000),
            "options": problem.feedback.options,
            "people": defaults.people if expected is None else expected.people,
            "door": defaults.door if hosted.door is None else hosted.door.kind,
            "checks": checks,
            "rule": setup.rule.to_dict() if setup.rule is not None and checks and setup.rule != Rule() else None,
            "epsilon": problem.epsilon,
            "delta": None if problem.delta == StudyPlan.delta else problem.delta,
            "explorer": explorer,
            "sure": sure,
            "in_flight": problem.in_flight,
            "lease": setup.lease_s,
            "seed": problem.seed + 1,  # other draws than those the picks came from
            "words": own_words(hosted.settings, hosted.retention_days),
        }
    )
