"""What must not be: each has its own error that says what to do, and nothing is lost."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handful import PerItem, Preferences, Study, Values, events
from handful.errors import (
    HandfulError,
    InvalidAnswer,
    InvalidProblem,
    ItemsChanged,
    JournalTooNew,
    StorageCorrupt,
    StorageError,
    StorageLocked,
    StudyExists,
    StudyFinished,
    StudyNotFound,
    UnknownExplorer,
    UnknownQuestion,
)
from handful.events import VERSION, from_record, to_record
from tests.study.worlds import folded, live


def values(**options: Any) -> Study:
    settings: dict[str, Any] = {"feedback": Values(range=(0, 1)), "budget": 40}
    return Study(["a", "b", "c", "d", "e"], 2, **(settings | options))


def ratings() -> Study:
    return values(feedback=Values(range=(1, 5)))


def preferences() -> Study:
    return values(feedback=Preferences())


WRONG_ANSWERS: list[tuple[str, Callable[[], Study], Callable[[Study], object], type[Exception], str]] = [
    ("a value for a preference", preferences, lambda s: s.tell("q0", 0.5), InvalidAnswer, "True (the item) or False"),
    ("a word for a preference", preferences, lambda s: s.tell("q0", "left"), InvalidAnswer, "about d and c: "),
    ("a preference for a value", ratings, lambda s: s.tell("q0", True), InvalidAnswer, "takes numbers, got True"),
    ("nan", values, lambda s: s.tell("q0", math.nan), InvalidAnswer, "finite number, got nan"),
    ("infinity", values, lambda s: s.tell("q0", np.inf), InvalidAnswer, "finite number"),
    (
        "out of range",
        values,
        lambda s: s.tell("q0", 1.5),
        InvalidAnswer,
        "answer 1.5 lies outside the range (0, 1)",
    ),
    ("too large for a float", values, lambda s: s.tell("q0", 10**400), InvalidAnswer, "finite number, got 1000"),
    ("imaginary", values, lambda s: s.tell("q0", np.complex128(1j)), InvalidAnswer, "finite number, got"),
    ("nothing", values, lambda s: s.tell("q0", None), InvalidAnswer, "got None"),
    (
        "an unknown question",
        values,
        lambda s: s.tell("q99", 0.5),
        UnknownQuestion,
        "question q99 was never asked; this study has asked 1 so far",
    ),
    ("a number for an id", values, lambda s: s.tell(0, 0.5), UnknownQuestion, "question 0 was never asked"),  # type: ignore[arg-type]
    ("another spelling", values, lambda s: s.tell("q00", 0.5), UnknownQuestion, "question q00 was never asked"),
    ("a worker that is a number", values, lambda s: s.ask(1, 17), InvalidAnswer, "named by text"),  # type: ignore[arg-type]
    ("a worker without a name", values, lambda s: s.tell("q0", 0.5, ""), InvalidAnswer, "named by text"),
    ("no questions", values, lambda s: s.ask(0), InvalidProblem, "whole number, 1 or more, got 0"),
    ("meta that is no JSON", values, lambda s: s.tell("q0", 0.5, meta={1j}), InvalidAnswer, "must be JSON"),
    ("meta with nan", values, lambda s: s.tell("q0", 0.5, meta=math.nan), InvalidAnswer, "must be JSON"),
    ("a negative time to undo", values, lambda s: s.tell("q0", 0.5, undo_s=-1), InvalidAnswer, "undo_s"),
    ("revising what is settled", values, lambda s: s.revise("q0", 0.5), InvalidAnswer, "may still be revised"),
    ("skipping what was never asked", values, lambda s: s.skip("q7"), UnknownQuestion, "question q7"),
    ("an oracle that cannot be called", values, lambda s: s.run(3), InvalidProblem, "function of a question"),  # type: ignore[arg-type]
    (
        "an oracle of two arguments",
        values,
        lambda s: s.run(lambda item, rival: 0.5),  # type: ignore[arg-type,misc]
        InvalidProblem,
        "takes (item, rival): let it take q alone",
    ),
    (
        "a picture of an unknown kind",
        values,
        lambda s: s.result().plot("x.foo"),
        InvalidProblem,
        "end it in .png, .svg or .pdf",
    ),
    ("withdrawing a stranger", values, lambda s: s.withdraw("z"), InvalidProblem, "'z' is not among the 5 items"),
    ("extending by less than nothing", values, lambda s: s.extend(-3), InvalidProblem, "0 or more, got -3"),
    (
        "extending no budget",
        lambda: values(budget=None, epsilon=1.0),
        lambda s: s.extend(3),
        InvalidProblem,
        "nothing to extend",
    ),
]


@pytest.mark.parametrize(
    ("make", "act", "error", "message"), [w[1:] for w in WRONG_ANSWERS], ids=[w[0] for w in WRONG_ANSWERS]
)
def test_a_wrong_call_is_refused_and_changes_nothing(
    make: Callable[[], Study], act: Callable[[Study], object], error: type[Exception], message: str
) -> None:
    study = make()
    study.ask(1)
    before = live(study)
    with pytest.raises(error) as raised:
        act(study)
    assert message in str(raised.value)
    assert isinstance(raised.value, HandfulError)
    assert live(study) == before == folded(study)


WRONG_STUDIES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"items": []}, InvalidProblem, "no items"),
    ({"items": "abc"}, InvalidProblem, "got the text 'abc'"),
    ({"items": 7}, InvalidProblem, "got 7"),
    ({"items": ["a", "b", "a"]}, InvalidProblem, "'a' twice"),
    ({"items": [3, 5, 3]}, InvalidProblem, "3 twice"),
    ({"k": 9}, InvalidProblem, "more than the 5 items"),
    ({"k": 0}, InvalidProblem, "k must be"),
    ({"feedback": 1.0}, InvalidProblem, "Values(...) or Preferences(...)"),
    ({"feedback": Values()}, InvalidProblem, "noise"),
    ({"budget": None}, InvalidProblem, "epsilon=, budget= or both"),
    ({"budget": 0}, InvalidProblem, "budget must be"),
    ({"delta": 1.0}, InvalidProblem, "delta"),
    ({"explorer": "magic"}, UnknownExplorer, "no explorer named 'magic'"),
    ({"chosen": ["z"]}, InvalidProblem, "'z' is not among"),
    ({"chosen": ["a", "b"]}, InvalidProblem, "nothing is left"),
    ({"prior": [1.0]}, InvalidProblem, "one score per item"),
    ({"lease_s": 0}, InvalidProblem, "lease_s"),
    ({"in_flight": 0}, InvalidProblem, "in_flight"),
    ({"seed": -1}, InvalidProblem, "seed"),
    ({"storage": "postcards.txt"}, StorageError, "cannot tell what storage"),
    ({"storage": "/nowhere/at/all/study.db"}, StorageError, "no folder"),
    ({"name": ""}, InvalidProblem, "name has 1 to"),
]


@pytest.mark.parametrize(("options", "error", "message"), WRONG_STUDIES, ids=lambda x: str(x)[:30])
def test_a_study_that_makes_no_sense_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    settings: dict[str, Any] = {
        "items": list("abcde"),
        "k": 2,
        "feedback": Values(range=(0, 1)),
        "explorer": "topx",
        "budget": 40,
    }
    with pytest.raises(error) as raised:
        Study(**(settings | options))
    assert message in str(raised.value)


def stored(folder: Path) -> tuple[str, dict[str, Any]]:
    """A study in a file with a few answers, and all it knows."""
    url = f"sqlite:///{folder}/study.db"
    with values(storage=url) as study:
        for _ in range(7):
            for q in study.ask(1):
                study.tell(q.id, 0.5)
        return url, live(study)


def put(folder: Path, seq: int, **columns: object) -> None:
    """Change a record, as a program would that writes what this version cannot read."""
    connection = sqlite3.connect(folder / "study.db")
    for column, value in columns.items():
        connection.execute(f"update events set {column} = ? where seq = ?", (value, seq))
    connection.commit()
    connection.close()


WRONG_JOURNALS: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("a newer version", {"seq": 3, "version": VERSION + 1}, JournalTooNew, f"record 3 has version {VERSION + 1}"),
    ("an unknown kind", {"seq": 3, "kind": "danced"}, StorageCorrupt, "record 3 ('danced')"),
    ("no JSON", {"seq": 3, "payload": "{"}, StorageCorrupt, "record 3"),
    ("an unknown key", {"seq": 3, "payload": '{"q":1,"z":1}'}, StorageCorrupt, "record 3"),
    ("a missing key", {"seq": 3, "payload": "{}"}, StorageCorrupt, "record 3"),
    ("a question out of turn", {"seq": 3, "payload": '{"q":9,"i":1}'}, StorageCorrupt, "q9 out of turn"),
    ("an item that is not there", {"seq": 3, "payload": '{"q":1,"i":99}'}, StorageCorrupt, "out of turn"),
    ("an answer twice", {"seq": 4, "payload": '{"q":0,"a":0.5}'}, StorageCorrupt, "q0, which was not open"),
    ("no beginning", {"seq": 0, "kind": "paused", "payload": "{}"}, StorageCorrupt, "does not begin"),
    ("a beginning that is none", {"seq": 0, "payload": '{"setup":{"items":["a"]}}'}, StorageCorrupt, "first record"),
]


@pytest.mark.parametrize(
    ("change", "error", "message"), [w[1:] for w in WRONG_JOURNALS], ids=[w[0] for w in WRONG_JOURNALS]
)
def test_a_journal_that_cannot_be_folded_is_refused_and_left_as_it_is(
    tmp_path: Path, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    url, _ = stored(tmp_path)
    put(tmp_path, **change)
    before = sqlite3.connect(tmp_path / "study.db").execute("select * from events").fetchall()
    for read_only in (True, False):
        with pytest.raises(error) as raised:
            Study.open(url, read_only=read_only)
        assert message in str(raised.value)
    assert sqlite3.connect(tmp_path / "study.db").execute("select * from events").fetchall() == before


def test_changed_items_are_noticed_on_opening_and_the_study_stays_free(tmp_path: Path) -> None:
    url, before = stored(tmp_path)
    with pytest.raises(ItemsChanged, match="made with 5 items, got 4"):
        Study.open(url, items=list("abcd"))
    with pytest.raises(ItemsChanged, match="item 1 is 'c', but the study was made with 'b'"):
        Study.open(url, items=list("acbde"))
    with Study.open(url, items=list("abcde")) as study:
        assert live(study) == before


def test_two_writers_are_refused_and_a_reader_is_welcome(tmp_path: Path) -> None:
    url, before = stored(tmp_path)
    with Study.open(url) as study:
        with pytest.raises(StorageLocked, match="open for writing elsewhere"):
            Study.open(url)
        with Study.open(url, read_only=True) as reader:
            assert live(reader) == before
            with pytest.raises(StorageError, match="read-only"):
                reader.ask(1)
        (q,) = study.ask(1)
        study.tell(q.id, 0.25)


def test_a_missing_and_an_existing_study_are_told_apart(tmp_path: Path) -> None:
    url, _ = stored(tmp_path)
    with pytest.raises(StudyNotFound, match="no study 'venice'"):
        Study.open(url, "venice")
    with pytest.raises(StudyExists, match="'study' already"):
        values(storage=url)


def test_a_failed_commit_ends_the_study_and_loses_nothing_acknowledged(tmp_path: Path) -> None:
    url, _ = stored(tmp_path)
    study = Study.open(url)
    (q,) = study.ask(1)
    study.tell(q.id, 0.5)
    acknowledged = study.status().answers
    (tmp_path / "study.db").rename(tmp_path / "moved.db")
    (q,) = study._ask_tell.ask(1, None, 0.0)
    with pytest.raises(StorageError, match="moved, replaced or deleted"):
        study.tell(q.id, 0.5)
    with pytest.raises(StorageError, match="open it again to go on from what is stored"):
        study.ask(1)
    with pytest.raises(StorageError):
        study.close()
    (tmp_path / "moved.db").rename(tmp_path / "study.db")
    with Study.open(url) as again:
        assert again.status().answers >= acknowledged


def test_a_finished_study_cannot_be_changed_but_answers_with_what_it_has() -> None:
    study = Study(["a", "b", "c"], 2, feedback=Values(noise=0.1), epsilon=2.0)
    result = study.run(lambda q: {"a": 0.0, "b": 5.0, "c": 9.0}[q.item])
    assert study.ask(5) == []
    assert study.finished == "all 2 items are picked"
    for act in (study.pause, lambda: study.extend(PerItem(1)), lambda: study.withdraw("a")):
        with pytest.raises(StudyFinished, match="all 2 items are picked"):
            act()
    assert study.tell("q0", 7.0).repeated
    assert study.finish() == result


def test_every_event_survives_its_own_json() -> None:
    examples: list[events.Event] = [
        events.Asked(3, 1, 2, "ann"),
        events.Asked(3, 0),
        events.Told(3, True, "ann", 17.25, {"a": [1, None]}),
        events.Told(3, 0.1 + 0.2),
        events.Settled((1, 2)),
        events.RoundClosed(2, "rule", (4, 5), 5, None),
        events.Excluded("ann", "slow", True),
        events.Noted("t", [1, "ü\x00\ud800"]),
    ]
    for event in examples:
        record = to_record(event, 5, 1.5)
        assert from_record(record) == event
        assert json.loads(record.payload).keys() <= set(event.keys)


def test_what_was_asked_and_told_is_written_as_the_encoder_of_the_library_writes_it() -> None:
    def by_encoder(event: events.Event) -> str:
        data = {
            key: getattr(event, name)
            for key, name, default in events._SHAPES[type(event)]
            if getattr(event, name) is not default
        }
        return json.dumps(data, separators=(",", ":"), default=lambda x: x.item())

    names = (None, "ann", 'a"b\\c', "ü\x00\ud800", "")
    answers: tuple[Any, ...] = (0.1 + 0.2, -0.0, 1e300, 5e-324, True, False, 17, np.float64(0.1), np.int64(3), np.True_)
    all_events: list[events.Event] = [
        events.Told(7, 0.5, "ann", 1e9, {"side": "left", "é": [None, 1.5]}, 1234),
        events.Told(7, 1, None, None, "x"),
    ]
    for worker in names:
        for answer in answers:
            all_events += [events.Told(7, answer, worker), events.Told(7, answer, worker, 1.5, [], 0)]
        for item, rival in ((0, -1), (3, 0)):
            for more, copy in (((), -1), ((), 0), ((4, 5), -1), ((4, 5), 8)):
                all_events.append(events.Asked(10**9, item, rival, worker, more, copy=copy))
    for event in all_events:
        assert to_record(event, 5, 1.5).payload == by_encoder(event)
    for broken in (math.nan, math.inf, -math.inf):
        with pytest.raises(InvalidAnswer, match="must be JSON"):
            to_record(events.Told(7, broken), 5, 1.5)
