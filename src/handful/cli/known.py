"""`handful select FILE -k 20 --by facility-location`: pick rows of a table by a known function."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from handful.cli import say
from handful.cli.printing import console_for
from handful.errors import InvalidCollection, InvalidProblem, MissingExtra


@dataclass(frozen=True)
class _Read:
    """A file: names of the rows, its columns as text, or the numbers themselves where columns have no names."""

    ids: tuple[Any, ...]
    columns: dict[str, list[Any]]
    numbers: Any = None


def pick(
    file: Path,
    k: int,
    by: str,
    metric: str,
    *,
    cost: str | None,
    budget: float | None,
    group: str | None,
    limit: int | None,
    represent: int | None,
    name_column: str | None,
    columns: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Read the file, maximize, and print the ranking."""
    from handful.exact.maximize import maximize, objective_named

    read = _read(file, name_column)
    costs = None if cost is None else [_number(file, cost, i, x) for i, x in enumerate(_column(file, read, cost))]
    groups = None if group is None else _column(file, read, group)
    features = _features(file, read, {cost, group} - {None}, columns)
    if by in ("facility-location", "graph-cut") and metric in ("cosine", "dot") and (features < 0).any():
        say(f"some numbers are negative: where the {metric} of two rows is below 0 it counts as 0")
    objective = objective_named(by, features, metric=metric, represent=represent, seed=seed)
    show = console_for(err=True).is_terminal
    found = maximize(
        objective, min(k, objective.size) if cost else k, ids=read.ids, costs=costs, budget=budget if cost else None,
        groups=groups, limit=limit, progress=show, seed=seed,
    )  # fmt: skip
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, default=str))
    else:
        for rank, (item, gain) in enumerate(zip(found.chosen, found.gains, strict=True), start=1):
            typer.echo(f"{rank:4}  {item}  +{gain:.6g}")
        typer.echo(str(found))
    if not found.complete:
        raise typer.Exit(130)


def _read(file: Path, name_column: str | None) -> _Read:
    kind = file.suffix.lower()
    try:
        if kind == ".npy":
            if name_column is not None:
                raise InvalidCollection(f"{file} has no named columns: --id is for CSV and Parquet")
            import numpy as np

            numbers = np.load(file, mmap_mode="r", allow_pickle=False)
            return _Read(tuple(range(len(numbers))), {}, numbers)
        if kind in (".parquet", ".pq"):
            return _named(file, _parquet(file), name_column)
        return _named(file, _csv(file), name_column)
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        if isinstance(error, InvalidCollection):
            raise
        raise InvalidCollection(f"{file} cannot be read ({error}): give a CSV, .npy or Parquet file") from error


def _csv(file: Path) -> dict[str, list[Any]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = [row for row in csv.reader(lines) if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise InvalidCollection(f"{file} has no items: below a line that names the columns, give one line per item")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise InvalidCollection(f"{file}, line {number} has {len(row)} cells, the first line {len(rows[0])}")
    return {name.strip(): [row[at].strip() for row in rows[1:]] for at, name in enumerate(rows[0])}


def _parquet(file: Path) -> dict[str, list[Any]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("reading a Parquet file", "parquet") from None
    table = parquet.read_table(file)
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _named(file: Path, columns: dict[str, list[Any]], name_column: str | None) -> _Read:
    """Rows are named by the column that --id says; else by the column id; else by the first, if it is not a number
    throughout; else by their positions.
    """
    count = len(next(iter(columns.values()), []))
    if not count:
        raise InvalidCollection(f"{file} has no items")
    first = next(iter(columns))
    if name_column is not None and name_column not in columns:
        raise InvalidCollection(f"{file} has no column {name_column!r}; it has: {', '.join(columns)}")
    named = name_column or next((name for name in columns if name.lower() == "id"), None)
    if named is None and not all(_is_number(x) for x in columns[first]):
        named = first
    if named is None:
        return _Read(tuple(range(count)), columns)
    return _Read(tuple(columns[named]), {name: x for name, x in columns.items() if name != named})


def _features(file: Path, read: _Read, apart: set[str | None], columns: str | None) -> Any:
    if read.numbers is not None:
        if columns is not None:
            raise InvalidCollection(f"{file} has no named columns: --columns is for CSV and Parquet")
        return read.numbers
    if columns is None:
        kept = {name: x for name, x in read.columns.items() if name not in apart}
    else:
        kept = {name: _column(file, read, name) for name in map(str.strip, columns.split(","))}
    if not kept:
        raise InvalidCollection(f"{file} has no columns of numbers: give one column per feature")
    import numpy as np

    return np.array([[_number(file, name, i, x) for i, x in enumerate(column)] for name, column in kept.items()]).T


def _column(file: Path, read: _Read, name: str) -> list[Any]:
    if name not in read.columns:
        raise InvalidProblem(f"{file} has no column {name!r}; it has: {', '.join(read.columns) or 'numbers alone'}")
    return read.columns[name]


def _is_number(x: object) -> bool:
    try:
        float(x)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _number(file: Path, column: str, row: int, x: object) -> float:
    if not _is_number(x):
        raise InvalidCollection(
            f"{file}: {x!r} in column {column!r} of item {row + 1} is not a number: say which columns "
            "are (--columns A,B), or which one names the rows (--id COLUMN)"
        )
    return float(x)  # type: ignore[arg-type]
