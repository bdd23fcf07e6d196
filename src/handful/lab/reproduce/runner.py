"""Measure cells on all cores, keep each as soon as it is done, and go on where it was stopped."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue

from handful.lab.reproduce.cells import Cell, CellRow, CellTable

KEPT = "cells.jsonl"
Done = Callable[[Cell], None]


class KeptCells:
    """The cells measured so far, in a file that is only ever added to."""

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        self._path = folder / KEPT
        self._code = code_stamp()  # of the code that is loaded now
        if fresh:
            self._path.unlink(missing_ok=True)
        self._rows: dict[str, list[CellRow]] = {}
        self.stamps: set[str] = set()
        for line in self._whole_lines():
            record = json.loads(line)
            self._rows[record["key"]] = record["rows"]
            self.stamps.add(record["code"])

    def _whole_lines(self) -> Iterator[str]:
        """A line cut short by a power failure is measured again, and cut off so that the next one starts afresh."""
        if not self._path.exists():
            return
        text = self._path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self._path.write_text(whole, encoding="utf-8")
        yield from whole.splitlines()

    def __contains__(self, cell: Cell) -> bool:
        return cell.key in self._rows

    def add(self, cell: Cell, rows: list[CellRow]) -> None:
        """Keep what was measured."""
        self._rows[cell.key] = rows
        self.stamps.add(self._code)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": cell.key, "code": self._code, "rows": rows}) + "\n")

    def tables(self, cells: Sequence[Cell]) -> dict[str, CellTable]:
        """Rows in the order of the cells, whenever they were measured: the same seed gives the same file."""
        rows: dict[str, list[CellRow]] = {}
        for cell in cells:
            rows.setdefault(cell.table, []).extend(self._rows[cell.key])
        return {name: CellTable(tuple(of)) for name, of in rows.items()}


def measure(cells: Sequence[Cell], kept: KeptCells, done: Done, workers: int | None = None) -> None:
    """Measure what is not kept yet, the heaviest first.

    Threads, because compiled runs release the interpreter lock; daemons, so that Ctrl-C need not wait for a long run.
    """
    missing = {cell.key: cell for cell in cells if cell not in kept}
    waiting: SimpleQueue[Cell] = SimpleQueue()
    results: SimpleQueue[tuple[Cell, list[CellRow] | BaseException]] = SimpleQueue()
    for cell in sorted(missing.values(), key=lambda cell: -cell.weight):
        waiting.put(cell)

    def work() -> None:
        while True:
            try:
                cell = waiting.get_nowait()
            except Empty:
                return
            try:
                results.put((cell, cell.measure(**cell.arguments)))
            except BaseException as error:  # it is raised where it can be seen
                results.put((cell, error))

    for _ in range(min(workers or os.cpu_count() or 1, len(missing))):
        threading.Thread(target=work, daemon=True).start()
    for _ in missing:
        cell, rows = results.get()
        if isinstance(rows, BaseException):
            raise rows
        kept.add(cell, rows)
        done(cell)


@cache
def code_stamp() -> str:
    """A digest of the code that decides what is measured: the core, the objectives and the collections."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[2]
    for part in ("core", "objectives", "lab/collections"):
        for source in sorted((package / part).rglob("*.py")):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
