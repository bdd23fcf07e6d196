"""What figures show, in words: the same findings as a page and as Markdown, beside pictures and tables."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from reproduction.cells import CellTable

Holds = Literal["holds", "holds in part", "does not hold", "is undecided"]


@dataclass(frozen=True)
class PaperClaim:
    """One claim of the paper, and what became of it."""

    paper: str
    measured: str
    holds: Holds


@dataclass(frozen=True)
class Finding:
    """A figure's part of the report. `notes` are what a reader must know to judge it."""

    title: str
    setting: str
    claims: tuple[PaperClaim, ...]
    notes: tuple[str, ...] = ()


def verdict(*conditions: bool) -> Holds:
    """All, some or none of what a claim needs."""
    if all(conditions):
        return "holds"
    return "holds in part" if any(conditions) else "does not hold"


HEAD = "The paper, reproduced"
INTRODUCTION = (
    "Noisy submodular maximization by adaptive sampling, with queries answered by simulation. Square brackets are 95% "
    "intervals. Lines marked as ours are not the paper's. Every number is in the tables beside this page."
)
CSS = """
:root { color-scheme: light; } body { font: 17px/1.55 Georgia, serif; color: #222; background: #fff;
max-width: 56rem; margin: 2.5rem auto; padding: 0 1.2rem; }
h1, h2 { line-height: 1.2; font-family: system-ui, sans-serif; }
h2 { margin-top: 3rem; border-top: 1px solid #ddd; padding-top: 1.5rem; } img { max-width: 100%; height: auto; }
dt { font-weight: bold; margin-top: 1rem; } dd { margin: .2rem 0 0 0; } .note, .files { color: #555; font-size: .9em; }
.holds { font: bold .8em system-ui, sans-serif; padding: .1em .5em; border-radius: .3em;
border: 1px solid; white-space: nowrap; }
.yes { color: #00604a; } .partly { color: #7a5200; } .no { color: #a02000; }
table { border-collapse: collapse; } .files { overflow-wrap: anywhere; }
td, th { text-align: left; padding: .25rem .8rem .25rem 0; vertical-align: top; }
@media (max-width: 40rem) { tr, td { display: block; } th { display: none; } td:empty { display: none; } }
"""
KINDS = {"holds": "yes", "holds in part": "partly", "does not hold": "no", "is undecided": "partly"}


@dataclass(frozen=True)
class Chapter:
    """A figure in the report. Pictures and tables are names without ending; a sheet is a PNG only."""

    name: str
    finding: Finding
    pictures: tuple[str, ...]
    sheets: tuple[str, ...]
    tables: tuple[str, ...]


def write_csv(table: CellTable, path: Path) -> None:
    """A tidy table: a line per observation, the columns of its first row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table.rows)


def markdown(chapters: Sequence[Chapter], remarks: Sequence[str]) -> str:
    """The report as Markdown."""
    lines = [f"# {HEAD}", "", INTRODUCTION, "", *(f"*{remark}*\n" for remark in remarks)]
    for chapter in chapters:
        finding = chapter.finding
        lines += [f"## {finding.title}", ""]
        lines += [f"![{finding.title}]({name}.png)\n" for name in (*chapter.pictures, *chapter.sheets)]
        lines += [finding.setting, ""]
        for claim in finding.claims:
            lines += [f"**The paper:** {claim.paper} **Measured:** {claim.measured} **It {claim.holds}.**", ""]
        lines += [f"- {note}" for note in finding.notes]
        lines += ["", "Numbers: " + ", ".join(f"[{name}.csv]({name}.csv)" for name in chapter.tables), ""]
    return "\n".join(lines)


def page(chapters: Sequence[Chapter], remarks: Sequence[str]) -> str:
    """The report as HTML; it loads nothing but the pictures beside it."""
    body = [f"<h1>{HEAD}</h1>", f"<p>{escape(INTRODUCTION)}</p>"]
    body += [f'<p class="note">{escape(remark)}</p>' for remark in remarks]
    body += [_overview(chapters), *map(_section, chapters)]
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{HEAD}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{CSS}</style></head>\n<body>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


def _overview(chapters: Sequence[Chapter]) -> str:
    rows = [
        f"<tr><td>{_link(c) if place == 0 else ''}</td><td>{escape(claim.paper)}</td>"
        f"<td>{_badge(claim.holds)}</td></tr>"
        for c in chapters
        for place, claim in enumerate(c.finding.claims)
    ]
    return f"<table><tr><th>figure</th><th>claim</th><th></th></tr>{''.join(rows)}</table>"


def _link(chapter: Chapter) -> str:
    return f'<a href="#{chapter.name}">{escape(chapter.finding.title)}</a>'


def _badge(holds: str) -> str:
    return f'<span class="holds {KINDS[holds]}">{holds}</span>'


def _section(chapter: Chapter) -> str:
    finding = chapter.finding
    title = escape(finding.title)
    parts = [f'<section id="{chapter.name}"><h2>{title}</h2>']
    parts += [f'<p><img src="{name}.svg" alt="{title}"></p>' for name in chapter.pictures]
    parts += [f'<p><img src="{name}.png" alt="{title}"></p>' for name in chapter.sheets]
    parts += [f"<p>{escape(finding.setting)}</p><dl>"]
    for claim in finding.claims:
        parts.append(
            f"<dt>The paper: {escape(claim.paper)}</dt><dd>{escape(claim.measured)} It {_badge(claim.holds)}.</dd>"
        )
    parts += ["</dl>", *(f'<p class="note">{escape(note)}</p>' for note in finding.notes)]
    files = [f"{name}.csv" for name in chapter.tables]
    files += [f"{name}.{ending}" for name in chapter.pictures for ending in ("png", "svg")]
    links = " · ".join(f'<a href="{file}">{file}</a>' for file in files)
    return "\n".join([*parts, f'<p class="files">{links}</p></section>'])
