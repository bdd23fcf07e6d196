"""Options that were typed for studies that exist already: each is applied, refused, or said to have no effect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.errors import InvalidProblem

ANOTHER = "to begin another study, give another --theme, or --storage with another file"


@dataclass(frozen=True)
class RequestedChanges:
    """The options that were typed; None for one that was not."""

    k: int | None = None
    explorer: str | None = None
    budget: int | None = None
    in_flight: int | None = None
    lease_s: float | None = None
    seed: int | None = None
    options: int | None = None


def apply_changes(
    changes: RequestedChanges, studies: Sequence[HostedStudy], themes: Sequence[str], say: Callable[[str], None]
) -> None:
    """Refuse another k or explorer than a study was begun with; let its budget grow; say what else it keeps.

    About the studies of these themes; without themes about all, and then it is enough if one is as requested.
    """
    about = [hosted for hosted in studies if hosted.theme in themes] if themes else list(studies)
    others = [hosted for hosted in about if _another_k(hosted, changes) or _another_explorer(hosted, changes)]
    if others and (themes or len(others) == len(about)):
        raise InvalidProblem(_refusal(others[0], changes))
    for hosted in about:
        if hosted not in others:
            _keep(hosted, changes, say)


def _another_k(hosted: HostedStudy, changes: RequestedChanges) -> bool:
    return changes.k not in (None, hosted.k)


def _another_explorer(hosted: HostedStudy, changes: RequestedChanges) -> bool:
    return changes.explorer is not None and not hosted.study.setup.explored_by(changes.explorer)


def _refusal(hosted: HostedStudy, changes: RequestedChanges) -> str:
    state = "" if hosted.open else " and is finished"
    if _another_k(hosted, changes):
        begun, wanted = f"k = {hosted.k}", f"k = {changes.k}"
    else:
        begun, wanted = f"--explorer {hosted.study.setup.explorer_spelled}", f"--explorer {changes.explorer}"
    return f"{hosted.theme!r} was begun with {begun}{state}, and cannot change to {wanted}: {ANOTHER}"


def _keep(hosted: HostedStudy, changes: RequestedChanges, say: Callable[[str], None]) -> None:
    setup, budget = hosted.study.setup, hosted.study.fold.budget
    if changes.budget not in (None, budget):
        _grow(hosted, changes.budget or 0, budget, say)
    for option, wanted, kept in (
        ("--in-flight", changes.in_flight, setup.problem.in_flight),
        ("--lease", changes.lease_s, setup.lease_s),
        ("--seed", changes.seed, setup.problem.seed),
        ("--options", changes.options, setup.problem.feedback.options),
    ):
        if wanted not in (None, kept):
            say(f"{hosted.theme}: the study keeps the {option} {kept:g} it was begun with; {ANOTHER}")


def _grow(hosted: HostedStudy, wanted: int, budget: int | None, say: Callable[[str], None]) -> None:
    if not hosted.open:
        say(f"{hosted.theme}: the study is finished, so --budget {wanted:,} comes too late; {ANOTHER}")
    elif budget is None:
        say(f"{hosted.theme}: the study was begun without a budget, and --budget is left aside; {ANOTHER}")
    elif wanted < budget:
        say(f"{hosted.theme}: the study keeps its budget of {budget:,} answers, which can only grow; {ANOTHER}")
    else:
        hosted.study.extend(wanted - budget)
        hosted.refresh_status()
        say(f"{hosted.theme}: the budget grows from {budget:,} to {wanted:,} answers")
