"""What limits screens of four at β = 2: `topx`, `duels`, and a `duels` that is told which gains have fallen.

python -m benchmarks.screens_of_four [--albums 20] [--runs 100] [--first 0]

Sixty photos, six picks, Luce's model. The last of the three cannot be had: after every pick it is told of which items
the gain has fallen by more than a twentieth. Its belief about these is drawn back and down; the others stay.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.answers.runs import Run, instance, perform
from benchmarks.answers.targets import CurvePoint, cost_of
from handful.explorers.choices import ChoicesState
from handful.explorers.protocol import drop, open_round
from handful.explorers.registry import Duels, Explorer, TopX
from handful.problem import Floats, PerItem, Preferences, Problem
from handful.responses import btl
from handful.simulation import play

SIZE, K, GOOD = 60, 6, 0.95
CROWD = btl(2.0)
SCREENS = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7)
BORDA_SCREENS = (15.0, 20.0, 25.0, 30.0)
FELL = 0.05  # so much less than before is told,
DOUBT, SHIFT = (
    0.1,
    0.4,
)  # and lets an item's strength be doubted and taken for less by so much (chosen on albums 0 to 39)


def tell_which_fell(state: ChoicesState, fell: list[int]) -> None:
    """What was learnt of these items is worth less, and spoke of a greater strength; the next round reckons with it."""
    for own, hypothesis in zip(state.belief.own, state.belief.hypotheses, strict=True):
        for i in fell:
            learnt = 1.0 / own[i]["variance"] - 1.0 / hypothesis["variance"]
            if learnt <= 1e-9:
                continue
            said = own[i]["mean"] / own[i]["variance"] / learnt - SHIFT
            learnt = 1.0 / (1.0 / learnt + DOUBT)
            own[i]["variance"] = 1.0 / (learnt + 1.0 / hypothesis["variance"])
            own[i]["mean"] = own[i]["variance"] * learnt * said


def told(album: int, seed: int, per_item: float) -> float:
    """The f of `duels` that is told which gains fell, as a share of greedy's."""
    objective, best = instance(album, SIZE, K)
    budget = PerItem(per_item).total(SIZE, K)
    problem = Problem(SIZE, K, Preferences(options=4), budget=budget, seed=1_000_003 * album + seed)
    state = Duels(widen=0.0, careless=0.0).build(problem)
    assert isinstance(state, ChoicesState)
    progress, spent = objective.start(), 0
    before: Floats | None = None
    for j in range(1, K + 1):
        gains: Floats = progress.gains()
        if before is not None:
            tell_which_fell(state, np.flatnonzero(before - gains > FELL).tolist())
        open_round(state, j, budget.left(spent), K - j + 1)
        spent += play(state, np.array([gains]), CROWD, 2**62)[0]
        pick = int(state.board.round[0]["pick"])
        progress.add(pick)
        drop(state, pick)
        before = gains
    return progress.value / best


def asked(explorer: Explorer, known: Preferences) -> Callable[[int, int, float], float]:
    """The f of an explorer, as a share of greedy's."""
    return lambda album, seed, per_item: (
        perform(Run("", explorer, known, CROWD, album, seed, size=SIZE, k=K, budget=PerItem(per_item))).quality
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--albums", type=int, default=20, help="how many (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=100, help="on each (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first album (default: %(default)s)")
    options = parser.parse_args()
    ways = {
        "topx, τ = 1": (asked(TopX(), Preferences(tau=1)), BORDA_SCREENS),
        "duels, best of 4": (asked(Duels(), Preferences(options=4)), SCREENS),
        "told which gains fell": (told, SCREENS),
    }
    theirs = math.nan
    table = Table("asked by", "screens", "f", f"screens for {GOOD:g}", "fewer", title="screens are per item and round")
    for name, (play_one, budgets) in ways.items():
        points = []
        for budget in budgets:
            albums = range(options.first, options.first + options.albums)
            f = np.array([play_one(album, seed, budget) for album in albums for seed in range(options.runs)])
            points.append(CurvePoint(budget, float(f.mean()), float(f.std() / math.sqrt(len(f)))))
        cost = cost_of(points, GOOD)
        theirs = cost if name.startswith("topx") else theirs
        table.add_row(f"[bold]{name}", "", "", f"{cost:.2f}", f"{theirs / cost:.1f}×")
        for at, point in enumerate(points):
            f_shown = f"{point.quality:.4f} ± {point.error:.4f}"
            table.add_row("", f"{point.per_item:g}", f_shown, end_section=at == len(points) - 1)
    Console().print(table)


if __name__ == "__main__":
    main()
