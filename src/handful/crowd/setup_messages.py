"""The JSON interface of setting up a study, as types. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from handful.crowd.languages import languages
from handful.crowd.lessons import LONGEST, MOST_LESSONS
from handful.crowd.messages import About, ItemCard, Option, Summary
from handful.crowd.sent import Sent
from handful.crowd.setting_bounds import BOUNDS

DraftState = Literal["collecting", "preparing", "ready", "opened"]


def _bounded(setting: str) -> Any:
    return Field(ge=BOUNDS[setting].least, le=BOUNDS[setting].most)


def _known(code: str) -> str:
    if code not in languages():
        raise PydanticCustomError("language", "the language is one of {known}", {"known": ", ".join(languages())})
    return code


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
    consent: Annotated[str, Field(max_length=20_000)] | None = Field(
        default=None, description="the organizer's own; empty for none, null for the built-in one"
    )
    thanks: Annotated[str, Field(max_length=2_000)] | None = None
    instruction: Annotated[str, Field(max_length=80)] | None = None
    practice: Annotated[list[LessonTold], Field(max_length=MOST_LESSONS)] | None = Field(
        default=None, description="the organizer's own; an empty list for none, null for the built-in one"
    )
    goal: Annotated[int, _bounded("goal")] | None = None
    language: Annotated[str, Field(max_length=12), AfterValidator(_known)] | None = None
    retention_days: Annotated[int, _bounded("retention_days")] | None = Field(
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
    k: Annotated[int, _bounded("k")] = 6
    options: Annotated[int, _bounded("options")] | None = Field(
        default=None, description="how many are shown at a time; null for what suits the items"
    )
    people: Annotated[int, _bounded("people")] = 20
    door: Literal["open", "room", "invitations", "panel"] = "open"
    checks: bool = Field(default=False, description="whether a rule says who counts: `rule`, or else the standard one")
    rule: dict[str, Any] | None = Field(default=None, description="of the organizer's own, as `docs/people.md` has it")
    epsilon: Annotated[float, _bounded("epsilon")] | None = Field(
        default=None, description="what every pick shall be proved to be within of the best; null for explorers without"
    )
    delta: Annotated[float, _bounded("delta")] | None = Field(
        default=None, description="how likely a claim may be wrong; null for 0.05"
    )
    sure: Annotated[float, _bounded("sure")] | None = Field(
        default=None,
        description="how likely the best a pick must be, by the belief of duels, for its round to end before its share "
        "of the answers is used; null for never",
    )
    per_hour: Annotated[int, _bounded("per_hour")] | None = Field(
        default=None, description="what people from a panel are paid, in cents; null where nobody is"
    )
    currency: Literal["GBP", "USD"] = "GBP"
    budget: Annotated[int, _bounded("budget")] | None = None
    explorer: Annotated[str, Field(max_length=100)] | None = None
    in_flight: Annotated[int, _bounded("in_flight")] = 200
    lease: Annotated[float, _bounded("lease")] = 60.0
    seed: Annotated[int, _bounded("seed")] = 0
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
    question: str = Field(description="the built-in one, in the language that was asked for")
    consent: str = Field(description="the built-in one, in that language")
    of_panel: str | None = Field(description="what people from a panel read below the consent; null for others")
    instructions: str = Field(description="the built-in ones, in that language")
    fixed: dict[str, str] = Field(description="words that cannot change any more, each with why")
    effects: dict[str, str] = Field(
        description="words that can although people have read them: what that means; `all`: what holds for every word"
    )
    practice_pictures: list[PracticePicture]


class Preview(BaseModel):
    """A study as people will meet it: what they are told before they join, and cards as in a first question."""

    about: About
    options: list[Option]


class Pasted(Sent):
    texts: Annotated[str, Field(max_length=4_000_000)]
    more: bool = Field(default=True, description="whether they come after those pasted before, or else replace them")


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
    """A file or row that did not become an item, or not as a whole, and why."""

    name: str
    why: str
    files: int = Field(description="how many this is said of: hidden files are named in one line")


class DraftPlan(BaseModel):
    """What the settings amount to: answers in all, and what each person gives."""

    answers: int
    answers_each: int
    minutes_each: int
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
    question: str
    consent: str
    of_panel: str | None = Field(description="what people from a panel read below the consent; null for others")
    instructions: str


class DraftCards(Sent):
    """Some of the items of a draft, in the order in which they are shown."""

    cards: list[DraftCard]


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
    adds: Literal["anything", "files", "texts", "nothing"] = Field(
        description="what can be put in beside the files that are there; a zip or a table is a collection of its own"
    )
    carried: int = Field(description="how many of the items come from an earlier study")
    inherited: str | None = Field(
        description="what is taken over from the earlier study beside the settings, and what cannot be; null if nothing"
    )
    cards: list[DraftCard] = Field(description="the first of the items, as people will see them")
    cards_at_once: int = Field(description="how many of the others can be asked for at once")
    left_out: list[LeftOutLine]
    practice_pictures: list[PracticePicture] = Field(description="that were added for pairs of the practice")
