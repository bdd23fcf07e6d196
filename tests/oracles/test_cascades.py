"""Cascades: exact where a graph can be enumerated, by closed forms elsewhere, and each seed is one world."""

from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from handful import Study, Values
from handful.errors import BetterTool, InvalidProblem
from handful.oracles import CompetingCascades, IndependentCascade, LinearThreshold

RUNS = 40_000
Edge = tuple[Any, Any, float]
DIAMOND: list[Edge] = [("a", "b", 0.5), ("a", "c", 0.3), ("b", "d", 0.6), ("c", "d", 0.4), ("d", "a", 0.7)]


def reached(edges: list[Edge], seeds: set[Any]) -> set[Any]:
    """Whoever the seeds reach along the edges."""
    found = set(seeds)
    while more := {v for u, v, _ in edges if u in found and v not in found}:
        found |= more
    return found


def independent(edges: list[Edge], seeds: set[Any]) -> float:
    """The mean spread of an independent cascade: the sum over all sets of edges that carry."""
    mean = 0.0
    for carries in itertools.product((False, True), repeat=len(edges)):
        chance = np.prod([p if c else 1 - p for (_, _, p), c in zip(edges, carries, strict=True)])
        mean += chance * len(reached([e for e, c in zip(edges, carries, strict=True) if c], seeds))
    return float(mean)


def threshold(edges: list[Edge], seeds: set[Any], grid: int = 10) -> float:
    """The mean spread of the linear threshold process itself, over a grid of thresholds that no sum of weights hits."""
    nodes = sorted({node for edge in edges for node in edge[:2]})
    spreads = []
    for levels in itertools.product((np.arange(grid) + 0.5) / grid, repeat=len(nodes)):
        level = dict(zip(nodes, levels, strict=True))
        active = set(seeds)
        while more := {
            v for v in nodes if v not in active and sum(w for x, y, w in edges if y == v and x in active) >= level[v]
        }:
            active |= more
        spreads.append(len(active))
    return float(np.mean(spreads))


def is_mean_of(spreads: np.ndarray, mean: float) -> bool:
    """Within five standard errors."""
    return abs(spreads.mean() - mean) <= 5 * spreads.std() / np.sqrt(len(spreads)) + 1e-12


@pytest.mark.parametrize("seeds", ["a", "b", "ac", "d"])
def test_an_independent_cascade_has_the_mean_that_enumerating_gives(seeds: str) -> None:
    spreads = IndependentCascade(DIAMOND).spreads(seeds, RUNS)
    exact = independent(DIAMOND, set(seeds))
    assert is_mean_of(spreads, exact)
    assert not is_mean_of(spreads, exact * 1.03)


@pytest.mark.parametrize("seeds", ["a", "b", "ac"])
def test_a_linear_threshold_cascade_has_the_mean_of_the_process_with_thresholds(seeds: str) -> None:
    edges: list[Edge] = [("a", "b", 0.5), ("c", "b", 0.3), ("b", "d", 0.6), ("c", "d", 0.2), ("d", "a", 0.7)]
    spreads = LinearThreshold(edges).spreads(seeds, RUNS)
    exact = threshold(edges, set(seeds))
    assert is_mean_of(spreads, exact)
    assert not is_mean_of(spreads, exact * 1.03)


@pytest.mark.parametrize("model", [IndependentCascade, LinearThreshold])
def test_paths_stars_and_trees_have_their_closed_forms(model: type[IndependentCascade]) -> None:
    p = 0.6
    path = [(i, i + 1, p) for i in range(30)]
    assert is_mean_of(model(path).spreads([0], RUNS), (1 - p**31) / (1 - p))
    star = [(0, leaf, 0.3) for leaf in range(1, 21)]
    assert is_mean_of(model(star).spreads([0], RUNS), 1 + 20 * 0.3)
    tree = [(i, child, 0.8) for i in range(31) for child in (2 * i + 1, 2 * i + 2)]
    assert is_mean_of(model(tree).spreads([0], RUNS), sum(1.6**depth for depth in range(6)))


@pytest.mark.parametrize("model", [IndependentCascade, LinearThreshold])
def test_in_one_world_a_gain_is_the_difference_of_two_spreads(model: type[IndependentCascade]) -> None:
    rng = np.random.default_rng(1)
    edges = [tuple(edge) for edge in rng.integers(60, size=(300, 2)).tolist()]
    cascade = model(edges, "weighted")
    for seed in range(200):
        chosen, item = [1, 2, 3], int(rng.integers(60))
        assert cascade.gain(chosen, item, seed) == cascade.spread([*chosen, item], seed) - cascade.spread(chosen, seed)
        assert cascade.gain(chosen, item, seed) <= cascade.gain(chosen[:1], item, seed)


def test_worlds_differ_and_a_world_is_the_same_everywhere() -> None:
    edges = [(i, (i * 7 + j) % 500, 0.3) for i in range(500) for j in (1, 2, 3)]
    cascade = IndependentCascade(edges)
    alone = [cascade.spread([0, 5], seed) for seed in range(300)]
    assert len(set(alone)) > 20
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda seed: cascade.spread([0, 5], seed), range(300))) == alone
    travelled = pickle.loads(pickle.dumps(cascade))
    assert [travelled.spread([0, 5], seed) for seed in range(300)] == alone


def test_edges_matrices_and_networkx_graphs_are_read_alike() -> None:
    networkx, sparse = pytest.importorskip("networkx"), pytest.importorskip("scipy.sparse")
    edges = [(0, 1, 0.5), (0, 2, 0.25), (1, 2, 0.75), (2, 3, 0.5)]
    expected = IndependentCascade(edges).spreads([0], 500)
    heads, tails, weights = zip(*edges, strict=True)
    matrix = sparse.csr_array((weights, (heads, tails)), shape=(4, 4))
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(edges, weight="p")
    assert np.array_equal(IndependentCascade(matrix).spreads([0], 500), expected)
    assert np.array_equal(IndependentCascade(sparse.csr_matrix(matrix)).spreads([0], 500), expected)
    assert np.array_equal(IndependentCascade(graph, attribute="p").spreads([0], 500), expected)
    assert np.array_equal(IndependentCascade(np.array(edges)).spreads([0], 500), expected)


def test_an_undirected_edge_carries_both_ways() -> None:
    networkx = pytest.importorskip("networkx")
    both = IndependentCascade([("a", "b", 0.5), ("b", "a", 0.5)]).spreads("b", RUNS).mean()
    graph = networkx.Graph([("a", "b")])
    assert IndependentCascade(graph, 0.5).spreads("b", RUNS).mean() == pytest.approx(both, abs=0.02)
    assert IndependentCascade([("a", "b")], 0.5, undirected=True).spread("b", 3) in (1, 2)
    assert graph.number_of_edges() == 1
    assert IndependentCascade(networkx.les_miserables_graph(), "weighted").graph.size == 77


def contest(
    edges: list[Edge], mine: list[Any], rivals: list[Any], carry: tuple[bool, ...], deadline: float, capacity: float
) -> int:
    """Two cascades in step, by sets: whoever was won in a step tries in the next, theirs before ours."""
    owner: dict[Any, str] = dict.fromkeys(rivals, "theirs")
    line = list(rivals)
    for node in mine:
        if node not in owner:
            owner[node] = "ours"
            line.append(node)
    step = 0
    while line and step < deadline:
        following = []
        for node in line:
            left = capacity
            for (u, v, _), carries in zip(edges, carry, strict=True):
                if u == node and carries and v not in owner and left > 0:
                    owner[v] = owner[node]
                    following.append(v)
                    left -= 1
        line = following
        step += 1
    return sum(side == "ours" for side in owner.values())


@pytest.mark.parametrize(("deadline", "capacity"), [(None, None), (1, None), (2, None), (None, 1)])
def test_competing_cascades_have_the_mean_that_enumerating_gives(deadline: int | None, capacity: int | None) -> None:
    edges: list[Edge] = [("r", "m", 0.5), ("a", "m", 0.6), ("m", "x", 0.7), ("x", "y", 0.8), ("r", "y", 0.2)]
    if capacity is not None:
        edges = [("r", "m", 0.5), ("a", "m", 0.6), ("m", "x", 0.7), ("x", "y", 0.8)]  # one way each: order is no matter
    mean = 0.0
    for carry in itertools.product((False, True), repeat=len(edges)):
        chance = float(np.prod([p if c else 1 - p for (_, _, p), c in zip(edges, carry, strict=True)]))
        mean += chance * contest(edges, ["a"], ["r"], carry, deadline or np.inf, capacity or np.inf)
    cascade = CompetingCascades(edges, ["r"], deadline=deadline, capacity=capacity)
    spreads = cascade.spreads(["a"], RUNS)
    assert is_mean_of(spreads, mean)
    assert not is_mean_of(spreads, mean * 1.03)


def test_a_node_with_a_capacity_wins_so_many_and_each_as_often() -> None:
    star = [(0, leaf, 1.0) for leaf in range(1, 6)]
    cascade = CompetingCascades([*star, ("r", "s", 1.0)], ["r"], capacity=2)
    assert set(cascade.spreads([0], 100)) == {3}
    assert set(CompetingCascades([*star, ("r", "s", 1.0)], ["r"], capacity=9).spreads([0], 100)) == {6}
    longer = CompetingCascades([*star, (1, "tail", 1.0), ("r", "s", 1.0)], ["r"], capacity=2)
    assert (longer.spreads([0], 4000) == 4).mean() == pytest.approx(2 / 5, abs=0.04)


def test_rivals_with_edges_of_their_own_carry_by_those() -> None:
    edges = [("r", "x", 1.0), ("a", "x", 1.0)]
    assert CompetingCascades(edges, ["r"]).spread("a", 1) == 1
    assert CompetingCascades(edges, ["r"], rival_probability=0.0).spread("a", 1) == 2
    assert CompetingCascades(edges, ["r"]).gain((), "r", 1) == 0


def test_a_study_of_a_plain_cascade_says_that_there_is_a_better_tool_and_picks_all_the_same() -> None:
    edges = [(hub, 10 * hub + leaf, 0.1 + hub / 10) for hub in range(1, 6) for leaf in range(1, 9)]
    settings: dict[str, Any] = {"feedback": Values(), "budget": 1500, "in_flight": 8}
    cascade, contest = IndependentCascade(edges), CompetingCascades(edges, [11])
    with pytest.warns(BetterTool, match="reverse sampling"):
        found = Study(cascade.nodes, 2, **settings).run(cascade)
    assert set(found.chosen) == {4, 5}
    assert set(Study(contest.nodes, 2, **settings).run(contest).chosen) == {4, 5}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: IndependentCascade([("a", "b")]), "an edge is (from, to, probability)"),
        (lambda: IndependentCascade([("a", "b", 1.5)]), "the edge from 'a' to 'b' has 1.5: expected a number from 0"),
        (lambda: IndependentCascade([("a", "b", np.nan)]), "has nan"),
        (lambda: IndependentCascade([("a", "b")], "heavy"), '"weighted" or None'),
        (lambda: IndependentCascade([], 0.1), "no edges"),
        (lambda: IndependentCascade(7, 0.1), "a graph is a list of edges"),
        (lambda: LinearThreshold([("a", "b", 0.6), ("c", "b", 0.6)]), "the edges into 'b' weigh 1.2 together"),
        (lambda: IndependentCascade(DIAMOND).spread("z", 1), "'z' is not a node of the graph"),
        (lambda: IndependentCascade(DIAMOND).spreads("a", 0), "runs must be a whole number"),
        (lambda: CompetingCascades(DIAMOND, "a", deadline=0), "deadline must be a whole number"),
        (lambda: CompetingCascades(DIAMOND, "z"), "'z' is not a node"),
    ],
)
def test_a_graph_that_makes_no_sense_is_refused(make: Any, says: str) -> None:
    with pytest.raises(InvalidProblem) as raised:
        make()
    assert says in str(raised.value)
