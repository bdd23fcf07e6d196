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
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import InvalidProblem
from handful.kernels import kernel
from handful.oracles.simulators import Asks
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


Bits = npt.NDArray[np.uint64]

ONE = 2.0**63  # certain
NOBODY, OURS, THEIRS = 0, 1, 2

_GAP = np.uint64(0x9E3779B97F4A7C15)
_A = np.uint64(0xBF58476D1CE4E5B9)
_B = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _1 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(1)


@kernel
def mixed(z: np.uint64) -> np.uint64:
    """SplitMix64's finalizer."""
    z = (z ^ (z >> _30)) * _A
    z = (z ^ (z >> _27)) * _B
    return z ^ (z >> _31)


@kernel
def draw(world: np.uint64, place: int) -> np.uint64:
    """63 random bits of a world at a place."""
    return mixed(world + np.uint64(place) * _GAP) >> _1


@kernel
def world_of(seed: int, run: int) -> np.uint64:
    """The world of a seed, or of run n of it."""
    return mixed(mixed(np.uint64(seed)) + np.uint64(run) * _A)


@kernel
def reach_independent(
    starts: Ints, targets: Int32s, below: Bits, world: np.uint64, mark: int, marks: Int32s, queue: Int32s, size: int
) -> int:
    """Follow the edges that carry from the first `size` nodes of the queue; gives how many are in it at the end."""
    at = 0
    while at < size:
        node = queue[at]
        at += 1
        for edge in range(starts[node], starts[node + 1]):
            if draw(world, edge) < below[edge]:
                target = targets[edge]
                if marks[target] != mark:
                    marks[target] = mark
                    queue[size] = target
                    size += 1
    return size


@kernel
def reach_threshold(
    starts: Ints,
    targets: Int32s,
    above: Bits,
    below: Bits,
    world: np.uint64,
    mark: int,
    marks: Int32s,
    queue: Int32s,
    size: int,
) -> int:
    """The same where each node hears at most one of those before it: an edge carries if the node's draw is its."""
    at = 0
    while at < size:
        node = queue[at]
        at += 1
        for edge in range(starts[node], starts[node + 1]):
            target = targets[edge]
            if marks[target] != mark:
                drawn = draw(world, target)
                if above[edge] <= drawn < below[edge]:
                    marks[target] = mark
                    queue[size] = target
                    size += 1
    return size


@kernel
def placed(seeds: Int32s, mark: int, marks: Int32s, queue: Int32s, size: int) -> int:
    """Put those of `seeds` that are not marked at the end of the queue."""
    for i in range(len(seeds)):
        node = seeds[i]
        if marks[node] != mark:
            marks[node] = mark
            queue[size] = node
            size += 1
    return size


@kernel
def spread(
    starts: Ints,
    targets: Int32s,
    above: Bits,
    below: Bits,
    by_node: bool,
    first: Int32s,
    then: Int32s,
    seed: int,
    marks: Int32s,
    queue: Int32s,
    sizes: Ints,
) -> None:
    """For run n = 0, 1, … how many nodes `then` reaches that `first` does not, with `marks` not above zero at first.

    `by_node`: linear thresholds; else an independent cascade, and `above` is not looked at.
    """
    for run in range(len(sizes)):
        mark = run + 1
        world = world_of(seed, run)
        size = 0
        for seeds in (first, then):
            # What is reached needs no second look: the queue goes on with the rest.
            queue_left = queue[size:]
            new = placed(seeds, mark, marks, queue_left, 0)
            if by_node:
                new = reach_threshold(starts, targets, above, below, world, mark, marks, queue_left, new)
            else:
                new = reach_independent(starts, targets, below, world, mark, marks, queue_left, new)
            size += new
            sizes[run] = new


@kernel
def compete(
    starts: Ints,
    targets: Int32s,
    ours: Bits,
    theirs: Bits,
    mine: Int32s,
    rivals: Int32s,
    deadline: int,
    capacity: int,
    seed: int,
    owners: npt.NDArray[np.int8],
    queue: Int32s,
    sizes: Ints,
) -> None:
    """For run n = 0, 1, … how many nodes are ours when two cascades have run in step until the deadline.

    Who is in both sets at the start is theirs. In each step whoever was won in the last one tries those after it that
    nobody has won, from a drawn place on, and wins at most `capacity` of them; where both try, the one in the queue
    first, and theirs stand before ours at the start.
    """
    for run in range(len(sizes)):
        world = world_of(seed, run)
        owners[:] = NOBODY
        size = 0
        won = 0
        for i in range(len(rivals)):
            if owners[rivals[i]] == NOBODY:
                owners[rivals[i]] = THEIRS
                queue[size] = rivals[i]
                size += 1
        for i in range(len(mine)):
            if owners[mine[i]] == NOBODY:
                owners[mine[i]] = OURS
                queue[size] = mine[i]
                size += 1
                won += 1
        at, step, end = 0, 0, size
        while at < size and step < deadline:
            node = queue[at]
            owner = owners[node]
            below = ours if owner == OURS else theirs
            first, degree = starts[node], starts[node + 1] - starts[node]
            left = capacity
            turn = int(draw(world, len(targets) + node) % np.uint64(max(degree, 1)))
            for i in range(degree):
                edge = first + (i + turn) % degree
                target = targets[edge]
                if owners[target] == NOBODY and draw(world, edge) < below[edge]:
                    owners[target] = owner
                    queue[size] = target
                    size += 1
                    won += owner == OURS
                    left -= 1
                    if left == 0:
                        break
            at += 1
            if at == end:
                step += 1
                end = size
        sizes[run] = won


Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Graph:
    """Directed edges, sorted by where they start: those of node i are `starts[i]` up to `starts[i + 1]`."""

    nodes: tuple[Hashable, ...]
    starts: npt.NDArray[np.int64]
    targets: Int32s
    weights: Floats

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)


def graph_of(
    graph: Any, probability: float | str | None, *, attribute: str = "probability", undirected: bool = False
) -> Graph:
    """The graph that the user gives, with a number per directed edge.

    `probability` is one number for all edges, "weighted" for 1 / in-degree of where an edge ends, or None where the
    edges carry their own: the third of (from, to, p), the entry of a matrix, the `attribute` of a NetworkX edge.
    An undirected edge becomes one in each direction.
    """
    own = probability is None
    if hasattr(graph, "tocoo"):
        nodes, heads, tails, weights = _of_matrix(graph)
    elif hasattr(graph, "edges") and hasattr(graph, "is_directed"):
        nodes, heads, tails, weights = _of_networkx(graph, attribute if own else None)
        undirected = undirected or not graph.is_directed()
    else:
        nodes, heads, tails, weights = _of_edges(graph, own)
    if len(heads) == 0:
        raise InvalidProblem("the graph has no edges: nothing could spread")
    if undirected:
        heads, tails = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        weights = np.concatenate([weights, weights])
    if isinstance(probability, str):
        if probability != "weighted":
            raise InvalidProblem(f'probability must be a number, "weighted" or None, got {probability!r}')
        weights = 1.0 / np.bincount(tails, minlength=len(nodes))[tails]
    elif probability is not None:
        weights = np.full(len(heads), float(probability))
    bad = ~((weights >= 0) & (weights <= 1))
    if bad.any():
        at = int(np.argmax(bad))
        edge = f"{nodes[int(heads[at])]!r} to {nodes[int(tails[at])]!r}"
        raise InvalidProblem(f"the edge from {edge} has {weights[at]}: expected a number from 0 to 1")
    order = np.argsort(heads, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(heads, minlength=len(nodes)))])
    return Graph(nodes, starts.astype(np.int64), tails[order].astype(np.int32), weights[order].astype(np.float64))


_Parts = tuple[tuple[Hashable, ...], npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]


def _of_matrix(matrix: Any) -> _Parts:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidProblem(f"a graph is a square matrix, got one of shape {matrix.shape}")
    found = matrix.tocoo()
    weights = np.asarray(found.data, dtype=np.float64)
    return tuple(range(matrix.shape[0])), found.row.astype(np.int64), found.col.astype(np.int64), weights


def _of_networkx(graph: Any, attribute: str | None) -> _Parts:
    nodes = tuple(graph.nodes)
    position = {node: at for at, node in enumerate(nodes)}
    edges = list(graph.edges(data=True))
    weights = np.ones(len(edges))
    if attribute is not None:
        lacking = next((edge for edge in edges if attribute not in edge[2]), None)
        if lacking is not None:
            raise InvalidProblem(
                f"the edge from {lacking[0]!r} to {lacking[1]!r} has no attribute {attribute!r}: say which one holds "
                'the probability (attribute=), or give probability= a number or "weighted"'
            )
        weights = np.array([float(edge[2][attribute]) for edge in edges])
    heads = np.array([position[edge[0]] for edge in edges], dtype=np.int64)
    tails = np.array([position[edge[1]] for edge in edges], dtype=np.int64)
    return nodes, heads, tails, weights


def _of_edges(edges: Iterable[Any], own: bool) -> _Parts:
    """Nodes are numbered in the order they are first named."""
    try:
        rows = edges.tolist() if isinstance(edges, np.ndarray) else [tuple(edge) for edge in edges]
    except TypeError:
        raise InvalidProblem(
            f"a graph is a list of edges (from, to, probability), a sparse matrix or a NetworkX graph, got {edges!r}"
        ) from None
    length = 3 if own else 2
    short = next((row for row in rows if len(row) < length), None)
    if short is not None:
        wanted = "(from, to, probability); or give probability= for all of them" if own else "(from, to)"
        raise InvalidProblem(f"an edge is {wanted}, got {tuple(short)!r}")
    position: dict[Hashable, int] = {}
    for row in rows:
        for node in row[:2]:
            position.setdefault(node, len(position))
    heads = np.array([position[row[0]] for row in rows], dtype=np.int64)
    tails = np.array([position[row[1]] for row in rows], dtype=np.int64)
    weights = np.array([float(row[2]) for row in rows]) if own else np.ones(len(rows))
    return tuple(position), heads, tails, weights
