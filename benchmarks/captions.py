"""`worth` beside sequential halving and KL-UCB on ratings that people gave: the New Yorker's caption contest.

python -m benchmarks.captions [PATH] [--runs 100] [--k 10] [--without-ucb]

PATH is a summary of a contest: a CSV with the columns caption, unfunny, somewhat_funny and funny (how often each was
said). Without it nothing is played. An answer is drawn from what people said of that caption: 1, 2 or 3. A selection is
worth the sum of its captions' mean ratings above 1, and is told as a share of what the k funniest captions are worth.
Run s of all three has the same seed, and what `worth` finds more than the others is told over these pairs.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from benchmarks.rivals import KLUCB, Halving
from handful.explorers.protocol import Explorer, ExplorerState, drop, open_round, propose, tell
from handful.explorers.registry import Worth
from handful.kernels import kernel
from handful.problem import OPEN, Floats, Problem, Values

EXPLORERS: tuple[Explorer, ...] = (Worth(), Halving(), KLUCB(1.0, 3.0))
PER_ITEM = (1, 2, 5)


def read(path: Path) -> np.ndarray:
    """The shares of 1, 2 and 3 for each caption."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        counts = np.array([[float(row[name]) for name in ("unfunny", "somewhat_funny", "funny")] for row in rows])
    shares: np.ndarray = counts / counts.sum(axis=1, keepdims=True)
    return shares


@kernel
def answer_all(state: ExplorerState, steps: Floats, drawn: Floats) -> int:
    """Answer one round to its end; how many answers that took."""
    r, asked = state.board.round[0], 0
    while r.ended == OPEN:
        item, rival, given = propose(state, asked)
        u = drawn[asked]
        tell(state, item, rival, given, 1.0 + (u > steps[item, 0]) + (u > steps[item, 1]))
        asked += 1
    return asked


def play(explorer: Explorer, shares: np.ndarray, k: int, budget: int, seed: int) -> list[int]:
    """The picks of one study."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(shares, axis=1)
    state = explorer.build(Problem(len(shares), k, Values(), budget=budget, seed=seed))
    picks: list[int] = []
    spent = 0
    for j in range(1, k + 1):
        open_round(state, j, budget - spent, k - j + 1)
        spent += answer_all(state, steps, rng.random(budget - spent))
        picks.append(int(state.board.round["pick"][0]))
        drop(state, picks[-1])
    return picks


def told(figures: np.ndarray) -> str:
    """The mean, and its standard error."""
    return f"{np.mean(figures):.4f} ± {np.std(figures, ddof=1) / np.sqrt(len(figures)):.4f}"


def main() -> None:
    """Print a line for each budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--without-ucb", action="store_true", help="leave out KL-UCB, which takes most of the time")
    options = parser.parse_args()
    if options.path is None:
        print("nothing is played: give a summary of a contest (see --help)")
        return
    shares = read(options.path)
    worth = shares @ np.array([0.0, 1.0, 2.0])
    best = np.sort(worth)[-options.k :].sum()
    print(f"{len(shares):,} captions, k = {options.k}, {options.runs} runs")
    for each in PER_ITEM:
        budget = each * len(shares)
        found = {
            explorer.name: np.array(
                [worth[play(explorer, shares, options.k, budget, s)].sum() / best for s in range(options.runs)]
            )
            for explorer in EXPLORERS[: 2 if options.without_ucb else 3]
        }
        print(f"{each} answers per caption:", ", ".join(f"{name} {told(f)}" for name, f in found.items()))
        ours = found.pop(Worth.name)
        print("  worth finds more by", ", ".join(f"{told(ours - f)} ({name})" for name, f in found.items()), flush=True)


if __name__ == "__main__":
    main()
