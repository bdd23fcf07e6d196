"""A small world to ask about, in plain Python: nothing here may change with the package that is pinned."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any


class World:
    """Items that each cover some themes: the gain of one is what it covers beyond those chosen."""

    def __init__(self, size: int, seed: int = 1, *, largest: float = 2.0) -> None:
        rng = random.Random(f"world {seed}")
        self.items = [f"item {i}" for i in range(size)]
        self._weights = [rng.uniform(0, largest) for _ in range(8)]
        self._covers = {item: [rng.uniform(0, 0.6) for _ in range(8)] for item in self.items}

    def gain(self, item: str, chosen: Sequence[str]) -> float:
        """f(item | chosen)."""
        left = list(self._weights)
        for one in chosen:
            left = [w * (1 - p) for w, p in zip(left, self._covers[one], strict=True)]
        return sum(w * p for w, p in zip(left, self._covers[item], strict=True))

    def value(self, noise: float, *, within: tuple[float, float] = (-math.inf, math.inf)) -> Callable[[Any], float]:
        """An oracle of noisy gains."""

        def answer(question: Any) -> float:
            told = self.gain(question.item, question.chosen) + random.Random(question.seed).uniform(-noise, noise)
            return min(within[1], max(within[0], told))

        return answer

    def choice(self, beta: float = 4.0) -> Callable[[Any], Any]:
        """An oracle that names one of the options; with two of them, whether it is the item."""

        def answer(question: Any) -> Any:
            odds = [math.exp(beta * self.gain(option, question.chosen)) for option in question.options]
            named = random.Random(question.seed).choices(question.options, odds)[0]
            return named == question.item if len(question.options) == 2 else named

        return answer
