"""Seeds for a cascade on a large graph of authors: a study finds those of reverse sampling with few simulations."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from handful import Study, Values
from handful.oracles import IndependentCascade

TOP = Path(__file__).resolve().parents[2]
K, PER_NODE, RUNS = 5, 20, 20_000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::handful.errors.BetterTool")
def test_a_study_of_all_nodes_reaches_what_reverse_sampling_reaches() -> None:
    pytest.importorskip("networkx")
    graph = runpy.run_path(str(TOP / "examples" / "influence.py"))["drawn_authors"](1500, seed=2)
    imm = runpy.run_path(str(TOP / "benchmarks" / "influence.py"))["imm"]
    cascade = IndependentCascade(graph, "weighted")
    size = cascade.graph.size
    best = cascade.spreads([cascade.nodes[i] for i in imm(cascade, K)[0]], RUNS, seed=9).mean()
    found = Study(cascade.nodes, K, feedback=Values(), budget=PER_NODE * size, in_flight=64).run(cascade)
    assert 200 * found.answers <= 1000 * size * K
    anybody = cascade.nodes[:: size // K][:K]
    share, without_asking = (cascade.spreads(seeds, RUNS, seed=9).mean() / best for seeds in (found.chosen, anybody))
    assert share > 0.98 > without_asking
