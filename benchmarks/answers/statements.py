"""What `duels` says of its picks in one run, and whether it is true.

A statement is made of every pick as its round ends: that it is among the best j candidates, that it is the best, and
that it is better than the runner-up (`explorers/strengths.py`). The best are those of the highest Borda sum among
the round's candidates, by all people of the crowd. Where people differ, who is named most often among several is
another: by them a statement is judged, too. With `sure`, a round ends once its pick is the best with that probability,
and only that is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import NamedTuple

import numpy as np

from handful.explorers.protocol import drop, open_round, view_of
from handful.explorers.registry import Duels
from handful.explorers.strengths import standing_of
from handful.problem import Floats, Objective, Problem
from handful.responses import Response
from handful.simulation import parts_of, play

AMONG, BEST, OVER, SURELY = "among the best", "the best", "better than the runner-up", "sure"


class JudgedStatement(NamedTuple):
    """A statement, how likely it was said to be, and whether it is true.

    `true` is by Borda sums, `true_as_asked` by who is named most often among as many as a question shows.
    """

    kind: str
    chance: float
    true: bool
    true_as_asked: bool


def borda_sums(people: Floats) -> Floats:
    """How often each item beats a random other, if a row of `people` is what one of them thinks; ties count half."""
    sums = np.zeros(people.shape[1])
    for gains in people:
        ordered = np.sort(gains)
        sums += np.searchsorted(ordered, gains, "left") + np.searchsorted(ordered, gains, "right")
    return sums / (2.0 * len(people))


def shares_named(people: Floats, options: int) -> Floats:
    """How often each item is the best of it and `options` − 1 random others, by rows as above; of equals any may be."""
    size = people.shape[1]
    shares = np.array([comb(below, options - 1) for below in range(size)]) / comb(size - 1, options - 1)
    named = np.zeros(size)
    for gains in people:
        ordered = np.sort(gains)
        below, not_above = np.searchsorted(ordered, gains, "left"), np.searchsorted(ordered, gains, "right")
        sums = np.concatenate([[0.0], np.cumsum(shares)])
        named += (sums[not_above] - sums[below]) / (not_above - below)
    return named / len(people)


def statements_of(
    explorer: Duels, problem: Problem, objective: Objective, response: Response
) -> Iterator[JudgedStatement]:
    """All that is said in one run."""
    state, budget = explorer.build(problem), problem.total
    assert budget is not None
    parts = parts_of(objective) if response.differs else ()
    progress, people = objective.start(), [part.start() for part in parts]
    spent = 0
    for j in range(1, problem.k + 1):
        gains = progress.gains()
        theirs = np.array([person.gains() for person in people]) if people else gains[None, :]
        open_round(state, j, budget.left(spent), problem.k - j + 1)
        spent += play(state, gains[None, :], response, 2**62, theirs if people else None)[0]
        r = state.board.round[0]
        pick, view = int(r["pick"]), view_of(explorer, problem, state)
        candidates = np.flatnonzero(np.isfinite(view.mean))
        best = np.full((2, problem.size), -np.inf)
        best[0, candidates] = borda_sums(theirs[:, candidates])
        best[1, candidates] = shares_named(theirs[:, candidates], min(problem.feedback.options, len(candidates)))
        found = standing_of(view, pick)
        assert found is not None
        ranks, next_best = 1 + (best > best[:, [pick]]).sum(axis=1), found.runners_up[0]
        if explorer.sure is None:
            yield JudgedStatement(AMONG, found.chance, *(ranks <= found.best_of).tolist())
            yield JudgedStatement(BEST, found.chance_of_best, *(ranks == 1).tolist())
            yield JudgedStatement(OVER, next_best.chance, *(best[:, pick] >= best[:, next_best.item]).tolist())
        elif r["counted"] < r["limit"]:
            yield JudgedStatement(SURELY, found.chance_of_best, *(ranks == 1).tolist())
        for grown in (progress, *people):
            grown.add(pick)
        drop(state, pick)
