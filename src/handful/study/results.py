"""What a study found: the items picked, what each round cost, and what may be claimed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from handful import notebook
from handful.certificates import Certificate
from handful.errors import MissingExtra
from handful.explorers.board import GAIN, NOW
from handful.problem import BY_BELIEF, Ending, Floats, Ints, ending_named
from handful.study.certifying import answers_of_excluded, certificate_of, excluded_answers
from handful.study.closed_round import ClosedRound
from handful.study.fold import Fold
from handful.study.items import Item, plain_item
from handful.study.questions import ANSWERED, LATE
from handful.study.repeats import repeated_questions
from handful.study.statements import PickStatement, statements_of
from handful.study.verdict import verdict_of
from handful.wording import counted

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
        from handful.study.frames import frame_of

        return frame_of(self)

    def plot(self, file: str | Path | None = None) -> Figure:
        """Intervals of the contenders per round, answers over items, gain per round; `file` also saves it."""
        try:
            from handful.plots import plot
        except ImportError:
            raise MissingExtra("a picture of the result", "plots") from None
        return plot(self, file)


def result_of(fold: Fold, items: tuple[Item, ...]) -> Result[Item]:
    """What the study has found so far; an item stands for its position in `items`."""
    view = fold.exploration.view()
    return Result(
        tuple(items[i] for i in fold.chosen),
        fold.answers,
        tuple(_round_result(fold, closed, items) for closed in fold.rounds),
        certificate_of(fold),
        view.scale,
        view.believed,
        verdict_of(fold),
        tuple(items[i] for i in fold.filled),
        statements_of(fold, items),
        len(repeated_questions(fold)),
        answers_of_excluded(fold),
    )


def _round_result(fold: Fold, closed: ClosedRound, items: tuple[Item, ...]) -> RoundResult[Item]:
    event = closed.closing
    here = slice(closed.questions.start, closed.questions.stop)
    own = np.asarray(fold.questions.round[here]) == event.round  # others were asked before it was reopened
    standing = np.asarray(fold.questions.standing[here])[own]
    return RoundResult(
        round=event.round,
        pick=items[event.pick],
        candidates=tuple(items[i] for i in event.best),
        ended=event.ended,
        reached=math.inf if event.reached is None else event.reached,
        answers=int(np.isin(standing, (ANSWERED, LATE)).sum()),
        late=int((standing == LATE).sum()),
        left_out=excluded_answers(fold, closed),
        proof=bool((np.asarray(fold.questions.given[here]) != NOW).any()),
        items=items,
        counted=closed.answers,
        answers_about=fold.exploration.answers_about(closed.questions),
        mean=closed.view.mean,
        lower=closed.view.lower,
        upper=closed.view.upper,
    )


def _number(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _called(item: object) -> str:
    """What an item is called where there is little room."""
    return notebook.short(str(item))
