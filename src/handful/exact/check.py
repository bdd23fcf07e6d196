"""`handful.check`: does a function keep what it promises? Looked for on random chains of sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handful.numbers import whole
from handful.problem import Objective

ROUNDING = 1e-9  # relative to the largest gain seen


@dataclass(frozen=True)
class Checked:
    """What was found: a sentence for each property that fails, with the sets where it does; empty if none was seen."""

    monotone: str | None
    submodular: str | None
    repeatable: str | None
    chains: int

    def __bool__(self) -> bool:
        return not (self.monotone or self.submodular or self.repeatable)

    def __str__(self) -> str:
        if self:
            return (
                f"No failure on {self.chains} random chains: the function may be monotone and submodular. "
                "That is evidence, not proof."
            )
        return " ".join(said for said in (self.repeatable, self.monotone, self.submodular) if said)


def check(objective: Objective, chains: int = 20, *, seed: int = 0) -> Checked:
    """Test on random chains of sets whether f is monotone and submodular, and gives the same value each time.

    A chain adds all items (at most 30) in random order; at each step the gain of every item that is still to come is
    compared with its gain before. What fails is shown with the smallest set where it was seen.
    """
    whole("chains", chains, 1)
    draws = np.random.default_rng(seed)
    falls: list[tuple[int, str]] = []
    grows: list[tuple[int, str]] = []
    noisy: str | None = None
    for _ in range(chains):
        order = draws.permutation(objective.size)[:30]
        try:
            noisy = noisy or _chain(objective, order, falls, grows)
        except Exception as error:
            if "noisy" not in str(error):
                raise
            noisy = str(error)
            break
    return Checked(_first(falls), _first(grows), noisy, chains)


def _chain(
    objective: Objective, order: np.ndarray, falls: list[tuple[int, str]], grows: list[tuple[int, str]]
) -> str | None:
    progress = objective.start()
    before = progress.gains(order)
    if not np.array_equal(before, progress.gains(order)):
        return "Not repeatable: the same gains were asked for twice and differ; for noisy answers use handful.Study."
    scale = max(float(np.abs(before).max()), 1e-300)
    for step, item in enumerate(order):
        named = "{" + ", ".join(map(str, progress.chosen)) + "}"
        rest = order[step:]
        if before.min() < -ROUNDING * scale:
            worst = int(before.argmin())
            falls.append((step, f"Not monotone: item {rest[worst]} adds {before[worst]:g} to {named}."))
        progress.add(int(item))
        after = progress.gains(rest[1:])
        more = after - before[1:]
        if len(more) and more.max() > ROUNDING * scale:
            worst = int(more.argmax())
            grows.append(
                (
                    step,
                    f"Not submodular: item {rest[1:][worst]} adds {before[1:][worst]:g} to {named} but "
                    f"{after[worst]:g} once item {item} is there too.",
                )
            )
        before = after
    return None


def _first(found: list[tuple[int, str]]) -> str | None:
    return min(found)[1] if found else None
