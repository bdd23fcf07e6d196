"""What is kept about recruiting, outside the journal: the recruitment of a study, the people who came, the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from handful.recruit.outcomes import Identity, Outcome
from handful.recruit.panel import Panel
from handful.recruit.plan import Plan

Wanted = Literal["draft", "active", "paused", "stopped"]
Kind = Literal["publish", "places", "approve", "screen_out", "bonus", "return"]
EntryOutcome = Literal["done", "refused", "not_done"]
Decision = Literal["pay", "leave"]


@dataclass(frozen=True)
class Recruitment:
    """How people are recruited for one study.

    platform_id, status, places: the study on Prolific, as it was seen last.
    codes:  by what they are for; see `prolific.draft`.
    screen_out: what those get who are not admitted, where the workspace has that; `screen_out_wanted`: what was asked.
    wanted: what the organizer wants the study on the platform to be.
    """

    study: str
    panel: Panel
    plan: Plan = field(default_factory=Plan)
    on_prolific: bool = False
    mark: str = ""
    codes: Mapping[str, str] = field(default_factory=dict)
    screen_out: int | None = None
    screen_out_wanted: int | None = None
    platform_id: str | None = None
    status: str | None = None
    places: int | None = None
    wanted: Wanted = "draft"

    def to_json(self) -> str:
        """The recruitment as JSON, as it is stored."""
        return json.dumps({**asdict(self), "panel": self.panel.to_dict(), "codes": dict(self.codes)})

    @classmethod
    def from_json(cls, text: str) -> Recruitment:
        """The recruitment that `to_json` wrote."""
        told: dict[str, Any] = json.loads(text)
        return cls(**{**told, "panel": Panel.from_dict(told["panel"]), "plan": Plan(**told["plan"])})


@dataclass(frozen=True)
class Participant:
    """Somebody who came from a panel. Only here a pseudonym stands beside the panel's ids.

    verified: whether the platform knows them; None while that is not known.
    status:   of their submission on the platform, as it was seen last.
    outcome:  what became of them here; None while they are inside.
    failed:   instructed checks that they failed.
    chance:   what their cookie is made from, the same on every device of theirs.
    """

    pseudonym: str
    who: Identity
    arrived: float | None = None
    seen: float | None = None
    consented: float | None = None
    verified: bool | None = None
    status: str | None = None
    outcome: Outcome | None = None
    ended: float | None = None
    completed: bool = False
    failed: int = 0
    decision: Decision | None = None
    chance: bytes | None = field(default=None, repr=False)

    @property
    def inside(self) -> bool:
        """Whether they may be asked something."""
        return self.outcome is None and self.verified is not False


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: a call that moves money, or asks somebody to give it up, written down before it is made.

    sent:    when the call was about to be made; None while it has not been.
    outcome: what is known of it; None while nothing is.
    """

    number: int
    kind: Kind
    who: str | None
    cents: int
    made: float
    sent: float | None = None
    outcome: EntryOutcome | None = None
    settled: float | None = None
    reference: str | None = None
    words: str = ""

    @property
    def unknown(self) -> bool:
        """Whether the call was made, or may have been, and nothing is known of what came of it."""
        return self.sent is not None and self.outcome is None

    @property
    def promised(self) -> bool:
        """Whether it is written down and the call has not been made."""
        return self.sent is None and self.outcome is None

    def is_old(self, now: float, grace_s: float) -> bool:
        """Whether the call was made so long ago that it would have had its effect by now."""
        return self.sent is not None and now - self.sent > grace_s

    @property
    def counts(self) -> bool:
        """Whether the money has moved, or may have."""
        return self.outcome == "done" or self.unknown
