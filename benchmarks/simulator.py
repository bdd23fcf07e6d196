"""How many answers a second the compiled simulator asks for, takes in and decides by, on one core.

python -m benchmarks.simulator [--items 60] [--pick 6] [--seconds 2]
"""

from __future__ import annotations

import argparse
import math
import time

from rich.console import Console
from rich.table import Table

from handful.errors import InvalidProblem, UnknownExplorer
from handful.explorers.registry import EXPLORERS, Explorer, TopX, Uniform
from handful.objectives import Coverage
from handful.problem import Feedback, Preferences, Problem, Total, Values
from handful.responses import Response, btl, uniform
from handful.simulation import simulate
from handful.venice import venice

TARGET = 1e6
HALF_WIDTH, BETA = 1.0, 2.0
BUDGET = 200_000
WORLDS: dict[str, tuple[Feedback, Response]] = {
    "values": (Values(noise=HALF_WIDTH), uniform(HALF_WIDTH)),
    "comparisons": (Preferences(beta=BETA), btl(BETA)),
}


def contenders() -> dict[str, Explorer]:
    """TopX in its variants, UNIFORM, and every other explorer as it comes."""
    named: dict[str, Explorer] = {
        "topx": TopX(),
        "topx, literal radius": TopX(radius="literal"),
        "topx, variant O": TopX(variant="O"),
        "topx, l = k": TopX(l=6),
        "uniform": Uniform(),
    }
    return named | {name: kind() for name, kind in EXPLORERS.items() if kind not in (TopX, Uniform)}


def rate(explorer: Explorer, world: str, objective: Coverage, k: int, seconds: float) -> tuple[float, float] | None:
    """Answers per second and answers per run; None where the explorer does not take such answers."""
    feedback, response = WORLDS[world]
    answers = runs = 0
    started = math.inf
    while runs == 0 or time.perf_counter() - started < seconds:
        problem = Problem(objective.size, k, feedback, epsilon=0.1, budget=BUDGET, seed=runs)
        try:
            state = explorer.build(problem)
        except (InvalidProblem, UnknownExplorer):
            return None
        asked = simulate(state, objective, response, k, budget=Total(BUDGET)).answers
        if started == math.inf:  # the first run compiles
            started = time.perf_counter()
            continue
        answers += asked
        runs += 1
    return answers / (time.perf_counter() - started), answers / runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=60, help="N (default: %(default)s)")
    parser.add_argument("--pick", type=int, default=6, help="k (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=2, help="how long each is measured (default: %(default)s)")
    options = parser.parse_args()
    objective = venice(0, n=options.items).objective
    title = f"Simulated answers per second, N = {options.items}, k = {options.pick}, at most {BUDGET:,} answers a run"
    table = Table("explorer", "answers", title=title)
    for heading in ("answers/s", "target", "answers a run"):
        table.add_column(heading, justify="right")
    for name, explorer in contenders().items():
        for world in WORLDS:
            measured = rate(explorer, world, objective, options.pick, options.seconds)
            if measured is not None:
                target = f"{TARGET:,.0f}" if name.startswith("topx") and world == "values" else ""
                table.add_row(name, world, f"{measured[0]:,.0f}", target, f"{measured[1]:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
