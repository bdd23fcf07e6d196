"""The tables of the paper's figures, measured quickly: pinned series by series, since a series may be dropped."""

from __future__ import annotations

import csv
import hashlib
from collections import defaultdict
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from reproduction.cells import Scale
from reproduction.runner import reproduce

QUICK = ("c", "d", "appendix-b", "coverage")
SLOW = ("a", "b", "e", "f", "crowd")


def pin_of_figure(figure: str) -> dict[str, str]:
    """A digest of the rows of each series in each table."""
    with TemporaryDirectory() as folder:
        reproduce([figure], Path(folder), Scale(quick=True), workers=1, console=Console(file=StringIO()))
        return {
            f"{table.name}: {series}": digest
            for table in sorted(Path(folder).glob("*.csv"))
            for series, digest in _digests(table).items()
        }


def _digests(table: Path) -> dict[str, str]:
    rows: dict[str, list[str]] = defaultdict(list)
    with table.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows[row.get("series", "all")].append(repr(sorted(row.items())))
    return {series: f"{len(found)} rows, {_digest(found)}" for series, found in sorted(rows.items())}


def _digest(rows: list[str]) -> str:
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]
