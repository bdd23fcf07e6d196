"""The JSON interface about who takes part, as types. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handful.crowd.sent import Sent


class Invite(Sent):
    number: Annotated[int, Field(ge=1, le=10_000)]


class InvitationCounts(BaseModel):
    open: int
    used: int
    revoked: int


class InvitationLink(BaseModel):
    number: int
    link: str


class InvitationLinks(BaseModel):
    """Told once: only hashes are kept."""

    links: list[InvitationLink]


class Lift(Sent):
    """Which cap on a share of a round to lift, and why."""

    cap: Literal["network", "person"]
    reason: Annotated[str, Field(max_length=200)] = ""


class NetworkLine(BaseModel):
    """What came from one network. Its name says nothing about an address."""

    network: str
    people: int
    answers: int
    excluded: int = Field(description="how many of its people are excluded")
    first: float = Field(description="when its first person joined")
    last: float | None = Field(description="when its last answer came; null where none did")


class ExcludeGroup(Sent):
    """Everybody of a network, or who came between two times, in seconds since 1970; both: who fits both."""

    network: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    since: Annotated[float, Field(ge=0, le=1e11)] | None = None
    until: Annotated[float, Field(ge=0, le=1e11)] | None = None
    reason: Annotated[str, Field(max_length=200)] = ""


class GroupExcluding(BaseModel):
    """What excluding a group, or one person, would mean; `leaving` answers would count no more in the open round."""

    people: int
    answers: int
    leaving: int
    rounds: tuple[int, ...] = Field(description="decided rounds that they answered in, which stand")
    words: str
