"""Where tastes differ, `duels` still finds the item that beats a random other most often."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from handful import Duels, Preferences, Uniform
from handful.core.explorers.protocol import Explorer, open_round, propose, tell
from handful.core.objective import Floats
from handful.core.parts.options import put_number
from handful.core.problem import Problem

SIZE = 40
SPLIT = 0.55
Crowd = Callable[[np.random.Generator], Floats]


def by_strength(z: Floats) -> Floats:
    chances: Floats = 1 / (1 + np.exp(-z))
    return chances


def giant_killer(rng: np.random.Generator) -> Floats:
    """One item beats the eight strongest and loses to all others."""
    v = rng.normal(size=SIZE)
    chances = by_strength(2 * (v[:, None] - v))
    strongest, killer = np.argsort(-v)[:8], np.argsort(-v)[SIZE // 2]
    chances[killer], chances[:, killer] = 0.1, 0.9
    chances[killer, strongest], chances[strongest, killer] = 0.9, 0.1
    return chances


def rock_paper_scissors(rng: np.random.Generator) -> Floats:
    """Three kinds, each of which beats the next."""
    kind, v = rng.integers(0, 3, SIZE), rng.normal(size=SIZE) / 2
    turn = (kind[:, None] - kind) % 3
    return by_strength(2 * (v[:, None] - v) + np.where(turn == 1, 1.5, np.where(turn == 2, -1.5, 0)))


def two_camps(rng: np.random.Generator) -> Floats:
    """People of two tastes, 55 and 45 of a hundred."""
    a, b = rng.normal(size=SIZE), rng.normal(size=SIZE)
    chances: Floats = SPLIT * by_strength(4 * (a[:, None] - a)) + (1 - SPLIT) * by_strength(4 * (b[:, None] - b))
    return chances


def named(crowd: Crowd, chances: Floats, seed: int, options: list[int], rng: np.random.Generator) -> int:
    """Whom somebody names: in two camps by Luce's model of one of them, else by the mean log-odds against the others.

    Of two, that is by their chances; and by Luce's model, where strengths are all there is.
    """
    if crowd is two_camps:
        again = np.random.default_rng(seed)
        strengths = [again.normal(size=SIZE), again.normal(size=SIZE)][int(rng.random() > SPLIT)]
        z = 4 * strengths[options]
    else:
        among = chances[np.ix_(options, options)]
        z = np.log(among / (1 - among)).mean(axis=1)
    return int(rng.choice(options, p=np.exp(z) / np.exp(z).sum()))


def share_of_best(explorer: Explorer, crowd: Crowd, per_item: int, options: int = 2, seeds: int = 12) -> float:
    """The Borda score of the pick over the best one, on average."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        chances, budget = crowd(rng), per_item * SIZE
        state = explorer.build(Problem(SIZE, 1, Preferences(options=options), seed=seed, budget=budget))
        open_round(state, 1, budget, 1)
        number = 0
        while state.board.round["ended"][0] == 0:
            item, rival, given = propose(state, number)
            put_number(state, number)
            if options == 2:
                tell(state, item, rival, given, float(rng.random() < chances[item, rival]))
            else:
                tell(state, named(crowd, chances, seed, state.options.tolist(), rng), rival, given, 1.0)  # type: ignore[attr-defined]
            number += 1
        borda = chances.sum(axis=1) - 0.5
        found.append(borda[int(state.board.round["pick"][0])] / borda.max())
    return float(np.mean(found))


@pytest.mark.slow
@pytest.mark.parametrize("options", [2, 4])
@pytest.mark.parametrize("crowd", [giant_killer, rock_paper_scissors, two_camps])
def test_with_more_answers_the_borda_winner_is_found_also_where_preferences_go_round(
    crowd: Crowd, options: int
) -> None:
    few, many = (share_of_best(Duels(), crowd, per_item, options) for per_item in (2, 60))
    assert many >= 0.98
    assert many >= few - 0.01
    assert few >= share_of_best(Uniform(), crowd, 2) - 0.02


def test_a_giant_killer_is_not_picked_once_random_rivals_have_told() -> None:
    assert share_of_best(Duels(), giant_killer, 60, seeds=8) >= 0.97
