"""A study as text, line by line: its journal as JSON, its answers as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from handful.errors import StorageCorrupt
from handful.storage import Record
from handful.study.events import Asked, Told, from_record
from handful.study.questions import STANDINGS, picks_given

if TYPE_CHECKING:
    from handful.study.study import Study

COLUMNS = ("question", "round", "item", "rival", "answer", "standing", "worker", "excluded", "asked", "told", "given")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def journal_lines(records: Iterable[Record]) -> Iterator[str]:
    """One JSON object per record: nothing is lost, and `records_of` reads them back."""
    for r in records:
        line = {"seq": r.seq, "version": r.version, "kind": r.kind, "time": r.time, "payload": json.loads(r.payload)}
        yield json.dumps(line, separators=(",", ":")) + "\n"


def records_of(lines: Iterable[str]) -> Iterator[Record]:
    """The records that `journal_lines` wrote."""
    for number, line in enumerate(lines, start=1):
        try:
            r = json.loads(line)
            payload = json.dumps(r["payload"], separators=(",", ":"))
            yield Record(r["seq"], r["version"], r["kind"], r["time"], payload)
        except (ValueError, KeyError, TypeError) as error:
            raise StorageCorrupt(f"line {number} is not a record of a journal ({error!r})") from error


def answer_lines(study: Study, meta: Sequence[str] = ()) -> Iterator[str]:
    """A header, and one line of CSV per answer in the order told; an answer that was revised appears as it stands.

    `given` is how many picks the question was asked given: those before its round, or fewer in an audit. Where
    questions may have more than two options, `answer` is the one that was named, and one more column has them all as
    JSON.

    `meta` names what to add from that which was told along with the answers.
    """
    several = study.fold.questions.names_one
    yield _line((*COLUMNS, *(("options",) if several else ()), *meta))
    fold, ids = study.fold, study.setup.ids
    excluded = set(fold.workers.excluded)
    asked_at: dict[int, float] = {}
    for record in study.records():
        event = from_record(record)
        if isinstance(event, Asked):
            asked_at[event.question] = record.time
        elif isinstance(event, Told) and event.question < len(fold.questions):
            q, rival = event.question, fold.questions.rival[event.question]
            answer, options = fold.questions.answer[q], [ids[i] for i in fold.questions.options(q)]
            number = int(answer) if rival >= 0 else repr(answer)
            more = event.meta if isinstance(event.meta, dict) else {}
            yield _line(
                (
                    f"q{q}",
                    fold.questions.round[q],
                    ids[fold.questions.item[q]],
                    ids[rival] if rival >= 0 else "",
                    ids[int(answer)] if several else number,
                    STANDINGS[fold.questions.standing[q]],
                    event.worker or "",
                    int(fold.questions.worker[q] in excluded),
                    f"{asked_at.pop(q):.3f}",
                    f"{record.time:.3f}",
                    picks_given(len(fold.setup.problem.chosen), fold.questions.round[q], fold.questions.given[q]),
                    *((json.dumps(options, ensure_ascii=False),) if several else ()),
                    *(more.get(name, "") for name in meta),
                )
            )


def _line(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([_harmless(cell) for cell in cells])
    return out.getvalue()


def _harmless(cell: object) -> object:
    """Text that a spreadsheet would take for a formula is made plain text; numbers are left alone."""
    if not isinstance(cell, str) or not cell.startswith(FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return "'" + cell
    return cell
