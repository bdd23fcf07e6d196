"""Identity, outcome, action: any panel by configuration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handful.errors import InvalidProblem
from handful.recruit import FormPost, Identity, Panel, Plan, Redirect, ServerCall, ShowCode, panel, preset
from handful.recruit.codes import is_code_of, personal_code
from handful.recruit.money import as_decimal, cents_of, money

KEY = b"k" * 32
ANN = Identity("ann-1", "s-9", "p-4")


def test_a_panel_reads_who_arrived_from_its_own_parameters() -> None:
    connect = preset("connect")
    assert connect.identity({"participantId": "ann-1", "assignmentId": "s-9", "projectId": "p-4"}) == ANN
    assert connect.identity({"participantId": "ann-1"}) is None
    assert connect.identity({"participantId": "<script>", "assignmentId": "s"}) is None
    assert preset("sona").identity({"sona_code": "77"}) == Identity("77")


def test_each_outcome_has_its_own_address_and_ids_are_quoted_in_it() -> None:
    own = panel(id="pid", done="https://x.org/done?p={participant}&s={session}", full="https://x.org/full")
    assert own.actions("finished", Identity("a@b", None), KEY) == (Redirect("https://x.org/done?p=a%40b&s="),)
    assert own.actions("full", ANN, KEY) == (Redirect("https://x.org/full"),)
    assert own.actions("refused", ANN, KEY) == ()


def test_presets_send_people_back_where_they_came_from() -> None:
    back = preset("connect").actions("finished", ANN, KEY)
    assert back == (Redirect("https://connect.cloudresearch.com/participant/project/p-4/complete"),)
    call = "https://uni.sona-systems.com/webstudy_credit.aspx?experiment_id=1&credit_token=t&survey_code={participant}"
    sona = preset("sona", call=call)
    assert sona.actions("finished", ANN, KEY) == (ServerCall(call.replace("{participant}", "ann-1")),)


def test_a_form_goes_to_the_configured_address_only() -> None:
    mturk = panel(
        id="workerId",
        session="assignmentId",
        study="hitId",
        post="https://market.example/mturk/externalSubmit",
        preview=("ASSIGNMENT_ID_NOT_AVAILABLE",),
    )
    assert mturk.identity({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h"}) is None
    who = mturk.identity({"assignmentId": "A1", "workerId": "W1", "hitId": "h", "turkSubmitTo": "https://evil.example"})
    assert who is not None
    (action,) = mturk.actions("finished", who, KEY)
    assert action == FormPost(
        "https://market.example/mturk/externalSubmit", (("assignmentId", "A1"), ("code", "finished"))
    )
    assert mturk.post_origin == "https://market.example"


def test_personal_codes_belong_to_one_person_and_cannot_be_made_without_the_key() -> None:
    own = panel(id="pid", code="each")
    (action,) = own.actions("finished", ANN, KEY)
    assert isinstance(action, ShowCode)
    assert is_code_of(KEY, action.code.lower(), "ann-1", "s-9")
    assert not is_code_of(KEY, action.code, "bob-2", "s-9")
    assert personal_code(b"other", "ann-1", "s-9") != action.code
    assert len({personal_code(KEY, str(n)) for n in range(1000)}) == 1000


def test_a_panel_survives_being_stored() -> None:
    own = panel(id="pid", done="https://x.org", preview=("NO",), places=120, code="each")
    assert Panel.from_dict(own.to_dict()) == own


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"id": "p d"}, "cannot be a parameter"),
        ({"id": "p", "done": "ftp://x"}, "expected https"),
        ({"id": "p", "done": "https://{study}.org"}, "host of the address"),
        ({"id": "p", "done": "https://x.org/{who}"}, "has {who}"),
        ({"id": "p", "places": 0}, "lets nobody in"),
    ],
)
def test_a_panel_that_makes_no_sense_is_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidProblem, match=words):
        panel(**wrong)  # type: ignore[arg-type]


def test_money_is_whole_cents_whatever_is_typed() -> None:
    assert [cents_of(text) for text in ("9", "9.5", "£9.50", "0.07")] == [900, 950, 950, 7]
    assert (as_decimal(7), as_decimal(3000), money(123456, "USD"), money(-5)) == (
        "0.07",
        "30.00",
        "$1,234.56",
        "-£0.05",
    )
    for wrong in ("9.505", "-1", "ten", ""):
        with pytest.raises(InvalidProblem):
            cents_of(wrong)


def test_changing_one_number_of_the_plan_shows_the_others() -> None:
    plan = Plan(people=100, answers_each=30, checks=5, seconds=6, other_s=60, per_hour=900)
    assert (plan.budget, plan.minutes, plan.reward, plan.rewards, plan.start_with) == (3000, 5, 75, 7500, 10)
    assert plan.longest_minutes == 17
    assert plan.for_budget(6000).people == 200
    assert plan.for_rewards(15_000).people == 200
    shorter = plan.for_minutes(3)
    assert (shorter.answers_each, shorter.people, shorter.minutes) == (15, 200, 3)
    assert [replace(plan, answers_each=n, checks=0).longest_minutes for n in (90, 140)] == [29, 40]
    assert plan.more_places(60) == 100


def test_pay_below_the_minimum_is_refused() -> None:
    Plan(per_hour=600)
    with pytest.raises(InvalidProblem, match="below the platform's minimum of £6.00"):
        Plan(per_hour=599)
    with pytest.raises(InvalidProblem, match="below the platform's minimum of \\$8.00"):
        Plan(per_hour=799, currency="USD")
