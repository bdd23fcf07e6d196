"""People of a hosted study: known by a table outside the journal, let in by its door, judged by its rule, forgotten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.crowd.caps import Caps
from handful.crowd.identity import known_worker, look_after, network_of, new_person
from handful.crowd.people import WITHDRAWING, Invitations, People
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Rate, ServerLimits, Settings
from handful.participation import Standstill
from handful.rules import Admission, Door, FasterThan, Rule
from tests.crowd.clients import STUDY, Started
from tests.crowd.test_worker_routes import Clock

Serve = Callable[..., Started]
OFTEN = Settings(
    undo_s=0, redo_s=0, limits=ServerLimits(worker=Rate(1e6, 1e6), address=Rate(1e6, 1e6), joining=Rate(1e6, 1e6))
)


def plan(**more: object) -> StudyPlan:
    return StudyPlan(k=3, explorer="topx", budget=60, in_flight=20, **more)  # type: ignore[arg-type]


def test_the_journals_name_for_somebody_is_random_and_the_table_knows_whose_it_is(serve: Serve, tmp_path: Path) -> None:
    server = serve(plan(), OFTEN, storage=tmp_path / "s.db")
    person = server.person()
    person.answer()
    hosted = server.registry.studies[STUDY]
    (name,) = hosted.study.state.workers.names
    cookie = person.http.cookies["handful"]
    worker = known_worker(server.registry.secret, hosted, cookie)
    assert worker is not None
    assert worker.id == name
    assert [known.pseudonym for known in People(STUDY, tmp_path / "s.db").all()] == [name]
    assert person.next()["progress"]["answered"] == 1


def test_who_is_forgotten_is_a_stranger_and_the_answers_stay(serve: Serve, tmp_path: Path) -> None:
    server = serve(plan(), OFTEN, storage=tmp_path / "s.db")
    person = server.person()
    person.answer()
    hosted = server.registry.studies[STUDY]
    (name,) = hosted.study.state.workers.names
    People(STUDY, tmp_path / "s.db").forget(name)  # by another process
    look_after(hosted)
    assert person.http.get(f"/api/s/{STUDY}/next").status_code == 401
    assert hosted.study.state.answers == 1


def test_who_withdraws_leaves_the_open_round_by_the_rule(serve: Serve, tmp_path: Path) -> None:
    server = serve(plan(rule=Rule(None, None, ())), OFTEN, storage=tmp_path / "s.db")
    person, other = server.person(), server.person()
    for _ in range(3):
        person.answer()
        other.answer()
    hosted = server.registry.studies[STUDY]
    name = hosted.study.state.workers.names[0]
    People(STUDY, tmp_path / "s.db").change(name, state=WITHDRAWING)
    look_after(hosted)
    assert hosted.study.state.workers.excludes(name)
    assert not hosted.study.state.workers.any_excluded_by_hand
    assert len(hosted.people) == 1
    assert person.post("answer", {"token": person.token, "side": "left"}).status_code == 401


def test_an_excluded_persons_tokens_die_with_them(serve: Serve) -> None:
    server = serve(plan(), OFTEN)
    person = server.person()
    person.answer()
    hosted = server.registry.studies[STUDY]
    hosted.study.exclude(hosted.study.state.workers.names[0])
    before = hosted.study.state.answers
    response = person.post("answer", {"token": person.token, "side": "left"})
    assert (response.status_code, response.json()["error"]) == (409, "not_needed")
    assert hosted.study.state.answers == before
    assert (person.next()["state"], person.work["questions"]) == ("finished", [])
    hosted.study.finish("enough")
    assert person.http.get(f"/api/s/{STUDY}/next").json()["state"] == "finished"


def test_joining_a_closed_study_writes_nothing(serve: Serve) -> None:
    server = serve(plan(), OFTEN)
    hosted = server.registry.studies[STUDY]
    hosted.study.finish()
    before = len(list(hosted.study.records()))
    assert server.person(joined=False).join().status_code == 409
    assert len(list(hosted.study.records())) == before
    assert len(hosted.people) == 0


def test_an_invitation_lets_one_browser_in(serve: Serve, tmp_path: Path) -> None:
    server = serve(plan(door=Door("invitations")), OFTEN, storage=tmp_path / "s.db")
    (_, code), (_, other) = Invitations(STUDY, tmp_path / "s.db").make(2, 0.0)

    def joined(code: str | None) -> int:
        person = server.person(joined=False)
        return person.post("join", {"consent": True, "invitation": code}).status_code

    assert [joined(None), joined("guess"), joined(code), joined(code), joined(other)] == [403, 403, 200, 403, 200]
    assert [one.state for one in Invitations(STUDY, tmp_path / "s.db").all()] == ["used", "used"]


def test_an_invitation_can_be_looked_at_without_being_used(serve: Serve, tmp_path: Path) -> None:
    server = serve(plan(door=Door("invitations")), OFTEN, storage=tmp_path / "s.db")
    kept = Invitations(STUDY, tmp_path / "s.db")
    (_, code), (number, revoked) = kept.make(2, 0.0)
    kept.revoke([number], 0.0)

    def looked(code: str | None) -> str:
        response = server.person(joined=False).post("invitation", {"invitation": code})
        return "" if response.status_code == 204 else response.json()["error"]

    assert [looked(one) for one in (None, "guess", revoked, code, code)] == [*["not_invited"] * 3, "", ""]
    assert server.person(joined=False).post("join", {"consent": True, "invitation": code}).status_code == 200
    assert looked(code) == "invitation_used"


def test_invitations_are_tried_no_faster_than_people_join(serve: Serve, tmp_path: Path) -> None:
    slow = replace(OFTEN, limits=replace(OFTEN.limits, joining=Rate(0.001, 3)))
    server = serve(plan(door=Door("invitations")), slow, storage=tmp_path / "s.db")
    person = server.person(joined=False)
    assert [person.post("invitation", {"invitation": "guess"}).status_code for _ in range(5)] == [403] * 3 + [429] * 2
    assert person.post("join", {"consent": True, "invitation": "guess"}).status_code == 429


def test_practice_is_judged_by_the_server_and_admits(serve: Serve) -> None:
    server = serve(plan(rule=Rule(Admission(2, 0, 1), None, ())), OFTEN)

    def state(practice: list[str] | None) -> str:
        person = server.person(joined=False)
        said: str = person.post("join", {"consent": True, "practice": practice}).json()["state"]
        return said

    assert state(["blur", "pear"]) == "questions"
    assert state(["blur", "blur"]) == "finished"
    nobody = server.person(joined=False).post("join", {"consent": True})
    assert (nobody.status_code, nobody.json()["error"]) == (422, "no_practice")


def test_how_long_an_answer_took_is_what_the_server_saw(serve: Serve, tmp_path: Path) -> None:
    server = serve(plan(rule=Rule(None, None, (FasterThan(500, 4),))), OFTEN, storage=tmp_path / "s.db")
    person = server.person()
    for _ in range(4):
        person.answer(ms=60_000)  # as the page says
    hosted = server.registry.studies[STUDY]
    assert hosted.study.state.workers.excludes(hosted.study.state.workers.names[0])
    assert person.work["state"] == "finished"


def test_a_network_is_as_wide_as_the_door_says() -> None:
    assert network_of("192.0.2.77", Door()) == network_of("192.0.2.5", Door()) == "192.0.2.0/24"
    assert network_of("::ffff:192.0.2.77", Door()) == "192.0.2.0/24"
    assert network_of("2001:db8:1:2::9", Door()) == "2001:db8:1::/48"
    assert network_of("192.0.2.77", Door(ipv4=32)) == "192.0.2.77/32"
    assert network_of("testclient", Door()) == "testclient"


def test_tags_are_in_the_table_and_never_in_the_journal(serve: Serve, tmp_path: Path) -> None:
    server = serve(plan(door=Door()), OFTEN, storage=tmp_path / "s.db")
    person = server.person()
    person.answer()
    (known,) = server.registry.studies[STUDY].people.all()
    assert known.network is not None
    journal = "".join(record.payload for record in server.registry.studies[STUDY].study.records())
    assert known.network.hex() not in journal
    assert "127.0.0" not in journal


def test_a_network_counts_by_the_answers_of_all_who_are_in_it() -> None:
    door = Door()
    study: Study[int] = Study(range(30), 2, feedback=Preferences(), budget=200, in_flight=20, door=door)
    caps = Caps(20, 1.0, lambda worker: worker[:1].encode())
    for network, answers in {"a": (3, 2), "b": (4,), "c": (5,)}.items():
        for person, count in enumerate(answers):
            for _ in range(count):
                (question,) = study.ask(1, f"{network}{person}")
                study.tell(question.id, True, f"{network}{person}")
    assert caps._active_networks(study.state) == 2
    (question,) = study.ask(1, "b1")
    study.tell(question.id, True, "b1")
    assert caps._active_networks(study.state) == 3


def test_somebody_may_come_while_the_members_of_their_network_are_counted() -> None:
    door = Door()
    study: Study[int] = Study(range(30), 2, feedback=Preferences(), budget=200, in_flight=20, door=door)
    caps = Caps(20, 1.0, lambda worker: worker[:1].encode())
    caps.came("a0", 0.0)
    counted = []
    for member in caps._members_of(study.state, b"a"):
        caps.came(f"{member}x", 0.0)  # as another thread does
        counted.append(member)
    assert counted == ["a0"]


@pytest.mark.parametrize("restarted", [False, True])
def test_where_the_cap_on_networks_keeps_everybody_waiting_that_is_noticed(serve: Serve, restarted: bool) -> None:
    clock = Clock()
    server = serve(plan(door=Door()), OFTEN, clock=clock)
    hosted, secret = server.registry.studies[STUDY], server.registry.secret
    people = [new_person(secret, hosted, f"10.0.{n}.1")[1] for n in range(20)]
    alone = people[0]
    for worker in people:
        hosted.caps.came(worker.id, clock())
    got = 0
    while work := hosted.work(alone).questions:
        hosted.study.tell(str(alone.question(work[0].token)), True, alone.id)
        got += 1
    assert got == 3  # of the 20 answers that the round may cost
    if restarted:  # nobody was given anything since then
        hosted.study._ask_tell.participation.standstill = Standstill()
        hosted.caps = Caps(20, 0.75, hosted._tag_of)
        hosted.study.let_in_by(hosted.caps)
        for worker in people:
            hosted.caps.came(worker.id, clock())
        assert hosted.work(alone).state == "waiting"
    assert hosted.study.standstill.cap(clock()) is None
    clock.now += 120
    assert hosted.work(alone).state == "waiting"
    assert hosted.study.standstill.cap(clock()) == "network"
    course = server.organizer().get(f"/api/organize/{STUDY}").json()["course"]
    assert (course["on_course"], course["ends"]) == (False, None)
    assert course["words"].startswith("Nobody who is here can go on, with ")
    sent = {"kind": "open", "share": 1.0, "reason": "everybody else has left"}
    status = server.organizer().post(f"/api/organize/{STUDY}/door", json=sent).json()
    assert "at most 100% of the answers" in status["circumstances"][-1]
    assert hosted.work(alone).state == "questions"
