"""The JSON interface of setting up a study, as types. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from handful.crowd.lessons import LONGEST, MOST_LESSONS
from handful.crowd.messages import About, ItemCard, Option, Summary
from handful.crowd.sent import Sent
from handful.storage.retention import MOST_DAYS

DraftState = Literal["collecting", "preparing", "ready", "opened"]


class LessonTold(Sent):
    """A pair to practise on: each card is the name of a picture or an item, or else a text; `right` is the answer."""

    right: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    wrong: Annotated[str, Field(min_length=1, max_length=LONGEST)]
    why: Annotated[str, Field(max_length=LONGEST)] = ""


class Words(Sent):
    """What people read in a study, and how much is asked of each; null for the built-in words, or for none."""

    question: Annotated[str, Field(max_length=300)] | None = None
    welcome: Annotated[str, Field(max_length=2_000)] | None = None
    instructions: Annotated[str, Field(max_length=4_000)] | None = None
    consent: Annotated[str, Field(max_length=20_000)] | None = None
    thanks: Annotated[str, Field(max_length=2_000)] | None = None
    instruction: Annotated[str, Field(max_length=80)] | None = None
    practice: Annotated[list[LessonTold], Field(max_length=MOST_LESSONS)] | None = Field(
        default=None, description="the organizer's own; an empty list for none, null for the built-in one"
    )
    goal: Annotated[int, Field(ge=0, le=100_000)] | None = None
    language: Annotated[str, Field(max_length=12)] | None = None
    retention_days: Annotated[int, Field(ge=0, le=MOST_DAYS)] | None = Field(
        default=None, description="after how many days from closing what ties answers to people is deleted; null for 90"
    )
    listed: bool = True
    show_result: bool = Field(default=False, description="to people who took part, once the study has ended")


class DraftSettings(Sent):
    """What a new study will be like. `budget` is answers in all; null for people times the answers of each."""

    theme: Annotated[str, Field(max_length=200)] = ""
    chosen: Annotated[list[Annotated[str, Field(max_length=400)]], Field(max_length=999)] = Field(
        default_factory=list, description="names of items that are chosen from the start, in order; k counts them"
    )
    k: Annotated[int, Field(ge=1, le=1_000)] = 6
    options: Annotated[int, Field(ge=2, le=9)] | None = Field(
        default=None, description="how many are shown at a time; null for what suits the items"
    )
    people: Annotated[int, Field(ge=1, le=100_000)] = 20
    door: Literal["open", "room", "invitations", "panel"] = "open"
    checks: bool = Field(default=False, description="whether a rule says who counts: `rule`, or else the standard one")
    rule: dict[str, Any] | None = Field(default=None, description="of the organizer's own, as `docs/people.md` has it")
    epsilon: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="what every pick shall be proved to be within of the best; null for explorers without"
    )
    delta: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None, description="how likely a claim may be wrong; null for 0.05"
    )
    per_hour: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        default=None, description="what people from a panel are paid, in cents; null where nobody is"
    )
    currency: Literal["GBP", "USD"] = "GBP"
    budget: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    explorer: Annotated[str, Field(max_length=100)] | None = None
    in_flight: Annotated[int, Field(ge=1, le=100_000)] = 200
    lease: Annotated[float, Field(ge=1, le=86_400)] = 60.0
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    words: Words = Field(default_factory=Words)


class BeginDraft(DraftSettings):
    """The settings of a new draft, and a name for the request: sent again with the same name, it begins no other."""

    id: Annotated[str, Field(pattern="^[0-9a-f]{18}$")] | None = None


class PracticePicture(BaseModel):
    """A picture of the organizer's own to practise on: a pair names it, and the page shows it in small."""

    name: str
    thumbnail: str


class WordsNow(BaseModel):
    """What people read in a study that runs: its own words, the built-in ones, and what changing them would mean."""

    words: Words
    consent: str = Field(description="the built-in one")
    instructions: str = Field(description="the built-in ones")
    fixed: dict[str, str] = Field(description="words that cannot change any more, each with why")
    effects: dict[str, str] = Field(description="words that can although people have read them: what that means")
    practice_pictures: list[PracticePicture]


class Preview(BaseModel):
    """A study as people will meet it: what they are told before they join, and cards as in a first question."""

    about: About
    options: list[Option]


class Pasted(Sent):
    texts: Annotated[str, Field(max_length=4_000_000)]


class DraftCard(ItemCard):
    """An item of a study that is being set up. `chosen` is its place among those chosen from the start; else null."""

    id: str
    chosen: int | None


class NewFromHere(Sent):
    """What a new study takes from this one; null for all items, and for the picks so far."""

    items: Annotated[list[Annotated[str, Field(max_length=400)]], Field(max_length=20_000)] | None = None
    chosen: Annotated[list[Annotated[str, Field(max_length=400)]], Field(max_length=999)] | None = None


class NewDraft(BaseModel):
    """The name of a draft in addresses."""

    draft: str


class DraftFile(BaseModel):
    name: str
    size: int


class LeftOutLine(BaseModel):
    """A file or row that did not become an item, and why."""

    name: str
    why: str


class DraftPlan(BaseModel):
    """What the settings amount to: answers in all, and what each person gives."""

    answers: int
    answers_each: int
    minutes_each: float
    cost: str | None = Field(description="what people are paid, in words; null where nobody is")
    advice: str | None = Field(description="what to change before opening; null if nothing")


class DraftQuality(BaseModel):
    """What the planned answers buy, by simulation."""

    words: str | None = Field(description="in whole sentences; null where it cannot be simulated")
    suffices: bool | None = Field(description="whether that is 95% of exact greedy; null where it is not known")


class DraftDryRun(BaseModel):
    """How far a dry run with simulated people is, and what came of it."""

    state: Literal["none", "running", "done", "failed"]
    done: int = Field(description="answers so far")
    total: int = Field(description="answers at most")
    words: str | None = Field(description="what happened, in whole sentences; null until it is done")
    summary: Summary | None = Field(description="the result, as that of a study is shown; null until it is done")


class DraftDefaults(BaseModel):
    """The settings of a study, what they amount to, and the built-in words for an organizer who wrote none."""

    settings: DraftSettings
    plan: DraftPlan
    consent: str
    instructions: str


class DraftStatus(DraftDefaults):
    """A study that is being set up."""

    draft: str
    state: DraftState
    study: str | None = Field(description="its name in links, once opened")
    files: list[DraftFile]
    prepared: int
    preparing: int
    fault: str | None
    items: int
    carried: int = Field(description="how many of the items come from an earlier study")
    inherited: str | None = Field(
        description="what is taken over from the earlier study beside the settings, and what cannot be; null if nothing"
    )
    cards: list[DraftCard] = Field(description="the first of the items, as people will see them")
    left_out: list[LeftOutLine]
    practice_pictures: list[PracticePicture] = Field(description="that were added for pairs of the practice")
