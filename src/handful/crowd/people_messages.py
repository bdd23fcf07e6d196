"""The JSON interface about who takes part, as types. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated

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
