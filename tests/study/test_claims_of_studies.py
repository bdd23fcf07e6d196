"""What the certificates of whole studies claim, by simulation: slow answers, exclusions and withdrawals in mid-run.

Answers are Gaussian with a standard deviation of exactly R. Each takes as long as what it says suggests: of the
questions that are out, the one with the lowest answer is answered first, or the one with the highest. While that goes
on, people fail their checks and are excluded by the rule, and items are withdrawn; when is drawn beforehand, and so has
nothing to do with the answers. The study ends with its budget, or wherever it stands. Each number that a certificate
claims is counted apart: the ratio, the value, the optimum, and the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from handful import Study, Values
from handful.certificates import Account, Evidence, account_of
from handful.claims import _evidence
from handful.rules import Checks, ChecksBelow, Rule
from tests.explorers.instances import BROKEN, HELD
from tests.explorers.statistics import binomial_p
from tests.study.worlds import Clock

DELTAS = [0.05, 0.3, 0.8]
PEOPLE = 6
RULE = Rule(None, Checks(), (ChecksBelow(0.9, 1),), 1.0)
SOON = 60  # answers, among which somebody is excluded and something withdrawn
SURE = 1e-9

GAINS: dict[str, list[float]] = {
    "two that count": [2.0, 1.5, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0],
    "all equal": [1.0] * 8,
    "nothing is worth anything": [0.0] * 8,
}
WORTHLESS = ["nothing is worth anything"]


@dataclass(frozen=True)
class Way:
    """How a study goes."""

    explorer: str
    lowest_first: bool
    budget: int
    noise: float = 1.0
    k: int = 2
    in_flight: int = 6


WAYS = {
    "worth, low first": Way("worth", True, 150),
    "worth, high first": Way("worth", False, 150),
    "certified, low first": Way("certified", True, 250, 0.4),
    "certified, high first": Way("certified", False, 250, 0.4),
}


def ended(way: Way, gains: list[float], delta: float, seed: int) -> Study[int]:
    """A study at its end."""
    rng = np.random.default_rng(seed)
    study: Study[int] = Study(
        range(len(gains)),
        way.k,
        feedback=Values(noise=way.noise),
        explorer=way.explorer,
        epsilon=0.5,
        delta=delta,
        budget=way.budget,
        in_flight=way.in_flight,
        rule=RULE,
        seed=seed,
        clock=Clock(),
    )
    fails = {int(rng.integers(1, SOON)): f"w{n}" for n in rng.permutation(PEOPLE)[:2]}
    gone = {int(rng.integers(1, SOON)): int(item) for item in rng.permutation(len(gains))[:2]}
    stop = int(rng.integers(way.budget // 2, 3 * way.budget))  # a third of the studies is finished early
    out: dict[str, tuple[float, str]] = {}
    told = 0
    while study.finished is None and told < stop:
        for worker in rng.permutation(PEOPLE):
            for question in study.ask(1, f"w{worker}"):
                out[question.id] = (gains[question.item] + way.noise * float(rng.standard_normal()), f"w{worker}")
        if not out:
            break
        sign = 1.0 if way.lowest_first else -1.0
        first = min(out, key=lambda id_: sign * out[id_][0])
        answer, by = out.pop(first)
        if not study.state.workers.excludes(by):
            study.tell(first, answer, by)
            told += 1
        if study.finished is not None:
            break
        if told in fails:
            study.let_go(fails[told])
            study.check(fails.pop(told), "gold", False)
        if told in gone and gone[told] not in study.state.chosen:
            study.withdraw(gone.pop(told), "copyright")
    if study.finished is None:
        study.finish("enough")
    return study


def account_with(shrink: float, evidence: Evidence) -> Account | None:
    """What the rounds' answers would show with another radius; None where no round is over."""
    problem, counted = evidence.problem, [r.counted for r in evidence.rounds]
    noise = problem.feedback.noise  # type: ignore[union-attr]
    if not counted:
        return None
    return account_of(counted, problem.k, noise, problem.delta, shrink=shrink, without=evidence.withdrawn)


def false_numbers(study: Study[int], gains: list[float], shrink: float) -> tuple[bool, bool, bool, bool]:
    """Which of the ratio, the value, the optimum and the bound are false; of a certificate, or what would be one."""
    evidence = _evidence(study.state)
    value = sum(gains[r.counted.pick] for r in evidence.rounds)
    left = [gain for item, gain in enumerate(gains) if item not in evidence.withdrawn]
    best = sum(sorted(left)[-evidence.problem.k :])
    needed = (1.0 - 1.0 / math.e) * best
    if shrink < 1.0:
        account = account_with(shrink, evidence)
        if account is None:
            return False, False, False, False
        ratio, least, most, epsilon = account.ratio, account.value, account.optimum, account.epsilon
    else:
        found = study.result().certificate
        ratio, least = found.ratio or 0.0, found.value or 0.0
        most = math.inf if found.optimum is None else found.optimum
        epsilon = math.inf if found.bound is None or found.epsilon is None else found.epsilon
    return (
        ratio * best > value + SURE,
        least > value + SURE,
        most < best - SURE,
        value < needed - epsilon - SURE,
    )


def of_each(way: Way, delta: float, shrink: float, runs: int, worlds: list[str]) -> tuple[int, ...]:
    """How many studies claim what is false, for each number; each is of the next of these worlds."""
    found = []
    for seed in range(runs):
        gains = GAINS[worlds[seed % len(worlds)]]
        found.append(false_numbers(ended(way, gains, delta, seed), gains, shrink))
    false = tuple(map(sum, zip(*found, strict=True)))
    print(f"δ = {delta}, {shrink:g} of the radius: false ratio, value, optimum, bound: {false} of {runs}")
    return false


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_slow_answers_exclusions_and_withdrawals_make_no_claim_false(way: Way, delta: float) -> None:
    assert binomial_p(max(of_each(way, delta, 1.0, 9, list(GAINS))), 9, delta) > HELD


def test_studies_with_too_small_a_radius_are_caught() -> None:
    """Where nothing is worth anything, whatever is claimed of f(S) is false."""
    assert binomial_p(of_each(WAYS["worth, high first"], 0.05, 0.3, 25, WORTHLESS)[1], 25, 0.05) < BROKEN


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_slow_answers_exclusions_and_withdrawals_make_no_claim_false_in_many_studies(way: Way, delta: float) -> None:
    assert binomial_p(max(of_each(way, delta, 1.0, 1000, list(GAINS))), 1000, delta) > HELD


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_studies_with_too_small_a_radius_are_caught_over_many(delta: float) -> None:
    assert binomial_p(of_each(WAYS["worth, high first"], delta, 0.3, 1000, WORTHLESS)[1], 1000, delta) < BROKEN
