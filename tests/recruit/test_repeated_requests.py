"""A request of the organizer that is sent again, because no reply came, has its effect once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from handful.crowd.collection.items import Collection
from handful.crowd.hosting.startup import StudyPlan
from handful.errors import RecruitingFailed, StudyExists
from handful.recruit.fake import FakePlatform, FakeProlific
from handful.recruit.fake.records import FakeSubmission
from handful.recruit.fake.server import Fault
from handful.recruit.prolific import paying
from handful.recruit.prolific.reconciling import reconcile
from handful.recruit.prolific.recruiter import GRACE_S, Recruiter
from handful.recruit.records import Participant
from tests.crowd.clients import STUDY as SERVED
from tests.crowd.clients import started
from tests.recruit.arrivals import QUICK
from tests.recruit.conftest import ADDRESS, PLAN, STUDY, Clock
from tests.recruit.test_recruiter import come, end

DRAFT = {"address": ADDRESS, "people": 20, "answers_each": 4}
ROOT = f"/api/organize/{SERVED}/recruiting"


def asked(fake: FakeProlific) -> int:
    return sum("request-return" in call.path for call in fake.calls)


def made(fake: FakeProlific) -> int:
    return sum(call.method == "POST" and call.path.endswith("/studies/") for call in fake.calls)


def asked_in_vain(recruiter: Recruiter, fake: FakeProlific, *, arrives: bool) -> tuple[Participant, FakeSubmission]:
    """Somebody who is asked for a return to which no reply comes."""
    person, there = come(recruiter, fake)
    recruiter.store.change(STUDY, person.pseudonym, failed=1)
    fake.faults.append(Fault("POST .*/request-return/", 0, done=arrives))
    with pytest.raises(RecruitingFailed, match="no reply"):
        paying.ask_return(recruiter, person.pseudonym)
    return person, there


def test_a_draft_that_is_asked_for_again_is_made_once_and_another_one_is_refused(
    recruiter: Recruiter, fake: FakeProlific
) -> None:
    first = recruiter.create(ADDRESS, PLAN, name="Photos", description="Which?")
    assert recruiter.create(ADDRESS, PLAN, name="Photos", description="Which?") == first
    with pytest.raises(StudyExists):
        recruiter.create(f"{ADDRESS}2", PLAN, name="Photos", description="Which?")
    with pytest.raises(StudyExists):
        recruiter.create(ADDRESS, PLAN, name="Photos", description="Which?", screen_out=20)
    assert (made(fake), len(fake.platform.studies)) == (1, 1)


def test_a_draft_that_is_sent_many_times_at_once_over_http_is_made_once(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = StudyPlan(k=3, explorer="topx", budget=120, in_flight=20)
    with FakeProlific(FakePlatform()) as fake, started(collection, study, QUICK, storage=tmp_path / "a.db") as server:
        monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
        monkeypatch.setenv("PROLIFIC_URL", fake.url)
        http = server.organizer()
        fake.faults.append(Fault("POST .*/studies/$", 0, done=True))
        lost = http.post(f"{ROOT}/create", json=DRAFT)  # made over there, and no reply came
        assert (lost.status_code, len(fake.platform.studies)) == (409, 1)

        def create(_: int) -> httpx.Response:
            return http.post(f"{ROOT}/create", json=DRAFT)

        with ThreadPoolExecutor(3) as pool:
            replies = list(pool.map(create, range(3)))
        assert [reply.status_code for reply in replies] == [200, 200, 200]
        assert {reply.json()["status"] for reply in replies} == {"UNPUBLISHED"}
        assert (made(fake), len(fake.platform.studies)) == (1, 1)
        assert http.post(f"{ROOT}/create", json={**DRAFT, "people": 21}).status_code == 409


def test_a_person_is_asked_for_a_return_once_however_often_it_is_clicked(
    published: Recruiter, fake: FakeProlific
) -> None:
    person, there = come(published, fake)
    published.store.change(STUDY, person.pseudonym, failed=1)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: paying.ask_return(published, person.pseudonym), range(4)))
    assert asked(fake) == 1
    assert there.return_requested is not None
    assert [(e.kind, e.cents, e.outcome) for e in published.store.entries(STUDY)][-1] == ("return", 0, "done")
    assert paying.was_asked(published.store.entries(STUDY), person.pseudonym)


def test_a_return_whose_reply_was_lost_is_found_out_and_not_asked_for_again(
    published: Recruiter, fake: FakeProlific
) -> None:
    person, there = asked_in_vain(published, fake, arrives=True)
    paying.ask_return(published, person.pseudonym)
    assert (asked(fake), there.return_requested is not None) == (1, True)


def test_a_return_that_got_lost_is_asked_for_again_only_once_that_is_certain(
    published: Recruiter, fake: FakeProlific, clock: Clock
) -> None:
    person, there = asked_in_vain(published, fake, arrives=False)
    with pytest.raises(RecruitingFailed, match="is not asked twice"):
        paying.ask_return(published, person.pseudonym)
    assert any("return" in said for said in reconcile(published).differences)
    assert (asked(fake), there.return_requested) == (0, None)  # what was lost did not arrive there
    clock.later += GRACE_S + 1
    reconcile(published)
    paying.ask_return(published, person.pseudonym)
    assert (asked(fake), there.return_requested is not None) == (1, True)


@pytest.mark.parametrize("status", [404, 500])
def test_somebody_who_cannot_be_looked_up_holds_up_nobody_elses_pay(
    published: Recruiter, fake: FakeProlific, status: int
) -> None:
    lost, _ = asked_in_vain(published, fake, arrives=False)
    fake.faults.append(Fault(f"GET .*/submissions/{lost.who.session}/", status, times=100))
    other, there = come(published, fake)
    end(published, other)
    report = reconcile(published)
    reconcile(published)
    assert there.status == "APPROVED"
    assert report.reached
    assert any(f"asking {lost.pseudonym} for a return has no known outcome" in said for said in report.differences)
