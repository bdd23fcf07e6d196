"""A journal of another version, or of other rules of its explorer: it is read as recorded, and not gone on with."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handful import Preferences, Study, Values, rounds
from handful.certificates import Certificate
from handful.claims import NEVER_CERTIFIED
from handful.errors import InvalidProblem, StudyFinished
from handful.export import answer_lines, journal_lines, records_of
from handful.rules import Door
from handful.storage import open_journal
from tests.golden.make import FOLDER, STUDIES, summary
from tests.study.worlds import Clock

OTHER_VERSION, OTHER_RULES = {"handful": "0.0.9"}, {"rules": 99}


def as_if_made_by(other: dict[str, Any], lines: Iterable[str], url: Path) -> Path:
    """A storage with this journal, whose first record says that another handful or other rules made it."""
    first, *others = lines
    created = json.loads(first)
    created["payload"]["setup"] |= other
    journal = open_journal(url, "study")
    journal.append(list(records_of([json.dumps(created), *others]))).wait()
    journal.close()
    return url


def golden(name: str, folder: Path, other: dict[str, Any] = OTHER_VERSION) -> Study[str]:
    lines = (FOLDER / f"{name}.jsonl").read_text().splitlines()
    return Study.open(as_if_made_by(other, lines, folder / "study.db"))


def journal_of(study: Study[str]) -> str:
    return "".join(journal_lines(study.records()))


def answers_of(study: Study[str]) -> list[dict[str, str]]:
    """The answers as they are exported. Which came too late for their round, the journal does not say."""
    rows = list(csv.DictReader(answer_lines(study)))
    return [row | {"standing": row["standing"].replace("late", "answered")} for row in rows]


@pytest.mark.parametrize("other", [OTHER_VERSION, OTHER_RULES], ids=["version", "rules"])
@pytest.mark.parametrize("name", STUDIES)
def test_picks_answers_and_the_certificate_are_those_that_were_recorded(
    name: str, other: dict[str, Any], tmp_path: Path
) -> None:
    recorded = json.loads((FOLDER / f"{name}.json").read_text())
    with golden(name, tmp_path, other) as study:
        found, result = summary(study), study.result()
        events = (FOLDER / f"{name}.jsonl").read_text().splitlines()
        assert journal_of(study).splitlines()[1:] == events[1:]
        assert [found[key] for key in ("chosen", "answers", "finished")] == [
            recorded[key] for key in ("chosen", "answers", "finished")
        ]
        told = ("pick", "candidates", "ended", "answers", "affected_by_exclusion")
        assert [[r.to_dict()[key] for key in told] for r in result.rounds] == [
            [r[key] for key in told] for r in recorded["rounds"]
        ]
        certified = [json.loads(line)["payload"]["c"] for line in events if '"kind":"certified"' in line]
        if recorded["finished"] is None:
            assert result.certificate == Certificate(reasons=(NEVER_CERTIFIED,))
        else:
            assert result.certificate.to_dict() == certified[-1]
        assert answers_of(study) == answers_of(STUDIES[name]())
        for shown in (str(result), result._repr_html_(), study.status()._repr_html_(), str(study.agreement())):
            assert shown


def test_the_explorer_is_neither_asked_nor_told_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def called(*_: object) -> None:
        raise AssertionError("the explorer decides nothing here")

    for name in ("propose", "asked", "tell", "void", "late", "conclude", "go_again"):
        monkeypatch.setattr(rounds, name, called)
    for name in ("simulated", "crowd", "moderated"):
        (tmp_path / name).mkdir()
        with golden(name, tmp_path / name) as study:
            study.result()


CHANGES: dict[str, Callable[[Study[str]], object]] = {
    "ask": lambda study: study.ask(1, "cid"),
    "tell": lambda study: study.tell("q0", True, "cid"),
    "exchange": lambda study: study.exchange("q0", True, "cid"),
    "revise": lambda study: study.revise("q0", True, "cid"),
    "skip": lambda study: study.skip("q0", None, "cid"),
    "let_go": lambda study: study.let_go("cid"),
    "settle": lambda study: study.settle(),
    "run": lambda study: study.run(lambda q: True),
    "run in processes": lambda study: study.run(lambda q: True, n_jobs=2),
    "pause": lambda study: study.pause(),
    "resume": lambda study: study.resume(),
    "finish": lambda study: study.finish(),
    "extend": lambda study: study.extend(10),
    "withdraw": lambda study: study.withdraw("photo 0.jpg"),
    "note": lambda study: study.note("topic"),
    "preregister": lambda study: study.preregister(),
    "check": lambda study: study.check("cid", "gold", True),
    "apply_rule": lambda study: study.apply_rule("cid"),
    "exclude": lambda study: study.exclude("cid"),
    "restore": lambda study: study.restore("cid"),
    "leave": lambda study: study.leave("cid"),
    "change_door": lambda study: study.change_door(Door("panel")),
}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (OTHER_VERSION, "made by handful 0.0.9, with rules 1 of the explorer duels"),
        (OTHER_RULES, "with rules 99 of the explorer duels"),
    ],
    ids=["version", "rules"],
)
def test_nothing_is_added_to_it_and_one_sentence_says_why(other: dict[str, Any], said: str, tmp_path: Path) -> None:
    with golden("moderated", tmp_path, other) as study:  # which is not over
        before = journal_of(study)
        for change in CHANGES.values():
            with pytest.raises(StudyFinished, match=f"{said}: it can be read here, and only that version goes on"):
                change(study)
        assert journal_of(study) == before


def test_its_decisions_are_compared_with_nothing(tmp_path: Path) -> None:
    with golden("simulated", tmp_path) as study, pytest.raises(InvalidProblem, match="no other version can say"):
        study.mismatches  # noqa: B018


def test_a_script_that_goes_on_with_what_is_there_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    items = ["a", "b", "c", "d"]
    fresh = Study(items, 2, feedback=Preferences(), budget=20, clock=Clock())
    url = as_if_made_by(OTHER_VERSION, journal_lines(fresh.records()), tmp_path / "study.db")
    with Study(items, 2, feedback=Preferences(), budget=20, in_flight=8, storage=url, exists="open") as study:
        assert len(list(study.records())) == len(list(fresh.records()))
        with pytest.raises(StudyFinished, match=r"made by handful 0\.0\.9"):
            study.run(lambda q: True)


@pytest.mark.parametrize(
    ("explorer", "feedback", "answer"),
    [
        ("topx", Values(noise=0.5), lambda q: float(q.number % 3)),
        ("duels", Preferences(), lambda q: q.item < q.rival),
        ("duels", Preferences(options=4), lambda q: min(q.options)),
    ],
    ids=["values", "comparisons", "choices"],
)
def test_an_open_round_is_told_by_its_answers(
    explorer: str, feedback: Any, answer: Callable[[Any], Any], tmp_path: Path
) -> None:
    items = [f"item {i}" for i in range(9)]
    study = Study(items, 2, feedback=feedback, explorer=explorer, budget=400, in_flight=6, clock=Clock())
    for n in range(40):
        who = ("ann", "bob", "cid")[n % 3]
        for q in study.ask(1, who):
            study.tell(q.id, answer(q), who)
    study.exclude("bob", "too fast")
    study.withdraw("item 8")
    left_open = [q for who in ("ann", "cid") for q in study.ask(2, who)]
    url = as_if_made_by(OTHER_VERSION, journal_lines(study.records()), tmp_path / "study.db")
    with Study.open(url) as other:
        here, there = study.status(), other.status()
        assert there.to_dict() | {"leader": None} == here.to_dict() | {"leader": None}
        assert (there.candidate == here.candidate).all()
        about, won = np.zeros(len(items), int), np.zeros(len(items))
        waiting = np.zeros(len(items), int)
        questions = study.state.questions
        for q in range(study.state.exploration.first, len(questions)):
            options = questions.options(q)
            if f"q{q}" in {one.id for one in left_open}:
                waiting[list(options)] += 1
            elif questions.worker[q] != study.state.workers.number("bob") and 8 not in options:
                about[list(options)] += 1
                said = other._ask_tell.shown(questions.answer[q])
                if feedback.options == 1:
                    won[options[0]] += said
                else:
                    won[options[0 if said is True else 1] if isinstance(said, bool) else items.index(said)] += 1
        assert there.counted.tolist() == about.tolist()
        assert there.waiting.tolist() == waiting.tolist()
        known = (about > 0) & there.candidate
        assert there.mean[known] == pytest.approx(won[known] / about[known])
        assert np.isnan(there.mean[~known]).all()


def test_what_it_says_of_an_extended_budget_and_a_withdrawn_item_holds(tmp_path: Path) -> None:
    study = Study(["a", "b", "c", "d", "e"], 2, feedback=Preferences(), explorer="topx", budget=60, clock=Clock())
    for _ in range(10):
        for q in study.ask():
            study.tell(q.id, q.item < q.rival)
    study.withdraw("e")
    study.extend(20)
    url = as_if_made_by(OTHER_VERSION, journal_lines(study.records()), tmp_path / "study.db")
    with Study.open(url, read_only=True) as other:
        here, there = study.status(), other.status()
        assert (there.budget, there.round_limit) == (here.budget, here.round_limit) == (80, here.round_limit)
        assert there.candidate.tolist() == [True, True, True, True, False]
