"""From the names of figures to a folder with tables, pictures and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from handful.errors import InvalidProblem
from handful.lab.reproduce.cells import Cell, Scale, Tables
from handful.lab.reproduce.findings import Finding
from handful.lab.reproduce.report import Chapter, markdown, page, write_csv
from handful.lab.reproduce.runner import KeptCells, code_stamp, measure
from handful.lab.reproduce.world import EXPLORERS
from handful.lab.warming import compile_ahead

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

FIGURES = ("a", "b", "c", "d", "e", "f", "appendix-b", "coverage", "crowd")


class Page(Protocol):
    """What the module of a figure offers: what to measure, how to draw it, what it shows."""

    def cells(self, scale: Scale) -> list[Cell]: ...

    def draw(self, tables: Tables) -> Mapping[str, Figure | Image]: ...

    def judge(self, tables: Tables) -> Finding: ...


def module_of(figure: str) -> Page:
    """The module that makes a figure."""
    name = f"figure_{figure}" if len(figure) == 1 else figure.replace("-", "_")
    return cast(Page, import_module(f"handful.lab.reproduce.{name}"))


def reproduce(
    figures: Sequence[str] = FIGURES,
    folder: Path = Path("reproduction"),
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
    pages = {figure: module_of(figure) for figure in figures}
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
    from matplotlib.figure import Figure

    from handful.lab.reproduce import style

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
