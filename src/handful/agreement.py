"""How far people agree, and whether two halves of them would choose alike: to look at, and no measure of quality.

Only answers that count are looked at, of people with a name, about the picks before their round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from handful.explorers.board import NOW
from handful.numbers import percent_at_least, percent_at_most
from handful.problem import Floats, Ints
from handful.questions import ANSWERED
from handful.state import State
from handful.wording import counted

SPLITS = 10
FEWEST = 4
"""With fewer people there is nothing to halve."""
_GROUPS = 20
_WIDTH = 2.1  # standard deviations of a mean over so many groups that 95% lie within
_STEPS, _PRIOR = 25, 0.5

SAYS_NOTHING = 0.8
"""An interval of shares as wide as this is not worth telling."""
NOT_CARE = (
    "That does not say how carefully they looked: people of different taste disagree however well they look, and a "
    "study asks most often where it is close."
)
NOT_QUALITY = (
    "That does not say how good the picks are: each half has half of the answers, both saw the questions that all "
    "answers led to, and what most agree on may miss what a minority wants."
)


@dataclass(frozen=True)
class Agreement:
    """How often two people who answered the same pair said the same, and how many picks two halves have in common.

    people:   whose answers count.
    share:    on the mean pair that two people or more answered; None where there is none, or no pairs are asked.
    interval: where the share lies with a confidence of 95%, as far as these people stand for others.
    pairs:    so many.
    common:   picks in common, on average over the splits; None where there are too few people.
    picks:    of so many.
    """

    people: int
    share: float | None = None
    interval: tuple[float, float] | None = None
    pairs: int = 0
    common: float | None = None
    picks: int = 0
    splits: int = SPLITS

    def sentences(self) -> tuple[str, ...]:
        """What was found, each with what it does not mean; nothing where nothing was found."""
        said: list[str] = []
        if self.share is not None and self.interval is not None:
            low, high = self.interval
            pairs = counted(self.pairs, "pair")
            likely = f"among all people it is likely between {percent_at_least(low)} and {percent_at_most(high)}"
            if high - low > SAYS_NOTHING:
                likely = "too few to say anything of all people"
            said.append(
                f"Two people who saw the same two said the same {self.share:.0%} of the time ({pairs} were seen by "
                f"more than one person; {likely}). {NOT_CARE}"
            )
        if self.common is not None:
            said.append(
                f"Split by lot into two groups that each choose by their own answers, people would have agreed on "
                f"{self.common:.1f} of {counted(self.picks, 'pick')} (the average of {self.splits} such splits). "
                f"{NOT_QUALITY}"
            )
        return tuple(said)

    def to_dict(self) -> dict[str, Any]:
        """For a program."""
        return {
            "people": self.people,
            "share": self.share,
            "interval": None if self.interval is None else list(self.interval),
            "pairs": self.pairs,
            "common": self.common,
            "picks": self.picks,
            "splits": self.splits,
            "sentences": list(self.sentences()),
        }


@dataclass(frozen=True)
class _Answers:
    """The answers of one round that count: a row of options each, -1 where there are fewer, and what was said."""

    options: Ints
    said: Floats  # the item that was named, or a value
    worker: Ints

    def of(self, workers: Ints) -> _Answers:
        here = np.isin(self.worker, workers)
        return _Answers(self.options[here], self.said[here], self.worker[here])


def agreement_of(state: State) -> Agreement:
    """Agreement and stability of the study so far."""
    closed = [_answers(state, one.questions) for one in state.rounds]
    opened = _answers(state, range(state.exploration.first, len(state.questions)))
    people = np.unique(np.concatenate([one.worker for one in (*closed, opened)]))
    compares = state.setup.problem.feedback.compares
    share, interval, pairs = _agreeing([*closed, opened], people, len(state.setup.ids)) if compares else (None, None, 0)
    decided = [one for one in closed if len(one.said)]
    common = _in_common(decided, people, compares, state.setup.problem.seed) if decided else None
    return Agreement(len(people), share, interval, pairs, common, len(decided))


def _answers(state: State, numbers: range) -> _Answers:
    questions, here = state.questions, slice(numbers.start, numbers.stop)
    worker = np.asarray(questions.worker[here], dtype=np.int64)
    counts = (np.asarray(questions.standing[here]) == ANSWERED) & (worker >= 0)
    counts &= (np.asarray(questions.given[here]) == NOW) & ~np.isin(worker, state.workers.excluded)
    item, rival = (np.asarray(column[here], dtype=np.int64) for column in (questions.item, questions.rival))
    said = np.asarray(questions.answer[here], dtype=np.float64)
    if questions.names_one:
        options = questions.rows_of_options(numbers)
    elif state.setup.problem.feedback.compares:
        options, said = np.column_stack([item, rival]), np.where(said > 0.5, item, rival).astype(np.float64)
    else:
        options = item[:, None]
    return _Answers(options[counts], said[counts], worker[counts])


def _agreeing(rounds: list[_Answers], people: Ints, items: int) -> tuple[float | None, tuple[float, float] | None, int]:
    """The share of two people's answers to a pair that are alike, its interval, and the pairs it is of.

    The interval leaves one of twenty groups of people out at a time: people, not answers, were drawn.
    """
    votes = np.concatenate([_votes(one, at, items) for at, one in enumerate(rounds)])
    if not len(votes):
        return None, None, 0
    told = votes[:, 0] * (1 + votes[:, 1].max()) + votes[:, 1]  # one vote for each pair and person
    _, last = np.unique(told[::-1], return_index=True)
    votes = votes[::-1][last]
    share, pairs = _share(votes)
    if share is None:
        return None, None, 0
    group = np.searchsorted(people, votes[:, 1]) % _GROUPS
    without = [_share(votes[group != one])[0] for one in range(min(_GROUPS, len(people)))]
    found = np.array([one for one in without if one is not None])
    if len(found) < 2:
        return share, (0.0, 1.0), pairs
    deviation = float(np.sqrt((len(found) - 1) / len(found) * ((found - found.mean()) ** 2).sum()))
    return share, (max(0.0, share - _WIDTH * deviation), min(1.0, share + _WIDTH * deviation)), pairs


def _votes(answers: _Answers, round_: int, items: int) -> Ints:
    """A row for each pair that an answer decides: the pair, who answered, and whether its first item is preferred."""
    named, (rows, columns) = answers.said.astype(np.int64), answers.options.shape
    winner = np.repeat(named, columns)
    other, worker = answers.options.reshape(rows * columns), np.repeat(answers.worker, columns)
    real = (other >= 0) & (other != winner)
    winner, other, worker = winner[real], other[real], worker[real]
    pair = (round_ * items + np.minimum(winner, other)) * items + np.maximum(winner, other)
    return np.column_stack([pair, worker, winner < other])


def _share(votes: Ints) -> tuple[float | None, int]:
    _, of = np.unique(votes[:, 0], return_inverse=True)
    n = np.bincount(of)
    w = np.bincount(of, votes[:, 2])
    several = n >= 2
    if not several.any():
        return None, 0
    n, w = n[several], w[several]
    alike = (w * (w - 1) + (n - w) * (n - w - 1)) / (n * (n - 1))
    return float(alike.mean()), int(several.sum())


def _in_common(rounds: list[_Answers], people: Ints, compares: bool, seed: int) -> float | None:
    """How many picks two random halves of the people have in common, given the picks that were made before each."""
    if len(people) < FEWEST:
        return None
    rng = np.random.Generator(np.random.Philox(key=np.array([17, seed % 2**64], dtype=np.uint64)))
    same = 0
    for _ in range(SPLITS):
        order = rng.permutation(people)
        halves = order[: len(people) // 2], order[len(people) // 2 :]
        one, other = ({_pick(r.of(half), compares, rng) for r in rounds} - {None} for half in halves)
        same += len(one & other)
    return same / SPLITS


def _pick(answers: _Answers, compares: bool, rng: np.random.Generator) -> int | None:
    """The item that these answers alone speak for; of several, one that is drawn."""
    if not len(answers.said):
        return None
    items, at = np.unique(answers.options, return_inverse=True)
    at = at.reshape(answers.options.shape)
    if compares:
        worth = _strengths(answers, items, at)
    else:
        total, n = np.bincount(at[:, 0], answers.said), np.bincount(at[:, 0])
        worth = total / n
    worth[items < 0] = -np.inf
    return int(items[rng.choice(np.flatnonzero(worth >= worth.max() - 1e-9))])


def _strengths(answers: _Answers, items: Ints, at: Ints) -> Floats:
    """Luce's strengths, each drawn towards 1 by half a win and half a loss, so that one win does not decide."""
    real = answers.options >= 0
    wins = np.bincount(np.searchsorted(items, answers.said.astype(np.int64)), minlength=len(items))
    strength = np.ones(len(items))
    for _ in range(_STEPS):
        total = (strength[at] * real).sum(axis=1)
        among = np.bincount(at[real], np.repeat(1.0 / total, real.sum(axis=1)), minlength=len(items))
        strength = (wins + _PRIOR) / (among + 2 * _PRIOR / (strength + 1.0))
    return strength
