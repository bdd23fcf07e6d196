"""How good a pick is where preferences go round: its Borda sum over the best one, for several budgets.

python -m benchmarks.borda [--crowds 240] [--per-item 2 3 4 5 6 8 15]
"""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.non_transitive import giant_killer, rock_paper_scissors, shares_of_best, two_camps
from handful import Duels, Uniform
from handful.explorers.protocol import Explorer

EXPLORERS: dict[str, tuple[Explorer, int]] = {
    "duels, best of 2": (Duels(), 2),
    "duels, best of 4": (Duels(), 4),
    "uniform, best of 2": (Uniform(), 2),
}
POOR = 0.6  # of the best Borda sum


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crowds", type=int, default=240, help="of each kind (default: %(default)s)")
    parser.add_argument("--per-item", type=int, nargs="+", default=[2, 3, 4, 5, 6, 8, 15], help="answers per item")
    options = parser.parse_args()
    title = f"Mean share of the best Borda sum, and in brackets the share of picks below {POOR:g}"
    table = Table("crowd", "explorer", *map(str, options.per_item), title=title)
    for crowd in (giant_killer, rock_paper_scissors, two_camps):
        for name, (explorer, shown) in EXPLORERS.items():
            cells = []
            for per_item in options.per_item:
                found = shares_of_best(explorer, crowd, per_item, shown, range(1000, 1000 + options.crowds))
                cells.append(f"{found.mean():.3f} ({np.mean(found < POOR):.2f})")
            table.add_row(crowd.__name__.replace("_", " "), name, *cells)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
