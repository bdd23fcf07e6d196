"""People from Prolific at a served study: each arrives as who they are, resumes, and leaves with the right outcome."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.crowd.collection import Collection
from handful.crowd.people import ask_to_forget
from handful.crowd.plan import new_study
from handful.crowd.registry import StudyPlan, link_of
from handful.crowd.settings import Settings
from handful.recruit import desk
from handful.recruit.ledger import Store
from handful.recruit.payroll import Payroll, begin_on_prolific
from handful.rules import Admission, Door, OneSide, Rule
from tests.crowd.clients import STUDY, started
from tests.fakes.prolific import FakePlatform, FakeProlific, Fault
from tests.recruit.arrivals import ADDRESS, PLAN, QUICK, Paid, paid_study, pasted


def test_somebody_arrives_answers_and_is_paid(paid: Paid) -> None:
    ann, there = paid.come()
    assert ann.arrive()["state"] == "inside"
    ann.join()
    assert ann.work["progress"]["goal"] == PLAN.answers_each
    ending = ann.answer_all()
    assert ending["outcome"] == "finished"
    assert ending["address"].startswith("https://app.prolific.com/submissions/complete?cc=")
    paid.settle()
    assert there.status == "APPROVED"


def test_whom_the_rule_ends_by_an_answer_is_noted_outside_the_event_loop(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = Rule(None, None, (OneSide(share=0.9, after=2),), 1.0)
    study = StudyPlan(k=3, explorer="topx", budget=120, in_flight=20, rule=rule)
    with paid_study(collection, tmp_path / "venice.db", monkeypatch, study=study) as running:
        ann, _ = running.come()
        ann.arrive()
        ann.join()
        stored = stored_in_loop(monkeypatch)
        assert ann.answer()["ending"] is None
        assert ann.answer()["ending"]["outcome"] == "finished"  # by the rule, before the goal
        assert stored == [({"outcome": "finished"}, False)]
        (person,) = running.store.people(STUDY)
        assert person.outcome == "finished"
        assert running.server.registry.studies[STUDY].study.state.workers.excludes(person.pseudonym)


def stored_in_loop(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, object], bool]]:
    """What is stored of people from now on, but for times, and whether an event loop had to wait for it."""
    seen: list[tuple[dict[str, object], bool]] = []
    change = Store.change

    def watched(self: Store, study: str, pseudonym: str, **values: object) -> None:
        told = {name: value for name, value in values.items() if name not in ("ended", "seen")}
        seen.append((told, asyncio._get_running_loop() is not None))
        change(self, study, pseudonym, **values)

    monkeypatch.setattr(Store, "change", watched)
    return seen


def test_the_consent_says_what_is_kept_of_the_panels_id(paid: Paid) -> None:
    ann, _ = paid.come()
    assert "kept apart from your answers" in ann.http.get(f"/api/s/{STUDY}").json()["consent"]


def test_a_person_in_two_tabs_and_on_two_devices_is_one_worker(paid: Paid) -> None:
    phone, there = paid.come()
    laptop = paid.visitor(paid.fake.platform.address(there))
    phone.arrive()
    phone.join()
    phone.answer()
    assert laptop.arrive()["state"] == "inside"
    assert laptop.next()["questions"] == phone.next()["questions"]  # no consent again, the same questions
    laptop.answer()
    phone.next()
    phone.answer()
    laptop.next()
    assert laptop.answer()["ending"]["outcome"] == "finished"
    assert phone.next()["ending"]["outcome"] == "finished"
    assert len(paid.store.people(STUDY)) == 1
    paid.settle()
    assert [p.kind for p in paid.fake.platform.books] == ["approve"]


def test_forged_swapped_and_made_up_ids_lead_to_the_preview_and_count_nothing(paid: Paid) -> None:
    (ann, _), (_, b) = paid.come(), paid.come()
    good = dict(ann.parameters)
    for wrong in (
        {"SESSION_ID": "f" * 24},
        {"SESSION_ID": b.id},
        {"PROLIFIC_PID": b.participant},
        {"STUDY_ID": "e" * 24},
        {"SESSION_ID": "{{%SESSION_ID%}}"},
        {"SESSION_ID": ""},
        {"PROLIFIC_PID": "<script>"},
    ):
        ann.parameters = {**good, **wrong}
        assert ann.arrive() == {"state": "preview", "ending": None}
        assert ann.join().status_code == 409
    assert paid.store.people(STUDY) == []
    ann.parameters = good
    assert ann.arrive()["state"] == "inside"


def test_who_only_has_the_link_cannot_take_part(paid: Paid) -> None:
    stranger = paid.visitor("https://photos.example.org/s/x")
    assert stranger.arrive()["state"] == "preview"
    assert stranger.join().json()["error"] == "preview"


@pytest.mark.parametrize("status", [0, 429, 502, 503])
def test_a_platform_that_is_down_turns_nobody_away_and_they_count_once_verified(paid: Paid, status: int) -> None:
    ann, there = paid.come()
    paid.fake.faults.append(Fault("GET .*/submissions/", status, times=1000))
    assert ann.arrive()["state"] == "inside"
    ann.join()
    assert (ann.work["state"], ann.work["verifying"], ann.work["questions"]) == ("waiting", True, [])
    (person,) = paid.store.people(STUDY)
    assert person.verified is None
    paid.fake.faults.clear()
    paid.fake.faults.append(Fault(f"GET .*/submissions/{there.id}/", 429, times=1000))  # single calls are refused
    paid.settle()
    (person,) = paid.store.people(STUDY)
    assert person.verified is True
    assert not ann.next()["verifying"]
    assert ann.answer_all()["outcome"] == "finished"
    paid.settle()
    assert there.status == "APPROVED"
    study = paid.server.registry.studies[STUDY].study
    assert study.state.workers.answers_of(person.pseudonym) == PLAN.answers_each
    assert not study.state.workers.excludes(person.pseudonym)


@pytest.fixture
def checked(collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Paid]:
    """A study whose rule has checks before admission."""
    study = StudyPlan(k=3, explorer="topx", budget=120, in_flight=20, rule=Rule(Admission(0, 2, 0), None, (), 1.0))
    with paid_study(collection, tmp_path / "venice.db", monkeypatch, study=study) as running:
        yield running


def test_who_is_not_verified_yet_answers_checks_and_nothing_that_counts(checked: Paid) -> None:
    ann, _ = checked.come()
    checked.fake.faults.append(Fault("GET .*/submissions/", 503, times=1000))
    ann.arrive()
    ann.join()
    answered = 0
    while ann.work["questions"]:
        ann.answer()
        answered += 1
    study = checked.server.registry.studies[STUDY].study
    assert (answered, study.state.answers, ann.work["state"]) == (2, 0, "waiting")
    checked.fake.faults.clear()
    checked.settle()
    assert ann.next()["questions"]
    ann.answer()
    assert study.state.answers == 1


@pytest.mark.parametrize("rule", [None, Rule(checks=None)])
def test_a_study_for_a_panel_says_in_its_first_event_that_the_unverified_are_excluded(rule: Rule | None) -> None:
    plan = StudyPlan(k=2, budget=40, rule=rule, door=Door("panel"))
    first = next(iter(new_study(["a", "b", "c"], plan, Settings()).records()))
    assert json.loads(first.payload)["setup"]["rule"]["unverified"] == "exclude"


def test_where_the_first_event_does_not_say_it_a_note_does_before_anybody_comes(paid: Paid) -> None:
    study = paid.server.registry.studies[STUDY].study
    assert study.setup.rule is None
    assert not study.state.workers.names
    (noted,) = (record for record in study.records() if '"unverified"' in record.payload)
    assert json.loads(noted.payload) == {"t": "unverified", "d": "exclude"}
    paid.server.registry.panels.pop(STUDY).stop()
    paid.server.registry.look_for_recruiting()
    assert sum('"unverified"' in record.payload for record in study.records()) == 1, "once is enough"


@pytest.mark.parametrize("by_hand", [False, True])
def test_who_cannot_be_verified_by_the_end_is_excluded_by_rule_and_waits_for_a_decision(
    checked: Paid, monkeypatch: pytest.MonkeyPatch, by_hand: bool
) -> None:
    ann, _ = checked.come()
    checked.fake.faults.append(Fault("GET .*/submissions/", 503, times=1000))
    ann.arrive()
    ann.join()
    while ann.work["questions"]:
        ann.answer()
    monkeypatch.setattr(desk, "PATIENCE_S", 0.0)
    assert ann.next()["ending"]["outcome"] == "finished"  # nobody pays for our faults: sent back like everybody
    checked.settle()
    (person,) = checked.store.people(STUDY)
    study = checked.server.registry.studies[STUDY].study
    assert study.state.workers.excludes(person.pseudonym)
    assert checked.fake.platform.books == []
    assert checked.loop.report is not None
    assert [one.who for one in checked.loop.report.waiting] == [person.pseudonym]
    if by_hand:
        study.restore(person.pseudonym)
        checked.settle()  # what the organizer decided stays decided
        assert not study.state.workers.excludes(person.pseudonym)
    checked.fake.faults.clear()
    checked.settle()  # verified after all
    assert not study.state.workers.excludes(person.pseudonym)
    assert study.state.workers.any_excluded_by_hand is by_hand  # else the rule was followed, not overruled
    assert [p.kind for p in checked.fake.platform.books] == ["approve"]


def test_a_return_in_mid_study_ends_the_visit_and_frees_what_they_hold(paid: Paid) -> None:
    ann, there = paid.come()
    ann.arrive()
    ann.join()
    ann.answer()
    paid.fake.platform.give_back(there)
    paid.settle()
    assert ann.next()["ending"]["outcome"] == "returned"
    assert ann.arrive()["state"] == "ended"
    assert paid.server.registry.studies[STUDY].study.state.leases.holders() == []
    assert paid.fake.platform.books == []


def test_who_returned_and_comes_in_another_visit_goes_on_as_the_same_worker(paid: Paid) -> None:
    ann, there = paid.come()
    ann.arrive()
    ann.join()
    ann.answer()
    paid.fake.platform.give_back(there)
    paid.settle()
    again = paid.fake.platform.take_place(there.study, there.participant)
    assert again is not None
    back = paid.visitor(paid.fake.platform.address(again))
    assert back.arrive()["state"] == "inside"
    assert back.next()["progress"]["answered"] == 1
    assert back.answer_all()["outcome"] == "finished"
    paid.fake.platform.come_back(again, "CODE")
    (person,) = paid.store.people(STUDY)
    study = paid.server.registry.studies[STUDY].study
    assert study.state.workers.answers_of(person.pseudonym) == PLAN.answers_each
    paid.settle()
    assert (there.status, again.status) == ("RETURNED", "APPROVED")
    third = paid.fake.platform.take_place(there.study, there.participant)
    assert third is not None
    assert paid.visitor(paid.fake.platform.address(third)).arrive()["ending"]["outcome"] == "finished"
    paid.settle()
    assert (len(paid.store.people(STUDY)), len(paid.fake.platform.books)) == (1, 1)


def test_who_was_paid_and_forgotten_and_comes_again_sees_a_preview(paid: Paid) -> None:
    ann, there = paid.come()
    ann.arrive()
    ann.join()
    ann.answer_all()
    paid.settle()
    assert there.status == "APPROVED"
    (person,) = paid.store.people(STUDY)
    assert ask_to_forget(paid.store, STUDY, person.pseudonym)
    paid.settle()
    assert paid.visitor(paid.fake.platform.address(there)).arrive() == {"state": "preview", "ending": None}
    assert len(paid.store.people(STUDY)) == 1


def test_who_does_not_agree_is_asked_nothing(paid: Paid) -> None:
    ann, there = paid.come()
    ann.arrive()
    told = ann.http.post(f"/api/s/{STUDY}/refuse", json={}).json()
    assert told["ending"]["outcome"] == "refused"
    assert ann.join().json()["questions"] == []
    paid.settle()
    assert there.entered_code == paid.loop.desk.recruitment.codes["refused"]
    assert there.status == "AWAITING REVIEW"  # which only the organizer decides
    assert paid.loop.report is not None
    assert ["did not consent" in one.words for one in paid.loop.report.waiting] == [True]
    assert paid.fake.platform.books == []


def test_who_cannot_be_given_a_question_for_a_minute_is_done_and_paid(
    paid: Paid, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, there = paid.come()
    ann.arrive()
    ann.join()
    paid.server.registry.studies[STUDY].study.pause()
    paid.server.registry.studies[STUDY].refresh_status()
    while ann.work["questions"]:
        ann.answer()
    assert ann.next()["ending"] is None
    monkeypatch.setattr(desk, "PATIENCE_S", 0.0)
    assert ann.next()["ending"]["outcome"] == "finished"
    paid.settle()
    assert there.status == "APPROVED"


def test_those_inside_when_the_study_is_decided_are_paid_and_it_is_stopped(paid: Paid) -> None:
    ann, there = paid.come()
    ann.arrive()
    ann.join()
    ann.answer()
    paid.server.registry.studies[STUDY].study.finish("enough")
    paid.settle()
    assert ann.next()["ending"]["outcome"] == "finished"
    paid.settle()
    assert there.status == "APPROVED"
    (study,) = paid.fake.platform.studies.values()
    assert study.status == "COMPLETED"


def test_who_comes_when_the_study_is_decided_is_sent_back_and_paid(paid: Paid) -> None:
    (early, a), (late, b) = paid.come(), paid.come()
    assert early.arrive()["state"] == "inside"
    paid.server.registry.studies[STUDY].study.finish("enough")
    assert early.join().json()["ending"]["outcome"] == "finished"
    assert late.arrive()["ending"]["outcome"] == "finished"
    paid.settle()
    assert (a.status, b.status) == ("APPROVED", "APPROVED")


def test_after_a_restart_everybody_is_still_who_they_were(
    paid: Paid, collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, there = paid.come()
    ann.arrive()
    ann.join()
    ann.answer()
    (before,) = paid.store.people(STUDY)
    paid.loop.desk.look()  # what a new process would read
    again = paid.visitor(paid.fake.platform.address(there))
    assert again.arrive()["state"] == "inside"
    again.next()
    again.answer_all()
    (person,) = paid.store.people(STUDY)
    assert person.pseudonym == before.pseudonym


def test_every_verified_submission_is_admitted_on_prolific(paid: Paid) -> None:
    visitors = [paid.come()[0] for _ in range(PLAN.people)]
    assert [visitor.arrive()["state"] for visitor in visitors] == ["inside"] * PLAN.people


def test_a_server_without_a_token_lets_people_in_and_says_what_is_wrong(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with paid_study(collection, tmp_path / "a.db", monkeypatch):
        pass
    monkeypatch.delenv("PROLIFIC_TOKEN")
    from tests.crowd.clients import PLAN as STUDY_PLAN

    with started(collection, STUDY_PLAN, None, storage=tmp_path / "a.db") as server:
        status = server.organizer().get(f"/api/organize/{STUDY}").json()
    assert "PROLIFIC_TOKEN is not set" in status["recruiting"]["trouble"]


def test_a_study_whose_name_is_no_link_is_recruited_for_by_its_name(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, storage = "Türme & Brücken", tmp_path / "a.db"
    Study(collection.ids, 3, feedback=Preferences(), budget=120, storage=storage, name=name).close()
    with FakeProlific(FakePlatform()) as fake:
        monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
        monkeypatch.setenv("PROLIFIC_URL", fake.url)
        store = Store(storage)
        made = begin_on_prolific(store, name, ADDRESS, PLAN)
        study = fake.platform.publish(pasted(made))
        store.keep(replace(made, platform_id=study.id))
        with started(collection, None, QUICK, themes=(), storage=storage) as server:
            link = link_of(name)
            loop = server.registry.panels[link]
            there = fake.platform.take_place(study.id)
            assert there is not None
            ids = {"PROLIFIC_PID": there.participant, "SESSION_ID": there.id, "STUDY_ID": there.study}
            browser = server.browser()
            arrived = browser.post(f"/api/s/{link}/arrive", json={"parameters": ids}).json()
            assert arrived["state"] == "inside"
            work = browser.post(f"/api/s/{link}/join", json={"consent": True}).json()
            while work["questions"]:
                body = {"token": work["questions"][0]["token"], "side": "left", "ms": 900}
                work = browser.post(f"/api/s/{link}/answer", json=body).json()
            assert work["ending"]["outcome"] == "finished"
            fake.platform.come_back(there, "CODE")
            loop.once()
            loop.once()
            (person,) = store.people(name)
            assert server.registry.studies[link].study.state.workers.knows(person.pseudonym)
            status = server.organizer().post(f"/api/organize/{link}/recruiting/reconcile").json()
    assert there.status == "APPROVED"
    assert status["paid"] == PLAN.reward


def test_reconciling_by_hand_waits_for_the_reconciliation_that_runs(
    paid: Paid, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, most, counting = 0, 0, threading.Lock()

    def slow(*_: object, **__: object) -> None:
        nonlocal inside, most
        with counting:
            inside += 1
            most = max(most, inside)
        time.sleep(0.1)
        with counting:
            inside -= 1

    monkeypatch.setattr(Payroll, "reconcile", slow)
    threads = [threading.Thread(target=paid.loop.once) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
