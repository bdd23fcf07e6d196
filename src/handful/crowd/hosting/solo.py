"""Studies for one person, who chooses alone."""

from __future__ import annotations

from collections.abc import Sequence

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.registry import Registry
from handful.crowd.hosting.startup import SOLO_IN_FLIGHT
from handful.errors import InvalidProblem


def solo_study(registry: Registry, themes: Sequence[str] = ()) -> HostedStudy:
    """What there is still to choose alone, of these themes before others; when all is chosen, the last of it."""
    studies = [hosted for hosted in registry.studies.values() if hosted.study.setup.problem.in_flight == SOLO_IN_FLIGHT]
    if not studies:
        theirs = next(iter(registry.studies.values())).theme
        raise InvalidProblem(
            f"{registry.storage} holds {theirs!r}, a study for many: to choose alone beside it, "
            "give a --theme of your own, or another file as --storage"
        )
    named = [hosted for hosted in studies if hosted.theme in themes] or studies
    return next((hosted for hosted in named if hosted.open), named[-1])


def end_earlier_visits(hosted: HostedStudy) -> None:
    """What they hold, perhaps in another browser, is free again, and what they answered stands."""
    fold = hosted.study.fold
    for worker in filter(None, {*fold.workers.names, *fold.leases.holders()}):
        hosted.study.let_go(worker)
        hosted.study.settle(worker)
