"""A simulated crowd: people of different sharpness and care, and a study of theirs without a journal.

The compiled simulator knows one response model; here every question goes to somebody else, so the loop is Python's.
It calls the same functions of the core, with the same question seeds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from handful.draws import question_seed
from handful.explorers.board import NOBODY, NOW, remove
from handful.explorers.protocol import State, conclude, late, open_round, propose, put_options, take_options, tell
from handful.problem import CLOSED, OPEN, Floats, Ints, Objective, Total
from handful.responses import Response, btl, respond
from handful.responses import choose as named

SHARP, SPREAD = 2.0, 0.5
"""β is log-normal around 2: most people between 1 and 4."""
CARELESS = ((0.8, 0.02), (0.2, 0.25))
"""Four in five answer by a coin one time in fifty, one in five one time in four."""


def crowd(size: int, seed: int) -> tuple[Response, ...]:
    """How each person answers: with a sharpness and a share of careless answers of their own."""
    rng = np.random.Generator(np.random.Philox(key=np.array([11, seed], dtype=np.uint64)))
    people = []
    for _ in range(size):
        beta = SHARP * float(np.exp(SPREAD * NormalDist().inv_cdf(max(rng.random(), 1e-12))))
        people.append(btl(beta, CARELESS[0][1] if rng.random() < CARELESS[0][0] else CARELESS[1][1]))
    return tuple(people)


@dataclass(frozen=True)
class Pick:
    """The pick of one round, and what it cost."""

    item: int
    gain: float
    comparisons: int
    size: int


def choose(
    state: State, objective: Objective, people: Sequence[Response], k: int, budget: Total, *, seed: int, in_flight: int
) -> list[Pick]:
    """k picks; question n knows the answers up to n − in_flight, and a person drawn at random answers it."""
    rng = np.random.Generator(np.random.Philox(key=np.array([12, seed], dtype=np.uint64)))
    progress = objective.start()
    picks: list[Pick] = []
    spent = 0
    for j in range(1, k + 1):
        gains = progress.gains()
        open_round(state, j, budget.left(spent), k - j + 1)
        asked = _round(state, gains, people, rng, seed, j, in_flight)
        spent += asked
        board = state.board.round[0]
        item = int(board["pick"])
        picks.append(Pick(item, float(gains[item]), asked, int(board["size"])))
        progress.add(item)
        remove(state.board, item)
    return picks


def _round(
    state: State, gains: Floats, people: Sequence[Response], rng: np.random.Generator, seed: int, j: int, room: int
) -> int:
    waiting: deque[tuple[Ints, tuple[int, int, int, float]]] = deque()
    options = len(getattr(state, "options", ()))
    asked = 0
    while state.board.round[0]["ended"] == OPEN:
        item, rival, given = propose(state, asked) if len(waiting) < room else (-1, NOBODY, NOW)
        if item >= 0:
            person, own = people[int(rng.random() * len(people))], question_seed(seed, j, asked)
            row = np.full(options, -1, np.int64)
            if options:
                take_options(state, row)
                item, answer = named(person, gains, row, own), 1.0
            else:
                answer = respond(person, gains[item], gains[rival], own)
            waiting.append((row, (item, rival, given, answer)))
            asked += 1
        elif waiting:
            row, question = waiting.popleft()
            put_options(state, row)
            tell(state, *question)
        else:
            conclude(state, CLOSED)
    for row, question in waiting:
        put_options(state, row)
        late(state, *question)
    return asked
