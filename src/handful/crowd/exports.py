"""All answers of a study, as lines that are made while they are sent."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import asdict
from io import StringIO

from handful.crowd.booth import Booth
from handful.study.events import Asked, Event, Revised, RoundClosed, Told

COLUMNS = (
    "question",
    "round",
    "item",
    "rival",
    "chosen",
    "answer",
    "worker",
    "side",
    "item_side",
    "ms",
    "time",
    "revised",
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def json_lines(booth: Booth) -> Iterator[str]:
    """The journal: one event per line, with its time."""
    for when, event in booth.study.journal():
        yield json.dumps({"time": when, "kind": event.kind, **asdict(event)}, ensure_ascii=False) + "\n"


def csv_lines(booth: Booth) -> Iterator[str]:
    """One line per answer as it was told; a revision is a line of its own."""
    yield _line(COLUMNS)
    ids = booth.study.setup.ids
    pairs: dict[int, tuple[int, int, int]] = {}
    told: dict[int, Told] = {}
    picked = [ids[at] for at in booth.study.setup.problem.chosen]
    for when, event in booth.study.journal():
        if isinstance(event, Asked):
            pairs[event.question] = (len(picked), event.item, event.rival)
        elif isinstance(event, RoundClosed):
            picked.append(ids[event.pick])
        elif isinstance(event, Told | Revised):
            if isinstance(event, Told):
                told[event.question] = event
            yield _line(_cells(event, told[event.question], pairs[event.question], when, ids, picked))


def _cells(
    event: Event, told: Told, pair: tuple[int, int, int], when: float, ids: tuple[str, ...], picked: list[str]
) -> tuple[object, ...]:
    before, item, rival = pair
    meta = told.meta if isinstance(told.meta, dict) else {}
    assert isinstance(event, Told | Revised)
    return (
        f"q{event.question}",
        before + 1,
        ids[item],
        ids[rival] if rival >= 0 else "",
        " | ".join(picked[:before]),
        int(event.answer),
        event.worker or "",
        meta.get("side", "") if event is told else "",
        meta.get("item", ""),
        meta.get("ms", "") if event is told else "",
        f"{when:.3f}",
        int(event is not told),
    )


def _line(cells: tuple[object, ...]) -> str:
    out = StringIO()
    csv.writer(out).writerow([_harmless(cell) for cell in cells])
    return out.getvalue()


def _harmless(cell: object) -> object:
    """A cell that a spreadsheet would run as a formula gets an apostrophe in front."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
