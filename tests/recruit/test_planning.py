"""One plan on the organizer's page: checks come from the rule, and changing one number shows the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from handful.crowd.collection.items import Collection
from handful.crowd.hosting.startup import StudyPlan
from handful.errors import InvalidProblem
from handful.recruit.fake import FakePlatform, FakeProlific
from handful.recruit.plan import Plan
from handful.recruit.store import Store
from handful.study.rules import Admission, Checks, Rule
from tests.crowd.clients import STUDY, started
from tests.recruit.arrivals import ADDRESS, QUICK, paid_study

RULE = Rule(Admission(2, 3, 3), Checks(every=10), (), 1.0)
CHECKED = StudyPlan(k=3, explorer="topx", budget=600, in_flight=20, rule=RULE)


@pytest.fixture
def organizer(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[httpx.Client, Path]]:
    with FakeProlific(FakePlatform()) as fake:
        monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
        monkeypatch.setenv("PROLIFIC_URL", fake.url)
        with started(collection, CHECKED, QUICK, storage=tmp_path / "a.db") as server:
            yield server.organizer(), tmp_path / "a.db"


def told(http: httpx.Client, **said: Any) -> dict[str, Any]:
    reply = http.post(f"/api/organize/{STUDY}/recruiting/plan", json=said)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_a_plan_follows_from_the_study_and_its_rule_where_nothing_is_said(
    organizer: tuple[httpx.Client, Path],
) -> None:
    plan = told(organizer[0])
    assert (plan["answers_each"], plan["people"], plan["budget"], plan["note"]) == (30, 20, 600, "")
    assert plan["checks_each"] == 3 + 30 / 10
    assert plan["minutes"] == 5  # 60 s, and 36 questions of 6 s
    assert "6 checks each" in plan["words"]


@pytest.mark.parametrize(
    ("changed", "people", "each"), [({"budget": 900}, 30, 30), ({"minutes": 3}, 35, 15), ({"rewards": 900}, 12, 30)]
)
def test_changing_one_number_on_the_page_shows_the_others(
    organizer: tuple[httpx.Client, Path], changed: dict[str, int], people: int, each: int
) -> None:
    plan = told(organizer[0], people=20, answers_each=30, **changed)
    if "minutes" in changed:
        people = -(-600 // plan["answers_each"])
        each = plan["answers_each"]
        assert 60 + 6 * (each + plan["checks_each"]) <= 60 * 3 < 60 + 6 * (each + 1 + plan["checks_each"])
    assert (plan["people"], plan["answers_each"]) == (people, each)
    assert plan["rewards"] == plan["people"] * plan["reward"]
    assert bool(plan["note"]) == (plan["budget"] != 600)


def test_a_plan_that_cannot_be_is_refused_in_words(organizer: tuple[httpx.Client, Path]) -> None:
    for said, why in (({"minutes": 1}, "leave no time"), ({"per_hour": 1}, "below the platform's minimum")):
        reply = organizer[0].post(f"/api/organize/{STUDY}/recruiting/plan", json=said)
        assert (reply.status_code, why in reply.text) == (422, True)
    reply = organizer[0].post(f"/api/organize/{STUDY}/recruiting/plan", json={"budget": 5, "rewards": 500})
    assert "give one of" in reply.text


def test_the_draft_is_made_by_the_plan_that_was_shown(organizer: tuple[httpx.Client, Path]) -> None:
    http, storage = organizer
    plan = told(http)
    numbers = {name: plan[name] for name in ("people", "answers_each", "per_hour")}
    made = http.post(f"/api/organize/{STUDY}/recruiting/create", json={"address": ADDRESS, **numbers})
    assert made.status_code == 200, made.text
    kept = Store(storage).recruitment(STUDY)
    assert kept is not None
    assert (kept.plan.checks_each, kept.plan.reward) == (plan["checks_each"], plan["reward"])


def test_checks_take_their_time_out_of_a_visit_of_so_many_minutes() -> None:
    plan = Plan(people=100, answers_each=30).by_rule(RULE)
    for minutes in (2, 3, 5, 12):
        fitted = plan.for_minutes(minutes)
        assert fitted.minutes == minutes
        assert replace(fitted, answers_each=fitted.answers_each + 1).minutes > minutes
        assert fitted.budget >= plan.budget
    with pytest.raises(InvalidProblem, match="leave no time"):
        plan.for_minutes(1.25)


def test_a_bonus_and_a_return_are_a_click_each(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with paid_study(collection, tmp_path / "a.db", monkeypatch) as paid:
        ann, there = paid.come()
        ann.arrive()
        (person,) = paid.store.people(STUDY)
        http = paid.server.organizer()
        root = f"/api/organize/{STUDY}/recruiting"
        assert (
            http.post(
                f"{root}/bonus", json={"who": person.pseudonym, "cents": 150, "id": "planned-bonus-0001"}
            ).status_code
            == 200
        )
        paid.settle()
        assert there.bonuses == [150]
        assert http.get(f"/api/organize/{STUDY}").json()["recruiting"]["may_return"] == []
        paid.store.change(STUDY, person.pseudonym, failed=1)
        paid.loop.desk.look()
        assert http.get(f"/api/organize/{STUDY}").json()["recruiting"]["may_return"] == [person.pseudonym]
        assert http.post(f"{root}/return", json={"who": person.pseudonym}).status_code == 200
        assert there.return_requested is not None
