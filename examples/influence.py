"""Whom to tell first? Seeds for a cascade on Les Misérables and on a large drawn graph of authors.

python examples/influence.py [--nodes 3000] [--pick 5] [--output influence.png]

A study asks a simulated cascade what one more seed adds. Beside it: CELF (lazy greedy with a fixed number of
simulations for every look) and the nodes with the most neighbours. The spread of each is then simulated afresh.

The drawn graph joins whoever wrote a paper together. Most papers have a few authors, and some have dozens: their
authors have many neighbours, who hear from many others too, so they are no good seeds.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from handful import Study, Values
from handful.errors import BetterTool
from handful.oracles import IndependentCascade

LOOKS = 100  # simulations for each look of CELF
PER_NODE, LEAST = 20, 3000  # answers for each node, and in all at least


def drawn_authors(size: int, seed: int) -> nx.Graph:
    """Authors who are joined if they wrote a paper together: some write much, and anybody may join a large paper."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.sqrt(np.arange(1, size + 1))
    small = [rng.choice(size, 2 + rng.poisson(0.6), replace=False, p=weights / weights.sum()) for _ in range(2 * size)]
    large = [rng.choice(size, rng.integers(20, 50), replace=False) for _ in range(size // 200)]
    graph = nx.Graph()
    for authors in small + large:
        graph.add_edges_from(itertools.combinations(authors.tolist(), 2))
    return graph


def by_study(cascade: IndependentCascade, k: int) -> tuple[list[Any], int]:
    """The seeds that a study picks, and its simulations."""
    study = Study(cascade.nodes, k, feedback=Values(), budget=max(PER_NODE * len(cascade.nodes), LEAST), in_flight=64)
    result = study.run(cascade)
    return list(result.chosen), result.answers


def by_celf(cascade: IndependentCascade, k: int) -> tuple[list[Any], int]:
    """The seeds of lazy greedy with LOOKS simulations for every look, and how many these were."""
    chosen: list[Any] = []
    simulations = 0

    def gain(node: Any) -> float:
        nonlocal simulations
        simulations += LOOKS
        return float(np.mean([cascade.gain(chosen, node, 10**9 + simulations + n) for n in range(LOOKS)]))

    heap = [(-gain(node), 0, n, node) for n, node in enumerate(cascade.nodes)]
    heapq.heapify(heap)
    while len(chosen) < k:
        _, seen, n, node = heapq.heappop(heap)
        if seen == len(chosen):
            chosen.append(node)
        else:
            heapq.heappush(heap, (-gain(node), len(chosen), n, node))
    return chosen, simulations


def by_degree(cascade: IndependentCascade, k: int) -> tuple[list[Any], int]:
    """The nodes with the most edges out."""
    return [cascade.nodes[n] for n in np.argsort(-np.diff(cascade.graph.starts), kind="stable")[:k]], 0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=3000)
    parser.add_argument("--pick", type=int, default=5)
    parser.add_argument("--output", default="influence.png")
    options = parser.parse_args(arguments)
    # For a plain cascade reverse sampling would be better, and the library says so; this is about the comparison.
    warnings.simplefilter("ignore", BetterTool)
    drawn = drawn_authors(options.nodes, seed=1)
    worlds = {"Les Misérables": nx.les_miserables_graph(), f"{len(drawn):,} drawn authors": drawn}
    ways = {"handful": by_study, f"CELF, {LOOKS} a look": by_celf, "most neighbours": by_degree}
    figure, panels = plt.subplots(1, 2, figsize=(11, 3.5), layout="constrained")
    for axes, (world, graph) in zip(panels, worlds.items(), strict=True):
        cascade = IndependentCascade(graph, "weighted")
        for name, way in ways.items():
            seeds, simulations = way(cascade, options.pick)
            spread = float(cascade.spreads(seeds, 20_000, seed=7).mean())
            print(f"{world}, {name}: {simulations:,} simulations, spread {spread:.2f}")
            axes.bar(f"{name}\n{simulations:,} simulations", spread)
        axes.set(title=world, ylabel=f"nodes reached from {options.pick} seeds")
    figure.savefig(options.output, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
