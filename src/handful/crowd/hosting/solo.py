"""Studies for one person, who chooses alone."""

from __future__ import annotations

from collections.abc import Sequence

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.registry import Registry
from handful.crowd.hosting.study_plan import SOLO_IN_FLIGHT
from handful.errors import InvalidProblem
from handful.storage import without_password
from handful.study.setup import Setup


def is_solo(setup: Setup) -> bool:
    """Whether a study is for one person, as its journal says.

    A journal that does not say so is recognised by how many questions may be in flight: older ones for one person
    all have the same number, which hardly anybody would choose for a crowd.
    """
    return setup.problem.in_flight == SOLO_IN_FLIGHT if setup.solo is None else setup.solo


def solo_study(registry: Registry, themes: Sequence[str] = ()) -> HostedStudy:
    """The study for one person that is not finished, of these themes before others; if all are, the last of them."""
    studies = [hosted for hosted in registry.studies.values() if is_solo(hosted.study.setup)]
    if not studies:
        theirs = next(iter(registry.studies.values())).theme
        raise InvalidProblem(
            f"{without_password(str(registry.storage))} holds {theirs!r}, a study for many: to choose alone beside it, "
            "give a --theme of your own, or another file as --storage"
        )
    named = [hosted for hosted in studies if hosted.theme in themes] or studies
    return next((hosted for hosted in named if hosted.open), named[-1])
