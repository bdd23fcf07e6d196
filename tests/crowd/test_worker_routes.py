"""What a worker meets: pairs, retries, undo, skip, reloads, two tabs, pauses and the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Rate, ServerLimits, Settings
from tests.crowd.clients import PATIENCE_S, PLAN, STUDY, Started

Serve = Callable[..., Started]
UNHURRIED = Settings(limits=ServerLimits.none())


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def told(server: Started) -> list[tuple[str, bool]]:
    """Every answer that the journal holds: question and what was preferred."""
    study = server.registry.studies[STUDY].study
    return [(f"q{e.question}", bool(e.answer)) for _, e in study.journal() if e.kind == "told"]  # type: ignore[union-attr]


def test_anybody_with_the_link_may_read_what_it_is_about(serve: Serve) -> None:
    about = httpx.get(serve().url + f"/api/s/{STUDY}", timeout=PATIENCE_S).json()
    assert about["theme"] == "Cathedrals in Venice"
    assert (about["k"], about["items"], about["state"], about["joined"]) == (3, 8, "open", False)


def test_joining_gives_a_cookie_that_scripts_cannot_read_and_two_questions(serve: Serve) -> None:
    person = serve().person(joined=False)
    response = person.join()
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert f"Path=/api/s/{STUDY}" in cookie
    work = response.json()
    assert work["state"] == "questions"
    assert len(work["questions"]) == 2
    assert work["questions"][0]["left"]["image"] != work["questions"][0]["right"]["image"]


def test_consent_and_practice_are_kept_in_the_journal(serve: Serve) -> None:
    server = serve()
    person = server.person(joined=False)
    assert person.post("join", {"consent": False}).json()["error"] == "no_consent"
    person.post("join", {"consent": True, "practice": ["apple", "red-apple"]})
    noted = [
        e.data for _, e in server.registry.studies[STUDY].study.journal() if e.kind == "noted" and e.topic == "joined"
    ]  # type: ignore[union-attr]
    assert [(one["consent"], one["practice"]) for one in noted] == [(True, {"correct": 1, "of": 2})]


def test_joining_again_changes_nothing(serve: Serve) -> None:
    person = serve().person()
    again = person.join()
    assert "set-cookie" not in again.headers
    assert again.json()["questions"] == person.work["questions"]


def test_the_pictures_of_a_question_can_be_fetched_and_kept(serve: Serve) -> None:
    person = serve().person()
    picture = person.http.get(person.work["questions"][0]["left"]["image"])
    assert picture.headers["content-type"] == "image/webp"
    assert "immutable" in picture.headers["cache-control"]


def test_an_answer_is_in_the_journal_when_it_is_acknowledged_and_brings_the_next_question(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    person = server.person()
    first, second = (question["token"] for question in person.work["questions"])
    work = person.answer("left", ms=900)
    assert len(told(server)) == 1
    assert work["answer"] == {"token": first, "side": "left", "option": None, "repeated": False}
    assert work["questions"][0]["token"] == second
    assert len(work["questions"]) == 2
    assert work["progress"]["answered"] == 1


def test_left_means_the_item_that_was_shown_on_the_left(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    person = server.person()
    hosted = server.registry.studies[STUDY]
    shown, preferred = {}, {}
    for number in range(20):
        question = person.work["questions"][0]
        side = ("left", "right")[number % 2]
        shown[number] = question[side]["image"]
        person.answer(side)
    asked = {e.question: e for _, e in hosted.study.journal() if e.kind == "asked"}
    for number, (_, event) in enumerate((t, e) for t, e in hosted.study.journal() if e.kind == "told"):
        pair = asked[event.question]  # type: ignore[union-attr]
        winner = hosted.collection.items[pair.item if event.answer else pair.rival]  # type: ignore[union-attr]
        preferred[number] = f"/items/{winner.picture}.webp"
    assert preferred == shown


def test_the_side_is_logged_with_every_answer(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    person = server.person()
    for _ in range(10):
        person.answer("right", ms=321)
    metas = [e.meta for _, e in server.registry.studies[STUDY].study.journal() if e.kind == "told"]  # type: ignore[union-attr]
    assert {(meta["side"], meta["ms"]) for meta in metas} == {("right", 321)}
    assert {meta["item_side"] for meta in metas} == {"left", "right"}


def test_a_retried_answer_counts_once_and_tells_what_is_stored(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    person = server.person()
    token = person.token
    first = person.post("answer", {"token": token, "side": "left"}).json()
    for side in ("left", "right", "left"):
        again = person.post("answer", {"token": token, "side": side}).json()
        assert again["answer"] == {"token": token, "side": "left", "option": None, "repeated": True}
        assert again["questions"] == first["questions"]
    assert len(told(server)) == 1


def test_a_reload_and_a_second_tab_show_the_same_question(serve: Serve) -> None:
    person = serve().person()
    before = person.work["questions"]
    assert person.next()["questions"] == before
    assert person.next()["questions"] == before
    token = person.token
    person.answer()
    other_tab = person.post("answer", {"token": token, "side": "left"}).json()
    assert other_tab["answer"]["repeated"]
    assert other_tab["questions"] == person.work["questions"]


def test_two_tabs_that_answer_at_the_same_moment_give_one_answer(serve: Serve, tmp_path: Path) -> None:
    server = serve(settings=UNHURRIED, storage=tmp_path / "s.db")
    person, study = server.person(), server.registry.studies[STUDY].study
    body = {"token": person.token, "side": "left"}
    cookies = dict(person.http.cookies)
    replies: list[httpx.Response] = []

    def answer() -> None:
        replies.append(httpx.post(f"{server.url}/api/s/{STUDY}/answer", json=body, cookies=cookies, timeout=PATIENCE_S))

    tabs = [threading.Thread(target=answer) for _ in range(8)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert [reply.status_code for reply in replies] == [200] * 8
    assert sum(not reply.json()["answer"]["repeated"] for reply in replies) == 1
    assert study.status().answers == 1


def test_an_answer_can_be_undone_for_a_moment(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    person = server.person()
    token = person.token
    work = person.answer("left")
    assert work["undo"]["token"] == token
    changed = person.post("undo", {"token": token, "side": "right"}).json()
    assert changed["answer"]["side"] == "right"
    assert changed["questions"] == work["questions"]
    repeated = person.post("answer", {"token": token, "side": "left"}).json()
    assert repeated["answer"]["side"] == "right"


def test_to_undo_an_answer_gives_no_more_time_to_undo_it_again(serve: Serve) -> None:
    clock = Clock()
    person = serve(settings=Settings(undo_s=5, redo_s=5), clock=clock).person()
    token = person.token
    offer = person.answer("left")["undo"]
    assert (offer["seconds"], offer["choose_s"]) == (5, 10)
    clock.now += 4
    offer = person.post("undo", {"token": token, "side": "right"}).json()["undo"]
    assert (offer["seconds"], offer["choose_s"]) == (1, 6)
    clock.now += 7
    assert person.next()["undo"] is None
    assert person.post("undo", {"token": token, "side": "left"}).json()["error"] == "too_late"


def test_an_answer_before_the_last_can_no_longer_be_undone(serve: Serve) -> None:
    person = serve(settings=UNHURRIED).person()
    token = person.token
    person.answer()
    person.answer()
    refused = person.post("undo", {"token": token, "side": "right"})
    assert (refused.status_code, refused.json()["error"]) == (409, "too_late")


def test_after_a_while_an_answer_stands_although_its_worker_left(serve: Serve) -> None:
    clock = Clock()
    server = serve(settings=Settings(undo_s=5, redo_s=5), clock=clock)
    person = server.person()
    token = person.token
    person.answer()
    hosted = server.registry.studies[STUDY]
    assert hosted.study.status().provisional == 1
    clock.now += 11
    deadline = time.monotonic() + PATIENCE_S
    while hosted.study.status().provisional and time.monotonic() < deadline:
        time.sleep(0.05)
    assert hosted.study.status().provisional == 0
    assert person.post("undo", {"token": token, "side": "right"}).json()["error"] == "too_late"


def test_a_skipped_question_goes_to_somebody_else(serve: Serve) -> None:
    server = serve(StudyPlan(k=3, explorer="topx", budget=60, in_flight=4))
    first = server.person()
    skipped = first.work["questions"][0]
    work = first.post("skip", {"token": skipped["token"], "reason": "unsure"}).json()
    assert skipped["token"] not in [question["token"] for question in work["questions"]]
    second = server.person()
    images = {skipped["left"]["image"], skipped["right"]["image"]}
    assert {second.work["questions"][0][side]["image"] for side in ("left", "right")} == images
    assert second.token != skipped["token"]


def test_skipping_twice_is_skipping_once(serve: Serve) -> None:
    server = serve()
    person = server.person()
    body = {"token": person.token, "reason": "other"}
    assert person.post("skip", body).status_code == 200
    assert person.post("skip", body).status_code == 200
    assert [e.kind for _, e in server.registry.studies[STUDY].study.journal()].count("skipped") == 1


def test_a_question_whose_worker_left_is_asked_of_somebody_else_and_a_late_answer_changes_nothing(serve: Serve) -> None:
    clock = Clock()
    server = serve(StudyPlan(k=3, explorer="topx", budget=60, in_flight=1, lease_s=60), clock=clock)
    gone = server.person()
    token = gone.token
    waiting = server.person()
    assert waiting.work["state"] == "waiting"
    clock.now += 61
    assert waiting.next()["state"] == "questions"
    waiting.answer("left")
    late = gone.post("answer", {"token": token, "side": "left"}).json()
    assert late["answer"]["repeated"]
    assert len(told(server)) == 1


def test_whoever_waits_is_told_as_soon_as_a_question_that_was_left_behind_is_free(serve: Serve) -> None:
    clock = Clock()
    server = serve(StudyPlan(k=3, explorer="topx", budget=60, in_flight=1, lease_s=60), clock=clock)
    server.person()
    waiting = server.person()
    assert waiting.work["state"] == "waiting"
    with httpx.stream("GET", f"{server.url}/api/s/{STUDY}/events", timeout=30) as stream:
        names = (line for line in stream.iter_lines() if line.startswith("event:"))
        assert next(names) == "event: work"
        time.sleep(1)  # whatever else has happened is told by now
        clock.now += 61
        began = time.monotonic()
        assert next(names) == "event: work"
    assert time.monotonic() - began < 10
    assert waiting.next()["state"] == "questions"


def test_an_answer_after_the_lease_still_counts_when_nobody_was_faster(serve: Serve) -> None:
    clock = Clock()
    server = serve(StudyPlan(k=3, explorer="topx", budget=60, in_flight=1, lease_s=60), clock=clock)
    person = server.person()
    clock.now += 1000
    assert not person.answer()["answer"]["repeated"]


def test_too_many_workers_wait_and_are_told_when_there_is_work(serve: Serve) -> None:
    server = serve(StudyPlan(k=3, explorer="topx", budget=60, in_flight=1), Settings(undo_s=0, redo_s=0))
    busy, waiting = server.person(), server.person()
    assert waiting.work["state"] == "waiting"
    with httpx.stream("GET", f"{server.url}/api/s/{STUDY}/events", timeout=20) as stream:
        names = (line for line in stream.iter_lines() if line.startswith("event:"))
        assert next(names) == "event: work"
        busy.post("skip", {"token": busy.token, "reason": "unsure"})
        assert next(names) == "event: work"


def test_a_paused_study_shows_nothing_takes_answers_and_goes_on(serve: Serve) -> None:
    server = serve()
    person = server.person()
    token = person.token
    organizer = server.organizer()
    organizer.post(f"/api/organize/{STUDY}/pause")
    resting = {"state": "paused", "questions": [], "progress": None, "undo": None, "ending": None}
    resting |= {"wait_s": 0.0, "verifying": False}
    assert person.next() | {"progress": None} == resting
    assert person.post("answer", {"token": token, "side": "left"}).json()["state"] == "paused"
    assert len(told(server)) == 1
    organizer.post(f"/api/organize/{STUDY}/open")
    assert person.next()["state"] == "questions"


@pytest.mark.parametrize("explorer", ["topx", "duels"])
def test_a_whole_study_ends_with_all_items_chosen(serve: Serve, explorer: str) -> None:
    server = serve(StudyPlan(k=3, explorer=explorer, options=2, budget=60, in_flight=4), UNHURRIED)
    person = server.person()
    while person.work["state"] == "questions":
        person.answer()
    assert person.work["state"] == "finished"
    assert person.work["progress"]["chosen"] == 3
    assert person.work["progress"]["answers"] == 60
    assert person.next()["state"] == "finished"


def test_the_rounds_so_far_are_shown_with_each_question(serve: Serve) -> None:
    server = serve(StudyPlan(k=3, explorer="topx", budget=30, in_flight=2), UNHURRIED)
    person = server.person()
    while person.work["state"] == "questions" and person.work["questions"][0]["round"] < 3:
        person.answer()
    question = person.work["questions"][0]
    chosen = server.registry.studies[STUDY].study.result().chosen
    hosted = server.registry.studies[STUDY]
    assert [card["image"] for card in question["chosen"]] == [
        f"/items/{hosted.collection[id_].picture}.webp" for id_ in chosen
    ]
    assert len(chosen) == 2


def test_an_answer_after_the_end_is_refused_but_a_retry_is_not(serve: Serve) -> None:
    server = serve()
    person = server.person()
    first, second = (question["token"] for question in person.work["questions"])
    person.answer()
    server.organizer().post(f"/api/organize/{STUDY}/close")
    assert person.post("answer", {"token": first, "side": "left"}).json()["answer"]["repeated"]
    refused = person.post("answer", {"token": second, "side": "left"})
    assert (refused.status_code, refused.json()["error"]) == (409, "closed")


def test_an_excluded_worker_gets_no_more_questions_until_restored(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    person = server.person()
    person.answer()
    worker = server.registry.studies[STUDY].study.state.workers.names[0]
    organizer = server.organizer()
    organizer.post(f"/api/organize/{STUDY}/exclude", json={"worker": worker})
    assert person.next()["state"] == "finished"
    organizer.post(f"/api/organize/{STUDY}/restore", json={"worker": worker})
    assert person.next()["state"] == "questions"


def test_who_is_too_fast_is_asked_to_wait(serve: Serve) -> None:
    person = serve(settings=Settings(limits=ServerLimits(worker=Rate(1, 3)))).person()
    for _ in range(3):
        person.next()
    refused = person.http.get(f"/api/s/{STUDY}/next")
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"


def test_several_themes_are_asked_side_by_side(serve: Serve) -> None:
    server = serve(themes=("Cathedrals in Venice", "Boats", "¡Qué bonito!"))
    studies = httpx.get(server.url + "/api/studies", timeout=PATIENCE_S).json()
    assert [one["study"] for one in studies] == [STUDY, "boats", "que-bonito"]
    server.person("boats").answer()
    assert server.registry.studies["boats"].study.status().answers == 1
    assert server.registry.studies[STUDY].study.status().answers == 0


def test_with_many_workers_only_the_question_at_hand_is_handed_out(serve: Serve) -> None:
    server = serve(PLAN, UNHURRIED)
    hosted = server.registry.studies[STUDY]
    people = []
    for _ in range(12):
        people.append(server.person())
        hosted.refresh_status()
    assert [len(person.work["questions"]) for person in people] == [2] * 6 + [1] * 6


def test_there_are_enough_answers_when_the_budget_is_given_and_none_counts_twice(serve: Serve) -> None:
    plan = StudyPlan(k=1, explorer="topx", budget=10, in_flight=20)
    server = serve(plan, Settings(undo_s=60, redo_s=0))
    hosted, people = server.registry.studies[STUDY], [server.person() for _ in range(5)]
    for person in people:
        person.answer()
    state = hosted.study.state
    assert (state.answers, len(state.provisional)) == (5, 5), "all of them can still be undone"
    assert [person.next()["progress"]["enough"] for person in people] == [False] * 5
    assert "(5 answers so far)" in server.organizer().get(f"/api/organize/{STUDY}/words").json()["fixed"]["question"]
    for person in people:
        person.answer()
    assert state.answers == 10
    assert people[0].next()["progress"]["enough"]
