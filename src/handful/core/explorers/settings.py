"""The explorers by name: frozen settings that say what they promise and build the compiled state.

An explorer is chosen by name (`explorer="topx"`) or by settings (`explorer=TopX(variant="O")`). Each settings class
has `guarantee(problem)` and `build(problem)`; a new explorer adds its class to EXPLORERS and its kernels in a file
of its own.
"""

from __future__ import annotations

from dataclasses import asdict

from handful.core.explorers.beyond import Certified, Duels, Pivot, Sharp, Thompson
from handful.core.explorers.paper import Explorer, TopX, Uniform, fixed_sample_size, noise_of
from handful.core.feedback import Values
from handful.core.problem import Problem
from handful.errors import InvalidProblem, UnknownExplorer

__all__ = [
    "EXPLORERS",
    "Certified",
    "Duels",
    "Explorer",
    "Pivot",
    "Sharp",
    "Thompson",
    "TopX",
    "Uniform",
    "default_explorer",
    "describe",
    "explorer_named",
    "fixed_sample_size",
    "noise_of",
]

EXPLORERS: dict[str, type[Explorer]] = {
    kind.name: kind for kind in (TopX, Uniform, Sharp, Certified, Thompson, Duels, Pivot)
}


def explorer_named(name: str, **options: object) -> Explorer:
    """Settings by name, with their options; the inverse of `describe`."""
    if name not in EXPLORERS:
        raise UnknownExplorer(f"there is no explorer named {name!r}; there are {', '.join(EXPLORERS)}")
    try:
        return EXPLORERS[name](**options)
    except TypeError as error:
        raise InvalidProblem(f"explorer {name}: {error}") from None


def describe(settings: Explorer) -> dict[str, object]:
    """Name and options, for the journal."""
    return {"name": settings.name, **asdict(settings)}  # type: ignore[call-overload]


def default_explorer(problem: Problem) -> Explorer:
    """The best explorer for what is known: duels for comparisons; for values, certified if something is to be shown."""
    if not isinstance(problem.feedback, Values):
        return Duels()
    known = problem.feedback.sub_gaussian is not None
    return Certified() if known and (problem.epsilon is not None or problem.ratio is not None) else Thompson()
