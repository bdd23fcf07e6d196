"""Panels where we count the places: never more inside or finished than there are, and nobody inside turned away."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.crowd.collection import Collection
from handful.crowd.registry import StudyPlan
from handful.recruit.ledger import Store
from handful.recruit.panel import Identity, panel
from handful.recruit.plan import Plan
from handful.recruit.recruitment import Recruitment
from tests.crowd.clients import STUDY, started
from tests.recruit.arrivals import QUICK, Visitor


def recruit(storage: Path, places: int, answers_each: int = 2) -> None:
    made = panel(id="pid", done="https://x.example/ok", full="https://x.example/full", places=places)
    Store(storage).keep(Recruitment(STUDY, made, Plan(people=places, answers_each=answers_each)))


def test_arrivals_at_once_never_take_more_places_than_there_are(storage: Path) -> None:
    rush(Store(storage))


def test_arrivals_at_once_never_take_more_places_on_postgresql(postgres_url: str) -> None:
    Study(range(6), 2, feedback=Preferences(), budget=200, storage=postgres_url, name="venice").close()
    store = Store(postgres_url)
    rush(store)
    store.keep(Recruitment("venice", panel(id="pid"), Plan()))
    assert store.recruitment("venice") == Recruitment("venice", panel(id="pid"), Plan())
    (number,) = store.write_down("venice", "bonus", [("w1", 150)], sent=False)
    with store.wallet("venice"):
        store.mark_sent([number], "list")
        assert [entry.unknown for entry in store.entries("venice")] == [True]
        store.settle([number], "done")
    assert [entry.outcome for entry in store.entries("venice")] == ["done"]


def rush(store: Store) -> None:
    """Sixty come at once for twelve places."""
    inside = list[str]()
    turn = threading.Lock()

    def arrive(number: int) -> None:
        person, _ = store.arrive("venice", Identity(f"p{number}"), True, places=12)
        if person is not None:
            with turn:
                inside.append(person.pseudonym)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(arrive, range(60)))
    assert len(inside) == 12 == store.taken("venice")
    store.change("venice", inside[0], outcome="timed_out")
    store.change("venice", inside[1], outcome="finished")
    again, _ = store.arrive("venice", Identity("late"), True, places=12)
    assert again is not None  # the place of who timed out is free; that of who finished is not
    assert store.arrive("venice", Identity("later"), True, places=12) == (None, False)


def test_a_person_in_another_visit_is_the_same_worker_and_takes_no_other_place(storage: Path) -> None:
    store = Store(storage)
    first, new = store.arrive("venice", Identity("ann", "s1"), True, places=1)
    again, also_new = store.arrive("venice", Identity("ann", "s2"), True, places=1)
    assert first is not None
    assert again is not None
    assert (again.pseudonym, again.who.session, new, also_new) == (first.pseudonym, "s2", True, False)
    store.change("venice", first.pseudonym, outcome="timed_out")
    assert store.arrive("venice", Identity("bob", "s3"), True, places=1)[0] is not None
    assert store.arrive("venice", Identity("ann", "s4"), True, places=1) == (None, False)
    assert store.taken("venice") == 1
    doubtful, _ = store.arrive("venice", Identity("bob", "s5"), None)
    assert doubtful is not None
    assert doubtful.verified is None  # whoever only says so is nobody else's worker
    assert len(store.people("venice")) == 3
    forged, _ = store.arrive("venice", Identity("eve", "made up"), None)
    genuine, _ = store.arrive("venice", Identity("eve", "s6"), True)
    assert forged is not None
    assert genuine is not None
    assert genuine.pseudonym != forged.pseudonym  # nor does anybody go on as whoever said so before them


def crowd_of(collection: Collection, storage: Path, people: int, places: int, seconds: float) -> dict[str, int]:
    """So many arrive within the seconds, over HTTP; what became of them."""
    study = StudyPlan(k=3, explorer="topx", budget=4 * places, in_flight=200)
    counts: dict[str, int] = {}
    most, turn = 0, threading.Lock()
    with started(collection, study, QUICK, storage=storage) as server:
        recruit(storage, places)
        server.registry.look_for_recruiting()
        desk = server.registry.panels[STUDY].desk
        began = time.monotonic()

        def visit(number: int) -> None:
            nonlocal most
            time.sleep(max(0.0, began + seconds * number / people - time.monotonic()))
            browser = server.browser()
            visitor = Visitor(browser, {"pid": f"person{number}"}, {})
            arrived = visitor.arrive()
            said = arrived["ending"]["outcome"] if arrived["ending"] else arrived["state"]
            if said == "inside":
                visitor.join()
                while visitor.work["ending"] is None:
                    if visitor.work["questions"]:
                        visitor.answer()
                    else:
                        time.sleep(0.05)
                        visitor.next()
                said = visitor.work["ending"]["outcome"]
            with turn:
                counts[said] = counts.get(said, 0) + 1
                holding = sum(p.outcome in (None, "finished", "not_admitted") for p in desk.people())
                most = max(most, holding)

        with ThreadPoolExecutor(48) as pool:
            list(pool.map(visit, range(people)))
    return {**counts, "most": most}


def test_everybody_inside_gets_to_the_end_and_the_others_are_told_at_the_door(
    collection: Collection, tmp_path: Path
) -> None:
    counts = crowd_of(collection, tmp_path / "a.db", people=60, places=12, seconds=1.0)
    assert counts == {"finished": 12, "full": 48, "most": 12}


@pytest.mark.slow
def test_a_thousand_arrivals_in_a_minute_for_120_places(collection: Collection, tmp_path: Path) -> None:
    counts = crowd_of(collection, tmp_path / "a.db", people=1000, places=120, seconds=60.0)
    assert counts == {"finished": 120, "full": 880, "most": 120}


def test_a_form_may_be_posted_to_the_panels_own_address_and_nowhere_else(
    collection: Collection, tmp_path: Path
) -> None:
    study = StudyPlan(k=3, explorer="topx", budget=60, in_flight=20)
    with started(collection, study, QUICK, storage=tmp_path / "a.db") as server:
        browser = server.browser()
        assert "form-action 'self';" in browser.get(f"/s/{STUDY}").headers["content-security-policy"]
        made = panel(id="workerId", session="assignmentId", post="https://market.example/mturk/externalSubmit")
        Store(tmp_path / "a.db").keep(Recruitment(STUDY, made, Plan(answers_each=1)))
        server.registry.look_for_recruiting()
        policy = browser.get(f"/s/{STUDY}").headers["content-security-policy"]
        assert "form-action 'self' https://market.example;" in policy
        visitor = Visitor(browser, {"workerId": "W1", "assignmentId": "A1", "turkSubmitTo": "https://evil.example"}, {})
        visitor.arrive()
        visitor.join()
        ending = visitor.answer_all()
    assert ending["address"] == "https://market.example/mturk/externalSubmit"
    assert ending["post"] == {"assignmentId": "A1", "code": "finished"}


def test_somebody_silent_for_too_long_frees_the_place_and_may_come_back_while_there_is_room(
    collection: Collection, tmp_path: Path
) -> None:
    class Clock:
        later = 0.0

        def __call__(self) -> float:
            return time.time() + self.later

    clock, study = Clock(), StudyPlan(k=3, explorer="topx", budget=60, in_flight=20)
    with started(collection, study, QUICK, storage=tmp_path / "a.db", clock=clock) as server:
        recruit(tmp_path / "a.db", places=1)
        server.registry.look_for_recruiting()
        loop = server.registry.panels[STUDY]
        ann, bob = (Visitor(server.browser(), {"pid": name}, {}) for name in ("ann", "bob"))
        assert ann.arrive()["state"] == "inside"
        assert bob.arrive()["ending"]["outcome"] == "full"
        clock.later += 3600
        loop.once()
        assert ann.arrive()["state"] == "inside"  # still room
        clock.later += 3600
        loop.once()
        assert bob.arrive()["state"] == "inside"
        assert ann.arrive()["ending"]["outcome"] == "timed_out"
