"""What was asked for explicitly, against studies that exist already: granted where it can be, else refused or said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from handful.crowd.booth import Booth
from handful.errors import InvalidProblem

ANOTHER = "to begin another study, give another --theme, or --storage with another file"


@dataclass(frozen=True)
class Wishes:
    """None is what was not asked for."""

    k: int | None = None
    explorer: str | None = None
    budget: int | None = None
    in_flight: int | None = None
    lease_s: float | None = None
    seed: int | None = None


def grant(wishes: Wishes, booths: Sequence[Booth], themes: Sequence[str], say: Callable[[str], None]) -> None:
    """Refuse another k or explorer than a study was begun with; let its budget grow; say what else it keeps.

    About the studies of these themes; without themes about all, and then it is enough if one is as it was asked for.
    """
    about = [booth for booth in booths if booth.theme in themes] if themes else list(booths)
    others = [booth for booth in about if _another_k(booth, wishes) or _another_explorer(booth, wishes)]
    if others and (themes or len(others) == len(about)):
        raise InvalidProblem(_refusal(others[0], wishes))
    for booth in about:
        if booth not in others:
            _keep(booth, wishes, say)


def _another_k(booth: Booth, wishes: Wishes) -> bool:
    return wishes.k not in (None, booth.k)


def _another_explorer(booth: Booth, wishes: Wishes) -> bool:
    return wishes.explorer is not None and not booth.study.setup.explored_by(wishes.explorer)


def _refusal(booth: Booth, wishes: Wishes) -> str:
    state = "" if booth.open else " and is finished"
    if _another_k(booth, wishes):
        begun, asked = f"k = {booth.k}", f"k = {wishes.k}"
    else:
        begun, asked = f"--explorer {booth.study.setup.explorer_spelled}", f"--explorer {wishes.explorer}"
    return f"{booth.theme!r} was begun with {begun}{state}, and cannot change to {asked}: {ANOTHER}"


def _keep(booth: Booth, wishes: Wishes, say: Callable[[str], None]) -> None:
    setup, budget = booth.study.setup, booth.study.fold.budget
    if wishes.budget not in (None, budget):
        _grow(booth, wishes.budget or 0, budget, say)
    for option, asked, kept in (
        ("--in-flight", wishes.in_flight, setup.problem.in_flight),
        ("--lease", wishes.lease_s, setup.lease_s),
        ("--seed", wishes.seed, setup.problem.seed),
    ):
        if asked not in (None, kept):
            say(f"{booth.theme}: the study keeps the {option} {kept:g} it was begun with; {ANOTHER}")


def _grow(booth: Booth, asked: int, budget: int | None, say: Callable[[str], None]) -> None:
    if not booth.open:
        say(f"{booth.theme}: the study is finished, so --budget {asked:,} comes too late; {ANOTHER}")
    elif budget is None:
        say(f"{booth.theme}: the study was begun without a budget, and --budget is left aside; {ANOTHER}")
    elif asked < budget:
        say(f"{booth.theme}: the study keeps its budget of {budget:,} answers, which can only grow; {ANOTHER}")
    else:
        booth.study.extend(asked - budget)
        booth.look()
        say(f"{booth.theme}: the budget grows from {budget:,} to {asked:,} answers")
