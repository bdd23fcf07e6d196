"""`worth` beside sequential halving and KL-UCB on ratings that people gave: the New Yorker's caption contest.

python benchmarks/captions.py PATH [--runs 20] [--k 10]

PATH is a summary of a contest: a CSV with the columns caption, unfunny, somewhat_funny and funny (how often each was
said). An answer is drawn from what people said of that caption: 1, 2 or 3. A selection is worth the sum of its
captions' mean ratings above 1, and is told as a share of what the k funniest captions are worth.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from handful.core.endings import OPEN
from handful.core.explorers.protocol import Explorer, drop, open_round, propose, tell
from handful.core.explorers.registry import Worth
from handful.core.feedback import Values
from handful.core.problem import Problem
from handful.lab.bench.rivals import KLUCB, Halving

EXPLORERS: tuple[Explorer, ...] = (Worth(), Halving(), KLUCB(1.0, 3.0))
PER_ITEM = (1, 2, 5)


def read(path: Path) -> np.ndarray:
    """The shares of 1, 2 and 3 for each caption."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        counts = np.array([[float(row[name]) for name in ("unfunny", "somewhat_funny", "funny")] for row in rows])
    return counts / counts.sum(axis=1, keepdims=True)


def play(explorer: Explorer, shares: np.ndarray, k: int, budget: int, seed: int) -> list[int]:
    """The picks of one study."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(shares, axis=1)
    state = explorer.build(Problem(len(shares), k, Values(), budget=budget, seed=seed))
    picks: list[int] = []
    spent = 0
    for j in range(1, k + 1):
        open_round(state, j, budget - spent, k - j + 1)
        ended, asked = state.board.round["ended"], 0
        while ended[0] == OPEN:
            item, rival, given = propose(state, asked)
            u = rng.random()
            tell(state, item, rival, given, 1.0 + float(u > steps[item, 0]) + float(u > steps[item, 1]))
            asked += 1
        spent += asked
        picks.append(int(state.board.round["pick"][0]))
        drop(state, picks[-1])
    return picks


def main() -> None:
    """Print a line for each budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args()
    shares = read(options.path)
    worth = shares @ np.array([0.0, 1.0, 2.0])
    best = np.sort(worth)[-options.k :].sum()
    print(f"{len(shares):,} captions, k = {options.k}, {options.runs} runs")
    for each in PER_ITEM:
        budget = each * len(shares)
        told = []
        for explorer in EXPLORERS:
            found = [worth[play(explorer, shares, options.k, budget, s)].sum() / best for s in range(options.runs)]
            told.append(f"{explorer.name} {np.mean(found):.4f} ± {np.std(found) / np.sqrt(len(found)):.4f}")
        print(f"{each} answers per caption: " + ", ".join(told), flush=True)


if __name__ == "__main__":
    main()
