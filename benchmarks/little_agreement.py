"""How often what is said of picks is true where people hardly agree: strengths that lie close together, few answers.

python -m benchmarks.little_agreement [--studies 300]
"""

from __future__ import annotations

import argparse
import math
import random

from rich.console import Console
from rich.table import Table

from handful import Preferences, Question, Study

ITEMS, K, ANSWERS = 30, 4, 60
SPREADS = (0.25, 0.35, 0.5, 1.0, 2.0)  # standard deviations of strengths


def statements(spread: float, seed: int) -> list[tuple[float, bool]]:
    """What is said of the picks of one study, how likely, and whether it is true."""
    drawn = random.Random(seed)
    strengths = [drawn.gauss(0.0, spread) for _ in range(ITEMS)]

    def best_of(q: Question[int]) -> int:
        luck = random.Random(q.seed)
        return max(q.options, key=lambda i: strengths[i] - math.log(-math.log(luck.random())))

    study = Study(range(ITEMS), K, feedback=Preferences(options=4), budget=ANSWERS, seed=seed)
    found, left = [], sorted(range(ITEMS), key=lambda i: -strengths[i])
    for pick in study.run(best_of).picks:
        if pick.believed is not None and not pick.believed.tells_little:
            found.append((pick.believed.chance, left.index(pick.item) < pick.believed.best_of))
        left.remove(pick.item)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=300, help="of each kind (default: %(default)s)")
    options = parser.parse_args()
    table = Table("spread of strengths", "statements", "said", "true", title="'among the best m', by the model")
    for spread in SPREADS:
        found = [one for seed in range(options.studies) for one in statements(spread, seed)]
        said, true = (sum(column) / len(found) for column in zip(*found, strict=True))
        table.add_row(f"{spread:g}", f"{len(found)}", f"{said:.2f}", f"{true:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
