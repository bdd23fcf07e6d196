"""From the names of figures to a folder with tables, pictures and a report: each cell is measured once and kept."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Protocol

from matplotlib.figure import Figure
from PIL.Image import Image
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import handful
from handful.compilation import compile_ahead
from handful.errors import InvalidProblem
from reproduction import appendix_b, coverage, crowd, figure_a, figure_b, figure_c, figure_d, figure_e, figure_f, style
from reproduction.cells import Cell, CellRow, CellTable, Scale, Tables
from reproduction.report import Chapter, Finding, markdown, page, write_csv
from reproduction.world import EXPLORERS

KEPT = "cells.jsonl"
Done = Callable[[Cell], None]


class Page(Protocol):
    """What the module of a figure offers: what to measure, how to draw it, what it shows."""

    def cells(self, scale: Scale) -> list[Cell]: ...

    def draw(self, tables: Tables) -> Mapping[str, Figure | Image]: ...

    def judge(self, tables: Tables) -> Finding: ...


PAGES: Mapping[str, Page] = {
    "a": figure_a, "b": figure_b, "c": figure_c, "d": figure_d, "e": figure_e, "f": figure_f,
    "appendix-b": appendix_b, "coverage": coverage, "crowd": crowd,
}  # fmt: skip
FIGURES = tuple(PAGES)


def reproduce(
    figures: Sequence[str] = FIGURES,
    folder: Path = Path("reproduced"),
    scale: Scale | None = None,
    *,
    fresh: bool = False,
    workers: int | None = None,
    console: Console | None = None,
) -> dict[str, Finding]:
    """Measure, draw and report the figures named, into `folder`. What the folder has already is not measured again."""
    scale = scale or Scale()
    console = console or Console(stderr=True)
    unknown = [figure for figure in figures if figure not in FIGURES]
    if unknown:
        raise InvalidProblem(f"there is no figure {unknown[0]!r}; there are {', '.join(FIGURES)} and all")
    folder.mkdir(parents=True, exist_ok=True)
    pages = {figure: PAGES[figure] for figure in figures}
    cells = {figure: page.cells(scale) for figure, page in pages.items()}
    kept = KeptCells(folder, fresh=fresh)
    _measure_all(cells, kept, workers, console)
    remarks = _remarks(scale, kept)
    for remark in remarks:
        console.print(remark, highlight=False)
    chapters = [_chapter(figure, pages[figure], kept.tables(cells[figure]), folder) for figure in figures]
    (folder / "report.md").write_text(markdown(chapters, remarks), encoding="utf-8")
    (folder / "report.html").write_text(page(chapters, remarks), encoding="utf-8")
    return {chapter.name: chapter.finding for chapter in chapters}


def _measure_all(cells: Mapping[str, list[Cell]], kept: KeptCells, workers: int | None, console: Console) -> None:
    every = [cell for of in cells.values() for cell in of]
    total = sum({cell.key: cell.weight for cell in every}.values())
    missing = {cell.key: cell.weight for cell in every if cell not in kept}
    if not missing:
        console.print("Everything is measured already; drawing it again.", highlight=False)
        return
    took = compile_ahead(console, {explorer.name for explorer in EXPLORERS.values()})
    if took is not None:
        console.print(f"Compiled in {took:.0f} s, and kept for the next time.", highlight=False)
    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, speed_estimate_period=120) as progress:
        task = progress.add_task("Measuring", total=total, completed=round(total - sum(missing.values())))
        measure(every, kept, lambda cell: progress.advance(task, cell.weight), workers)


def _remarks(scale: Scale, kept: KeptCells) -> list[str]:
    """What a reader must know of the whole run."""
    remarks = []
    if scale.quick:
        remarks.append("Made with --quick: few seeds and settings, to see which way the claims point, not how far.")
    if kept.stamps - {code_stamp()}:
        remarks.append("Some numbers were kept from a run of other code; --fresh measures everything anew.")
    return remarks


def _chapter(name: str, page: Page, tables: Tables, folder: Path) -> Chapter:
    for table in tables:
        write_csv(tables[table], folder / f"{table}.csv")
    pictures, sheets = [], []
    with style.in_style():
        drawings = page.draw(tables)
    for picture, drawn in drawings.items():
        if isinstance(drawn, Figure):
            style.save(drawn, folder, picture)
            pictures.append(picture)
        else:
            drawn.save(folder / f"{picture}.png", optimize=True)
            sheets.append(picture)
    return Chapter(name, page.judge(tables), tuple(pictures), tuple(sheets), tuple(tables))


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
    """A digest of the code that decides what is measured: all of the package."""
    digest = hashlib.sha256()
    for source in sorted(Path(handful.__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
