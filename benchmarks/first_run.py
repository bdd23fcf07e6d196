"""How much processor time README's examples cost: when nothing is compiled yet, and in the next process.

python -m benchmarks.first_run [--runs 1]
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

README = Path(__file__).parent.parent / "README.md"
TARGETS = {"empty": 12.0, "warm": 1.5}
BEFORE = "import random\nimport time\nimport handful\n"
AFTER = "\nprint(time.process_time())\n"


def examples() -> list[str]:
    """Each of README's examples, as a program of its own that prints the processor time it took at its end."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return [BEFORE + block + AFTER for block in blocks]


def seconds(example: str, cache: Path) -> float:
    """Processor time of one process, its start and all imports included."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode beside it
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", example]
        done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def measured(example: str, runs: int) -> dict[str, float]:
    """Seconds with an empty and with a warm cache; the least of several runs, for the others were disturbed."""
    least = dict.fromkeys(TARGETS, math.inf)
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            for state in TARGETS:
                least[state] = min(least[state], seconds(example, Path(cache)))
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1, help="of each, the least counts (default: %(default)s)")
    options = parser.parse_args()
    table = Table("example", title="Processor time of README's examples, each in a process of its own")
    for state, target in TARGETS.items():
        table.add_column(f"{state} cache (≤ {target:g} s)", justify="right")
    missed = False
    for number, example in enumerate(examples(), 1):
        took = measured(example, options.runs)
        table.add_row(str(number), *(f"{took[state]:.2f} s" for state in TARGETS))
        missed = missed or any(took[state] > target for state, target in TARGETS.items())
    Console().print(table)
    sys.exit(missed)


if __name__ == "__main__":
    main()
