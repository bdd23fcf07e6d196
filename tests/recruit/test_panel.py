"""Identity, outcome, action: any panel by configuration."""

from __future__ import annotations

import pytest

from handful.errors import InvalidProblem
from handful.recruit import FormPost, Identity, Panel, Redirect, ServerCall, ShowCode, panel, preset
from handful.recruit.panel import personal_code

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
    assert action.code == personal_code(KEY, "ann-1", "s-9") != personal_code(KEY, "bob-2", "s-9")
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
