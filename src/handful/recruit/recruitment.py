"""How people are recruited for one study, and what the organizer does on the panel's own page, step by step."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from handful.errors import InvalidProblem
from handful.recruit.panel import Panel, preset
from handful.recruit.plan import Plan, money

BACK = "https://app.prolific.com/submissions/complete?cc={code}"
PLACEHOLDERS = {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "STUDY_ID": "{{%STUDY_ID%}}", "SESSION_ID": "{{%SESSION_ID%}}"}

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_CODE_LETTERS = 10


@dataclass(frozen=True)
class Step:
    """Something to do on the panel's page: what, and the text to paste where there is one."""

    words: str
    paste: str | None = None


@dataclass(frozen=True)
class Recruitment:
    """How people are recruited for one study.

    address: of the study's page, as people open it; None where it was not said.
    codes:   on Prolific, what people carry back: "finished" and "refused".
    platform_id, status, places, reward: the study on Prolific, as it was seen last; known once somebody came from it.
    """

    study: str
    panel: Panel
    plan: Plan = field(default_factory=Plan)
    on_prolific: bool = False
    address: str | None = None
    codes: Mapping[str, str] = field(default_factory=dict)
    platform_id: str | None = None
    status: str | None = None
    places: int | None = None
    reward: int | None = None

    @property
    def pays(self) -> int:
        """What a person is paid for the whole, in cents: as Prolific shows it, or else by the plan."""
        return self.plan.reward if self.reward is None else self.reward

    def steps(self) -> tuple[Step, ...]:
        """What to do on the panel's own page, in order."""
        return _steps_on_prolific(self) if self.on_prolific else _steps_anywhere(self)

    def to_json(self) -> str:
        """The recruitment as JSON, as it is stored."""
        return json.dumps({**asdict(self), "panel": self.panel.to_dict(), "codes": dict(self.codes)})

    @classmethod
    def from_json(cls, text: str) -> Recruitment:
        """The recruitment that `to_json` wrote."""
        told: dict[str, Any] = json.loads(text)
        return cls(**{**told, "panel": Panel.from_dict(told["panel"]), "plan": Plan(**told["plan"])})


def on_prolific(study: str, address: str, plan: Plan, codes: Mapping[str, str] | None = None) -> Recruitment:
    """A study for which people come from Prolific; with new codes, unless they are given.

    Whoever is not admitted goes back like those who finished, for they are paid like them.
    """
    codes = codes or {purpose: _new_code() for purpose in ("finished", "refused")}
    finished, refused = BACK.format(code=codes["finished"]), BACK.format(code=codes["refused"])
    panel = preset("prolific", done=finished, not_admitted=finished, refused=refused)
    return Recruitment(study, panel, plan, on_prolific=True, address=_checked(address), codes=codes)


def _new_code() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LETTERS))


def _checked(address: str) -> str:
    """The public address of the study's page; Prolific refuses others."""
    parts = urlsplit(address)
    if parts.scheme != "https" or parts.hostname in (None, "localhost", "127.0.0.1", "::1"):
        raise InvalidProblem(
            f"people on Prolific cannot open {address!r}: expected a public https:// address of the study's page, "
            "such as https://example.org/s/venice (docs: running it for real)"
        )
    if parts.query or parts.fragment:
        raise InvalidProblem(f"{address!r} has a ? or a #: give the plain address; the ids are added to it")
    return address


def is_study_of(recruitment: Recruitment, told: Mapping[str, Any]) -> bool:
    """Whether a study on the platform is the one that sends people here, by the page that it opens."""
    here, there = urlsplit(recruitment.address or ""), urlsplit(str(told.get("external_study_url") or ""))
    return here.path.rstrip("/") == there.path.rstrip("/")


def _steps_on_prolific(recruitment: Recruitment) -> tuple[Step, ...]:
    plan, codes = recruitment.plan, recruitment.codes
    query = "&".join(f"{name}={blank}" for name, blank in PLACEHOLDERS.items())
    return (
        Step(
            "On Prolific, make a new study with an external link. Its link, with ids as URL parameters:",
            f"{recruitment.address}?{query}",
        ),
        Step("Completion path for those who finish; choose to review submissions manually:", codes["finished"]),
        Step("Completion path for those who do not consent; ask them to return, or review manually:", codes["refused"]),
        Step("Number of participants, each once. Begin with a few and add places when all is well:", str(plan.people)),
        Step("Estimated time to complete, in minutes:", str(plan.minutes)),
        Step("Longest time allowed, in minutes:", str(plan.longest_minutes)),
        Step(f"Reward for each ({money(plan.per_hour, plan.currency)} per hour):", money(plan.reward, plan.currency)),
        Step("Open the preview on Prolific: it must lead to the study's page and count nothing."),
        Step(
            "Set PROLIFIC_TOKEN in the environment of handful serve, and publish. Do not approve or pay anybody by "
            "hand: handful approves everybody who finished, once, and stops the study when it has its picks."
        ),
    )


def _steps_anywhere(recruitment: Recruitment) -> tuple[Step, ...]:
    plan, panel = recruitment.plan, recruitment.panel
    ids = "&".join(f"{parameter}=…" for parameter in panel.parameters)
    address = recruitment.address or f"https://…/s/{recruitment.study}"
    steps = [Step("The link of the study, with the panel's own placeholders in place of the dots:", f"{address}?{ids}")]
    if panel.code is not None:
        each = "Each who finishes is shown a code of their own; handful recruit pay-list names them all."
        steps.append(Step(each) if panel.code == "each" else Step("The code of those who finish:", panel.code))
    if panel.endings:
        steps.append(Step(f"People are sent back with these outcomes: {', '.join(sorted(panel.endings))}."))
    places = plan.people if panel.places is None else panel.places
    return (
        *steps,
        Step("Number of people:", str(places)),
        Step("Minutes for each:", str(plan.minutes)),
        Step("When they are done, handful recruit pay-list says who is to be paid. Pay them on the panel's page."),
    )
