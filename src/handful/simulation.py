"""Simulated runs without a journal: an explorer against a world, and the paper's yardsticks with exact gains."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.draws import ORDER, PERSON, below, question_seed
from handful.errors import InvalidProblem
from handful.explorers.board import NOBODY, NOW
from handful.explorers.protocol import (
    ExplorerState,
    conclude,
    drop,
    late,
    open_round,
    propose,
    put_number,
    put_options,
    take_options,
    tell,
)
from handful.kernels import kernel
from handful.numbers import whole
from handful.problem import CLOSED, OPEN, Budget, Floats, Ints, Objective, Unlimited, ending_of
from handful.responses import BTL, Response, choose, respond

MISUNDERSTOOD = -1


@dataclass(frozen=True)
class SimulatedRound:
    """How one round went."""

    pick: int
    candidates: tuple[int, ...]  # A
    answers: int
    waits: int  # as `Simulation.waits`
    per_item: Ints  # answers counted for each item
    ended: str
    reached: float
    gain: float


@dataclass(frozen=True)
class Simulation:
    """How a whole run went."""

    chosen: tuple[int, ...]
    value: float
    answers: int
    rounds: tuple[SimulatedRound, ...]

    @property
    def waits(self) -> int:
        """How long it takes if each answer takes 1, and there is somebody to answer all that are out at once."""
        return sum(r.waits for r in self.rounds)

    @property
    def capped(self) -> bool:
        """Whether the cap on answers, not a rule or a budget, ended the run."""
        return any(r.ended == "closed" for r in self.rounds)


def play(
    state: ExplorerState, gains: Floats, response: Response, cap: int, people: Floats | None = None
) -> tuple[int, int]:
    """Ask and answer until the round has ended or `cap` is reached; question n knows answers up to n − in_flight.

    Returns how many were asked, and how long that takes if each answer takes 1 and all in flight are answered at once.
    Row i of `gains` is given the first i picks; the last is of now. A row of `people` is what one person thinks now.
    """
    in_flight, options = int(state.board.round[0]["in_flight"]), len(getattr(state, "options", ()))
    if options and not response.chooses:
        raise InvalidProblem(f"this response model compares two items, not {options}: use btl or tastes")
    if people is None:
        people = gains[:0]
    queue = np.zeros((in_flight, 3 + options), np.int64)
    asked, waits = _play(state, gains, people, response, cap, queue, np.zeros(in_flight), np.zeros(in_flight, np.int64))
    if asked == MISUNDERSTOOD:
        gives = "comparisons" if response.compares else "numbers"
        raise InvalidProblem(f"this response model gives {gives}, which is not what the explorer asks for")
    return asked, waits


@kernel
def _play(
    state: ExplorerState,
    gains: Floats,
    people: Floats,
    response: Response,
    cap: int,
    asked_of: Ints,
    answers: Floats,
    due: Ints,
) -> tuple[int, int]:
    r = state.board.round[0]
    m = r.in_flight
    items, rivals, givens = asked_of[:, 0], asked_of[:, 1], asked_of[:, 2]
    asked = 0
    told = 0
    now = 0
    while r.ended == OPEN:
        item, rival, given = (-1, NOBODY, NOW) if asked >= cap else propose(state, asked)
        if item >= 0:
            if (rival >= 0) != (response.kind >= BTL):
                return MISUNDERSTOOD, 0
            at = asked % m
            items[at] = item
            rivals[at] = rival
            givens[at] = given
            seed = question_seed(r.seed, r.round, asked)
            row = gains[len(gains) - 1 if given == NOW else given]
            if len(people) > 0:
                row = people[below(len(people), seed, 0, PERSON, 0)]
            if asked_of.shape[1] > 3:
                take_options(state, asked_of[at, 3:])
                items[at] = choose(response, row, asked_of[at, 3:], seed)
                answers[at] = 1.0
            else:
                answers[at] = respond(response, row[item], row[rival] if rival >= 0 else 0.0, seed)
            due[at] = now + 1
            asked += 1
        elif told == asked:
            conclude(state, CLOSED)
        else:
            at = told % m
            now = due[at]
            put_options(state, asked_of[at, 3:])
            put_number(state, told)
            tell(state, items[at], rivals[at], givens[at], answers[at])
            told += 1
    while told < asked:
        at = told % m
        put_options(state, asked_of[at, 3:])
        put_number(state, -1)
        late(state, items[at], rivals[at], givens[at], answers[at])
        told += 1
    return asked, now


def simulate(
    state: ExplorerState,
    objective: Objective,
    response: Response,
    k: int,
    *,
    budget: Budget | None = None,
    cap: int = 2**62,
) -> Simulation:
    """Pick k items; `cap` bounds the answers of the whole run and is reported, never silent."""
    size, candidates = len(state.board.items), int(state.board.round[0]["candidates"])
    if size != objective.size:
        raise InvalidProblem(
            f"the explorer was built for {size} items, the objective has {objective.size}: they must agree"
        )
    whole("k", k, 1)
    if k > len(state.board.best):
        raise InvalidProblem(f"the explorer was built to pick {len(state.board.best)}, not {k}: they must agree")
    if k > candidates:
        raise InvalidProblem(f"k = {k} is more than the {candidates} candidates there are: lower k")
    parts = parts_of(objective) if response.differs else ()
    people = [part.start() for part in parts]
    progress = objective.start()
    limits = budget or Unlimited()
    rounds: list[SimulatedRound] = []
    spent = 0
    past: list[Floats] = []
    for j in range(1, k + 1):
        gains = progress.gains()
        past.append(gains)
        open_round(state, j, limits.left(spent), k - j + 1)
        theirs = np.array([person.gains() for person in people]) if people else None
        asked, waits = play(state, np.array(past), response, max(cap - spent, 0), theirs)
        spent += asked
        r = state.board.round[0]
        pick = int(r["pick"])
        rounds.append(
            SimulatedRound(
                pick,
                tuple(int(i) for i in state.board.best[: int(r["size"])]),
                asked,
                waits,
                state.board.items["count"].copy(),
                ending_of(r["ended"]).name,
                float(r["reached"]),
                float(gains[pick]),
            )
        )
        for grown in (progress, *people):
            grown.add(pick)
        drop(state, pick)
    return Simulation(progress.chosen, progress.value, spent, tuple(rounds))


def parts_of(objective: Objective) -> Sequence[Objective]:
    """What each person of a mixture wants; InvalidProblem where the objective is no mixture."""
    parts: Sequence[Objective] | None = getattr(objective, "parts", None)
    if not parts:
        raise InvalidProblem(
            "people who differ need an objective with a part for each of them: give a Mixture or a SampleAverage"
        )
    return parts


@dataclass(frozen=True)
class Selection:
    """A set in the order picked, its value, the gain of each pick, and how many gains were evaluated."""

    chosen: tuple[int, ...]
    value: float
    gains: tuple[float, ...]
    evaluations: int


def greedy(objective: Objective, k: int) -> Selection:
    """Exact greedy (Nemhauser, Wolsey, Fisher 1978): the largest gain each time, ties to the lowest index."""
    _check(objective, k)
    progress, evaluations = objective.start(), 0
    gains: list[float] = []
    for _ in range(k):
        now = progress.gains()
        now[list(progress.chosen)] = -np.inf
        best = int(np.argmax(now))
        evaluations += objective.size - len(progress.chosen)
        gains.append(float(now[best]))
        progress.add(best)
    return Selection(progress.chosen, progress.value, tuple(gains), evaluations)


def lazy_greedy(objective: Objective, k: int) -> Selection:
    """The same set with fewer evaluations (Minoux 1978): gains only fall, so an old gain is an upper bound."""
    _check(objective, k)
    progress = objective.start()
    gains: list[float] = []
    heap = [(-float(gain), item, 0) for item, gain in enumerate(progress.gains())]
    heapq.heapify(heap)
    evaluations = len(heap)
    while len(gains) < k:
        bound, item, seen = heap[0]
        if seen == len(gains):
            heapq.heappop(heap)
            gains.append(-bound)
            progress.add(item)
        else:
            heapq.heapreplace(heap, (-progress.gain(item), item, len(gains)))
            evaluations += 1
    return Selection(progress.chosen, progress.value, tuple(gains), evaluations)


def random_set(objective: Objective, k: int, seed: int = 0) -> Selection:
    """RANDOM: k items without looking."""
    _check(objective, k)
    wide: Any = np.uint64(whole("seed", seed, 0))  # compiled code takes a Python int for a signed one
    order = sorted(range(objective.size), key=lambda item: question_seed(wide, ORDER, item))
    progress = objective.start()
    gains: list[float] = []
    for item in order[:k]:
        gains.append(progress.gain(item))
        progress.add(item)
    return Selection(progress.chosen, progress.value, tuple(gains), 0)


def _check(objective: Objective, k: int) -> None:
    whole("k", k, 1)
    if k > objective.size:
        raise InvalidProblem(f"k must lie between 1 and the {objective.size} items there are, got {k}")
