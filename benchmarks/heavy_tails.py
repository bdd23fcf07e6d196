"""`worth` beside sequential halving where answers are now and then so far off that they have no variance.

python -m benchmarks.heavy_tails [--runs 100]

5,000 items whose gains add up, from 0 to 1, k = 10; the noise is 0.3 times Student's t with so many degrees of freedom
(up to two of them it has no variance). Then the same answers, clipped to [−1, 2] by whoever gives them.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from benchmarks.rivals import Halving
from handful.explorers.protocol import Explorer, ExplorerState, drop, open_round, propose, tell
from handful.explorers.registry import Worth
from handful.kernels import kernel
from handful.problem import OPEN, Floats, Problem, Values

SIZE, K, SCALE = 5_000, 10, 0.3
DEGREES, PER_ITEM = (3.0, 2.0, 1.5), (2, 5)
LIMITS = {"as they come": (-np.inf, np.inf), "clipped": (-1.0, 2.0)}


@kernel
def answer_all(state: ExplorerState, gains: Floats, noise: Floats, low: float, high: float) -> int:
    """Answer one round to its end; how many answers that took."""
    r, asked = state.board.round[0], 0
    while r.ended == OPEN:
        item, rival, given = propose(state, asked)
        tell(state, item, rival, given, min(max(gains[item] + noise[asked], low), high))
        asked += 1
    return asked


def play(explorer: Explorer, degrees: float, each: int, limits: tuple[float, float], seed: int) -> float:
    """What the picks are worth, as a share of the best."""
    rng = np.random.default_rng(seed)
    gains = rng.beta(2.0, 5.0, SIZE)
    budget = each * SIZE
    state = explorer.build(Problem(SIZE, K, Values(), budget=budget, seed=seed))
    picks: list[int] = []
    spent = 0
    for j in range(1, K + 1):
        open_round(state, j, budget - spent, K - j + 1)
        spent += answer_all(state, gains, SCALE * rng.standard_t(degrees, budget - spent), *limits)
        picks.append(int(state.board.round["pick"][0]))
        drop(state, picks[-1])
    return float(gains[picks].sum() / np.sort(gains)[-K:].sum())


def main() -> None:
    """Print a line for each kind of answers and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    runs = range(parser.parse_args().runs)
    for degrees, each, (name, limits) in product(DEGREES, PER_ITEM, LIMITS.items()):
        ours, theirs = (np.array([play(x, degrees, each, limits, s) for s in runs]) for x in (Worth(), Halving()))
        more = ours - theirs
        print(
            f"{degrees:g} degrees of freedom, {each} answers per item, {name}: worth {ours.mean():.3f}, "
            f"halving {theirs.mean():.3f}: {more.mean():+.3f} ± {more.std(ddof=1) / np.sqrt(len(more)):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
