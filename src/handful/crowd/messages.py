"""The JSON interface, as types: what a client sends and what it gets. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handful.crowd.panel_messages import PanelEnding, Recruiting
from handful.crowd.sent import Sent

Side = Literal["left", "right"]
SkipReason = Literal["unsure", "unseen", "unsuitable", "other"]
StudyState = Literal["open", "paused", "finished"]
WorkerState = Literal["questions", "waiting", "paused", "finished"]
Token = Annotated[str, Field(min_length=1, max_length=64, description="of a question, as it was given")]


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
    seconds: float


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
    consent: str | None
    instructions: str
    question: str | None
    welcome: str | None
    thanks: str | None
    practice: list[PracticeLesson] | None = Field(description="null for the lessons of the page itself")
    undo_s: float
    solo: bool
    show_result: bool = Field(default=False, description="whether who took part sees the result in the end")
    retention_days: int = Field(description="how long after the end it is kept who gave which answers")
    joined: bool
    panel: bool = Field(default=False, description="whether people come from a panel, with ids in their address")
    arrived: bool = Field(default=False, description="whether this browser came from the panel, and may join")


class PickLine(BaseModel):
    """One pick: what is said of it, in whole sentences, and who came second."""

    card: ItemCard
    name: str
    sentences: list[str]
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


class Exclude(Sent):
    worker: Annotated[str, Field(min_length=1, max_length=64)]
    reason: Annotated[str, Field(max_length=200)] = ""


class Restore(Sent):
    worker: Annotated[str, Field(min_length=1, max_length=64)]


class MoreAnswers(Sent):
    answers: Annotated[int, Field(ge=1, le=100_000_000)]


class Redo(Sent):
    extend: Annotated[int, Field(ge=0, le=100_000_000)] = 0


class Redoing(BaseModel):
    """What doing a round again would mean; `missing` is how many answers the budget does not cover."""

    words: str
    missing: int


class Login(Sent):
    key: Annotated[str, Field(max_length=200)]


class ItemLine(BaseModel):
    """An item on the organizer's page, with what is known of it in the open round."""

    id: str
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
    skips: int
    left_share: float | None
    median_ms: int | None
    checks: int
    right: int
    admitted: bool
    excluded: bool
    why: str | None = Field(description="what the rule holds against them")


class RoundLine(BaseModel):
    """A round that is over."""

    round: int
    pick: str
    ended: str
    answers: int


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
    stuck: bool = Field(description="nobody could go on for ten minutes, for the cap on networks")
    warning: str | None = Field(description="what stands in the way of telling people apart")
    recruiting: Recruiting | None = None
    show_result: bool = Field(default=False, description="whether people who took part see the result in the end")
    retention_days: int = Field(description="how long after the end it is kept who gave which answers")


class Health(BaseModel):
    """`open_to_the_decoder` is for the organizer: of files, sockets and processes, what the sandbox does not close."""

    status: Literal["ok"]
    open_to_the_decoder: tuple[str, ...] | None = None
