"""How much is run: a quick look, or enough for the figures to be believed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BenchPlan:
    """Instances and repetitions of each section."""

    instances: int
    proofs: int  # runs per instance for the guarantee
    repeats: int  # runs per instance under a budget, for values
    duels: int  # and for comparisons
    many: int  # instances of many items
    half_widths: tuple[float, ...]  # of values under a budget
    links: tuple[str, ...]
    sizes: tuple[int, ...]
    people: int  # runs per instance with one consistent person
    spending: int = 1  # runs per function and cell of many items under a budget
    first_seed: int = 0

    def instance_seeds(self, count: int | None = None) -> range:
        """The seeds of the collections that are drawn."""
        return range(self.first_seed, self.first_seed + (self.instances if count is None else count))


QUICK = BenchPlan(10, 1, 2, 2, 1, (1.0,), ("btl",), (60,), 4)
FULL = BenchPlan(20, 2, 6, 10, 10, (1.0, 3.0, 10.0), ("btl", "careless", "linear", "saturating"), (60, 300), 10, 5)
