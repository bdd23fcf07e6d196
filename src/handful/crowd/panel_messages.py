"""The part of the JSON interface about people from panels, as types. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handful.crowd.sent import Sent
from handful.recruit.panel import PanelEnding
from handful.recruit.recruitment import Step


class Arrive(Sent):
    """The parameters of the address that somebody from a panel came by."""

    parameters: Annotated[dict[str, Annotated[str, Field(max_length=300)]], Field(max_length=20)]


class Arrived(BaseModel):
    """How somebody from a panel goes on: as themselves, as somebody who only looks, or not at all."""

    state: Literal["inside", "preview", "ended"]
    ending: PanelEnding | None = None


class Decide(Sent):
    """The organizer's word about a person, or about a line of the ledger."""

    who: Annotated[str, Field(max_length=64)] | None = None
    line: Annotated[int, Field(ge=1, le=2**31)] | None = None
    pay: bool


class RecruitOnProlific(Sent):
    """People shall come from Prolific: where the study's page is, and the plan. Null: as the study was set up."""

    address: Annotated[str, Field(max_length=300)]
    people: Annotated[int, Field(ge=1, le=100_000)] | None = None
    answers_each: Annotated[int, Field(ge=1, le=10_000)] | None = None
    per_hour: Annotated[int, Field(ge=1, le=100_000)] | None = Field(default=None, description="cents per hour")
    currency: Literal["GBP", "USD"] | None = None


class PromiseBonus(Sent):
    """A bonus for somebody, in cents; `id` is random and of this bonus alone, so that a repeated request pays once."""

    id: Annotated[str, Field(min_length=16, max_length=64, pattern="^[0-9A-Za-z-]+$")]
    who: Annotated[str, Field(max_length=64)]
    cents: Annotated[int, Field(ge=1, le=20_000)]
    reason: Annotated[str, Field(max_length=200)] = ""


class WaitingLine(BaseModel):
    """Something that only the organizer can decide."""

    who: str | None
    line: int | None
    words: str


class Recruiting(BaseModel):
    """People from a panel, and the money: in whole cents, and in words."""

    panel: str
    status: str | None
    places: int | None
    plan: str
    steps: list[Step] = Field(description="what to do on the panel's own page, in order")
    people: dict[str, int]
    currency: str
    pays: bool = Field(description="whether people are paid from here")
    paid: int
    unknown: int
    promised: int = Field(description="bonuses that are written down and not sent yet")
    differences: list[str]
    waiting: list[WaitingLine]
    trouble: str | None
