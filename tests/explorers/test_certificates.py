"""What certificates claim is true, as often as they say; and they claim nothing that the bounds do not support."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from handful import responses
from handful.certificates import (
    NO_GUARANTEE,
    Account,
    Certificate,
    Counted,
    account_of,
    from_values,
    promise,
    shown_better,
    total_slack,
)
from handful.explorers.protocol import drop, open_round
from handful.explorers.registry import Explorer, TopX, Worth
from handful.objectives import Coverage, Modular
from handful.problem import ALONE, Objective, Problem, Values
from handful.responses import Response
from handful.simulation import play
from tests.explorers.statistics import binomial_p

N, K, NOISE, DELTA = 9, 3, 0.3, 0.01


def at_most(failures: int, trials: int, rate: float) -> bool:
    """Whether so many failures are what a rate of `rate` may well give."""
    return binomial_p(failures, trials, rate) > 1e-3


def world(seed: int) -> Objective:
    if seed % 2 == 0:  # where the best looking is never better than it looks
        return Modular([0.5] * N)
    rng = np.random.default_rng(seed)
    return Coverage(rng.random(4) + 0.2, rng.random((N, 4)) * 0.6)


def best_of(objective: Objective) -> float:
    def value(items: tuple[int, ...]) -> float:
        progress = objective.start()
        for item in items:
            progress.add(item)
        return progress.value

    return max(value(items) for items in combinations(range(N), K))


HALF = 5.0  # much wider than gains differ
KNOWN = [
    pytest.param(Values(noise=NOISE), responses.gaussian(NOISE), id="R"),
    pytest.param(Values(range=(-HALF, 2.0 + HALF)), responses.uniform(HALF), id="range"),
]


def rounds_of(
    settings: Explorer, known: Values, response: Response, objective: Objective, seed: int, budget: int
) -> tuple[list[Counted], float]:
    """What the rounds of a run counted, and f of what it picked."""
    problem = Problem(N, K, known, epsilon=0.1, budget=budget, seed=seed)
    state = settings.build(problem)
    progress, rounds = objective.start(), []
    for j in range(1, K + 1):
        open_round(state, j, budget // K, 1)
        play(state, progress.gains()[None, :], response, budget)
        items = state.board.items
        assert state.board.round["ended"][0] != ALONE
        mean = items["total"] / np.maximum(items["count"], 1)
        pick = int(state.board.round["pick"][0])
        rounds.append(Counted(pick, items["count"].copy(), mean, items["spread"].copy()))
        progress.add(pick)
        drop(state, pick)
    return rounds, progress.value


def failures(settings: Explorer, known: Values, response: Response, runs: int, shrink: float) -> tuple[int, int]:
    """How often the certified ratio, value or optimum is wrong."""
    wrong = 0
    for seed in range(runs):
        objective = world(seed % 10)
        rounds, value = rounds_of(settings, known, response, objective, seed, 10_800)
        account = account_of(rounds, K, known.sub_gaussian or 0.0, DELTA, known.span, shrink)
        best = best_of(objective)
        wrong += value / best < account.ratio or value < account.value or best > account.optimum
    return wrong, runs


@pytest.mark.slow
@pytest.mark.parametrize(("known", "response"), KNOWN)
@pytest.mark.parametrize("settings", [TopX(), Worth()], ids=["topx", "worth"])
def test_certified_numbers_are_wrong_at_most_delta_of_the_time_and_the_test_would_notice(
    settings: Explorer, known: Values, response: Response
) -> None:
    assert at_most(*failures(settings, known, response, 200, 1.0), DELTA)
    assert not at_most(*failures(settings, known, response, 500, 0.3), DELTA)


def test_exact_answers_certify_what_greedy_shows_of_itself() -> None:
    gains = [np.array([3.0, 2.0, 1.0]), np.array([0.0, 1.5, 1.0])]
    rounds = [Counted(j, np.full(3, 10**12), gains[j], np.zeros(3)) for j in (0, 1)]
    account = account_of(rounds, 2, 1.0, 0.05)
    assert account.value == pytest.approx(4.5, abs=1e-3)
    assert account.optimum == pytest.approx(5.0, abs=1e-3)  # the two largest single gains
    assert account.ratio == pytest.approx(0.9, abs=1e-3)


def test_an_item_never_asked_leaves_the_optimum_open() -> None:
    rounds = [Counted(0, np.array([50, 0, 50]), np.array([1.0, 0.0, 0.5]), np.zeros(3))]
    account = account_of(rounds, 1, 0.1, 0.05)
    assert account.optimum == np.inf
    assert account.ratio == 0.0
    certificate = from_values(account, NO_GUARANTEE, 0.05, ())
    assert certificate.ratio is None
    assert certificate.bound is None
    assert "Nothing is certified" in certificate.sentence


def test_a_bound_that_takes_nothing_off_says_nothing_of_it() -> None:
    certificate = Certificate(promise("O", 0.1, 0.05, ()).bound, 0.0, 0.05)
    assert certificate.claim == "f(S) ≥ (1 − 1/e)·f(OPT)"


def test_a_guarantee_stands_beside_what_the_bounds_show() -> None:
    guarantee = promise("O", 0.1, 0.05, ("answers are independent",))
    certificate = from_values(Account(4.0, 5.0), guarantee, 0.05, ())
    assert certificate.ratio == 0.8
    assert "at least 80% of the best possible one" in certificate.sentence
    assert "f(S) ≥ (1 − 1/e)·f(OPT) − 0.1" in certificate.sentence
    assert "answers are independent" in certificate.sentence
    assert certificate.to_dict()["sentence"] == certificate.sentence


def test_a_bound_that_says_next_to_nothing_is_not_said() -> None:
    assert from_values(Account(1.0, 20.0), NO_GUARANTEE, 0.05, ()).bound is None
    assert from_values(Account(4.0, 7.0), NO_GUARANTEE, 0.05, ()).epsilon == pytest.approx(7 * (1 - 1 / np.e) - 4)


def test_slack_of_early_rounds_weighs_less() -> None:
    assert total_slack([0.1, 0.0]) == pytest.approx(0.05)
    assert total_slack([0.0, 0.1]) == pytest.approx(0.1)


def test_a_rival_is_shown_to_be_worse_through_others() -> None:
    # 0 always beats 1, 1 always beats 2; 0 and 2 never met.
    item = np.array([0, 1] * 60)
    rival = np.array([1, 2] * 60)
    won = np.ones(120)
    assert shown_better(0, item, rival, won, 4, 0.05) == 2
    assert shown_better(1, item, rival, won, 4, 0.05) == 1
    assert shown_better(2, item, rival, won, 4, 0.05) == 0
    # the same comparisons, told from the other side
    assert shown_better(0, rival, item, 1 - won, 4, 0.05) == 2


def test_fair_coins_show_nothing_and_a_shrunk_sequence_would() -> None:
    rng = np.random.default_rng(1)

    def wrong(shrink: float) -> int:
        return sum(
            shown_better(
                0, np.zeros(300, int), np.ones(300, int), rng.integers(0, 2, 300).astype(float), 2, 0.1, shrink
            )
            for _ in range(100)
        )

    assert at_most(wrong(1.0), 100, 0.1)
    assert not at_most(wrong(0.3), 100, 0.1)


def test_nothing_certified_says_why() -> None:
    said = Certificate(reasons=("nothing is known about the noise",)).sentence
    assert said.endswith("Nothing is known about the noise.")
