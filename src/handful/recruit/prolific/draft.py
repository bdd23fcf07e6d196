"""A draft for Prolific, from a study's plan and wording."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from handful.errors import InvalidProblem
from handful.recruit.plan import Plan

BACK = "https://app.prolific.com/submissions/complete?cc={code}"
ADDRESS = "{address}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID={{{{%STUDY_ID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"

FINISHED, HERE, SCREENED, REFUSED = "finished", "here", "screened_out", "refused"
"""What codes are for: carried back by who finished; completing from our server; the fixed screen-out, also from our
server; carried back by who did not consent."""

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


def new_mark() -> str:
    """A name for the draft that finds it again, should the reply to creating it be lost."""
    return f"handful-{secrets.token_hex(8)}"


def new_codes() -> dict[str, str]:
    """One code for each purpose."""
    return {
        purpose: "".join(secrets.choice(_LETTERS) for _ in range(10)) for purpose in (FINISHED, HERE, SCREENED, REFUSED)
    }


def check_address(address: str) -> str:
    """The public address of the study's page; the platform refuses others."""
    parts = urlsplit(address)
    if parts.scheme != "https" or parts.hostname in (None, "localhost", "127.0.0.1", "::1"):
        raise InvalidProblem(
            f"people on Prolific cannot open {address!r}: expected a public https:// address of the study's page, "
            "such as https://example.org/s/venice (docs: running it for real)"
        )
    if parts.query or parts.fragment:
        raise InvalidProblem(f"{address!r} has a ? or a #: give the plain address; the ids are added to it")
    return address


def drafts(
    name: str,
    description: str,
    address: str,
    mark: str,
    plan: Plan,
    codes: dict[str, str],
    screen_out: int | None,
) -> Iterator[tuple[dict[str, Any], frozenset[str], int | None]]:
    """The draft as it should be, then with less for workspaces that cannot have that.

    With each: the purposes of its codes, and what a screen-out pays in it.
    """
    if screen_out is not None:
        yield _draft(name, description, address, mark, plan, codes, (HERE, SCREENED), screen_out)
    yield _draft(name, description, address, mark, plan, codes, (HERE,), None)
    yield _draft(name, description, address, mark, plan, codes, (), None)


def _draft(
    name: str,
    description: str,
    address: str,
    mark: str,
    plan: Plan,
    codes: dict[str, str],
    ours: tuple[str, ...],
    screen_out: int | None,
) -> tuple[dict[str, Any], frozenset[str], int | None]:
    review = [{"action": "MANUALLY_REVIEW"}]
    listed: list[dict[str, Any]] = [
        {"code": codes[FINISHED], "code_type": "COMPLETED", "actor": "participant", "actions": review},
        {"code": codes[REFUSED], "code_type": "NO_CONSENT", "actor": "participant", "actions": review},
    ]
    if HERE in ours:
        listed.append({"code": codes[HERE], "code_type": "COMPLETED", "actor": "researcher", "actions": review})
    if SCREENED in ours:
        pays = {
            "action": "FIXED_SCREEN_OUT_PAYMENT",
            "fixed_screen_out_reward": screen_out,
            "slots": max(5, plan.people // 2),
        }
        listed.append(
            {"code": codes[SCREENED], "code_type": "FIXED_SCREENOUT", "actor": "researcher", "actions": [pays]}
        )
    said = {
        "name": name,
        "internal_name": mark,
        "metadata": mark,
        "description": description,
        "external_study_url": ADDRESS.format(address=address),
        "prolific_id_option": "url_parameters",
        "total_available_places": plan.start_with,
        "estimated_completion_time": plan.minutes,
        "maximum_allowed_time": plan.longest_minutes,
        "reward": plan.reward,
        "completion_codes": listed,
        "device_compatibility": ["desktop", "tablet", "mobile"],
        "filters": [],
        "submissions_config": {"max_submissions_per_participant": 1, "max_concurrent_submissions": -1},
        "study_labels": ["decision_making_task"],
    }
    return said, frozenset({FINISHED, REFUSED, *ours}), screen_out
