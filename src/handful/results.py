"""What a study found, and where it stands: the items picked, what each round cost, and what is said of each pick."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal

import numpy as np

from handful import notebook
from handful.certificates import Certificate
from handful.claims import answers_of_excluded, certificate_of, excluded_answers
from handful.errors import MissingExtra
from handful.explorers.board import GAIN, NOW
from handful.explorers.strengths import standing_of
from handful.numbers import about, percent_at_least
from handful.problem import BY_BELIEF, Ending, Floats, Ints, Values, ending_named
from handful.questions import ANSWERED, LATE, Item, Row, plain_item
from handful.rounds import ClosedRound
from handful.state import State, repeated_questions
from handful.wording import counted, listed

if TYPE_CHECKING:
    from pathlib import Path

    import pandas
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Estimate(Generic[Item]):
    """What a round knew about an item: its mean answer, and an interval for its gain (or Borda score)."""

    item: Item
    answers: int
    mean: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class RoundResult(Generic[Item]):
    """One pick. `candidates` is the paper's A, from which `pick` was drawn; `size` is its l.

    `reached` is the ε′ that the round reached; `ended` is "rule", "budget", "alone", "closed", "out of reach" or
    "filled".
    `left_out`: of its answers, how many count no more, since those who gave them were excluded or withdrew.
    `proof`: whether the answers that prove the whole, an audit's, are among its own.
    `answers_about`: answers in time about each item, on either side of a comparison; an audit's too.
    """

    round: int
    pick: Item
    candidates: tuple[Item, ...]
    ended: str
    reached: float
    answers: int
    late: int
    left_out: int
    proof: bool
    items: tuple[Item, ...] = field(repr=False)
    counted: Ints = field(repr=False)
    answers_about: Ints = field(repr=False)
    mean: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)

    @property
    def affected_by_exclusion(self) -> bool:
        """Whether answers that this round counted have been excluded since, or were when it closed."""
        return self.left_out > 0

    @property
    def answers_said(self) -> str:
        """How many answers it had, and how many of them count no more."""
        return _answers_said(self.answers, self.left_out)

    @property
    def ending(self) -> Ending:
        """How it ended, with the words for it."""
        by_belief = self.ended == "rule" and not math.isfinite(self.reached)
        return BY_BELIEF if by_belief else ending_named(self.ended)

    @property
    def size(self) -> int:
        """l, the number of candidates that the pick was drawn from."""
        return len(self.candidates)

    @property
    def answers_per_item(self) -> dict[Item, int]:
        """How many answers counted for each item that was asked about; items must be hashable."""
        return {self.items[i]: int(self.counted[i]) for i in np.flatnonzero(self.counted)}

    @property
    def estimates(self) -> tuple[Estimate[Item], ...]:
        """Every item about which anything is known, best mean first."""
        known = np.flatnonzero((self.counted > 0) | np.isfinite(self.lower) | np.isfinite(self.upper))
        order = known[np.argsort(-np.nan_to_num(self.mean[known], nan=-np.inf), kind="stable")]
        return tuple(
            Estimate(
                self.items[i], int(self.counted[i]), float(self.mean[i]), float(self.lower[i]), float(self.upper[i])
            )
            for i in order
        )

    def to_dict(self) -> dict[str, Any]:
        """For a program; ±∞ and unknown numbers are null."""
        return {
            "round": self.round,
            "pick": plain_item(self.pick),
            "candidates": [plain_item(item) for item in self.candidates],
            "size": self.size,
            "ended": self.ended,
            "reached": _number(self.reached),
            "answers": self.answers,
            "late": self.late,
            "left_out": self.left_out,
            "affected_by_exclusion": self.affected_by_exclusion,
            "estimates": [
                {
                    "item": plain_item(e.item),
                    "answers": e.answers,
                    "mean": _number(e.mean),
                    "lower": _number(e.lower),
                    "upper": _number(e.upper),
                }
                for e in self.estimates
            ],
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RoundResult) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


def _answers_said(answers: int, left_out: int) -> str:
    said = counted(answers, "answer")
    return f"{said}, of which {left_out:,} no longer count" if left_out else said


@dataclass(frozen=True)
class Result(Generic[Item]):
    """The items chosen, in the order picked; the answers it cost; how each round went; what may be claimed."""

    chosen: tuple[Item, ...]
    answers: int
    rounds: tuple[RoundResult[Item], ...]
    certificate: Certificate
    scale: str = GAIN  # what the rounds' means and intervals are of
    believed: bool = False  # whether these intervals are of a belief: then they claim nothing
    verdict: str = ""  # how the picks did in the comparisons
    filled: tuple[Item, ...] = ()  # picks that were filled in from what was known when the study was finished early
    picks: tuple[PickStatement[Item], ...] = ()  # what is said of each of the items chosen
    repeats: int = 0  # answers that compare two items which the same person had compared before in the round
    left_out: int = 0  # answers of people who were excluded or withdrew since, or before

    @property
    def answers_said(self) -> str:
        """How many answers there were, and how many of them count no more."""
        return _answers_said(self.answers, self.left_out)

    def to_dict(self) -> dict[str, Any]:
        """For a program: plain JSON."""
        return {
            "chosen": [plain_item(item) for item in self.chosen],
            "answers": self.answers,
            "repeats": self.repeats,
            "certificate": self.certificate.to_dict(),
            "scale": self.scale,
            "believed": self.believed,
            "verdict": self.verdict,
            "filled": [plain_item(item) for item in self.filled],
            "picks": [pick.to_dict() for pick in self.picks],
            "rounds": [r.to_dict() for r in self.rounds],
        }

    def __str__(self) -> str:
        lines = [f"{len(self.chosen)} chosen with {self.answers_said}: {', '.join(map(str, self.chosen))}"]
        for r, pick in self._rounds_and_picks():
            among = "" if r.size == 1 else f", drawn from {r.size}"
            proof = " with the proof of the whole" if r.proof else ""
            how = f"decided by {r.ending.by}{among}"
            lines.append(f"  {r.round}. {r.pick}: {r.answers_said}{proof}, {how}")
            lines.append(f"     {' '.join(pick.sentences())}")
        return "\n".join([*lines, *self.of_repeats, self.words])

    def _rounds_and_picks(self) -> Iterator[tuple[RoundResult[Item], PickStatement[Item]]]:
        """The rounds, each with what is said of its pick; those chosen before the start are of no round."""
        return zip(self.rounds, self.picks[len(self.picks) - len(self.rounds) :], strict=True)

    @property
    def of_repeats(self) -> tuple[str, ...]:
        """A sentence about answers that compare what the same person had compared before; none without any."""
        if not self.repeats:
            return ()
        compare = "compares" if self.repeats == 1 else "compare"
        what = "two items that the same person had compared before in the round."
        return (f"{counted(self.repeats, 'answer')} {compare} {what}",)

    @property
    def words(self) -> str:
        """How the picks did, then what that proves."""
        return f"{self.verdict} {self.certificate}".strip()

    def _repr_html_(self) -> str:
        columns = ("round", "pick", "answers", "decided by", "drawn from")
        rows = ((r.round, r.pick, r.answers, r.ending.by, r.size) for r in self.rounds)
        said = (f"{_called(pick.item)}: {' '.join(pick.sentences(_called))}" for pick in self.picks)
        return notebook.card(
            f"{len(self.chosen)} chosen with {counted(self.answers, 'answer')}",
            notebook.table(columns, rows) if self.rounds else notebook.paragraph("No round is over yet."),
            *map(notebook.paragraph, (*said, *self.of_repeats)),
            notebook.paragraph(self.verdict),
            self.certificate._repr_html_(),
        )

    def to_frame(self) -> pandas.DataFrame:
        """One line per round: its pick (a row's label), answers, what ended it, and the interval of the pick."""

        return frame_of(self)

    def plot(self, file: str | Path | None = None) -> Figure:
        """Intervals of the contenders per round, answers over items, gain per round; `file` also saves it."""
        try:
            from handful.plots import plot
        except ImportError:
            raise MissingExtra("a picture of the result", "plots") from None
        return plot(self, file)


def result_of(state: State, items: tuple[Item, ...]) -> Result[Item]:
    """What the study has found so far; an item stands for its position in `items`."""
    view = state.exploration.view()
    return Result(
        tuple(items[i] for i in state.chosen),
        state.answers,
        tuple(_round_result(state, closed, items) for closed in state.rounds),
        certificate_of(state),
        view.scale,
        view.believed,
        verdict_of(state),
        tuple(items[i] for i in state.filled),
        statements_of(state, items),
        len(repeated_questions(state)),
        answers_of_excluded(state),
    )


def _round_result(state: State, closed: ClosedRound, items: tuple[Item, ...]) -> RoundResult[Item]:
    event = closed.closing
    here = slice(closed.questions.start, closed.questions.stop)
    own = np.asarray(state.questions.round[here]) == event.round  # others were asked before it was reopened
    standing = np.asarray(state.questions.standing[here])[own]
    return RoundResult(
        round=event.round,
        pick=items[event.pick],
        candidates=tuple(items[i] for i in event.best),
        ended=event.ended,
        reached=math.inf if event.reached is None else event.reached,
        answers=int(np.isin(standing, (ANSWERED, LATE)).sum()),
        late=int((standing == LATE).sum()),
        left_out=excluded_answers(state, closed),
        proof=bool((np.asarray(state.questions.given[here]) != NOW).any()),
        items=items,
        counted=closed.answers,
        answers_about=state.exploration.answers_about(closed.questions),
        mean=closed.view.mean,
        lower=closed.view.lower,
        upper=closed.view.upper,
    )


def _number(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _called(item: object) -> str:
    """What an item is called where there is little room."""
    return notebook.short(str(item))


@dataclass(frozen=True)
class Wins:
    """Comparisons that were won, of how many; or questions in which an item was named."""

    won: int = 0
    of: int = 0

    def __add__(self, other: Wins) -> Wins:
        return Wins(self.won + other.won, self.of + other.of)

    @property
    def share(self) -> str:
        """The share won, in percent."""
        return f"{100 * self.won / self.of:.0f}%"


NO_WINS = Wins()
FEWEST_MEETINGS = 5
"""Answers that decide between a pick and the runner-up, before their number is told: of fewer it says nothing."""


def verdict_of(state: State) -> str:
    """What the comparisons that counted say of the picks; nothing while there is nothing to say.

    A pick is chosen for winning, so this says how it did and not how it would do: what may be claimed is in the
    certificate. Of places that were filled in it says nothing: no answer was given to decide them.
    """
    if isinstance(state.setup.problem.feedback, Values):
        return ""
    everybody, closest = Wins(), Wins()
    decided = [closed for closed in state.rounds if closed.closing.ended != "filled"]
    for closed in decided:
        against_all, against_closest = wins_in(state, closed.questions, closed.closing.pick, runner_up_of(closed))
        everybody, closest = everybody + against_all, closest + against_closest
    if not everybody.of:
        return ""
    many = len(decided) > 1
    picks = _picks(len(decided), len(state.rounds) - len(decided))
    if state.questions.names_one:
        return _named_so_often(picks, everybody, closest, many)
    were, rival = ("they were", "rival of each round") if many else ("it was", "rival")
    if everybody.of == 1:
        return f"{picks} {'won' if everybody.won else 'lost'} the one comparison {were} in."
    said = f"{picks} won {everybody.won:,} of the {everybody.of:,} comparisons {were} in ({everybody.share})"
    if closest.of >= FEWEST_MEETINGS:
        said += f", and {closest.won:,} of the {closest.of:,} against the closest {rival} ({closest.share})"
    return f"{said}."


def _picks(decided: int, filled: int) -> str:
    """Of which picks it speaks: where some were filled in, of the others."""
    if not filled:
        return "The picks" if decided > 1 else "The pick"
    return f"The {decided:,} picks that answers decided" if decided > 1 else "The pick that answers decided"


def _named_so_often(picks: str, everybody: Wins, closest: Wins, many: bool) -> str:
    """What questions with several options say of the picks."""
    were, them, rival = ("were", "them", "rival of each round") if many else ("was", "it", "rival")
    said = f"{picks} {were} named in {everybody.won:,} of the {everybody.of:,} questions that showed {them}"
    said += f" ({everybody.share})"
    if closest.of >= FEWEST_MEETINGS:
        lost = closest.of - closest.won
        said += f". Where the closest {rival} was shown too, the pick was named {_times(closest.won)}"
        said += f" and the rival {_times(lost)}"
    return f"{said}."


def _times(number: int) -> str:
    return counted(number, "time")


def wins_in(state: State, numbers: range, pick: int, second: int) -> tuple[Wins, Wins]:
    """Of these questions, by the answers that count: how often an item won, and how often against another."""
    questions, here = state.questions, slice(numbers.start, numbers.stop)
    counts = np.asarray(questions.standing[here]) == ANSWERED
    counts &= ~np.isin(np.asarray(questions.worker[here], dtype=np.int64), state.workers.excluded)
    if questions.names_one:
        return _choices(state, np.asarray(numbers)[counts], pick, second)
    item, rival, answer = (
        np.asarray(column[here])[counts] for column in (questions.item, questions.rival, questions.answer)
    )
    won = np.where(item == pick, answer > 0.5, answer <= 0.5)
    other = np.where(item == pick, rival, item)
    among = (item == pick) | (rival == pick)
    return _count(won[among]), _count(won[among & (other == second)])


def _choices(state: State, numbers: Ints, pick: int, second: int) -> tuple[Wins, Wins]:
    """With several options: how often the pick was named, and how often rather than the second best."""
    everybody, closest = Wins(), Wins()
    for number in numbers:
        options, named = state.questions.options(number), int(state.questions.answer[number])
        if pick in options:
            everybody += Wins(int(named == pick), 1)
            if second in options and named in (pick, second):
                closest += Wins(int(named == pick), 1)
    return everybody, closest


def runner_up_of(closed: ClosedRound) -> int:
    """The item that was thought second best when the round closed; -1 where nothing was known."""
    means = closed.view.mean.copy()
    means[closed.closing.pick] = np.nan
    return int(np.nanargmax(means)) if np.isfinite(means).any() else -1


def _count(won: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Wins:
    return Wins(int(won.sum()), len(won))


Basis = Literal["answers", "cut short", "filled", "given"]
CUT_SHORT = "Decided by the answers so far: its round was cut short when the study was finished early."
FILLED = "Filled in when the study was finished early: no round of its own decided this place."
GIVEN = "Chosen before the study began."
TOO_FEW = "There were too few answers to tell it from most of the others."
NEAR_TIES = 2
"""So many are named at most."""


@dataclass(frozen=True)
class Believed(Generic[Item]):
    """By the model of the answers, the pick is with probability `chance` among the best `best_of` of `candidates`.

    `near_ties` are those that may well be better, the likeliest first. It is a belief, and claims nothing.
    """

    chance: float
    best_of: int
    candidates: int
    near_ties: tuple[Item, ...]

    @property
    def sure(self) -> bool:
        """Whether no whole percent below 100 says it: nothing is said to be certain."""
        return self.chance > 0.99

    @property
    def tells_little(self) -> bool:
        """Whether it is only said to be among more than half of the candidates: that is no statement to people."""
        return self.best_of > 1 and 2 * self.best_of > self.candidates

    @property
    def percent(self) -> str:
        """The chance in whole percent, rounded down."""
        return percent_at_least(self.chance)

    def sentence(self, name: Callable[[Item], str] = str) -> str:
        """What is believed, in a whole sentence; where that tells little, why."""
        if self.tells_little:
            return TOO_FEW
        place = "the best" if self.best_of == 1 else f"among the best {self.best_of:,}"
        likely = "more than 99%" if self.sure else self.percent
        said = f"By the model, {likely} likely {place} of {self.candidates:,}"
        return (
            f"{said}; near-tie with {listed([name(item) for item in self.near_ties])}."
            if self.near_ties
            else f"{said}."
        )

    def to_dict(self) -> dict[str, Any]:
        """For a program: plain JSON."""
        near = [plain_item(item) for item in self.near_ties]
        return {"chance": self.chance, "best_of": self.best_of, "candidates": self.candidates, "near_ties": near}


@dataclass(frozen=True)
class PickStatement(Generic[Item]):
    """One pick, and what the answers say of it.

    `basis` is what it rests on: "answers" of its round; "cut short", the answers of a round that the end of the study
    cut short; "filled" from what was known when the study was finished early; or "given" before the start. `wins` are
    of its own round, `wins_before` of all rounds before it, and `against` those over the runner-up. `of_several`:
    questions showed several options. `believed` is what the explorer's belief says of it, if it has one. `mean` is of
    answers that are numbers; `afresh`: of those that were given once it was picked, to
    prove the whole. `left_out` are answers of its round that count no more.
    """

    item: Item
    basis: Basis
    wins: Wins = NO_WINS
    wins_before: Wins = NO_WINS
    runner_up: Item | None = None
    against: Wins = NO_WINS
    of_several: bool = False
    believed: Believed[Item] | None = None
    mean: float | None = None
    answers: int = 0
    afresh: bool = False
    left_out: int = 0

    @property
    def cut_short(self) -> bool:
        """Whether its round was cut short when the study was finished early."""
        return self.basis == "cut short"

    @property
    def filled(self) -> bool:
        """Whether it was filled in when the study was finished early."""
        return self.basis == "filled"

    def sentences(self, name: Callable[[Item], str] = str) -> tuple[str, ...]:
        """What is said of it, in whole sentences; `name` is what items are called."""
        if self.basis == "given":
            return (GIVEN,)
        said = (FILLED,) if self.filled else (CUT_SHORT,) if self.cut_short else ()
        believed = "" if self.believed is None else self.believed.sentence(name)
        return (*said, *filter(None, (self._counts(), self._left_out(), believed, self._runner_up(name))))

    def _counts(self) -> str:
        """How often it won."""
        if self.mean is not None:
            what = "given after it was picked" if self.afresh else "by which it was picked (so it is likely too high)"
            return f"Mean answer {about(self.mean)}, of {counted(self.answers, 'answer')} {what}."
        noun = "showing" if self.of_several else "comparison"
        if self.wins.of:
            return f"Won {self.wins.won:,} of {counted(self.wins.of, noun)}."
        if self.wins_before.of:
            return f"Won {self.wins_before.won:,} of {counted(self.wins_before.of, noun)} in the rounds before."
        return "" if self.filled else "No answer of its round was about it."

    def _left_out(self) -> str:
        """That the numbers are of what is left of its round."""
        if not self.left_out:
            return ""
        return f"{counted(self.left_out, 'answer')} of its round {'counts' if self.left_out == 1 else 'count'} no more."

    def _runner_up(self, name: Callable[[Item], str]) -> str:
        """Who came second, and how the two did against each other."""
        if self.runner_up is None:
            return ""
        if self.against.of < FEWEST_MEETINGS:
            return f"The runner-up was {name(self.runner_up)}."
        met, won = counted(self.against.of, "time"), f"{self.against.won:,}"
        return f"Seen beside the runner-up, {name(self.runner_up)}, it was preferred {won} of {met}."

    def to_dict(self) -> dict[str, Any]:
        """For a program: plain JSON."""
        return {
            "item": plain_item(self.item),
            "basis": self.basis,
            "won": self.wins.won,
            "shown": self.wins.of,
            "won_before": self.wins_before.won,
            "shown_before": self.wins_before.of,
            "runner_up": None if self.runner_up is None else plain_item(self.runner_up),
            "won_against_runner_up": self.against.won,
            "lost_against_runner_up": self.against.of - self.against.won,
            "believed": None if self.believed is None else self.believed.to_dict(),
            "mean": self.mean,
            "afresh": self.afresh,
            "left_out": self.left_out,
            "sentences": list(self.sentences()),
        }


def statements_of(state: State, items: tuple[Item, ...]) -> tuple[PickStatement[Item], ...]:
    """What is said of every pick, in the order picked."""
    given = tuple(PickStatement(items[i], "given") for i in state.setup.problem.chosen)
    return (*given, *(_statement(state, closed, items) for closed in state.rounds))


def _statement(state: State, closed: ClosedRound, items: tuple[Item, ...]) -> PickStatement[Item]:
    pick, filled = closed.closing.pick, closed.closing.ended == "filled"
    second = -1 if filled else runner_up_of(closed)
    basis: Basis = "filled" if filled else "cut short" if closed.closing.ended == "closed" else "answers"
    runner_up, left_out = None if second < 0 else items[second], excluded_answers(state, closed)
    if isinstance(state.setup.problem.feedback, Values):
        fresh = _fresh_answers(state, closed.closing.round, pick)
        number = len(fresh) or int(closed.answers[pick])
        mean = float(fresh.mean()) if len(fresh) else float(closed.means[pick]) if number else None
        said = PickStatement(items[pick], basis, runner_up=runner_up, mean=mean, answers=number, left_out=left_out)
        return replace(said, afresh=len(fresh) > 0)
    wins, against = wins_in(state, closed.questions, pick, second)
    before, _ = wins_in(state, range(closed.questions.start), pick, second)
    believed = None if filled else _believed(closed, items)
    several = state.questions.names_one
    return PickStatement(items[pick], basis, wins, before, runner_up, against, several, believed, left_out=left_out)


def _fresh_answers(state: State, round_: int, pick: int) -> Floats:
    """What was answered about a pick, given those before it, once all were picked; empty where no audit asked."""
    asked, last = state.questions, state.rounds[-1].questions
    here, given = slice(last.start, last.stop), round_ - 1 - len(state.setup.problem.chosen)
    about_it = (np.asarray(asked.item[here]) == pick) & (np.asarray(asked.given[here]) == given)
    answers: Floats = np.asarray(asked.answer[here])[about_it & (np.asarray(asked.standing[here]) == ANSWERED)]
    return answers


def _believed(closed: ClosedRound, items: tuple[Item, ...]) -> Believed[Item] | None:
    standing = standing_of(closed.view, closed.closing.pick, runners_up=NEAR_TIES)
    if standing is None:
        return None
    near = tuple(items[runner_up.item] for runner_up in standing.runners_up if runner_up.near)
    return Believed(standing.chance, standing.best_of, standing.candidates, near)


@dataclass(frozen=True)
class WorkerStatus:
    """What one worker did: answers, skips, and whether they are excluded.

    `round_answers` are those to questions of the open round; once all is picked, of the last that was not filled in.
    """

    name: str
    answers: int
    skips: int
    excluded: bool
    round_answers: int = 0


@dataclass(frozen=True, eq=False)
class Status(Generic[Item]):
    """A picture of a study. The arrays have one entry per item, about the open round.

    `answers` are charged, `in_flight` may yet be; both never exceed `budget`. `round_answers` count in the open round,
    which may cost `round_limit`. `waiting` are the questions in flight about each item.
    """

    items: tuple[Item, ...] = field(repr=False)
    k: int
    chosen: tuple[Item, ...]
    round: int
    answers: int
    in_flight: int
    provisional: int
    budget: int | None
    round_answers: int
    round_limit: int | None
    paused: bool
    finished: str | None
    workers: tuple[WorkerStatus, ...] = field(repr=False)
    candidate: np.ndarray[Any, np.dtype[np.bool_]] = field(repr=False)
    counted: Ints = field(repr=False)
    waiting: Ints = field(repr=False)
    mean: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)

    @property
    def leader(self) -> Item | None:
        """The candidate of best mean so far; None before the first answer of a round and after the last round."""
        known = self.candidate & (self.counted > 0)
        if self.finished or not known.any():
            return None
        return self.items[int(np.argmax(np.where(known, self.mean, -np.inf)))]

    def _repr_html_(self) -> str:
        of = "" if self.budget is None else f" of {self.budget:,}"
        limit = "" if self.round_limit is None else f" of at most {self.round_limit:,}"
        over = self.finished is not None
        picked = ", ".join(notebook.short(str(item)) for item in self.chosen)
        return notebook.card(
            f"{len(self.chosen)} of {self.k} picked from {len(self.items):,}",
            notebook.bar(len(self.chosen) / self.k, "picked"),
            notebook.facts(
                (
                    ("state", f"finished: {self.finished}" if over else "paused" if self.paused else "asking"),
                    ("answers", f"{self.answers:,}{of}"),
                    (f"round {self.round}", None if over else f"{self.round_answers:,}{limit} answers"),
                    ("leads", self.leader),
                    ("in flight", None if over else self.in_flight),
                    ("provisional", self.provisional or None),
                    ("workers", len(self.workers) or None),
                )
            ),
            notebook.paragraph(f"Picked: {picked}." if picked else ""),
        )

    def to_dict(self) -> dict[str, Any]:
        """The numbers that a program wants first, as plain JSON."""
        return {
            "k": self.k,
            "items": len(self.items),
            "chosen": [str(item) for item in self.chosen],
            "round": self.round,
            "answers": self.answers,
            "in_flight": self.in_flight,
            "provisional": self.provisional,
            "budget": self.budget,
            "round_answers": self.round_answers,
            "round_limit": self.round_limit,
            "paused": self.paused,
            "finished": self.finished,
            "leader": None if self.leader is None else str(self.leader),
            "workers": len(self.workers),
        }


def status_of(state: State, items: tuple[Item, ...], finished: str | None) -> Status[Item]:
    """The status of a study with this state."""
    exploration, workers = state.exploration, state.workers
    board = exploration.state.board
    over = exploration.all_picked
    view = exploration.view()
    excluded = set(workers.excluded)
    in_round = _in_last_round(state) if over else state.shares.in_round
    return Status(
        items=items,
        k=state.setup.problem.k,
        chosen=tuple(items[i] for i in state.chosen),
        round=min(exploration.round, state.setup.problem.k),
        answers=state.answers,
        in_flight=len(state.leases),
        provisional=len(state.provisional),
        budget=state.budget,
        round_answers=0 if over else exploration.counted,
        round_limit=None if over or exploration.limit < 0 else exploration.limit,
        paused=state.paused,
        finished=finished,
        workers=tuple(
            WorkerStatus(name, workers.answers[n], workers.skips[n], n in excluded, in_round[n])
            for n, name in enumerate(workers.names)
        ),
        candidate=board.items["where"] >= 0,
        counted=exploration.counts,
        waiting=exploration.waiting,
        mean=view.mean,
        lower=view.lower,
        upper=view.upper,
    )


def _in_last_round(state: State) -> Counter[int]:
    """How many answers each worker gave in the last round that was decided, and not filled in at the end."""
    closed = next((closed for closed in reversed(state.rounds) if closed.closing.ended != "filled"), None)
    if closed is None:
        return Counter()
    asked, here = state.questions, slice(closed.questions.start, closed.questions.stop)
    own = zip(asked.worker[here], asked.round[here], strict=True)  # others were asked before it was reopened
    return Counter(worker for worker, round_ in own if round_ == closed.closing.round)


def frame_of(result: Result[Any]) -> pandas.DataFrame:
    """One line per round, with its number as index: its pick, what it cost, what ended it, the pick's interval."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("a result as a DataFrame", "pandas") from None
    lines = []
    for r in result.rounds:
        known = next((e for e in r.estimates if e.item is r.pick), None)
        lines.append(
            {
                "pick": r.pick.label if isinstance(r.pick, Row) else r.pick,
                "answers": r.answers,
                "late": r.late,
                "ended": r.ended,
                "drawn_from": r.size,
                "reached": r.reached,
                "mean": float("nan") if known is None else known.mean,
                "lower": float("-inf") if known is None else known.lower,
                "upper": float("inf") if known is None else known.upper,
            }
        )
    index = pandas.Index([r.round for r in result.rounds], name="round")
    columns = ["pick", "answers", "late", "ended", "drawn_from", "reached", "mean", "lower", "upper"]
    return pandas.DataFrame(lines, index=index, columns=columns)
