"""Crowds whose preferences go round, and how good a pick is there: its Borda sum over the best one.

The Borda sum of an item is how often it is preferred to each of the others, added up. No strengths explain such
preferences, so an explorer that believes in strengths may be led astray by close contests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from handful.explorers.protocol import Explorer, open_round, propose, put_number, tell
from handful.problem import OPEN, Floats, Preferences, Problem

SIZE = 40
SPLIT = 0.55
Crowd = Callable[[np.random.Generator], Floats]


def giant_killer(rng: np.random.Generator) -> Floats:
    """One item beats the eight strongest and loses to all others."""
    v = rng.normal(size=SIZE)
    chances = _by_strength(2 * (v[:, None] - v))
    strongest, killer = np.argsort(-v)[:8], np.argsort(-v)[SIZE // 2]
    chances[killer], chances[:, killer] = 0.1, 0.9
    chances[killer, strongest], chances[strongest, killer] = 0.9, 0.1
    return chances


def rock_paper_scissors(rng: np.random.Generator) -> Floats:
    """Three kinds, each of which beats the next."""
    kind, v = rng.integers(0, 3, SIZE), rng.normal(size=SIZE) / 2
    turn = (kind[:, None] - kind) % 3
    return _by_strength(2 * (v[:, None] - v) + np.where(turn == 1, 1.5, np.where(turn == 2, -1.5, 0)))


def two_camps(rng: np.random.Generator) -> Floats:
    """People of two tastes, 55 and 45 of a hundred."""
    a, b = rng.normal(size=SIZE), rng.normal(size=SIZE)
    chances: Floats = SPLIT * _by_strength(4 * (a[:, None] - a)) + (1 - SPLIT) * _by_strength(4 * (b[:, None] - b))
    return chances


def shares_of_best(explorer: Explorer, crowd: Crowd, per_item: int, options: int, seeds: Iterable[int]) -> Floats:
    """The Borda sum of the pick over the best one, for one crowd per seed and so many answers per item."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        chances, budget = crowd(rng), per_item * SIZE
        state = explorer.build(Problem(SIZE, 1, Preferences(options=options), seed=seed, budget=budget))
        open_round(state, 1, budget, 1)
        ended, number = state.board.round["ended"], 0
        while ended[0] == OPEN:
            item, rival, given = propose(state, number)
            put_number(state, number)
            if options == 2:
                tell(state, item, rival, given, float(rng.random() < chances[item, rival]))
            else:
                shown: list[int] = state.options.tolist()  # type: ignore[attr-defined]
                tell(state, _named(crowd, chances, seed, shown, rng), rival, given, 1.0)
            number += 1
        borda = chances.sum(axis=1) - 0.5
        found.append(borda[int(state.board.round["pick"][0])] / borda.max())
    return np.array(found)


def _by_strength(z: Floats) -> Floats:
    chances: Floats = 1 / (1 + np.exp(-z))
    return chances


def _named(crowd: Crowd, chances: Floats, seed: int, options: list[int], rng: np.random.Generator) -> int:
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
