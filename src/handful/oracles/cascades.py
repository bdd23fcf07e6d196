"""Cascades on a graph: how many nodes a set of seeds reaches, simulated; an answer is what one more seed adds.

from handful.oracles import IndependentCascade

cascade = IndependentCascade(graph, probability="weighted")
study = handful.Study(cascade.nodes, k=10, feedback=handful.Values(), budget=100_000, in_flight=64)
study.run(cascade, n_jobs=-1)
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.oracles.graphs import Graph, Int32s, graph_of
from handful.oracles.simulated import Asks
from handful.oracles.spreading import ONE, Bits, compete, spread
from handful.problem import Floats, Ints

AT_ONCE = 2**20  # runs between two resets of the marks
REVERSE_SAMPLING = (
    "this is a known cascade model: reverse sampling (IMM) finds seeds with far less simulating, and its worlds can be "
    "stored (handful.oracles.sample_average); a Study is for what these cannot express, such as CompetingCascades"
)
NOT_A_NODE = "{!r} is not a node of the graph"


class Cascade(ABC):
    """Simulates cascades from sets of nodes. A seed is a world: the same seed gives the same answer everywhere.

    As an oracle, `cascade(question)` is the number of nodes that the item adds to what is chosen, in the world of the
    question's seed.
    """

    better_tool: str | None = None

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._positions = {node: position for position, node in enumerate(graph.nodes)}
        self._scratch = threading.local()

    @property
    def nodes(self) -> tuple[Hashable, ...]:
        """The nodes, in the order of the graph given."""
        return self.graph.nodes

    @property
    def range(self) -> tuple[float, float]:
        """Between which numbers an answer lies: for `Values(range=cascade.range)`."""
        return 0.0, float(self.graph.size)

    def __call__(self, question: Asks) -> float:
        return self.gain(question.chosen, question.item, question.seed)

    def spread(self, seeds: Iterable[Hashable], seed: int) -> int:
        """How many nodes are reached from `seeds`, in the world of `seed`."""
        return int(self._run(self._numbers(()), self._numbers(seeds), seed, 1)[0])

    def gain(self, chosen: Iterable[Hashable], item: Hashable, seed: int) -> float:
        """How many more nodes are reached if `item` is added, in the world of `seed`."""
        return float(self._run(self._numbers(chosen), self._numbers((item,)), seed, 1)[0])

    def spreads(self, seeds: Iterable[Hashable], runs: int, seed: int = 0) -> Ints:
        """How many nodes are reached from `seeds` in each of `runs` worlds, drawn from one seed."""
        if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
            raise InvalidProblem(f"runs must be a whole number, 1 or more, got {runs!r}")
        parts = [
            self._run(self._numbers(()), self._numbers(seeds), seed + part, min(AT_ONCE, runs - part * AT_ONCE))
            for part in range(-(-runs // AT_ONCE))
        ]
        return np.concatenate(parts)

    @abstractmethod
    def _run(self, first: Int32s, then: Int32s, seed: int, runs: int) -> Ints:
        """What `then` adds to `first`, in each run."""

    def _numbers(self, nodes: Iterable[Hashable]) -> Int32s:
        try:
            return np.array([self._positions[node] for node in nodes], dtype=np.int32)
        except KeyError as error:
            raise InvalidProblem(NOT_A_NODE.format(error.args[0])) from None

    def _arrays(self) -> tuple[Int32s, Int32s]:
        """A thread's own marks and queue: made once, used again."""
        found: tuple[Int32s, Int32s] | None = getattr(self._scratch, "arrays", None)
        if found is None:
            found = self._scratch.arrays = (np.zeros(self.graph.size, np.int32), np.empty(self.graph.size, np.int32))
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_scratch"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._scratch = threading.local()


class KnownCascade(Cascade):
    """A cascade that reverse sampling can draw too."""

    better_tool = REVERSE_SAMPLING
    _by_node = False
    _above: Bits = np.empty(0, np.uint64)
    _below: Bits

    def __init__(
        self,
        graph: Any,
        probability: float | str | None = None,
        *,
        attribute: str = "probability",
        undirected: bool = False,
    ) -> None:
        super().__init__(graph_of(graph, probability, attribute=attribute, undirected=undirected))
        self._scale()

    @abstractmethod
    def _scale(self) -> None:
        """Set between which draws each edge carries."""

    def _run(self, first: Int32s, then: Int32s, seed: int, runs: int) -> Ints:
        sizes = np.empty(runs, np.int64)
        marks, queue = self._arrays()
        marks[:] = 0
        starts, targets = self.graph.starts, self.graph.targets
        spread(starts, targets, self._above, self._below, self._by_node, first, then, seed, marks, queue, sizes)
        return sizes


class IndependentCascade(KnownCascade):
    """Each edge from a node that is reached carries once, with its probability.

    `graph` is a list of (from, to, probability), a SciPy sparse matrix of probabilities, or a NetworkX graph whose
    edges have the `attribute`. `probability` gives one for all edges instead, or "weighted": 1 / in-degree.
    """

    def _scale(self) -> None:
        self._below = scaled(self.graph.weights)


class LinearThreshold(KnownCascade):
    """A node is reached once the weights of edges from reached nodes add up to its threshold, uniform on (0, 1).

    The weights of the edges into a node must add up to at most 1, as they do with "weighted". Simulated by its
    equivalent (Kempe, Kleinberg and Tardos 2003): each node hears at most one edge, drawn by weight.
    """

    _by_node = True

    def _scale(self) -> None:
        targets, weights = self.graph.targets, self.graph.weights
        total = np.bincount(targets, weights, minlength=self.graph.size)
        heaviest = int(np.argmax(total))
        if total[heaviest] > 1 + 1e-9:
            raise InvalidProblem(
                f"the edges into {self.nodes[heaviest]!r} weigh {total[heaviest]:g} together: a linear threshold model "
                'needs at most 1; with probability="weighted" each weighs 1 / in-degree'
            )
        order = np.argsort(targets, kind="stable")
        sums = np.cumsum(weights[order])
        before = np.concatenate([[0.0], sums])[np.searchsorted(targets[order], targets[order])]
        ends = np.empty(len(targets))
        ends[order] = sums - before
        self._above, self._below = scaled(np.clip(ends - weights, 0, 1)), scaled(np.clip(ends, 0, 1))


class CompetingCascades(Cascade):
    """Two cascades in step on one graph: a node belongs to whoever wins it first, and f counts those that are ours.

    `rivals` are where theirs starts; their edges carry with `rival_probability` (as `probability`; default: as ours).
    Where both would win a node in the same step, theirs do if theirs was in the queue first, as all at the start are.
    `deadline` is how many steps count, `capacity` how many others one node may win. Whom a node wins depends on who was
    there before, so no reverse sampling can draw it, and f need not be submodular: then each round's own comparison
    holds, and what is built on submodularity does not.
    """

    def __init__(
        self,
        graph: Any,
        rivals: Iterable[Hashable],
        probability: float | str | None = None,
        *,
        rival_probability: float | str | None = None,
        deadline: int | None = None,
        capacity: int | None = None,
        attribute: str = "probability",
        undirected: bool = False,
    ) -> None:
        super().__init__(graph_of(graph, probability, attribute=attribute, undirected=undirected))
        theirs = self.graph
        if rival_probability is not None:
            theirs = graph_of(graph, rival_probability, attribute=attribute, undirected=undirected)
        self._ours, self._theirs = scaled(self.graph.weights), scaled(theirs.weights)
        self._rivals = self._numbers(rivals)
        self._deadline, self._capacity = _limit("deadline", deadline), _limit("capacity", capacity)

    @property
    def range(self) -> tuple[float, float]:
        """Between which numbers an answer lies."""
        return -float(self.graph.size), float(self.graph.size)

    def _run(self, first: Int32s, then: Int32s, seed: int, runs: int) -> Ints:
        with_both = self._won(np.concatenate([first, then]), seed, runs)
        return with_both - self._won(first, seed, runs) if len(first) else with_both

    def _won(self, mine: Int32s, seed: int, runs: int) -> Ints:
        sizes = np.empty(runs, np.int64)
        graph = self.graph
        owners, queue = np.empty(graph.size, np.int8), np.empty(graph.size, np.int32)
        compete(
            graph.starts,
            graph.targets,
            self._ours,
            self._theirs,
            mine,
            self._rivals,
            self._deadline,
            self._capacity,
            seed,
            owners,
            queue,
            sizes,
        )
        return sizes


def scaled(probabilities: Floats) -> Bits:
    """Probabilities as the draws are compared with them."""
    return (probabilities * ONE).astype(np.uint64)


def _limit(what: str, limit: int | None) -> int:
    if limit is None:
        return int(np.iinfo(np.int32).max)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidProblem(f"{what} must be a whole number, 1 or more, or None for any number, got {limit!r}")
    return limit
