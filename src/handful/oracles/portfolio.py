"""A portfolio scored scenario by scenario: the value of a set is what its best item reaches.

A call about one item in one scenario, such as a model on a query, says something of every set that the item is in. So
all outcomes are kept, and sample average makes more of them than asking for one gain at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from handful.errors import InvalidProblem
from handful.oracles.simulated import Asks

Score = Callable[[Any, int], float]
STORED = (
    "one call about one item in one scenario says something of every set: handful.oracles.sample_average("
    "portfolio.value, items, k, most=...) calls all items on some scenarios and uses every call for every set; where "
    "it wins, and where a Study does, is measured on the page 'When not to ask one gain at a time'"
)


class Portfolio:
    """f(S) is the mean, over scenarios, of the best `score(item, seed)` in S: from 0 up, the same for the same seed.

    `value(items, seed)` is what `sample_average` takes. As an oracle it answers with the gain of an item in the
    question's scenario. `calls` is how many scores were asked for; each is asked for once, and kept.
    """

    better_tool = STORED

    def __init__(self, score: Score) -> None:
        if not callable(score):
            raise InvalidProblem(f"give a function score(item, seed), got {score!r}")
        self._score = score
        self._known: dict[tuple[Hashable, int], float] = {}

    @property
    def calls(self) -> int:
        """How many scores were asked for in this process."""
        return len(self._known)

    def value(self, items: Iterable[Hashable], seed: int) -> float:
        """The best score of `items` in the scenario of `seed`; 0 of none."""
        return max((self._outcome(item, seed) for item in items), default=0.0)

    def __call__(self, question: Asks) -> float:
        before = self.value(question.chosen, question.seed)
        return max(self._outcome(question.item, question.seed) - before, 0.0)

    def _outcome(self, item: Hashable, seed: int) -> float:
        found = self._known.get((item, seed))
        if found is None:
            found = self._known[item, seed] = float(self._score(item, seed))
            if not found >= 0:
                raise InvalidProblem(f"score({item!r}, {seed}) gave {found:g}: expected a number from 0 up")
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}
