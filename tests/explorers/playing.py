"""Ways to run a compiled explorer that leave a trace: question by question, as a live study would."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from handful.draws import PICK, RIVAL, below, question_seed, uniforms
from handful.explorers.board import NOW
from handful.explorers.protocol import ExplorerState, drop, late, open_round, propose, put_number, tell
from handful.problem import OPEN, Budget, Objective, Unlimited, ending_of
from handful.responses import Response, respond


@dataclass
class TracedRound:
    """One round: A, the pick, how it ended, and every question in order."""

    A: list[int] = field(default_factory=list)
    pick: int = -1
    queries: list[tuple[int, int]] = field(default_factory=list)
    ended: str = ""


def gains_after(objective: Objective, chosen: Sequence[int]) -> np.ndarray:
    """f(a|S) for all a."""
    progress = objective.start()
    for item in chosen:
        progress.add(item)
    return progress.gains()


class SharedNoise:
    """The compiled simulator's own draws, for the transcription: a `transcription.Nature`."""

    def __init__(self, seed: int, objective: Objective, response: Response) -> None:
        self.seed, self.objective, self.response = seed, objective, response
        self._gains: dict[tuple[int, ...], np.ndarray] = {}

    def gains(self, S: Sequence[int]) -> np.ndarray:
        """Gains given S, worked out once."""
        key = tuple(S)
        if key not in self._gains:
            self._gains[key] = gains_after(self.objective, S)
        return self._gains[key]

    def value(self, j: int, n: int, item: int, S: Sequence[int]) -> float:
        """X_{item|S}."""
        return float(respond(self.response, self.gains(S)[item], 0.0, question_seed(self.seed, j, n)))

    def preference(self, j: int, n: int, item: int, rival: int, S: Sequence[int]) -> int:
        """X_{item > rival|S}."""
        gains = self.gains(S)
        return int(respond(self.response, gains[item], gains[rival], question_seed(self.seed, j, n)))

    def rival(self, j: int, n: int, others: Sequence[int]) -> int:
        """By counter."""
        return others[below(len(others), self.seed, j, RIVAL, n)]

    def pick(self, j: int, A: Sequence[int]) -> int:
        """By counter."""
        return A[int(uniforms(self.seed, j, PICK, 0)[0] * len(A))]


class OwnNoise(SharedNoise):
    """Uniform noise and draws of a generator that has nothing to do with the compiled one."""

    def __init__(self, seed: int, objective: Objective, half_width: float) -> None:
        super().__init__(seed, objective, Response(0, half_width, 0.0))
        self.rng = np.random.default_rng(seed)

    def value(self, j: int, n: int, item: int, S: Sequence[int]) -> float:
        """A gain plus uniform noise."""
        return float(self.gains(S)[item] + self.rng.uniform(-self.response.scale, self.response.scale))

    def pick(self, j: int, A: Sequence[int]) -> int:
        """Uniformly from A."""
        return A[int(self.rng.integers(len(A)))]


def live(
    state: ExplorerState, objective: Objective, response: Response, k: int, budget: Budget | None = None
) -> list[TracedRound]:
    """Ask, answer and tell one question at a time from Python, in the order of the simulator."""
    rounds: list[TracedRound] = []
    past: list[np.ndarray] = []
    limits = budget or Unlimited()
    for j in range(1, k + 1):
        past.append(gains_after(objective, [r.pick for r in rounds]))
        this = TracedRound()
        open_round(state, j, limits.left(sum(len(r.queries) for r in rounds)), k - j + 1)
        r = state.board.round[0]
        waiting: deque[tuple[int, int, int, float]] = deque()
        while r["ended"] == OPEN:
            item, rival, given = propose(state, len(this.queries))
            if item >= 0:
                seed = question_seed(r["seed"], j, len(this.queries))
                gains = past[-1 if given == NOW else given]
                answer = respond(response, gains[item], gains[rival] if rival >= 0 else 0.0, seed)
                waiting.append((item, rival, given, answer))
                this.queries.append((int(item), int(rival)))
            else:
                put_number(state, len(this.queries) - len(waiting))
                tell(state, *waiting.popleft())
        put_number(state, -1)
        for question in waiting:  # answers that come after the round may still teach a belief
            late(state, *question)
        this.A = [int(i) for i in state.board.best[: int(r["size"])]]
        this.pick = int(r["pick"])
        this.ended = ending_of(r["ended"]).name
        rounds.append(this)
        drop(state, this.pick)
    return rounds
