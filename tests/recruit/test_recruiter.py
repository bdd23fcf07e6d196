"""A study on Prolific, against the fake: from draft to pay, with everything that may go wrong between."""

from __future__ import annotations

from typing import Any

import pytest

from handful.errors import InvalidProblem, RecruitingFailed, StudyNotFound
from handful.recruit.fake import FakePlatform, FakeProlific, Workspace
from handful.recruit.fake.records import FakeSubmission
from handful.recruit.fake.server import Fault
from handful.recruit.outcomes import Identity
from handful.recruit.prolific import paying
from handful.recruit.prolific.client import Unknown
from handful.recruit.prolific.reconciling import reconcile
from handful.recruit.prolific.recruiter import Recruiter
from handful.recruit.records import Participant
from tests.recruit.conftest import ADDRESS, PLAN, STUDY, Clock


def come(recruiter: Recruiter, fake: FakeProlific, verified: bool | None = True) -> tuple[Participant, FakeSubmission]:
    """Somebody takes a place over there and arrives here."""
    there = fake.platform.take_place(recruiter.recruitment().platform_id or "")
    assert there is not None
    who = Identity(there.participant, there.id, there.study)
    person, _ = recruiter.store.arrive(STUDY, who, verified, status="ACTIVE" if verified else None)
    assert person is not None
    return person, there


def end(recruiter: Recruiter, person: Participant, outcome: str = "finished") -> None:
    recruiter.store.change(STUDY, person.pseudonym, outcome=outcome, ended=recruiter.clock())


def books(fake: FakeProlific, kind: str) -> list[int]:
    return [payment.cents for payment in fake.platform.books if payment.kind == kind]


def spent(recruiter: Recruiter, kind: str) -> list[int]:
    return [e.cents for e in recruiter.store.entries(STUDY) if e.kind == kind and e.outcome == "done"]


def test_a_draft_says_what_the_plan_says_and_nothing_is_published(recruiter: Recruiter, fake: FakeProlific) -> None:
    made = recruiter.create(ADDRESS, PLAN, name="Photos", description="Which photo?")
    study = fake.platform.studies[made.platform_id or ""]
    assert study.status == "UNPUBLISHED"
    assert study.said["reward"] == PLAN.reward
    assert study.said["total_available_places"] == 5
    assert study.said["external_study_url"].startswith(ADDRESS + "?PROLIFIC_PID={{%PROLIFIC_PID%}}&")
    assert fake.platform.books == []


def test_a_workspace_without_researcher_codes_or_screen_outs_gets_a_plain_draft(
    recruiter: Recruiter, fake: FakeProlific
) -> None:
    fake.platform.workspace.fixed_screen_out = False
    fake.platform.workspace.researcher_codes = False
    made = recruiter.create(ADDRESS, PLAN, name="Photos", description="?", screen_out=30)
    assert set(made.codes) == {"finished", "refused"}
    assert made.screen_out is None


def test_publishing_needs_a_yes_to_the_present_cost(recruiter: Recruiter, fake: FakeProlific) -> None:
    recruiter.create(ADDRESS, PLAN, name="Photos", description="?")
    cost = recruiter.cost()
    assert cost.first < cost.all
    with pytest.raises(InvalidProblem, match="agree again"):
        recruiter.publish(cost.first - 1)
    assert recruiter.store.entries(STUDY) == []
    recruiter.publish(cost.first)
    assert spent(recruiter, "publish") == [cost.first]
    assert fake.platform.workspace.balance == 1_000_000 - cost.first


def test_too_little_money_leaves_the_draft_as_it_was(recruiter: Recruiter, fake: FakeProlific) -> None:
    fake.platform.workspace.balance = 10
    recruiter.create(ADDRESS, PLAN, name="Photos", description="?")
    with pytest.raises(RecruitingFailed, match="not enough money"):
        recruiter.publish(recruiter.cost().first)
    assert [entry.outcome for entry in recruiter.store.entries(STUDY)] == ["refused"]
    assert recruiter.seen()[0].status == "UNPUBLISHED"


def test_everybody_who_finishes_is_completed_and_approved_once(published: Recruiter, fake: FakeProlific) -> None:
    people = [come(published, fake) for _ in range(3)]
    for person, _ in people:
        end(published, person)
    for _ in range(3):
        reconcile(published)
    assert [there.status for _, there in people] == ["APPROVED"] * 3
    assert books(fake, "approve") == [PLAN.reward] * 3 == spent(published, "approve")


def test_who_is_not_admitted_gets_the_screen_out_or_else_the_whole_reward(
    published: Recruiter, recruiter: Recruiter, fake: FakeProlific
) -> None:
    person, there = come(published, fake)
    end(published, person, "not_admitted")
    reconcile(published)
    reconcile(published)
    assert there.status == "SCREENED OUT"
    assert books(fake, "screen_out") == [30] == spent(published, "screen_out")


def test_without_screen_outs_who_is_not_admitted_is_paid_in_full(recruiter: Recruiter, fake: FakeProlific) -> None:
    recruiter.create(ADDRESS, PLAN, name="Photos", description="?")
    recruiter.publish(recruiter.cost().first)
    person, _ = come(recruiter, fake)
    end(recruiter, person, "not_admitted")
    reconcile(recruiter)
    reconcile(recruiter)
    assert books(fake, "approve") == [PLAN.reward]


def test_without_researcher_codes_people_are_approved_once_they_are_back(
    recruiter: Recruiter, fake: FakeProlific
) -> None:
    fake.platform.workspace.researcher_codes = False
    recruiter.create(ADDRESS, PLAN, name="Photos", description="?")
    recruiter.publish(recruiter.cost().first)
    person, there = come(recruiter, fake)
    end(recruiter, person)
    report = reconcile(recruiter)
    assert there.status == "ACTIVE"
    assert any("is to be paid" in said for said in report.differences)
    fake.platform.come_back(there, None)  # NOCODE: our own record says that they finished
    reconcile(recruiter)
    assert reconcile(recruiter).agrees
    assert there.status == "APPROVED"


def test_a_shared_code_pays_nobody_by_itself(published: Recruiter, fake: FakeProlific) -> None:
    code = published.recruitment().codes["finished"]
    here, there = come(published, fake)
    fake.platform.come_back(there, code)  # without having answered
    elsewhere = fake.platform.take_place(there.study)
    assert elsewhere is not None
    fake.platform.come_back(elsewhere, code)  # without ever having come
    report = reconcile(published)
    assert len(report.waiting) == 2
    assert books(fake, "approve") == []
    paying.decide(published, here.pseudonym, pay=True)
    reconcile(published)
    reconcile(published)
    assert there.status == "APPROVED"
    assert elsewhere.status == "AWAITING REVIEW"


@pytest.mark.parametrize("outcome", [None, "refused", "returned", "timed_out", "full"])
def test_whoever_asks_for_pay_and_is_owed_none_is_shown_to_the_organizer(
    published: Recruiter, fake: FakeProlific, outcome: str | None
) -> None:
    person, there = come(published, fake)
    if outcome is not None:
        end(published, person, outcome)
    fake.platform.come_back(there, None)
    report = reconcile(published)
    assert [one.who for one in report.waiting] == [person.pseudonym]
    assert books(fake, "approve") == []
    paying.decide(published, person.pseudonym, pay=True)
    reconcile(published)
    assert reconcile(published).waiting == []
    assert there.status == "APPROVED"


def test_who_is_to_be_screened_out_and_asks_for_the_whole_pay_is_a_difference(
    published: Recruiter, fake: FakeProlific
) -> None:
    person, there = come(published, fake)
    end(published, person, "not_admitted")
    fake.platform.come_back(there, None)
    report = reconcile(published)
    assert any(f"{person.pseudonym} is to get the screen-out" in said for said in report.differences)


def test_nobody_is_ever_rejected_by_a_whole_study(published: Recruiter, fake: FakeProlific) -> None:
    for outcome in ("finished", "not_admitted", "refused", "timed_out"):
        person, _ = come(published, fake)
        end(published, person, outcome)
    for _ in range(3):
        reconcile(published, decided=True)
    assert not any(isinstance(c.said, dict) and c.said.get("action") == "REJECT" for c in fake.calls)
    assert not any("request-return" in call.path for call in fake.calls)


def test_a_return_may_be_asked_for_only_after_failed_instructed_checks(
    published: Recruiter, fake: FakeProlific
) -> None:
    person, there = come(published, fake)
    with pytest.raises(InvalidProblem, match="no reason to ask for a return"):
        paying.ask_return(published, person.pseudonym)
    published.store.change(STUDY, person.pseudonym, failed=1)
    paying.ask_return(published, person.pseudonym)  # the plan takes 3 minutes: one is enough
    assert there.return_requested is not None
    changed = published.store.person(STUDY, person.pseudonym)
    assert changed is not None
    assert not paying.may_ask_return(changed, minutes=5)


def test_returns_and_time_outs_end_a_visit_and_an_undone_return_takes_it_up_again(
    published: Recruiter, fake: FakeProlific
) -> None:
    (a, there_a), (b, there_b) = come(published, fake), come(published, fake)
    fake.platform.give_back(there_a)
    fake.platform.give_back(there_b, "TIMED-OUT")
    reconcile(published)
    found = {p.pseudonym: p.outcome for p in published.store.people(STUDY)}
    assert found == {a.pseudonym: "returned", b.pseudonym: "timed_out"}
    there_a.status = "ACTIVE"
    reconcile(published)
    back = published.store.person(STUDY, a.pseudonym)
    assert back is not None
    assert back.outcome is None


def test_places_start_small_and_grow_up_to_the_plan(published: Recruiter, fake: FakeProlific) -> None:
    study = published.recruitment().platform_id or ""
    assert fake.platform.studies[study].places == 5
    for places in (10, 20, 20):
        while fake.platform.taken(fake.platform.studies[study]) < fake.platform.studies[study].places:
            person, _ = come(published, fake)
            end(published, person)
        for _ in range(3):
            reconcile(published)
        assert fake.platform.studies[study].places == places
    assert sum(spent(published, "publish")) + sum(spent(published, "places")) == published.cost().all


def test_a_study_that_is_decided_is_stopped_and_those_inside_are_paid(published: Recruiter, fake: FakeProlific) -> None:
    person, there = come(published, fake)
    reconcile(published, decided=True)
    assert published.seen()[0].status in ("COMPLETED", "AWAITING REVIEW")
    end(published, person)
    reconcile(published, decided=True)
    reconcile(published, decided=True)
    assert there.status == "APPROVED"


def test_pause_and_start(published: Recruiter) -> None:
    assert published.pause().status == "PAUSED"
    assert published.start().status == "ACTIVE"
    assert published.stop().status == "COMPLETED"


def test_a_bonus_is_promised_first_and_paid_once(published: Recruiter, fake: FakeProlific) -> None:
    person, there = come(published, fake)
    end(published, person)
    number = paying.promise_bonus(published, person.pseudonym, 150, "thank you")
    assert fake.platform.books == []
    for _ in range(3):
        reconcile(published)
    assert there.bonuses == [150]
    assert books(fake, "bonus") == [150] == spent(published, "bonus")
    assert [e.outcome for e in published.store.entries(STUDY) if e.number == number] == ["done"]


def test_somebody_is_found_by_the_beginning_of_their_name_if_nobody_else_is(
    published: Recruiter, fake: FakeProlific
) -> None:
    (a, _), (b, _) = come(published, fake), come(published, fake)
    assert paying.pseudonym_from(published, a.pseudonym[:8]) == a.pseudonym
    assert paying.pseudonym_from(published, b.pseudonym) == b.pseudonym
    for short in ("", b.pseudonym[:5]):
        with pytest.raises(StudyNotFound, match="6 letters"):
            paying.pseudonym_from(published, short)


def test_money_is_sent_to_nobody_whose_name_is_not_given_whole(published: Recruiter, fake: FakeProlific) -> None:
    person, _ = come(published, fake)
    for beginning in ("", person.pseudonym[:8], person.pseudonym[:-1]):
        with pytest.raises(StudyNotFound, match="whole pseudonym"):
            paying.promise_bonus(published, beginning, 100)
        with pytest.raises(StudyNotFound, match="whole pseudonym"):
            paying.decide(published, beginning, pay=True)
        with pytest.raises(StudyNotFound, match="whole pseudonym"):
            paying.ask_return(published, beginning)
    assert [entry for entry in published.store.entries(STUDY) if entry.kind == "bonus"] == []


@pytest.mark.parametrize("done", [True, False], ids=["paid", "not paid"])
def test_a_bonus_of_unknown_outcome_is_never_paid_again_by_itself(
    published: Recruiter, fake: FakeProlific, clock: Clock, done: bool
) -> None:
    person, there = come(published, fake)
    paying.promise_bonus(published, person.pseudonym, 150)
    fake.faults.append(Fault("POST .*/pay/", 0, done=done))
    reconcile(published)
    clock.later += 3600
    reports = [reconcile(published) for _ in range(3)]
    assert there.bonuses == ([150] if done else [])
    assert sum(call.path.endswith("/pay/") for call in fake.calls) == (1 if done else 0)
    if not done:
        assert "its outcome is unknown" in reports[-1].waiting[0].words
        (line,) = published.open_entries("bonus")
        paying.decide_bonus(published, line.number, paid=False)
        assert not published.open_entries("bonus")


@pytest.mark.parametrize("where", ["/submissions/bonus-payments/", "/pay/"])
def test_a_refused_bonus_holds_up_no_other_and_is_told(published: Recruiter, fake: FakeProlific, where: str) -> None:
    (a, _), (b, there) = come(published, fake), come(published, fake)
    refused = paying.promise_bonus(published, a.pseudonym, 100)
    paying.promise_bonus(published, b.pseudonym, 150)
    fake.faults.append(Fault(f"POST .*{where}", 400))
    report = reconcile(published)
    assert any("pay bonuses" in said for said in report.differences)
    reconcile(published)
    assert there.bonuses == [150]
    assert books(fake, "bonus") == [150] == spent(published, "bonus")
    assert [e.outcome for e in published.store.entries(STUDY) if e.number == refused] == ["refused"]


@pytest.mark.parametrize("where", ["/submissions/bonus-payments/", "/pay/"])
@pytest.mark.parametrize("status", [401, 403, 429])
def test_a_bonus_that_cannot_be_paid_now_stays_the_same_promise(
    published: Recruiter, fake: FakeProlific, where: str, status: int
) -> None:
    person, there = come(published, fake)
    number = paying.promise_bonus(published, person.pseudonym, 150, "thank you")
    before = [e for e in published.store.entries(STUDY) if e.kind == "bonus"]
    fake.faults.append(Fault(f"POST .*{where}", status))
    reconcile(published)
    assert [e for e in published.store.entries(STUDY) if e.kind == "bonus"] == before
    reconcile(published)
    assert there.bonuses == [150] == spent(published, "bonus")
    assert [e.number for e in published.store.entries(STUDY) if e.kind == "bonus"] == [number]


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("status", [0, 502, 503])
def test_publishing_with_an_unknown_outcome_is_found_out_and_not_repeated(
    recruiter: Recruiter, fake: FakeProlific, clock: Clock, status: int, done: bool
) -> None:
    recruiter.create(ADDRESS, PLAN, name="Photos", description="?")
    cost = recruiter.cost().first
    fake.faults.append(Fault("POST .*/transition/", status, done=done))
    with pytest.raises(Unknown):
        recruiter.publish(cost)
    if not done:
        with pytest.raises(RecruitingFailed, match="not repeated"):
            recruiter.publish(cost)
    clock.later += 600
    reconcile(recruiter)
    (entry,) = recruiter.store.entries(STUDY)
    assert entry.outcome == ("done" if done else "not_done")
    assert fake.platform.workspace.balance == 1_000_000 - (cost if done else 0)


def test_a_lost_reply_to_the_draft_makes_no_second_draft(recruiter: Recruiter, fake: FakeProlific) -> None:
    fake.faults.append(Fault("POST .*/studies/$", 502, done=True))
    with pytest.raises(Unknown):
        recruiter.create(ADDRESS, PLAN, name="Photos", description="?")
    made = recruiter.create(ADDRESS, PLAN, name="Photos", description="?")
    assert list(fake.platform.studies) == [made.platform_id]


def test_approving_late_and_refused_payments_converge(published: Recruiter, fake: FakeProlific, clock: Clock) -> None:
    fake.platform.workspace.approving_s = 30
    people = [come(published, fake) for _ in range(4)]
    for person, _ in people:
        end(published, person)
    fake.faults.append(Fault("bulk-approve", 429, times=2))
    for _ in range(6):
        reconcile(published)
        clock.later += 20
    assert books(fake, "approve") == [PLAN.reward] * 4 == spent(published, "approve")
    assert reconcile(published).agrees


def test_one_submission_that_cannot_be_approved_holds_nobody_else_up(published: Recruiter, fake: FakeProlific) -> None:
    people = [come(published, fake) for _ in range(3)]
    for person, there in people:
        end(published, person)
        fake.platform.come_back(there, None)
    bad = people[1][1]

    def spoil(method: str, path: str) -> None:
        if "bulk-approve" in path:
            bad.status = "ACTIVE"

    fake.during = spoil
    published.client.complete = lambda session, code: (_ for _ in ()).throw(Unknown("down"))  # type: ignore[method-assign]
    reconcile(published)
    fake.platform.catch_up()
    assert [there.status for _, there in people] == ["APPROVED", "ACTIVE", "APPROVED"]


def test_whoever_the_list_does_not_know_after_a_while_was_never_there(
    published: Recruiter, fake: FakeProlific, clock: Clock
) -> None:
    real, _ = come(published, fake, verified=None)
    forged, _ = published.store.arrive(STUDY, Identity("f" * 24, "e" * 24), None)
    assert forged is not None
    reconcile(published)
    assert {p.pseudonym: p.verified for p in published.store.people(STUDY)} == {
        real.pseudonym: True,
        forged.pseudonym: None,
    }
    clock.later += 600
    reconcile(published)
    assert {p.pseudonym: p.verified for p in published.store.people(STUDY)}[forged.pseudonym] is False


def test_a_session_with_another_persons_id_is_not_believed(published: Recruiter, fake: FakeProlific) -> None:
    (_, a), (_, b) = come(published, fake), come(published, fake)
    c = fake.platform.take_place(a.study)
    assert c is not None
    swapped, _ = published.store.arrive(STUDY, Identity(b.participant, c.id), None)
    assert swapped is not None
    reconcile(published)
    found = published.store.person(STUDY, swapped.pseudonym)
    assert found is not None
    assert found.verified is False


def test_statuses_nobody_has_heard_of_are_tolerated(published: Recruiter, fake: FakeProlific) -> None:
    person, there = come(published, fake)
    there.status = "PONDERING"
    reconcile(published)
    found = published.store.person(STUDY, person.pseudonym)
    assert found is not None
    assert (found.status, found.outcome, found.verified) == ("PONDERING", None, True)


def test_a_platform_that_is_down_changes_nothing(published: Recruiter, fake: FakeProlific) -> None:
    person, _ = come(published, fake)
    end(published, person)
    fake.faults.append(Fault("", 502, times=50))
    report = reconcile(published)
    assert not report.reached
    assert published.store.entries(STUDY)[1:] == []


def test_a_study_in_processing_is_left_alone(recruiter: Recruiter, fake: FakeProlific, clock: Clock) -> None:
    fake.platform.workspace.publishing_s, fake.platform.workspace.processing_s = 60, 30
    recruiter.create(ADDRESS, PLAN, name="Photos", description="?")
    assert recruiter.publish(recruiter.cost().first).status == "PUBLISHING"
    reconcile(recruiter)
    clock.later += 61
    assert reconcile(recruiter).status == "PROCESSING"
    assert recruiter.pause().status == "PROCESSING"  # which is no status to pause from
    assert not any("PAUSE" in str(call.said) for call in fake.calls)
    clock.later += 30
    assert reconcile(recruiter).status == "ACTIVE"
    assert recruiter.seen()[0].status == "PAUSED"  # done as soon as it could be


def test_two_money_calls_at_once_are_refused_by_the_fake() -> None:
    import threading

    from handful.recruit.prolific.client import Busy, ProlificClient

    begun, go_on = threading.Event(), threading.Event()

    with FakeProlific(FakePlatform(Workspace())) as fake:
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
