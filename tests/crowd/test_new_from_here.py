"""A new study from an earlier one: the picks so far are chosen from its start, with any items, old and new."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from handful.crowd.drafts import Drafts
from handful.crowd.intake import ingest
from handful.crowd.messages import DraftSettings
from handful.crowd.plan import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from handful.rules import Checks, Door, Rule
from tests.crowd.clients import STUDY, Started
from tests.crowd.pictures import drawn, encoded, folder_of
from tests.crowd.test_setup_routes import opened, prepared, send

Serve = Callable[..., Started]
HERE = f"/api/organize/{STUDY}"
QUICK = Settings(undo_s=0, redo_s=0, limits=ServerLimits.none(), question="Which one?")


@pytest.fixture
def finished(serve: Serve, tmp_path: Path) -> tuple[Started, httpx.Client]:
    items = ingest(folder_of(8, tmp_path / "photos"), tmp_path / "a.db.items")
    server = serve(StudyPlan(k=2, options=2, budget=24, in_flight=4), QUICK, storage=tmp_path / "a.db", items=items)
    person = server.person()
    while person.next()["questions"]:
        person.answer()
    return server, server.organizer()


def picks_of(organizer: httpx.Client, study: str = STUDY) -> list[str]:
    told: dict[str, Any] = organizer.get(f"/api/organize/{study}").json()
    return [line["id"] for line in told["chosen"]]


def begun(organizer: httpx.Client, **said: Any) -> dict[str, Any]:
    made = organizer.post(f"{HERE}/new-study", json=said)
    assert made.status_code == 201, made.text
    told: dict[str, Any] = organizer.get(f"/api/setup/{made.json()['draft']}").json()
    return told


def test_a_new_study_begins_with_the_picks_so_far(finished: tuple[Started, httpx.Client]) -> None:
    server, organizer = finished
    picks = picks_of(organizer)
    draft = begun(organizer)
    assert (draft["state"], draft["items"], draft["carried"]) == ("ready", 8, 8)
    assert draft["settings"]["chosen"] == picks
    assert (draft["settings"]["k"], draft["settings"]["words"]["question"]) == (4, "Which one?")
    assert [card["chosen"] for card in draft["cards"][:3]] == [1, 2, None]
    study = opened(organizer, draft["draft"])
    assert picks_of(organizer, study) == picks
    work = server.person(study).work
    assert len(work["questions"][0]["chosen"]) == 2
    status = organizer.get(f"/api/organize/{study}").json()
    assert f"this study continues {STUDY}: its picks were seen before this one began" in status["circumstances"]
    assert picks_of(organizer) == picks, "the study that it came from stays as it is"


def test_old_and_new_items_can_be_mixed_and_left_out(finished: tuple[Started, httpx.Client]) -> None:
    _, organizer = finished
    picks = picks_of(organizer)
    draft = begun(organizer, items=[])
    here = f"/api/setup/{draft['draft']}"
    assert (draft["items"], draft["settings"]["k"]) == (2, 3)
    send(organizer, draft["draft"], {f"new {n}.jpg": encoded(drawn(100 + n)) for n in range(4)})
    told = prepared(organizer, draft["draft"])
    assert [card["id"] for card in told["cards"]] == [*picks, "new 0.jpg", "new 1.jpg", "new 2.jpg", "new 3.jpg"]
    left = organizer.delete(f"{here}/items/new 1.jpg").json()
    assert (left["items"], left["left_out"]) == (5, [{"name": "new 1.jpg", "why": "was taken out here", "files": 1}])
    assert organizer.delete(f"{here}/items/{picks[0]}").json()["settings"]["chosen"] == picks[1:]
    assert organizer.delete(f"{here}/items/nothing").status_code == 404
    study = opened(organizer, draft["draft"])
    assert len(organizer.get(f"/api/organize/{study}").json()["items"]) == 3


def test_an_item_that_was_taken_out_does_not_come_back_under_another_name(
    finished: tuple[Started, httpx.Client], tmp_path: Path
) -> None:
    _, organizer = finished
    draft = begun(organizer)["draft"]
    first, second = sorted(path.name for path in (tmp_path / "photos").iterdir())[:2]
    same, new = (tmp_path / "photos" / first).read_bytes(), encoded(drawn(100))
    send(organizer, draft, {"z.jpg": same, second: new, "zz.jpg": new})
    told = prepared(organizer, draft)
    assert {line["name"]: line["why"] for line in told["left_out"]} == {
        "z.jpg": f"is the same as {first}",
        "zz.jpg": f"is the same as {second} (2)",
    }
    for name in (first, second):
        assert organizer.delete(f"/api/setup/{draft}/items/{name}").status_code == 200
    send(organizer, draft, {"other.jpg": encoded(drawn(101))})
    told = prepared(organizer, draft)
    assert told["items"] == 8, "six of the eight, and the two new ones"
    assert "z.jpg" not in {card["id"] for card in told["cards"]}


def test_what_the_study_does_not_have_cannot_be_taken(finished: tuple[Started, httpx.Client]) -> None:
    server, organizer = finished
    for said in ({"items": ["nothing.jpg"]}, {"chosen": ["nothing.jpg"]}, {"items": [], "chosen": []}):
        assert organizer.post(f"{HERE}/new-study", json=said).status_code == 409
    assert list(server.registry.drafts) == []


def test_how_sure_a_round_must_be_is_taken_over(serve: Serve, tmp_path: Path) -> None:
    items = ingest(folder_of(8, tmp_path / "photos"), tmp_path / "a.db.items")
    server = serve(StudyPlan(k=2, sure=0.9, budget=60), QUICK, storage=tmp_path / "a.db", items=items)
    told = begun(server.organizer(), chosen=[])["settings"]
    assert (told["explorer"], told["sure"]) == (None, 0.9)


@pytest.mark.parametrize(
    "plan",
    [
        StudyPlan(k=2, explorer="duels:sure=0.9995", budget=60),
        StudyPlan(k=2, explorer="duels:sure=0.99999999", budget=60),
        StudyPlan(k=2, explorer="topx", epsilon=1e-7, delta=1e-9, budget=60),
    ],
)
def test_numbers_beyond_what_a_page_can_send_are_taken_over(serve: Serve, tmp_path: Path, plan: StudyPlan) -> None:
    items = ingest(folder_of(8, tmp_path / "photos"), tmp_path / "a.db.items")
    server = serve(plan, QUICK, storage=tmp_path / "a.db", items=items)
    organizer = server.organizer()
    study = opened(organizer, begun(organizer, chosen=[])["draft"])
    before, after = (server.registry.studies[name].study.setup for name in (STUDY, study))
    assert after.explorer == before.explorer
    assert (after.problem.epsilon, after.problem.delta) == (before.problem.epsilon, before.problem.delta)


def test_the_rule_the_door_and_the_claim_are_taken_over_and_told(serve: Serve, tmp_path: Path) -> None:
    items = ingest(folder_of(8, tmp_path / "photos"), tmp_path / "a.db.items")
    rule, door = Rule(checks=Checks(5), share=0.5), Door(ipv4=16, ipv6=40, share=0.25)
    plan = StudyPlan(k=2, explorer="topx", epsilon=0.3, delta=0.01, budget=60, rule=rule, door=door)
    server = serve(plan, QUICK, storage=tmp_path / "a.db", items=items)
    organizer = server.organizer()
    draft = begun(organizer, chosen=[])
    here = f"/api/setup/{draft['draft']}"
    assert "IPv4 /16 and IPv6 /40 with 25%" in draft["inherited"]
    filled = {name: draft["settings"][name] for name in ("rule", "epsilon", "delta")}
    assert filled == {"rule": rule.to_dict(), "epsilon": 0.3, "delta": 0.01}
    kept = organizer.patch(here, json={**draft["settings"], "theme": "Another theme"}).json()
    assert kept["inherited"] == draft["inherited"], "whatever else is changed"
    drafts = Drafts(server.registry.folder)
    assert next(iter(drafts)).plan == server.registry.drafts.get(draft["draft"]).plan, "also after a restart"
    other = organizer.patch(here, json={**draft["settings"], "door": "room", "rule": None}).json()
    assert "IPv4" not in other["inherited"]
    assert server.registry.drafts.get(draft["draft"]).plan.rule == Rule(), "an emptied field is the standard rule"
    organizer.patch(here, json={**draft["settings"], "theme": "Another theme"})
    study = opened(organizer, draft["draft"])
    setup = server.registry.studies[study].study.setup
    assert (setup.rule, setup.door) == (rule, door)
    assert (setup.problem.epsilon, setup.problem.delta) == (0.3, 0.01)


def test_thousands_of_items_can_be_named(finished: tuple[Started, httpx.Client]) -> None:
    _, organizer = finished
    names = [f"picture {n}.jpg" for n in range(8_000)]
    refused = organizer.post(f"{HERE}/new-study", json={"items": names})
    assert (refused.status_code, refused.json()["error"]) == (409, "not_possible"), "read, and found not to be there"


def test_dying_while_items_are_copied_leaves_no_draft(
    finished: tuple[Started, httpx.Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _ = finished
    collection, folder = server.registry.studies[STUDY].collection, server.registry.folder
    links = iter(range(3))

    def dying(*_: Any) -> None:
        if next(links, None) is None:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", dying)
    with pytest.raises(KeyboardInterrupt):
        Drafts(folder).new_from(DraftSettings(), 0.0, collection, set(collection.ids))
    again = Drafts(folder)
    assert list(again) == []
    again.forget_unfinished()
    assert [path.name for path in folder.iterdir() if path.is_dir()] == []
