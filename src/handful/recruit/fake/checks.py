"""What the fake Prolific refuses about a study."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import urlsplit

from handful.recruit.fake.records import FakeRefusal, FakeStudy

REQUIRED = (
    "name",
    "description",
    "external_study_url",
    "prolific_id_option",
    "total_available_places",
    "estimated_completion_time",
    "reward",
)
CHANGES_LATER = {"internal_name", "total_available_places", "submissions_config", "access_details"}
LOCAL = ("localhost", "127.0.0.1", "::1", "")


def check_new(said: dict[str, Any], researcher_codes: bool, fixed_screen_out: bool) -> None:
    """Refuse a draft as the real one would."""
    missing = {name: ["This field is required."] for name in REQUIRED if name not in said}
    if missing:
        raise FakeRefusal(400, missing)
    for name in ("reward", "total_available_places", "estimated_completion_time"):
        if not isinstance(said[name], int) or said[name] < 1:
            raise FakeRefusal(400, {name: ["A whole number of at least 1 is required."]})
    parts = urlsplit(said["external_study_url"])
    if parts.scheme != "https" or (parts.hostname or "") in LOCAL:
        raise FakeRefusal(400, {"external_study_url": ["Enter a public https address."]})
    minutes = said["estimated_completion_time"]
    least = math.ceil(2 + 2 * minutes + 2 * math.sqrt(minutes))
    if said.get("maximum_allowed_time", least) < least:
        raise FakeRefusal(400, {"maximum_allowed_time": [f"At least {least} minutes."]})
    check_codes(said, researcher_codes, fixed_screen_out)


def check_codes(said: dict[str, Any], researcher_codes: bool, fixed_screen_out: bool) -> None:
    """Refuse completion codes that this workspace cannot have."""
    codes = said.get("completion_codes") or []
    names = [code.get("code") for code in codes]
    if len(set(names)) != len(names):
        raise FakeRefusal(400, {"completion_codes": ["Codes must be unique."]})
    screen_outs = 0
    for code in codes:
        actions = [action["action"] for action in code.get("actions") or []]
        if code.get("actor") == "researcher" and not researcher_codes:
            raise FakeRefusal(400, {"completion_codes": ["The actor researcher is not enabled for this workspace."]})
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= set(actions):
            raise FakeRefusal(400, {"completion_codes": ["A code approves or asks for a review, not both."]})
        for action in code.get("actions") or []:
            if action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                screen_outs += 1
                if not fixed_screen_out:
                    raise FakeRefusal(400, {"completion_codes": ["Fixed screen-outs are not enabled here."]})
                if not 0 < action["fixed_screen_out_reward"] < said["reward"] or action["slots"] < 1:
                    raise FakeRefusal(400, {"completion_codes": ["A screen-out pays less than the study."]})
    if screen_outs > 1:
        raise FakeRefusal(400, {"completion_codes": ["One screen-out code per study."]})


def check_change(study: FakeStudy, said: dict[str, Any], researcher_codes: bool, fixed_screen_out: bool) -> None:
    """Drafts change freely; later only a few things do, and places only go up."""
    if study.status == "UNPUBLISHED":
        check_new({**study.said, **said}, researcher_codes, fixed_screen_out)
        return
    if set(said) - CHANGES_LATER:
        raise FakeRefusal(400, {name: ["Cannot be changed after publishing."] for name in set(said) - CHANGES_LATER})
    if said.get("total_available_places", study.places) < study.places:
        raise FakeRefusal(400, {"total_available_places": ["Places can only be increased."]})
