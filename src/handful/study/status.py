"""Where a study stands right now, for dashboards."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Generic

import numpy as np

from handful import notebook
from handful.problem import Floats, Ints
from handful.study.fold import Fold
from handful.study.items import Item


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


def status_of(fold: Fold, items: tuple[Item, ...], finished: str | None) -> Status[Item]:
    """The status of a study with this state."""
    exploration, workers = fold.exploration, fold.workers
    board = exploration.state.board
    over = exploration.all_picked
    view = exploration.view()
    excluded = set(workers.excluded)
    in_round = _in_last_round(fold) if over else fold.shares.in_round
    return Status(
        items=items,
        k=fold.setup.problem.k,
        chosen=tuple(items[i] for i in fold.chosen),
        round=min(exploration.round, fold.setup.problem.k),
        answers=fold.answers,
        in_flight=len(fold.leases),
        provisional=len(fold.provisional),
        budget=fold.budget,
        round_answers=0 if over else exploration.counted,
        round_limit=None if over or exploration.limit < 0 else exploration.limit,
        paused=fold.paused,
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


def _in_last_round(fold: Fold) -> Counter[int]:
    """How many answers each worker gave in the last round that was decided, and not filled in at the end."""
    closed = next((closed for closed in reversed(fold.rounds) if closed.closing.ended != "filled"), None)
    if closed is None:
        return Counter()
    asked, here = fold.questions, slice(closed.questions.start, closed.questions.stop)
    own = zip(asked.worker[here], asked.round[here], strict=True)  # others were asked before it was reopened
    return Counter(worker for worker, round_ in own if round_ == closed.closing.round)
