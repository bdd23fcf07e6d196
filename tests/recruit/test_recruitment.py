"""What the organizer does on the panel's own page, step by step; from the command line and on the organizer's page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from handful.crowd.collection import Collection
from handful.crowd.registry import StudyPlan
from handful.errors import InvalidProblem
from handful.recruit.ledger import Store
from handful.recruit.panel import Identity, panel
from handful.recruit.plan import Plan, money
from handful.recruit.recruitment import Recruitment, on_prolific
from handful.rules import Admission, Checks, Rule
from tests.crowd.clients import STUDY, started
from tests.fakes.prolific import FakeProlific
from tests.recruit.arrivals import ADDRESS, QUICK, Visitor, pasted

RULE = Rule(Admission(2, 3, 3), Checks(every=10), (), 1.0)
CHECKED = StudyPlan(k=3, explorer="topx", budget=600, in_flight=20, rule=RULE)
ROOT = f"/api/organize/{STUDY}/recruiting"


def test_the_steps_on_prolific_name_the_link_the_codes_and_the_numbers() -> None:
    plan = Plan(people=40, answers_each=30, checks=5)
    made = on_prolific("venice", ADDRESS, plan)
    typed = [step.paste for step in made.steps() if step.paste is not None]
    link = urlsplit(typed[0])
    assert f"{link.scheme}://{link.netloc}{link.path}" == ADDRESS
    assert parse_qs(link.query) == {name: ["{{%" + name + "%}}"] for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")}
    assert typed[1:3] == [made.codes["finished"], made.codes["refused"]]
    assert typed[3:] == ["40", "5", "17", money(plan.reward)]
    assert made == Recruitment.from_json(made.to_json())


def test_each_outcome_carries_the_code_that_was_pasted() -> None:
    made, who = on_prolific("venice", ADDRESS, Plan()), Identity("a", "b", "c")
    finished, refused, outside = (
        made.panel.ending(outcome, who, b"").address for outcome in ("finished", "refused", "not_admitted")
    )
    assert finished == outside  # who is not admitted is paid like all others
    for purpose, address in (("finished", finished), ("refused", refused)):
        assert parse_qs(urlsplit(str(address)).query) == {"cc": [made.codes[purpose]]}
    assert made.panel.ending("full", who, b"").address is None


@pytest.mark.parametrize("address", ["http://photos.example.org/s/x", "https://localhost/s/x", "https://x.org/s?a=1"])
def test_an_address_that_people_cannot_open_is_refused(address: str) -> None:
    with pytest.raises(InvalidProblem, match="public https|plain address"):
        on_prolific("venice", address, Plan())


def test_the_steps_on_any_other_panel_name_its_parameters() -> None:
    made = Recruitment(
        "venice", panel(id="pid", session="sid", code="SAME", places=3), address="https://x.org/s/venice"
    )
    typed = [step.paste for step in made.steps() if step.paste is not None]
    assert typed[:3] == ["https://x.org/s/venice?pid=…&sid=…", "SAME", "3"]


@pytest.fixture
def fake(fake: FakeProlific, monkeypatch: pytest.MonkeyPatch) -> FakeProlific:
    monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
    monkeypatch.setenv("PROLIFIC_URL", fake.url)
    return fake


@pytest.fixture
def organizer(collection: Collection, tmp_path: Path, fake: FakeProlific) -> Iterator[httpx.Client]:
    with started(collection, CHECKED, QUICK, storage=tmp_path / "a.db") as server:
        yield server.organizer()


def test_a_plan_follows_from_the_study_and_its_rule_where_nothing_is_said(
    organizer: httpx.Client, fake: FakeProlific, tmp_path: Path
) -> None:
    told = organizer.post(f"{ROOT}/prolific", json={"address": ADDRESS}).json()
    kept = Store(tmp_path / "a.db").recruitment(STUDY)
    assert kept is not None
    assert (kept.plan.people, kept.plan.answers_each, kept.plan.checks_each, kept.plan.minutes) == (20, 30, 6, 5)
    assert "6 checks each" in told["plan"]
    assert [step["paste"] for step in told["steps"]] == [step.paste for step in kept.steps()]
    assert organizer.post(f"{ROOT}/prolific", json={"address": ADDRESS}).json()["steps"] == told["steps"]
    assert fake.calls == []  # the organizer makes the study there


def test_what_makes_no_sense_is_refused_in_words(organizer: httpx.Client) -> None:
    for said, why in (
        ({"address": "http://x.org/s/x"}, "public https"),
        ({"address": ADDRESS, "per_hour": 1}, "below the platform's minimum"),
    ):
        reply = organizer.post(f"{ROOT}/prolific", json=said)
        assert (reply.status_code, why in reply.json()["message"]) == (409, True)


def test_the_first_who_comes_from_the_study_made_by_hand_is_verified_answers_and_is_paid(
    collection: Collection, fake: FakeProlific, tmp_path: Path
) -> None:
    unchecked = StudyPlan(k=3, explorer="topx", budget=120, in_flight=20)
    with started(collection, unchecked, QUICK, storage=tmp_path / "a.db") as server:
        http, plan = server.organizer(), {"address": ADDRESS, "people": 20, "answers_each": 2}
        assert http.post(f"{ROOT}/prolific", json=plan).status_code == 200
        made = Store(tmp_path / "a.db").recruitment(STUDY)
        assert made is not None
        there = fake.platform.take_place(fake.platform.publish(pasted(made)).id)
        assert there is not None
        query = parse_qs(urlsplit(fake.platform.address(there)).query)
        ann = Visitor(server.browser(), {name: values[0] for name, values in query.items()}, {})
        assert ann.arrive()["state"] == "inside"
        server.registry.panels[STUDY].once()
        ann.join()
        assert not ann.work["verifying"]
        ending = ann.answer_all()
        fake.platform.come_back(there, parse_qs(urlsplit(ending["address"]).query)["cc"][0])
        for _ in range(2):
            told = http.post(f"{ROOT}/reconcile").json()
    assert there.status == "APPROVED"
    assert (told["paid"], told["people"]) == (made.plan.reward, {"paid": 1})
