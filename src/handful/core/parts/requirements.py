"""What explorers need to know of a problem, what they refuse, and what any claim about it assumes."""

from __future__ import annotations

import math

import numpy as np

from handful.core.checks import is_finite
from handful.core.feedback import Preferences, Values
from handful.core.guarantees import VALUES
from handful.core.objective import Floats
from handful.core.problem import Problem
from handful.core.rounding import exactly
from handful.errors import InvalidProblem, UnknownExplorer

_FROM_CHOSEN = "f(S), f(OPT) and greedy count what is added to the items chosen at the start"
IN_ORDER = "that a question is left unanswered does not depend on what its answer would be"


def noise_of(problem: Problem) -> float:
    """R of one answer; ½ for a comparison."""
    if isinstance(problem.feedback, Preferences):
        return 0.5
    known = problem.feedback.sub_gaussian
    if known is None:
        raise InvalidProblem("this explorer needs to know the noise: give Values(noise=R) or Values(range=(lo, hi))")
    return known


def beta_of(problem: Problem) -> float:
    """β of comparisons, nan if it is not known; VALUES where answers are values."""
    if not isinstance(problem.feedback, Preferences):
        return VALUES
    return math.nan if problem.feedback.beta is None else problem.feedback.beta


def scores(problem: Problem) -> Floats | None:
    """The prior's scores as an array; None if there is no prior."""
    return None if problem.prior is None else np.array(problem.prior)


def assumptions_of(problem: Problem) -> tuple[str, ...]:
    """What must be true of the answers for any claim about this problem."""
    if isinstance(problem.feedback, Values):
        known = f"are sub-Gaussian with R = {exactly(noise_of(problem))}"
        if problem.feedback.range is not None:
            lo, hi = problem.feedback.range
            known = f"lie in [{exactly(lo)}, {exactly(hi)}]"
        held: tuple[str, ...] = (f"answers are independent with mean f(item | chosen) and {known}",)
    elif problem.feedback.options > 2:
        sharp = "" if problem.feedback.beta is None else f" with β = {exactly(problem.feedback.beta)}"
        held = (
            f"choices are independent and follow Luce's model{sharp}: how often one of two items is named rather than "
            "the other does not depend on what else is shown",
        )
    elif problem.feedback.beta is None:
        held = ("comparisons are independent, and more often right the larger the difference in f",)
    else:
        held = (f"comparisons are independent and follow Bradley-Terry-Luce with β = {exactly(problem.feedback.beta)}",)
    if problem.chosen:
        held = (*held, _FROM_CHOSEN)
    return held if problem.in_flight == 1 else (*held, IN_ORDER)


def values_only(name: str, problem: Problem) -> Values:
    """What is known of the values; refuse comparisons."""
    if not isinstance(problem.feedback, Values):
        raise UnknownExplorer(f"{name} asks for values; for comparisons use duels, pivot, sharp or topx")
    return problem.feedback


def comparisons_only(name: str, problem: Problem) -> None:
    """Refuse a problem whose answers are values."""
    if not isinstance(problem.feedback, Preferences):
        raise UnknownExplorer(f"{name} asks for comparisons; for values use certified, worth, sharp or topx")


def pairs_only(name: str, problem: Problem) -> None:
    """Refuse questions with more than two options."""
    if problem.feedback.options > 2:
        raise InvalidProblem(
            f"{name} compares two items at a time, not {problem.feedback.options}: use duels, or leave options= out"
        )


def needs_a_budget(name: str, problem: Problem) -> None:
    """Refuse a problem without a budget, which would never end."""
    if problem.total is None:
        raise InvalidProblem(f"{name} asks as long as it may: give budget=, the number of answers you can afford")


def needs_an_end(name: str, problem: Problem, exact: bool) -> None:
    """Refuse a problem that nothing would end."""
    if problem.epsilon is None and problem.total is None and not exact:
        raise InvalidProblem(f"{name} needs epsilon=, budget= or both: else nothing says when enough has been asked")


def check_shrink(shrink: float) -> None:
    """Refuse a factor of the radius that is none."""
    if not (is_finite(shrink) and shrink > 0):
        raise InvalidProblem(f"shrink multiplies the radius and must be positive, got {shrink!r}")


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is not among those allowed."""
    if value not in allowed:
        raise InvalidProblem(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
