"""Cascades a second on one core, beside those of cynetdiff on the same graph.

python -m benchmarks.cascades [--peer PYTHON] [--nodes 15000] [--edges 120000] [--runs 4000]

PYTHON is the interpreter of an environment of its own with cynetdiff, networkx and NumPy
(`python -m venv peer && peer/bin/pip install cynetdiff networkx numpy`, then `--peer peer/bin/python`); without it only
our side is measured. Both take turns, by processor time, and the best of five counts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from handful.oracles import IndependentCascade

TURNS = 5
PEER = """
import sys, time
from array import array
import numpy as np
from cynetdiff.models import IndependentCascadeModel
d = np.load(sys.argv[1])
model = IndependentCascadeModel(
    array("I", d["starts"].tolist()), array("I", d["targets"].tolist()),
    activation_probs=array("f", d["weights"].tolist()), rng=np.random.default_rng(1))
model.set_seeds(set(d["seeds"].tolist()))
for line in sys.stdin:
    runs, reached = int(line), 0
    began = time.process_time()
    for _ in range(runs):
        model.reset_model()
        model.advance_until_completion()
        reached += model.get_num_activated_nodes()
    print(runs / (time.process_time() - began), reached / runs, flush=True)
"""


def drawn_graph(nodes: int, edges: int, seed: int = 0) -> np.ndarray:
    """Directed edges whose ends are drawn with weights 1/√rank: a few nodes have many."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.sqrt(np.arange(1, nodes + 1))
    return rng.choice(nodes, size=(edges, 2), p=weights / weights.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", type=Path, help="a Python that has cynetdiff")
    parser.add_argument("--nodes", type=int, default=15_000)
    parser.add_argument("--edges", type=int, default=120_000)
    parser.add_argument("--runs", type=int, default=4_000)
    options = parser.parse_args()
    cascade = IndependentCascade(drawn_graph(options.nodes, options.edges), "weighted")
    graph = cascade.graph
    seeds = np.argsort(np.diff(graph.starts))[-10:]
    names = [graph.nodes[i] for i in seeds]
    cascade.spreads(names, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.npz"
        np.savez(path, starts=graph.starts[:-1], targets=graph.targets, weights=graph.weights, seeds=seeds)
        peer = None
        if options.peer is not None:
            command = [options.peer, "-c", PEER, path]
            peer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ours, single, theirs = [], [], []
        mean = peer_mean = 0.0
        for turn in range(TURNS):
            began = time.process_time()
            mean = float(cascade.spreads(names, options.runs, seed=turn).mean())
            ours.append(options.runs / (time.process_time() - began))
            began = time.process_time()
            for seed in range(options.runs):
                cascade.spread(names, seed)
            single.append(options.runs / (time.process_time() - began))
            if peer is not None:
                assert peer.stdin is not None
                assert peer.stdout is not None
                print(options.runs, file=peer.stdin, flush=True)
                rate, peer_mean = map(float, peer.stdout.readline().split())
                theirs.append(rate)
        if peer is not None:
            peer.communicate()
    print(f"{graph.size:,} nodes, {len(graph.targets):,} edges, ten seeds, weighted cascade, mean spread {mean:,.0f}")
    print(f"handful, many worlds a call: {max(ours):,.0f} cascades/s")
    print(f"handful, one world a call: {max(single):,.0f} cascades/s")
    if theirs:
        print(f"cynetdiff: {max(theirs):,.0f} cascades/s (mean spread {peer_mean:,.0f})")
        print(f"ratio: {max(ours) / max(theirs):.2f}, one world a call: {max(single) / max(theirs):.2f} (target: 1)")
    elif options.peer is None:
        print("no --peer given: cynetdiff was not measured", file=sys.stderr)


if __name__ == "__main__":
    main()
