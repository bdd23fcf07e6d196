"""The JSON interface, as types: what a client sends and what it gets. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handful.crowd.sent import Sent
from handful.recruit.panel import PanelEnding

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
