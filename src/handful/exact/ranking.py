"""What `maximize` returns."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from handful.numbers import at_most, percent_at_least


@dataclass(frozen=True)
class Ranking:
    """The items picked, in the order picked, and what may be said about them.

    chosen    the items, by the user's own ids
    indices   the same as positions 0..N−1
    gains     what each added when it was picked
    value     f(S)
    bound     no allowed set has a larger f; None where that is not known (the function is not monotone or submodular)
    guarantee the share of the optimum that this method reaches on every instance; None where none is proved
    method    how it was found
    """

    chosen: tuple[Hashable, ...]
    indices: tuple[int, ...]
    gains: tuple[float, ...]
    value: float
    bound: float | None
    guarantee: float | None
    method: str
    evaluations: int
    size: int
    cost: float | None = None
    complete: bool = True
    in_expectation: bool = False
    sampling_error: float = 0.0

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.chosen)

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def ratio(self) -> float | None:
        """f(S)/bound: at least this share of the optimum was reached on this instance."""
        if self.bound is None:
            return None
        return 1.0 if self.bound <= 0.0 else min(1.0, self.value / self.bound)

    def __str__(self) -> str:
        """What was found, in sentences."""
        said = [
            f"{len(self.chosen):,} of {self.size:,} items picked by {self.method}, with {self.evaluations:,} gains "
            f"computed: f = {self.value:.6g}."
        ]
        if not self.complete:
            said.append("Interrupted: these are the picks so far.")
        if self.cost is not None:
            said.append(f"They cost {self.cost:g}.")
        if self.ratio is not None:
            said.append(
                f"No allowed set has more than {at_most(self.bound or 0.0, 6)}: this is at least "
                f"{percent_at_least(self.ratio, 1)} of the best."
            )
        else:
            said.append("The function is not both monotone and submodular: no share of the best can be stated.")
        if self.guarantee is not None:
            mean = " in expectation" if self.in_expectation else ""
            share = percent_at_least(self.guarantee, 1)
            said.append(f"On every instance this method reaches at least {share} of the best{mean}.")
        elif self.ratio is not None:
            said.append("For these limits together no share is proved for every instance; the one above is.")
        if self.sampling_error:
            said.append(
                f"f is estimated from a sample of rows: with 95% probability it is off by no more than "
                f"{self.sampling_error:.6g}, for all sets of this size at once."
            )
        return " ".join(said)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "chosen": list(self.chosen),
            "indices": list(self.indices),
            "gains": list(self.gains),
            "value": self.value,
            "bound": self.bound,
            "ratio": self.ratio,
            "guarantee": self.guarantee,
            "method": self.method,
            "evaluations": self.evaluations,
            "size": self.size,
            "cost": self.cost,
            "complete": self.complete,
        }
