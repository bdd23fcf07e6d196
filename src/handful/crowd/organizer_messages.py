"""The JSON interface of the organizer's page, as types. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from handful.crowd.messages import ItemCard, PickLine, StudyState
from handful.crowd.panel_messages import Recruiting
from handful.crowd.sent import Sent
from handful.study.doors import DoorKind


class Exclude(Sent):
    worker: Annotated[str, Field(min_length=1, max_length=64)]
    reason: Annotated[str, Field(max_length=200)] = ""


class ExcludingTold(BaseModel):
    """What excluding somebody would mean; `leaving` answers would count no more in the open round."""

    answers: int
    leaving: int
    rounds: tuple[int, ...] = Field(description="decided rounds that they answered in, which stand")
    words: str


class NamedWorker(Sent):
    worker: Annotated[str, Field(min_length=1, max_length=64)]


class NewDoor(Sent):
    """How people come from now on; what is not said is as it is by default."""

    kind: DoorKind
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    reason: Annotated[str, Field(max_length=200)] = ""


class MoreAnswers(Sent):
    answers: Annotated[int, Field(ge=1, le=100_000_000)]


class Login(Sent):
    key: Annotated[str, Field(max_length=200)]


class KeyLink(BaseModel):
    """An address with a key in it: of the organizer, or of whoever may see a result; null where there is none."""

    link: str | None


class ItemLine(BaseModel):
    """An item on the organizer's page, with what is known of it in the open round."""

    id: str
    name: str = Field(description="what people call it: its caption, the beginning of its text, or its file's name")
    card: ItemCard
    mean: float | None
    lower: float | None
    upper: float | None
    answers: int
    chosen: int | None = Field(description="its place in the summary, from 1; null while it is not chosen")
    leader: bool
    contender: bool = Field(description="whether it may still be the best of this round, as far as is known")


class AgreementTold(BaseModel):
    """How far people agree, and how many picks two halves of them have in common; each with what it does not mean."""

    people: int
    share: float | None
    interval: list[float] | None = Field(description="its lower and its upper end")
    pairs: int
    common: float | None
    picks: int
    splits: int
    sentences: list[str]


class WorkerLine(BaseModel):
    """A worker on the organizer's page."""

    worker: str
    answers: int
    round_answers: int = Field(description="in the open round; once all is picked, in the last that was not filled in")
    skips: int
    left_share: float | None
    median_ms: int | None = Field(description="with a rule, the one that it looks at; else as their browsers tell it")
    checks: int
    right: int
    admitted: bool
    excluded: bool
    withdrew: bool = Field(description="by themselves: nobody can restore them")
    why: str | None = Field(description="what the rule holds against them")


class RoundLine(BaseModel):
    """A round that is over."""

    round: int
    pick: str
    name: str = Field(description="what people call the pick")
    ended: str
    answers: int
    left_out: int = Field(description="of the answers, how many count no more: who gave them was excluded or withdrew")


class Course(BaseModel):
    """Where the answers so far lead."""

    on_course: bool | None = Field(description="null where nobody said who will come, and when the study is over")
    words: str
    ends: float | None = Field(description="when the answers will be there at the pace of late; null without any")
    leads_to: int | None = Field(description="answers in all, if the others who are expected give as many")
    timeline: list[tuple[float, int]] = Field(description="times, and how many answers there were by then")


class OrganizerStatus(BaseModel):
    """Everything the organizer's page shows."""

    study: str
    theme: str
    unasked: int  # picks that would be filled in if the study were closed now
    registered_after: int | None  # so many answers
    turn: int  # grows with every message while a server runs: one that was put together earlier may come later
    state: StudyState
    ended: str | None
    k: int
    options: int
    explorer: str
    most_in_flight: int
    lease_s: float
    round: int
    answers: int
    provisional: int
    in_flight: int
    budget: int | None
    answers_per_minute: float
    active_workers: int
    streams: int
    chosen: list[ItemLine]
    items: list[ItemLine]
    workers: list[WorkerLine]
    rounds: list[RoundLine]
    picks: list[PickLine]
    course: Course
    verdict: str
    certificate: str
    door: str | None
    checked: bool
    circumstances: list[str]
    stuck: str | None = Field(
        description="the cap that keeps everybody from going on, network or person, once nobody could for two minutes"
    )
    recruiting: Recruiting | None = None
    show_result: bool = Field(default=False, description="whether people who took part see the result in the end")
    retention_days: int = Field(description="how long after the end it is kept who gave which answers")
