"""How a round can end: the one list, with the words that journals, results and pictures have for each ending."""

from __future__ import annotations

from dataclasses import dataclass

OPEN, RULE, BUDGET, ALONE, CLOSED, UNREACHABLE, FILLED = range(7)  # as they stand on a board; OPEN: it has not ended


@dataclass(frozen=True)
class Ending:
    """The words for one way to end.

    `name` stands in journals and results, `by` completes "decided by", and `short` is a label in a picture.
    """

    code: int
    name: str
    by: str
    short: str


ENDINGS = (
    Ending(RULE, "rule", "its rule", "decided"),
    Ending(BUDGET, "budget", "the budget", "out of budget"),
    Ending(ALONE, "alone", "there being no choice", "no choice"),
    Ending(CLOSED, "closed", "finishing the study early", "finished early"),
    Ending(UNREACHABLE, "out of reach", "the claim being out of reach", "out of reach"),
    Ending(FILLED, "filled", "what was known when the study was finished early", "filled in"),
)
BY_BELIEF = Ending(RULE, "rule", "its belief", "by its belief")
"""A rule that shows nothing of its pick goes by what it believes."""
DECIDED = ("rule", "alone")  # endings that a guarantee allows
_BY_CODE = {ending.code: ending for ending in ENDINGS}
_BY_NAME = {ending.name: ending for ending in ENDINGS}


def ending_of(code: int) -> Ending:
    """The ending that stands on a board as `code`."""
    return _BY_CODE[int(code)]


def ending_named(name: str) -> Ending:
    """The ending that a journal or a result calls `name`."""
    return _BY_NAME[name]
