"""The part of the JSON interface about people from panels, as types. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handful.crowd.sent import Sent

RecruitingAction = Literal["pause", "start", "stop", "reconcile"]


class Arrive(Sent):
    """The parameters of the address that somebody from a panel came by."""

    parameters: Annotated[dict[str, Annotated[str, Field(max_length=300)]], Field(max_length=20)]


class PanelEnding(BaseModel):
    """What became of somebody from a panel, and how they go back there."""

    outcome: Literal["finished", "refused", "not_admitted", "full", "returned", "timed_out"]
    title: str
    words: str
    address: str | None = Field(default=None, description="where the browser goes")
    code: str | None = Field(default=None, description="to be typed in at the panel")
    post: dict[str, str] | None = Field(default=None, description="the fields of a form to post to `address`")


class Arrived(BaseModel):
    """How somebody from a panel goes on: as themselves, as somebody who only looks, or not at all."""

    state: Literal["inside", "preview", "ended"]
    ending: PanelEnding | None = None


class Decide(Sent):
    """The organizer's word about a person, or about a line of the ledger."""

    who: Annotated[str, Field(max_length=64)] | None = None
    line: Annotated[int, Field(ge=1, le=2**31)] | None = None
    pay: bool


class PlanPeople(Sent):
    """A plan for people from a panel: what is known of it, and one of budget, minutes and rewards that it shall have.

    Pay is in cents per hour, rewards are in cents.
    """

    people: Annotated[int, Field(ge=1, le=100_000)] | None = None
    answers_each: Annotated[int, Field(ge=1, le=10_000)] | None = None
    per_hour: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        default=None, description="null for what was said when the study was set up, or else 900"
    )
    currency: Literal["GBP", "USD"] | None = None
    budget: Annotated[int, Field(ge=1, le=10**8)] | None = None
    minutes: Annotated[float, Field(gt=0, le=24 * 60)] | None = None
    rewards: Annotated[int, Field(ge=1, le=10**9)] | None = None


class RecruitingPlan(BaseModel):
    """How people, answers, checks, minutes, reward and budget hang together; money in cents, and all in words."""

    people: int
    answers_each: int
    checks_each: int = Field(description="by the study's rule, paid for like answers")
    budget: int = Field(description="answers that count, of all people")
    minutes: int
    reward: int
    rewards: int
    per_hour: int
    currency: str
    first_places: int
    words: str
    note: str = Field(description="where the study was made for another number of answers; else empty")


class CreateDraft(PlanPeople):
    """A draft on Prolific for a study: where its page is, and the plan."""

    address: Annotated[str, Field(max_length=300)]


class PromiseBonus(Sent):
    """A bonus for somebody, in cents; `id` is random and of this bonus alone, so that a repeated request pays once."""

    id: Annotated[str, Field(min_length=16, max_length=64, pattern="^[0-9A-Za-z-]+$")]
    who: Annotated[str, Field(max_length=64)]
    cents: Annotated[int, Field(ge=1, le=20_000)]
    reason: Annotated[str, Field(max_length=200)] = ""


class Publish(Sent):
    """A yes to publishing at this cost."""

    cents: Annotated[int, Field(ge=0, le=10**9)]


class AskReturn(Sent):
    who: Annotated[str, Field(max_length=64)]


class RecruitingCost(BaseModel):
    """What publishing costs, in cents and in words."""

    cents: int
    words: str


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
    people: dict[str, int]
    currency: str
    paid: int
    locked: int
    unknown: int
    promised: int = Field(description="bonuses that are written down and not sent yet")
    differences: list[str]
    waiting: list[WaitingLine]
    may_return: list[str] = Field(description="who may be asked for a return, for failed instructed checks")
    trouble: str | None
