"""A study on Prolific, against the fake: from draft to pay, with everything that may go wrong between."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from handful.errors import InvalidProblem, RecruitingFailed, StudyNotFound
from handful.recruit.ledger import Participant
from handful.recruit.panel import Identity
from handful.recruit.payroll import Payroll, begin_on_prolific
from handful.recruit.prolific import Busy, ProlificClient
from tests.fakes.prolific import FakePlatform, FakeProlific, FakeSubmission, Fault
from tests.recruit.arrivals import pasted
from tests.recruit.conftest import ADDRESS, PLAN, STUDY, Clock

CODE = "ABCDEFGHJK"


def come(payroll: Payroll, fake: FakeProlific, verified: bool | None = True) -> tuple[Participant, FakeSubmission]:
    """Somebody takes a place over there and arrives here."""
    (study,) = fake.platform.studies
    there = fake.platform.take_place(study)
    assert there is not None
    who = Identity(there.participant, there.id, there.study)
    person, _ = payroll.store.arrive(STUDY, who, verified, status="ACTIVE" if verified else None)
    assert person is not None
    return person, there


def end(payroll: Payroll, fake: FakeProlific, person: Participant, outcome: str = "finished") -> None:
    """Somebody ends here, and is sent back, with a code if they are paid."""
    payroll.store.change(STUDY, person.pseudonym, outcome=outcome, ended=payroll.store.clock())
    if outcome in ("finished", "not_admitted"):
        fake.platform.come_back(fake.platform.submissions[str(person.who.session)], CODE)


def books(fake: FakeProlific, kind: str) -> list[int]:
    return [payment.cents for payment in fake.platform.books if payment.kind == kind]


def spent(payroll: Payroll, kind: str) -> list[int]:
    return [e.cents for e in payroll.store.entries(STUDY) if e.kind == kind and e.outcome == "done"]


def test_everybody_who_finishes_or_is_not_admitted_is_approved_once(published: Payroll, fake: FakeProlific) -> None:
    people = [come(published, fake) for _ in range(4)]
    for person, _ in people[:3]:
        end(published, fake, person)
    end(published, fake, people[3][0], "not_admitted")
    for _ in range(3):
        published.reconcile()
    assert [there.status for _, there in people] == ["APPROVED"] * 4
    assert books(fake, "approve") == [PLAN.reward] * 4 == spent(published, "approve")
    assert sum("bulk-approve" in call.path for call in fake.calls) == 1


def test_people_are_approved_once_they_are_back_with_a_code_or_without(published: Payroll, fake: FakeProlific) -> None:
    person, there = come(published, fake)
    published.store.change(STUDY, person.pseudonym, outcome="finished")
    report = published.reconcile()
    assert there.status == "ACTIVE"
    assert any("is to be paid" in said for said in report.differences)
    fake.platform.come_back(there, None)  # NOCODE: our own record says that they finished
    published.reconcile()
    assert published.reconcile().agrees
    assert there.status == "APPROVED"


def test_the_ledger_counts_what_prolific_pays_should_another_reward_have_been_typed_there(
    published: Payroll, fake: FakeProlific
) -> None:
    (study,) = fake.platform.studies.values()
    study.said["reward"] = PLAN.reward + 7
    person, _ = come(published, fake)
    end(published, fake, person)
    for _ in range(2):
        published.reconcile()
    assert books(fake, "approve") == [PLAN.reward + 7] == spent(published, "approve")


def test_the_study_over_there_is_found_by_those_who_come_first(begun: Payroll, fake: FakeProlific) -> None:
    assert begun.reconcile().agrees
    assert fake.calls == []  # nobody came, so there is nothing to ask
    other = fake.platform.publish({**pasted(begun.recruitment()), "external_study_url": "https://x.example/s/other"})
    elsewhere = fake.platform.take_place(other.id)
    assert elsewhere is not None
    stray, _ = begun.store.arrive(STUDY, Identity(elsewhere.participant, elsewhere.id), None)
    begun.reconcile()
    assert begun.recruitment().platform_id is None
    study = fake.platform.publish(pasted(begun.recruitment()))
    there = fake.platform.take_place(study.id)
    assert there is not None
    assert stray is not None
    begun.store.arrive(STUDY, Identity("f" * 24, "e" * 24), None)  # made up
    person, _ = begun.store.arrive(STUDY, Identity(there.participant, there.id), None)
    assert person is not None
    begun.reconcile()
    kept = begun.recruitment()
    assert (kept.platform_id, kept.status, kept.places, kept.reward) == (study.id, "ACTIVE", 20, PLAN.reward)
    verified = {one.pseudonym: one.verified for one in begun.store.people(STUDY)}
    assert (verified[person.pseudonym], verified[stray.pseudonym]) == (True, None)


def test_the_plan_stays_once_somebody_has_come(begun: Payroll) -> None:
    first = begun.recruitment()
    again = begin_on_prolific(begun.store, STUDY, ADDRESS, replace(PLAN, people=30))
    assert (again.plan.people, again.codes) == (30, first.codes)
    begun.store.arrive(STUDY, Identity("a", "s"), True)
    assert begin_on_prolific(begun.store, STUDY, ADDRESS, again.plan) == again
    with pytest.raises(InvalidProblem, match="paid by the plan they came by"):
        begin_on_prolific(begun.store, STUDY, ADDRESS, PLAN)


def test_a_shared_code_pays_nobody_by_itself(published: Payroll, fake: FakeProlific) -> None:
    code = published.recruitment().codes["finished"]
    here, there = come(published, fake)
    fake.platform.come_back(there, code)  # without having answered
    elsewhere = fake.platform.take_place(there.study)
    assert elsewhere is not None
    fake.platform.come_back(elsewhere, code)  # without ever having come
    report = published.reconcile()
    assert len(report.waiting) == 2
    assert books(fake, "approve") == []
    published.decide(here.pseudonym, pay=True)
    published.reconcile()
    published.reconcile()
    assert there.status == "APPROVED"
    assert elsewhere.status == "AWAITING REVIEW"


@pytest.mark.parametrize("outcome", [None, "refused", "returned", "timed_out", "full"])
def test_whoever_asks_for_pay_and_is_owed_none_is_shown_to_the_organizer(
    published: Payroll, fake: FakeProlific, outcome: str | None
) -> None:
    person, there = come(published, fake)
    if outcome is not None:
        end(published, fake, person, outcome)
    fake.platform.come_back(there, None)
    report = published.reconcile()
    assert [one.who for one in report.waiting] == [person.pseudonym]
    assert books(fake, "approve") == []
    published.decide(person.pseudonym, pay=True)
    published.reconcile()
    assert published.reconcile().waiting == []
    assert there.status == "APPROVED"


def test_nobody_is_ever_rejected_by_a_whole_study(published: Payroll, fake: FakeProlific) -> None:
    for outcome in ("finished", "not_admitted", "refused", "timed_out"):
        person, _ = come(published, fake)
        end(published, fake, person, outcome)
    for _ in range(3):
        published.reconcile(decided=True)
    assert not any(isinstance(c.said, dict) and c.said.get("action") == "REJECT" for c in fake.calls)


def test_returns_and_time_outs_end_a_visit_and_an_undone_return_takes_it_up_again(
    published: Payroll, fake: FakeProlific
) -> None:
    (a, there_a), (b, there_b) = come(published, fake), come(published, fake)
    fake.platform.give_back(there_a)
    fake.platform.give_back(there_b, "TIMED-OUT")
    published.reconcile()
    found = {p.pseudonym: p.outcome for p in published.store.people(STUDY)}
    assert found == {a.pseudonym: "returned", b.pseudonym: "timed_out"}
    there_a.status = "ACTIVE"
    published.reconcile()
    back = published.store.person(STUDY, a.pseudonym)
    assert back is not None
    assert back.outcome is None


def test_a_study_that_is_decided_is_stopped_and_those_inside_are_paid(published: Payroll, fake: FakeProlific) -> None:
    person, there = come(published, fake)
    published.reconcile(decided=True)
    (study,) = fake.platform.studies.values()
    assert study.status in ("COMPLETED", "AWAITING REVIEW")
    end(published, fake, person)
    published.reconcile(decided=True)
    published.reconcile(decided=True)
    assert there.status == "APPROVED"


def test_a_bonus_is_promised_first_and_paid_once(published: Payroll, fake: FakeProlific) -> None:
    person, there = come(published, fake)
    end(published, fake, person)
    number = published.promise_bonus(person.pseudonym, 150, "thank you")
    assert fake.platform.books == []
    for _ in range(3):
        published.reconcile()
    assert there.bonuses == [150]
    assert books(fake, "bonus") == [150] == spent(published, "bonus")
    assert [e.outcome for e in published.store.entries(STUDY) if e.number == number] == ["done"]


def test_somebody_is_found_by_the_beginning_of_their_name_if_nobody_else_is(
    published: Payroll, fake: FakeProlific
) -> None:
    (a, _), (b, _) = come(published, fake), come(published, fake)
    assert published.whole_name(a.pseudonym[:8]) == a.pseudonym
    assert published.whole_name(b.pseudonym) == b.pseudonym
    for short in ("", b.pseudonym[:5]):
        with pytest.raises(StudyNotFound, match="6 letters"):
            published.whole_name(short)


def test_money_is_sent_to_nobody_whose_name_is_not_given_whole(published: Payroll, fake: FakeProlific) -> None:
    person, _ = come(published, fake)
    for beginning in ("", person.pseudonym[:8], person.pseudonym[:-1]):
        with pytest.raises(StudyNotFound, match="whole pseudonym"):
            published.promise_bonus(beginning, 100)
        with pytest.raises(StudyNotFound, match="whole pseudonym"):
            published.decide(beginning, pay=True)
    assert [entry for entry in published.store.entries(STUDY) if entry.kind == "bonus"] == []


@pytest.mark.parametrize("done", [True, False], ids=["paid", "not paid"])
def test_a_bonus_of_unknown_outcome_is_never_paid_again_by_itself(
    published: Payroll, fake: FakeProlific, clock: Clock, done: bool
) -> None:
    person, there = come(published, fake)
    published.promise_bonus(person.pseudonym, 150)
    fake.faults.append(Fault("POST .*/pay/", 0, done=done))
    published.reconcile()
    clock.later += 3600
    reports = [published.reconcile() for _ in range(3)]
    assert there.bonuses == ([150] if done else [])
    assert sum(call.path.endswith("/pay/") for call in fake.calls) == (1 if done else 0)
    if not done:
        assert "its outcome is unknown" in reports[-1].waiting[0].words
        (line,) = published.open_entries("bonus")
        published.decide_bonus(line.number, paid=False)
        assert not published.open_entries("bonus")


def test_bonuses_are_paid_in_one_list_and_those_of_one_person_are_told_apart(
    published: Payroll, fake: FakeProlific, clock: Clock
) -> None:
    (a, there_a), (b, there_b) = come(published, fake), come(published, fake)
    for who, cents in ((a, 150), (a, 150), (b, 80)):
        published.promise_bonus(who.pseudonym, cents)
    fake.faults.append(Fault("POST .*/pay/", 0, done=True))  # paid, and nobody here knows
    published.reconcile()
    assert len(published.open_entries("bonus")) == 3
    published.reconcile()
    assert published.open_entries("bonus") == []
    assert (there_a.bonuses, there_b.bonuses) == ([150, 150], [80])
    assert sum(call.path.endswith("/pay/") for call in fake.calls) == 1


@pytest.mark.parametrize("status", [404, 500])
def test_a_bonus_that_cannot_be_looked_up_holds_up_nobody_elses_pay(
    published: Payroll, fake: FakeProlific, status: int
) -> None:
    lost, _ = come(published, fake)
    number = published.promise_bonus(lost.pseudonym, 150)
    fake.faults.append(Fault("POST .*/pay/", 0))
    published.reconcile()
    fake.faults.append(Fault(f"GET .*/submissions/{lost.who.session}/", status, times=100))
    other, there = come(published, fake)
    end(published, fake, other)
    report = published.reconcile()
    published.reconcile()
    assert there.status == "APPROVED"
    assert report.reached
    assert any(f"line {number}: bonus of £1.50 has no known outcome" in said for said in report.differences)


@pytest.mark.parametrize("where", ["/submissions/bonus-payments/", "/pay/"])
def test_a_refused_bonus_holds_up_no_other_and_is_told(published: Payroll, fake: FakeProlific, where: str) -> None:
    (a, _), (b, there) = come(published, fake), come(published, fake)
    refused = published.promise_bonus(a.pseudonym, 100)
    published.promise_bonus(b.pseudonym, 150)
    fake.faults.append(Fault(f"POST .*{where}", 400, times=2))  # the whole list, and then the first alone
    report = published.reconcile()
    assert any("pay bonuses" in said for said in report.differences)
    published.reconcile()
    assert there.bonuses == [150]
    assert books(fake, "bonus") == [150] == spent(published, "bonus")
    assert [e.outcome for e in published.store.entries(STUDY) if e.number == refused] == ["refused"]


@pytest.mark.parametrize("where", ["/submissions/bonus-payments/", "/pay/"])
@pytest.mark.parametrize("status", [401, 403, 429])
def test_a_bonus_that_cannot_be_paid_now_stays_the_same_promise(
    published: Payroll, fake: FakeProlific, where: str, status: int
) -> None:
    person, there = come(published, fake)
    number = published.promise_bonus(person.pseudonym, 150, "thank you")
    before = [e for e in published.store.entries(STUDY) if e.kind == "bonus"]
    fake.faults.append(Fault(f"POST .*{where}", status))
    published.reconcile()
    assert [e for e in published.store.entries(STUDY) if e.kind == "bonus"] == before
    published.reconcile()
    assert there.bonuses == [150] == spent(published, "bonus")
    assert [e.number for e in published.store.entries(STUDY) if e.kind == "bonus"] == [number]


def test_approving_late_and_refused_payments_converge(published: Payroll, fake: FakeProlific, clock: Clock) -> None:
    fake.platform.workspace.approving_s = 30
    people = [come(published, fake) for _ in range(4)]
    for person, _ in people:
        end(published, fake, person)
    fake.faults.append(Fault("bulk-approve", 429, times=2))
    for _ in range(6):
        published.reconcile()
        clock.later += 20
    assert books(fake, "approve") == [PLAN.reward] * 4 == spent(published, "approve")
    assert published.reconcile().agrees


def test_one_submission_that_cannot_be_approved_holds_nobody_else_up(published: Payroll, fake: FakeProlific) -> None:
    people = [come(published, fake) for _ in range(3)]
    for person, _ in people:
        end(published, fake, person)
    bad = people[1][1]

    def spoil(method: str, path: str) -> None:
        if "bulk-approve" in path:
            bad.status = "ACTIVE"

    fake.during = spoil
    published.reconcile()
    fake.platform.catch_up()
    assert [there.status for _, there in people] == ["APPROVED", "ACTIVE", "APPROVED"]


def test_whoever_the_list_does_not_know_after_a_while_was_never_there(
    published: Payroll, fake: FakeProlific, clock: Clock
) -> None:
    real, _ = come(published, fake, verified=None)
    forged, _ = published.store.arrive(STUDY, Identity("f" * 24, "e" * 24), None)
    assert forged is not None
    published.reconcile()
    assert {p.pseudonym: p.verified for p in published.store.people(STUDY)} == {
        real.pseudonym: True,
        forged.pseudonym: None,
    }
    clock.later += 600
    published.reconcile()
    assert {p.pseudonym: p.verified for p in published.store.people(STUDY)}[forged.pseudonym] is False


def test_a_session_with_another_persons_id_is_not_believed(published: Payroll, fake: FakeProlific) -> None:
    (_, a), (_, b) = come(published, fake), come(published, fake)
    c = fake.platform.take_place(a.study)
    assert c is not None
    swapped, _ = published.store.arrive(STUDY, Identity(b.participant, c.id), None)
    assert swapped is not None
    published.reconcile()
    found = published.store.person(STUDY, swapped.pseudonym)
    assert found is not None
    assert found.verified is False


def test_statuses_nobody_has_heard_of_are_tolerated(published: Payroll, fake: FakeProlific) -> None:
    person, there = come(published, fake)
    there.status = "PONDERING"
    published.reconcile()
    found = published.store.person(STUDY, person.pseudonym)
    assert found is not None
    assert (found.status, found.outcome, found.verified) == ("PONDERING", None, True)


def test_a_platform_that_is_down_changes_nothing(published: Payroll, fake: FakeProlific) -> None:
    person, _ = come(published, fake)
    end(published, fake, person)
    fake.faults.append(Fault("", 502, times=50))
    report = published.reconcile()
    assert not report.reached
    assert published.store.entries(STUDY) == []


def test_two_money_calls_at_once_are_refused_by_the_fake() -> None:
    begun, go_on = threading.Event(), threading.Event()

    with FakeProlific(FakePlatform()) as fake:
        answer = fake._answer

        def slowly(*asked: Any) -> tuple[int, Any]:
            begun.set()
            assert go_on.wait(60)
            return answer(*asked)

        fake._answer = slowly  # type: ignore[method-assign]
        client = ProlificClient(fake.token, fake.url)
        found: list[str] = []

        def pay() -> None:
            try:
                client.pay_bonuses("0" * 24)
            except Busy:
                found.append("busy")
            except RecruitingFailed:
                found.append("through")

        first = threading.Thread(target=pay)
        first.start()
        assert begun.wait(60)
        pay()
        assert found == ["busy"]
        go_on.set()
        first.join()
    assert found == ["busy", "through"]
