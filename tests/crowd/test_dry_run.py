"""A dry run: simulated people answer a study as it is set up, and nothing of it is left."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from handful import Preferences, Study
from handful.crowd import plan
from handful.crowd.dry_crowd import DryCrowd, DryOutcome, TurnClock
from handful.rules import Checks, Rule
from handful.storage import list_studies
from tests.crowd.clients import PATIENCE_S, Started
from tests.crowd.test_setup_routes import begin, opened, photos, prepared, send, server

__all__ = ["server"]


def ready(organizer: httpx.Client, **settings: Any) -> str:
    draft = begin(organizer, **settings)
    send(organizer, draft, photos(6))
    prepared(organizer, draft)
    return draft


def finished(organizer: httpx.Client, draft: str) -> dict[str, Any]:
    until = time.monotonic() + 2 * PATIENCE_S
    while time.monotonic() < until:
        told: dict[str, Any] = organizer.get(f"/api/setup/{draft}/dry-run").json()
        if told["state"] != "running":
            return told
        time.sleep(0.05)
    raise AssertionError(told)


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_shows_what_the_result_will_look_like_and_leaves_nothing(server: Started, tmp_path: Path) -> None:
    organizer = server.organizer()
    draft = ready(organizer, people=4, words={"goal": 12})
    assert organizer.get(f"/api/setup/{draft}/dry-run").json()["state"] == "none"
    before = files_in(tmp_path)
    begun = organizer.post(f"/api/setup/{draft}/dry-run")
    assert (begun.status_code, begun.json()["total"]) == (200, 48)
    told = finished(organizer, draft)
    assert (told["state"], told["done"]) == ("done", 48)
    assert told["words"].startswith("4 simulated people")
    assert [len(told["summary"][part]) for part in ("chosen", "picks")] == [2, 2]
    assert all(pick["sentences"] for pick in told["summary"]["picks"])
    assert list_studies(tmp_path / "handful.db") == []
    assert files_in(tmp_path) == before
    assert opened(organizer, draft) == "cathedrals", "and the study still begins with nothing"
    assert organizer.get("/api/organize/cathedrals").json()["answers"] == 0


def test_other_settings_end_a_dry_run(server: Started) -> None:
    organizer = server.organizer()
    draft = ready(organizer)
    settings = organizer.get(f"/api/setup/{draft}").json()["settings"]
    organizer.post(f"/api/setup/{draft}/dry-run")
    finished(organizer, draft)
    organizer.patch(f"/api/setup/{draft}", json=settings)
    assert organizer.get(f"/api/setup/{draft}/dry-run").json()["state"] == "done", "the same settings change nothing"
    organizer.patch(f"/api/setup/{draft}", json=settings | {"k": 3})
    assert organizer.get(f"/api/setup/{draft}/dry-run").json()["state"] == "none"


def test_a_dry_run_can_be_stopped(server: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "YIELD_S", 0.5)
    organizer = server.organizer()
    draft = ready(organizer)
    assert organizer.post(f"/api/setup/{draft}/dry-run").json()["state"] == "running"
    assert organizer.delete(f"/api/setup/{draft}/dry-run").status_code == 204
    assert organizer.get(f"/api/setup/{draft}/dry-run").json()["state"] == "none"


def test_what_could_not_be_opened_or_takes_too_long_is_not_tried(server: Started) -> None:
    organizer = server.organizer()
    assert organizer.post(f"/api/setup/{begin(organizer)}/dry-run").status_code == 422, "there are no items"
    for settings, why in (({"k": 6}, "leaves nothing to choose"), ({"budget": 30_000}, "20,000 answers at most")):
        draft = ready(organizer, **settings)
        refused = organizer.post(f"/api/setup/{draft}/dry-run")
        assert (refused.status_code, why in refused.json()["message"]) == (422, True)


def dry(*, rule: Rule | None = None, people: int = 60, seed: int = 3) -> DryOutcome:
    def make(clock: TurnClock) -> Study:
        return Study([f"i{n}" for n in range(12)], 3, feedback=Preferences(), budget=1_200, rule=rule, clock=clock)

    return DryCrowd(make, people, 20, seed).answer_all()


def test_the_rule_finds_the_careless_and_hardly_anybody_else() -> None:
    found = dry(rule=Rule())
    assert found.careless >= 3
    assert found.careless_excluded >= found.careless - 1, "one in eight is lucky with three checks"
    assert found.excluded - found.careless_excluded <= 0.15 * found.people
    assert "excluded by the rule" in found.words
    assert dry().excluded == 0, "where there is no rule, nobody is"


def test_checks_come_as_irregularly_as_on_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    every, came, check = 4, dict[str, list[int]](), Study.check

    def watched(study: Any, worker: str, *told: Any) -> None:
        came.setdefault(worker, []).append(study.state.workers.answers_of(worker))
        check(study, worker, *told)

    monkeypatch.setattr(Study, "check", watched)
    dry(rule=Rule(admission=None, checks=Checks(every), exclude_if=()))
    gaps = [after - before for at in came.values() for before, after in pairwise((0, *at))]
    assert 0.75 * every < sum(gaps) / len(gaps) < every, "long ones do not fit into twenty answers"
    assert max(gaps) > 2 * every, "evenly drawn gaps end there"


def test_a_dry_run_with_too_few_people_says_so() -> None:
    found = dry(people=20)
    assert (found.result.answers, found.planned) == (400, 1_200)
    assert "fewer than the 1,200 planned" in found.words
    assert found.quality is None or found.quality <= 1.0


def test_simulated_people_choose_better_than_a_coin() -> None:
    outcome = dry()
    assert outcome.quality is not None
    assert outcome.quality > 0.9
