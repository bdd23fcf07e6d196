"""What compiled code must know of a round's questions to go through the round again."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from typing import Any

import numpy as np

from handful.explorers.protocol import GONE, LEFT_OUT, VOIDED, go_again
from handful.problem import Ints
from handful.study.columns import array_of_column
from handful.study.questions import VOID, Questions


def go_through_again(
    state: Any, log: array[int], questions: Questions, first: int, withdrawn: Collection[int], excluded: Collection[int]
) -> None:
    """Go through the log of a round that has just been opened, without the answers about or of these."""
    if not log:
        return
    entries = array_of_column(log)
    base = int(entries.min()) >> 2  # of an earlier round, where an answer came late
    here = slice(base, len(questions))
    asks: Ints = np.column_stack([questions.item[here], questions.rival[here], questions.given[here]]).astype(np.int64)
    tells, answers = asks, array_of_column(questions.answer[here])
    if questions.names_one:
        named = answers.astype(np.int64)
        tells = np.column_stack([named, np.where(named == asks[:, 1], asks[:, 0], asks[:, 1]), asks[:, 2]])
        answers = np.ones(len(answers))
    options = _options(state, questions, base, asks)
    flags = _flags(questions, here, np.hstack([asks[:, :2], options]), withdrawn, excluded)
    row = np.full(options.shape[1], -1, np.int64)
    go_again(state, entries - 4 * base, asks, tells, answers, options, flags, first - base, row)


def _options(state: Any, questions: Questions, base: int, asks: Ints) -> Ints:
    """A row per question as long as the state's place for them, or of no length where it has none."""
    place: Ints | None = getattr(state, "options", None)
    rows = np.full((len(asks), 0 if place is None else len(place)), -1, np.int64)
    if place is not None:
        given = questions.rows_of_options(range(base, len(questions))) if questions.names_one else asks[:, :2]
        rows[:, : given.shape[1]] = given
    return rows


def _flags(
    questions: Questions, here: slice, items: Ints, withdrawn: Collection[int], excluded: Collection[int]
) -> Ints:
    """What is to be known of each question."""
    gone = np.isin(items, list(withdrawn)).any(axis=1)
    left_out = gone | np.isin(array_of_column(questions.worker[here]), list(excluded))
    voided = array_of_column(questions.standing[here]) == VOID
    flags: Ints = gone * GONE + voided * VOIDED + left_out * LEFT_OUT
    return flags
