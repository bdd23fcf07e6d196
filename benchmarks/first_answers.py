"""What it would cost to ask about every item once, before any is asked about again, where answers are few.

python -m benchmarks.first_answers [--functions 20] [--runs 5]

`worth` gives a third of all answers to first ones, at most. Here it plays beside itself with as many first answers as
there are items, at one and two answers per item of 5,000, on the functions and answers of `python -m benchmarks.answers
--section "many items under a budget"`, paired. (At one answer per item all are first ones then.)
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np

from benchmarks.answers.runs import World, instance
from benchmarks.answers.spending import ANSWERS, WORLDS, K
from handful.explorers.registry import Worth
from handful.problem import Problem, Total, Values
from handful.responses import Response
from handful.simulation import simulate

SIZE, PER_ITEM, FIRST_SEED = 5_000, (1, 2), 1000


def play(world: World, response: Response, each: int, function: int, run: int, *, everybody: bool) -> float:
    """f of the picks over exact greedy's."""
    objective, best = instance(function, SIZE, K, 0, world)
    budget = Total(each * SIZE)
    state: Any = Worth().build(Problem(SIZE, K, Values(), budget=budget, seed=1_000_003 * function + run))
    if everybody:
        state.looking.rules["one_in"] = each
    return simulate(state, objective, response, K, budget=budget).value / best


def main() -> None:
    """Print a line for each world, kind of answers and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for each, world, (name, (response, _, _)) in product(PER_ITEM, WORLDS, ANSWERS.items()):
        pairs = product(range(FIRST_SEED, FIRST_SEED + options.functions), range(options.runs))
        found = np.array([[play(world, response, each, *pair, everybody=e) for e in (False, True)] for pair in pairs])
        more = found[:, 1] - found[:, 0]
        print(
            f"{each} answers per item, {world}, {name}: {found[:, 0].mean():.3f}, everybody first "
            f"{found[:, 1].mean():.3f}: {more.mean():+.3f} ± {more.std(ddof=1) / np.sqrt(len(more)):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
