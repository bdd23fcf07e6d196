"""A study on a cascade beside IMM: the spread of ten seeds, and the simulations it took.

python -m benchmarks.influence [--edges FILE.csv] [--nodes 15000] [--pick 10] [--per-node 20] [--seeds 1]
                               [--first-seed 0] [--candidates N]

IMM is this benchmark's own reference (Tang, Shi and Xiao, SIGMOD 2015), with ε = 0.1 and ℓ = 1. FILE.csv has columns
u, v and how many parallel edges; without it a graph with as many nodes is drawn. Weighted cascade, undirected. With
--candidates the study picks among the so many nodes with the most edges; IMM always picks among all.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings

import networkx as nx
import numba
import numpy as np

from handful import Study, Values
from handful.errors import BetterTool
from handful.oracles import IndependentCascade

EPSILON, EVALUATED = 0.1, 20_000


@numba.njit(cache=False)
def reverse_sets(starts, sources, weights, count, seed):  # type: ignore[no-untyped-def]
    """For so many random nodes, who would reach each: their numbers one after the other, and where each set ends."""
    np.random.seed(seed)
    nodes = len(starts) - 1
    marks = np.full(nodes, -1)
    queue = np.empty(nodes, np.int64)
    flat = np.empty(1024, np.int32)
    ends = np.empty(count, np.int64)
    size = 0
    for n in range(count):
        root = np.random.randint(nodes)
        marks[root] = n
        queue[0] = root
        at, end = 0, 1
        while at < end:
            node = queue[at]
            at += 1
            for edge in range(starts[node], starts[node + 1]):
                source = sources[edge]
                if marks[source] != n and np.random.random() < weights[edge]:
                    marks[source] = n
                    queue[end] = source
                    end += 1
        while size + end > len(flat):
            flat = np.concatenate((flat, np.empty(len(flat), np.int32)))
        for i in range(end):
            flat[size + i] = queue[i]
        size += end
        ends[n] = size
    return flat[:size], ends


def cover(flat: np.ndarray, ends: np.ndarray, nodes: int, k: int) -> tuple[list[int], float]:
    """Greedy: the nodes that are in the most sets, and the share of sets that have one of them."""
    of_set = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    open_ = np.ones(len(ends), bool)
    chosen: list[int] = []
    for _ in range(k):
        counts = np.bincount(flat[open_[of_set]], minlength=nodes)
        chosen.append(int(np.argmax(counts)))
        open_[of_set[flat == chosen[-1]]] = False
    return chosen, float(1 - open_.mean())


def imm(cascade: IndependentCascade, k: int) -> tuple[list[int], int]:
    """The seeds of IMM, as numbers, and how many reverse sets were drawn."""
    graph, n = cascade.graph, cascade.graph.size
    heads = np.repeat(np.arange(n), np.diff(graph.starts))
    order = np.argsort(graph.targets, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(graph.targets, minlength=n))])
    sources, weights = heads[order], graph.weights[order]
    ell = 1 + math.log(2) / math.log(n)
    choices = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    wide, drawn, least = math.sqrt(2) * EPSILON, 0, 1.0
    first = (2 + 2 * wide / 3) * (choices + ell * math.log(n) + math.log(math.log2(n))) * n / wide**2
    for i in range(1, int(math.log2(n))):
        x = n / 2**i
        count = math.ceil(first / x)
        drawn += count
        flat, ends = reverse_sets(starts, sources, weights, count, i)
        _, share = cover(flat, ends, n, k)
        if n * share >= (1 + wide) * x:
            least = n * share / (1 + wide)
            break
    e = 1 - 1 / math.e
    alpha = math.sqrt(ell * math.log(n) + math.log(2))
    beta = math.sqrt(e * (choices + ell * math.log(n) + math.log(2)))
    count = math.ceil(2 * n * (e * alpha + beta) ** 2 / EPSILON**2 / least)
    flat, ends = reverse_sets(starts, sources, weights, count, 99)
    chosen, _ = cover(flat, ends, n, k)
    return chosen, drawn + count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges")
    parser.add_argument("--nodes", type=int, default=15_000)
    parser.add_argument("--pick", type=int, default=10)
    parser.add_argument("--per-node", type=float, default=20, help="answers per node, in all (default: %(default)s)")
    parser.add_argument("--candidates", type=int, help="only the nodes with the most edges (default: all)")
    parser.add_argument("--seeds", type=int, default=1, help="studies, each with a seed of its own")
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", BetterTool)
    if options.edges:
        rows = np.loadtxt(options.edges, delimiter=",", skiprows=1, dtype=np.int64)
        edges = np.repeat(rows[:, :2], rows[:, 2], axis=0)
    else:
        edges = np.array(nx.barabasi_albert_graph(options.nodes, 4, seed=1).edges)
    cascade = IndependentCascade(edges, "weighted", undirected=True)
    n, k = cascade.graph.size, options.pick
    began = time.process_time()
    reference, sets = imm(cascade, k)
    took = time.process_time() - began
    best = float(cascade.spreads([cascade.nodes[i] for i in reference], EVALUATED, seed=9).mean())
    print(f"{n:,} nodes, {len(cascade.graph.targets):,} edges, k = {k}")
    print(f"IMM: spread {best:.1f}, {sets:,} reverse sets, {took:.1f} s", flush=True)
    busiest = np.argsort(-np.diff(cascade.graph.starts), kind="stable")[: options.candidates]
    candidates = [cascade.nodes[i] for i in busiest]
    shares = []
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        began = time.process_time()
        study = Study(candidates, k, feedback=Values(), budget=int(options.per_node * n), in_flight=64, seed=seed)
        found = study.run(cascade)
        took = time.process_time() - began
        spread = float(cascade.spreads(found.chosen, EVALUATED, seed=9).mean())
        shares.append(spread / best)
        print(
            f"Study, seed {seed}: spread {spread:.1f}, {shares[-1]:.3f} of IMM's; {found.answers:,} simulations, "
            f"{1000 * n * k / found.answers:,.0f}× fewer than 1,000 per node and step, {took:.1f} s",
            flush=True,
        )
    print(f"{options.seeds} studies: {np.mean(shares):.4f} of IMM's on average, {min(shares):.4f} at least")


if __name__ == "__main__":
    main()
