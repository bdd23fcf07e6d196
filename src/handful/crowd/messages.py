"""The JSON interface, as types: what a client sends and what it gets. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from handful.crowd.languages import languages
from handful.crowd.lessons import LONGEST, MOST_LESSONS
from handful.crowd.settings import BOUNDS
from handful.recruit.panel import PanelEnding
from handful.recruit.recruitment import Step
from handful.rules import DoorKind


class Sent(BaseModel):
    """What comes from a client: nothing unknown is taken."""

    model_config = ConfigDict(extra="forbid", strict=True)


Side = Literal["left", "right"]
SkipReason = Literal["unsure", "unseen", "unsuitable", "other"]
StudyState = Literal["open", "paused", "finished"]
WorkerState = Literal["questions", "waiting", "paused", "finished"]
Token = Annotated[str, Field(min_length=1, max_length=64, description="of a question, as it was given")]


class Invited(Sent):
    """The code of an invitation, as it stands in the link."""

    invitation: Annotated[str, Field(max_length=64)] | None = None


class Join(Sent):
    """Consent, the cards chosen in the practice, if there was one, and the code of an invitation."""

    consent: bool
    practice: Annotated[list[Annotated[str, Field(max_length=20)]], Field(max_length=10)] | None = None
    invitation: Annotated[str, Field(max_length=64)] | None = None


class Chosen(Sent):
    """What was chosen: of two the side it is on, of more the id of the option."""

    token: Token
    side: Side | None = None
    option: Annotated[str, Field(min_length=1, max_length=64)] | None = None


class Answer(Chosen):
    """What was chosen, and how many milliseconds the question was visible."""

    ms: Annotated[int, Field(ge=0, le=86_400_000)] | None = None


class Skip(Sent):
    token: Token
    reason: SkipReason


class Undo(Chosen):
    """What the last answer should have been."""


class ItemCard(BaseModel):
    """One item as it is shown: a picture or a text."""

    kind: Literal["picture", "text"]
    caption: str
    text: str | None = None
    alt: str | None = None
    image: str | None = None
    medium: str | None = None
    thumbnail: str | None = None
    width: int | None = None
    height: int | None = None


class Pair(BaseModel):
    """One question as it is shown: the two items, and what is chosen already."""

    token: str
    round: int
    chosen: list[ItemCard]
    left: ItemCard
    right: ItemCard


class Option(ItemCard):
    """One of several items to choose from; `id` is what an answer says."""

    id: str


class Choice(BaseModel):
    """One question with more than two options: they are in the order of their places on the screen."""

    token: str
    round: int
    chosen: list[ItemCard]
    options: list[Option]


class WorkProgress(BaseModel):
    """How far this worker and everybody together are."""

    answered: int
    goal: int | None
    answers: int
    budget: int | None
    chosen: int
    k: int
    enough: bool = Field(default=False, description="whether the study has all answers that it asks for")


class PracticeLesson(BaseModel):
    """A question before the first real one, whose answer is known; `why` may be empty."""

    cards: list[Option]
    better: int = Field(description="the place, from 0, of what most people would choose")
    why: str


class UndoOffer(BaseModel):
    """The last answer, while it may be changed."""

    token: str
    side: Side | None
    option: str | None
    seconds: float  # for so long it is offered
    choose_s: float  # for so long another answer is taken


class Work(BaseModel):
    """What a worker has to do now."""

    state: WorkerState
    questions: list[Pair | Choice]
    progress: WorkProgress
    undo: UndoOffer | None = None
    ending: PanelEnding | None = None
    wait_s: float = Field(default=0.0, description="after many skips in a row, seconds until the next question")
    verifying: bool = Field(default=False, description="the panel is being asked whether it sent this worker")


class Taken(BaseModel):
    """The answer that is stored: yours, or the one that was there before."""

    token: str
    side: Side | None
    option: str | None
    repeated: bool


class Answered(Work):
    answer: Taken


class About(BaseModel):
    """What anybody with the link may know of a study."""

    study: str
    theme: str
    state: StudyState
    k: int
    items: int
    options: int
    goal: int | None
    minutes: int | None = Field(description="about how long that many answers take; null where there is no goal")
    consent: str | None
    instructions: str
    question: str | None
    welcome: str | None
    thanks: str | None
    practice: list[PracticeLesson] | None = Field(description="null for the lessons of the page itself")
    texts: bool = Field(description="whether all items are texts, and so the lessons of the page")
    undo_s: float
    solo: bool
    show_result: bool = Field(default=False, description="whether who took part sees the result in the end")
    retention_days: int = Field(description="how long after the end it is kept who gave which answers")
    joined: bool
    panel: bool = Field(default=False, description="whether people come from a panel, with ids in their address")
    arrived: bool = Field(default=False, description="whether this browser came from the panel, and may join")
    by_invitation: bool = Field(default=False, description="whether only people with an invitation may join")


class PickLine(BaseModel):
    """One pick: what is said of it, in whole sentences, and who came second."""

    card: ItemCard
    name: str
    sentences: list[str]
    cut_short: bool = Field(description="whether its round was cut short when the study was finished early")
    filled: bool = Field(description="whether it was filled in from what was known when the study was finished early")
    runner_up: ItemCard | None = Field(description="null where nobody came second")
    runner_up_name: str | None


class Summary(BaseModel):
    """What was chosen, in the order picked, what is said of each, and what may be claimed of the whole."""

    theme: str
    chosen: list[ItemCard]
    picks: list[PickLine]
    verdict: str
    certificate: str
    assumptions: list[str]


class StudyLine(BaseModel):
    """A study in the list of all."""

    study: str
    theme: str
    state: StudyState
    began: float = Field(description="when it was begun, in seconds since 1970")


class Health(BaseModel):
    """The server works."""

    status: Literal["ok"]


class Myself(BaseModel):
    """Somebody's own code, with which they can have themselves forgotten."""

    code: str


class ForgetMe(Sent):
    """Whose code it is, and whether their answers leave the open round too."""

    code: Annotated[str, Field(min_length=1, max_length=64)]
    withdraw: bool = False


class Forgotten(BaseModel):
    """What became of it: `done` is false where a panel's ids stay until the pay is settled."""

    done: bool


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
