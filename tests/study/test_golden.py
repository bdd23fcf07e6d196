"""Golden journals are read and written to the bit, and every decision in them is taken again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handful import Study, rounds
from handful.events import KINDS
from handful.explorers.protocol import propose
from handful.export import journal_lines, records_of
from handful.storage import open_journal
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
        assert study.mismatches.first == ()
        assert "".join(journal_lines(study.records())) == golden.read_text()
        assert found == recorded


def test_together_the_golden_journals_hold_every_kind_of_event() -> None:
    kinds = {record.kind for golden in GOLDEN for record in records_of(golden.read_text().splitlines())}
    assert kinds == set(KINDS)


@pytest.mark.parametrize("name", STUDIES)
def test_this_version_writes_what_its_golden_journal_says(name: str, tmp_path: Path) -> None:
    study = STUDIES[name]()
    assert "".join(journal_lines(study.records())) == (FOLDER / f"{name}.jsonl").read_text()
    with reopened(FOLDER / f"{name}.jsonl", tmp_path) as again:
        assert picture(again.state) == picture(study.state)


def test_a_decision_that_was_changed_by_hand_is_noticed_and_wins(tmp_path: Path) -> None:
    lines = (FOLDER / "simulated.jsonl").read_text().splitlines()
    at, asked = next((n, json.loads(line)) for n, line in enumerate(lines) if '"kind":"asked"' in line and n > 40)
    asked["payload"]["i"] = (asked["payload"]["i"] + 1) % 12
    lines[at] = json.dumps(asked)
    (tmp_path / "forged.jsonl").write_text("\n".join(lines))
    with reopened(tmp_path / "forged.jsonl", tmp_path) as study:
        assert study.mismatches.count >= 1
        assert study.mismatches.first[0].startswith(f"question q{asked['payload']['q']} asked")
        assert study.state.questions.item[asked["payload"]["q"]] == asked["payload"]["i"]


def test_a_pick_that_was_changed_by_hand_is_noticed_and_wins(tmp_path: Path) -> None:
    lines = (FOLDER / "simulated.jsonl").read_text().splitlines()
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

    monkeypatch.setattr(rounds, "propose", counted)
    with reopened(FOLDER / "simulated.jsonl", tmp_path) as study:
        assert chosen == []
        assert study.mismatches.count == 0
        assert len(chosen) >= len(study.state.questions)
