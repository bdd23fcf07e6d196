"""A study as text, line by line: its journal as JSON, its answers as CSV."""

from __future__ import annotations

import csv
import json
import math
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from handful.errors import StorageCorrupt
from handful.events import Asked, Told
from handful.questions import STANDINGS, UNANSWERED, picks_given
from handful.state import repeated_questions
from handful.storage import Record

if TYPE_CHECKING:
    from handful.study import Study


COLUMNS = ("question", "round", "item", "rival", "answer", "standing", "worker", "excluded", "asked", "told", "given")
REPEAT = "repeat"
BESIDE = ("side", "item_side", "ms")
BESIDE_SEVERAL = ("place", "places", "ms")
"""What the crowd app notes beside an answer: where was pressed, and for how long the question was visible."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def journal_lines(records: Iterable[Record]) -> Iterator[str]:
    """One JSON object per record: nothing is lost, and `records_of` reads them back."""
    for seq, version, kind, time, payload in records:
        if "\n" in payload:  # as other programs may write it
            payload = json.dumps(json.loads(payload), separators=(",", ":"))
        yield f'{{"seq":{seq},"version":{version},"kind":{json.dumps(kind)},"time":{time!r},"payload":{payload}}}\n'


def journal_digest(records: Iterable[Record]) -> str:
    """The SHA-256 digest of a journal as it is exported: what `sha256sum` says of the file."""
    digest = sha256()
    for line in journal_lines(records):
        digest.update(line.encode())
    return digest.hexdigest()


def records_of(lines: Iterable[str]) -> Iterator[Record]:
    """The records that `journal_lines` wrote."""
    for number, line in enumerate(lines, start=1):
        try:
            r = json.loads(line)
            payload = json.dumps(r["payload"], separators=(",", ":"))
            yield Record(r["seq"], r["version"], r["kind"], r["time"], payload)
        except (ValueError, KeyError, TypeError) as error:
            raise StorageCorrupt(f"line {number} is not a record of a journal ({error!r})") from error


@dataclass(frozen=True)
class ToldAnswer:
    """What a journal says of an answer, beside what the state has of it."""

    question: int
    asked: float
    told: float
    worker: str | None
    meta: Any


def told_answers(records: Iterable[Record]) -> Iterator[ToldAnswer]:
    """What a journal says of each answer, in the order told."""
    asked = array("d")  # by the number of the question
    for record in records:
        if record.kind == Asked.kind:
            asked.append(record.time)
        elif record.kind == Told.kind:
            event = json.loads(record.payload)
            question = event["q"]
            yield ToldAnswer(question, asked[question], record.time, event.get("w"), event.get("m"))


def noted_beside(study: Study, told: Iterable[ToldAnswer]) -> tuple[str, ...]:
    """The columns of what is noted beside an answer; none where a study was never shown to people."""
    if not study.setup.problem.feedback.compares:
        return ()
    columns = BESIDE if study.setup.problem.feedback.options == 2 else BESIDE_SEVERAL
    if study.setup.door is not None or study.setup.solo:
        return columns
    first = next(iter(told), None)
    beside = None if first is None else first.meta
    return columns if isinstance(beside, dict) and not beside.keys().isdisjoint(columns) else ()


def answer_lines(study: Study) -> Iterator[str]:
    """A header, and one line of CSV per answer in the order told; an answer that was revised appears as it stands.

    `asked` and `told` are times of UTC. `given` is how many picks the question was asked given: those before its round,
    or fewer in an audit. Where items are compared, `repeat` is 1 for an answer that compares two that the same person
    had compared before in the round. Where questions may have more than two options, `answer` is the one that was
    named, and one more column has them all as JSON. Then comes what the crowd app notes beside an answer, and last, if
    the study was preregistered, the digest. All of it is of one moment, that of the first line, however many answers
    come meanwhile.
    """
    meta = noted_beside(study, told_answers(study.records()))
    state, ids = study.snapshot(), [_harmless(id_) for id_ in study.setup.ids]
    questions, chosen, several = state.questions, len(state.setup.problem.chosen), state.questions.names_one
    excluded, compares = set(state.workers.excluded), state.setup.problem.feedback.compares
    repeats = frozenset(repeated_questions(state).tolist()) if compares else frozenset()
    line = csv.writer(_Returned(), lineterminator="\n").writerow
    registered = () if state.registered is None else (state.registered.hash,)
    more = (*((REPEAT,) if compares else ()), *(("options",) if several else ()))
    yield line((*COLUMNS, *more, *meta, *(("preregistration",) if registered else ())))
    for one in told_answers(study.records()):
        q = one.question
        if q >= len(questions) or questions.standing[q] == UNANSWERED:  # it came after all that is looked at here
            continue
        rival, answer = questions.rival[q], questions.answer[q]
        cells: list[object] = [
            f"q{q}",
            questions.round[q],
            ids[questions.item[q]],
            ids[rival] if rival >= 0 else "",
            ids[int(answer)] if several else int(answer) if rival >= 0 else repr(answer),
            STANDINGS[questions.standing[q]],
            _harmless(one.worker or ""),
            int(questions.worker[q] in excluded),
            _moment(one.asked),
            _moment(one.told),
            picks_given(chosen, questions.round[q], questions.given[q]),
        ]
        if compares:
            cells.append(int(q in repeats))
        if several:
            cells.append(json.dumps([study.setup.ids[i] for i in questions.options(q)], ensure_ascii=False))
        if meta:
            beside = one.meta if isinstance(one.meta, dict) else {}
            cells += [_harmless(beside.get(name, "")) for name in meta]
        yield line((*cells, *registered))


class _Returned:
    """A file that gives back what is written to it: so a writer of CSV gives each line."""

    def write(self, text: str) -> str:
        return text


def _moment(time: float) -> str:
    """Date and time of UTC as spreadsheets and pandas read them: they sort as text, too."""
    second = math.floor(time)
    return f"{_second(second)}.{int(1000.0 * (time - second)):03d}"


@lru_cache(maxsize=256)
def _second(time: int) -> str:
    """Many answers come in the same second."""
    return datetime.fromtimestamp(time, UTC).isoformat(" ")[:19]


def _harmless(cell: object) -> object:
    """Text that a spreadsheet would take for a formula is made plain text; numbers are left alone."""
    if not isinstance(cell, str) or not cell.startswith(FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return "'" + cell
    return cell
