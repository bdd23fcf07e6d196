"""How long a fresh Python takes to import the package, beside what it stands on.

python -m benchmarks.imports [--runs 7]
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from rich.console import Console
from rich.table import Table

TIMED = "import time; started = time.perf_counter(); {statement}; print(time.perf_counter() - started)"
# Names are imported when first used, so `import handful` alone says little: a study needs the rest as well.
TARGETS: dict[str, float | None] = {
    "import handful": 0.5,
    "from handful import Values, Preferences, PerItem": 0.5,
    "from handful import TopX": 0.5,
    "from handful import Study": 0.5,
    "import numpy": None,
    "import numba": None,
    "import sqlalchemy": None,
}


def seconds(statement: str, runs: int) -> float:
    """The best of several fresh processes: the others were disturbed."""
    command = [sys.executable, "-c", TIMED.format(statement=statement)]
    return min(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(runs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--runs", type=int, default=7, help="processes per statement, the best counts (default: %(default)s)"
    )
    options = parser.parse_args()
    table = Table("statement", title=f"Seconds to import, best of {options.runs}")
    table.add_column("seconds", justify="right")
    table.add_column("target", justify="right")
    for statement, target in TARGETS.items():
        table.add_row(statement, f"{seconds(statement, options.runs):.3f}", "" if target is None else f"≤ {target:g}")
    Console().print(table)


if __name__ == "__main__":
    main()
