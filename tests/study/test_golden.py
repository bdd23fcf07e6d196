"""Journals that released versions wrote stay readable, and every decision in them is taken again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handful import Study
from handful.explorers.protocol import propose
from handful.export import journal_lines, records_of
from handful.objectives import Modular
from handful.oracles import noisy, uniform
from handful.storage import Record, open_journal
from handful.study import exploration
from handful.study.certifying import BY_HAND, OLD_RULES
from handful.study.event_records import from_record, to_record
from handful.study.events import KINDS, Adopted, Settled
from handful.study.questions import ANSWERED, LATE
from tests.golden.make import FOLDER, STUDIES, summary
from tests.study.worlds import picture

GOLDEN = sorted(FOLDER.glob("*.jsonl"))


def reopened(golden: Path, folder: Path) -> Study:
    """The golden journal, put into a storage and opened like any other."""
    with golden.open() as lines:
        journal = open_journal(folder / "golden.db", golden.stem)
        journal.append(list(records_of(lines))).wait()
        journal.close()
    return Study.open(folder / "golden.db", golden.stem)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_journal_leads_to_the_same_picks_and_every_decision_is_the_same(golden: Path, tmp_path: Path) -> None:
    with reopened(golden, tmp_path) as study:
        found, recorded = summary(study), json.loads(golden.with_suffix(".json").read_text())
        assert study.mismatches.first == []
        assert "".join(journal_lines(study.records())) == golden.read_text()
        if study.fold.exploration.recorded:
            recorded["certificate"] = found["certificate"]  # it holds for any explorer
            reasons = study.result().certificate.reasons
            assert OLD_RULES in reasons or BY_HAND in reasons
            for one in (found, recorded):
                _forget_what_came_after_the_decision(one)
        assert found == recorded


def _forget_what_came_after_the_decision(summary: dict[str, Any]) -> None:
    """Which answers came between the one that decided a round and its closing, only the rules could say."""
    summary["standing"] = [ANSWERED if standing == LATE else standing for standing in summary["standing"]]
    for one in summary["rounds"]:
        del one["answers"], one["late"]


def test_there_are_journals_of_old_rules_and_none_of_their_decisions_is_compared(tmp_path: Path) -> None:
    old = 0
    for at, golden in enumerate(GOLDEN):
        (tmp_path / str(at)).mkdir()
        with reopened(golden, tmp_path / str(at)) as study:
            old += study.fold.exploration.recorded
        if old == 5:
            return
    pytest.fail(f"only {old} journals are of old rules")


def test_adopted_rules_that_were_noted_in_the_first_version_are_understood(tmp_path: Path) -> None:
    golden = FOLDER / "adopted-3.jsonl"
    earlier = golden.read_text().replace('"version":2,"kind":"adopted"', '"version":1,"kind":"adopted"')
    assert earlier != golden.read_text()
    (tmp_path / "adopted-3.jsonl").write_text(earlier)
    with reopened(tmp_path / "adopted-3.jsonl", tmp_path) as study:
        assert summary(study) == json.loads(golden.with_suffix(".json").read_text())
        assert "".join(journal_lines(study.records())) == earlier


def test_an_unfinished_study_of_old_rules_goes_on_by_those_of_today_and_says_so(tmp_path: Path) -> None:
    lines = (FOLDER / "audit-anchor-0-1.jsonl").read_text().splitlines()[:60]
    (tmp_path / "unfinished.jsonl").write_text("\n".join(lines))
    world = Modular([0.2, 0.4, 1.0, 0.9, 0.1, 1.2])
    with reopened(tmp_path / "unfinished.jsonl", tmp_path) as study:
        before = summary(study)
        study.run(noisy(world, uniform(0.3), study.items))
        kinds = [record.kind for record in study.records()]
        assert kinds.index("adopted") == len(lines)
        assert kinds.count("adopted") == 1
        assert study.result().chosen[: len(before["chosen"])] == tuple(before["chosen"])  # type: ignore[arg-type]
        assert OLD_RULES in study.result().certificate.reasons
        assert study.finished == "all 3 items are picked"
        known = picture(study.fold)
    with Study.open(tmp_path / "golden.db", "unfinished") as again:
        assert picture(again.fold) == known
        assert again.mismatches.count == 0


def test_together_the_golden_journals_hold_every_kind_of_event() -> None:
    kinds = {record.kind for golden in GOLDEN for record in records_of(golden.read_text().splitlines())}
    assert kinds == set(KINDS)


@pytest.mark.parametrize("name", STUDIES)
def test_this_version_writes_what_its_golden_journal_says(name: str, tmp_path: Path) -> None:
    study = STUDIES[name]()
    _, *golden = (FOLDER / f"{name}.jsonl").read_text().splitlines(keepends=True)
    _, *written = journal_lines(study.records())  # an explorer may have more options by now
    assert written == golden
    with reopened(FOLDER / f"{name}.jsonl", tmp_path) as again:
        assert picture(again.fold) == picture(study.fold)


def test_a_decision_that_was_changed_by_hand_is_noticed_and_wins(tmp_path: Path) -> None:
    lines = (FOLDER / "simulated-2.jsonl").read_text().splitlines()
    at, asked = next((n, json.loads(line)) for n, line in enumerate(lines) if '"kind":"asked"' in line and n > 40)
    asked["payload"]["i"] = (asked["payload"]["i"] + 1) % 12
    lines[at] = json.dumps(asked)
    (tmp_path / "forged.jsonl").write_text("\n".join(lines))
    with reopened(tmp_path / "forged.jsonl", tmp_path) as study:
        assert study.mismatches.count >= 1
        assert study.mismatches.first[0].startswith(f"question q{asked['payload']['q']} asked")
        assert study.fold.questions.item[asked["payload"]["q"]] == asked["payload"]["i"]


def test_a_pick_that_was_changed_by_hand_is_noticed_and_wins(tmp_path: Path) -> None:
    lines = (FOLDER / "simulated-2.jsonl").read_text().splitlines()
    at, closed = next((n, json.loads(line)) for n, line in enumerate(lines) if '"kind":"round closed"' in line)
    closed["payload"]["pick"] = (closed["payload"]["pick"] + 1) % 12
    lines[at] = json.dumps(closed)
    (tmp_path / "forged.jsonl").write_text("\n".join(lines[: at + 1]))
    with reopened(tmp_path / "forged.jsonl", tmp_path) as study:
        assert study.mismatches.count == 1
        assert "round 1 was closed by" in study.mismatches.first[0]
        assert study.result().chosen == (f"node {closed['payload']['pick']}",)


def test_opening_believes_what_was_asked_and_only_a_check_chooses_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[int] = []

    def counted(state: object, number: int) -> tuple[int, int]:
        chosen.append(number)
        return propose(state, number)  # type: ignore[arg-type]

    monkeypatch.setattr(exploration, "propose", counted)
    with reopened(FOLDER / "simulated-2.jsonl", tmp_path) as study:
        assert chosen == []
        assert study.mismatches.count == 0
        assert len(chosen) >= len(study.fold.questions)


def test_that_other_rules_were_adopted_is_of_a_version_that_older_readers_refuse() -> None:
    assert from_record(Record(5, 1, "adopted", 1.0, '{"n":2}')) == Adopted(2)  # as it was written before
    assert to_record(Adopted(2), 5, 1.0).version == 2
    assert to_record(Settled((1,)), 5, 1.0).version == 1
