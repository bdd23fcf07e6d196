"""Which few labelled examples make a model answer best? A study against random search.

python examples/few_shot.py [--seeds 5] [--first-seed 0] [--budget 1200] [--output few-shot.png]

The model here is a stand-in that needs no network: it labels a digit as the nearest of its examples. `ask_model` is
where a real one goes: put the examples into a prompt, ask for the label of each query, and return how many are right.
An answer is what one more example changes on five random queries, so it costs ten calls (five for the first example).
Random search, as prompt optimizers do it, scores random sets on fifty queries each and keeps the best.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from handful import Study, Values
from handful.oracles import SimulatedSet

POOL, EXAMPLES, QUERIES, SCORED = 100, 12, 5, 50


class World:
    """A pool of examples to pick from, queries to tune on, and others to test on."""

    def __init__(self, seed: int) -> None:
        images, labels = load_digits(return_X_y=True)
        order = np.random.default_rng(seed).permutation(len(images))
        self.pool, self.tune, self.test = order[:POOL], order[POOL : POOL + 900], order[POOL + 900 :]
        self.labels = labels
        squares = (images**2).sum(axis=1)
        self.distance = squares[:, None] + squares[None, self.pool] - 2 * images @ images[self.pool].T
        self.calls = 0

    def ask_model(self, examples: Sequence[int], queries: np.ndarray) -> float:
        """The share of queries that are labelled right. Put your own model here."""
        self.calls += len(queries)
        nearest = np.argmin(self.distance[np.ix_(queries, list(examples))], axis=1)
        return float((self.labels[self.pool[np.array(examples)[nearest]]] == self.labels[queries]).mean())

    def on_some_queries(self, examples: tuple[int, ...], seed: int) -> float:
        """The score of a set of examples on a few queries that the seed draws."""
        if not examples:
            return 0.0
        return self.ask_model(examples, np.random.default_rng(seed).choice(self.tune, QUERIES, replace=False))

    def accuracy(self, examples: Sequence[int]) -> float:
        """On queries that were never used to choose."""
        calls, self.calls = self.calls, self.calls
        found = self.ask_model(examples, self.test)
        self.calls = calls
        return found


def by_study(world: World, budget: int, seed: int) -> float:
    """The accuracy with the examples that a study picks."""
    study = Study(range(POOL), EXAMPLES, feedback=Values(), budget=budget, scenarios="paired", seed=seed)
    return world.accuracy(study.run(SimulatedSet(world.on_some_queries)).chosen)


def by_random_search(world: World, calls: int, seed: int) -> float:
    """The accuracy with the best of as many random sets as the calls allow."""
    rng = np.random.default_rng(seed)
    sets = [rng.choice(POOL, EXAMPLES, replace=False) for _ in range(max(1, calls // SCORED))]
    scores = [world.ask_model(examples, rng.choice(world.tune, SCORED, replace=False)) for examples in sets]
    return world.accuracy(sets[int(np.argmax(scores))])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--budget", type=int, default=1200, help="answers of the study (default: %(default)s)")
    parser.add_argument("--output", default="few-shot.png")
    options = parser.parse_args(arguments)
    found, calls = [], []
    searches: dict[float, list[float]] = {1: [], 6: []}
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        world = World(seed)
        found.append(by_study(world, options.budget, seed))
        calls.append(world.calls)
        for times, scores in searches.items():
            scores.append(by_random_search(world, int(times * calls[-1]), seed))
    rows = [("handful", np.mean(calls), found)]
    rows += [
        (f"random search, {times:g}× the calls", times * np.mean(calls), scores) for times, scores in searches.items()
    ]
    for name, count, scores in rows:
        print(f"{name}: {count:,.0f} calls, accuracy {np.mean(scores):.3f} (least {np.min(scores):.3f})")
    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    axes.boxplot(
        [scores for _, _, scores in rows],
        orientation="horizontal",
        tick_labels=[f"{n}\n{c:,.0f} calls" for n, c, _ in rows],
    )
    axes.invert_yaxis()
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(f"accuracy with {EXAMPLES} examples, on new queries")
    figure.savefig(options.output, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
