"""Calibration: what `duels` says of its picks with a probability of 85 to 95 percent, and how often that is true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from benchmarks.answers.runs import PEOPLE, BenchPlan, Run, RunOutcome
from benchmarks.answers.statements import SURELY, JudgedStatement
from benchmarks.answers.targets import Figure
from handful.explorers.registry import Duels
from handful.problem import PerItem, Preferences
from handful.responses import Response, btl, tastes

CALIBRATION = "what is said of picks with 85–95%"

LOW, HIGH = 0.85, 0.95  # what is said; and of all crowds together, true
LEAST, MOST = 0.80, 0.98  # and true in each crowd
CROWDS: dict[str, Response] = {
    "β = 2": btl(2.0),
    "β = 10": btl(10.0),
    "β = 10, a fifth careless": btl(10.0, careless=0.2),
    "people with tastes": tastes(),
}
OPTIONS = (2, 4)
SCREENS = (0.25, 0.5, 1.0, 2.0, 4.0)  # per item and round
SURE = 0.9


def calibration_runs(plan: BenchPlan) -> Iterator[Run]:
    """All crowds, budgets and sizes of a question, with rounds of a fixed length and such that end when decided."""
    for (crowd, response), options, screens in product(CROWDS.items(), OPTIONS, SCREENS):
        for instance, sure in product(plan.instance_seeds(), (None, SURE)):
            yield Run(
                crowd,
                Duels(sure=sure),
                Preferences(options=options),
                response,
                instance,
                0,
                budget=PerItem(screens),
                people=PEOPLE if response.differs else 0,
                judged=True,
            )


def share_true(said: Sequence[JudgedStatement]) -> tuple[int, float]:
    """How many statements were made with 85 to 95 percent, and which share of them is true."""
    counted = [one.true for one in said if LOW <= one.chance <= HIGH]
    return len(counted), float(np.mean(counted)) if counted else float("nan")


def as_asked(said: Sequence[JudgedStatement]) -> list[JudgedStatement]:
    """The same statements, true if they are by who is named most often among as many as are shown."""
    return [one._replace(true=one.true_as_asked) for one in said]


def calibration_figures(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """The shares that are true, in all and by crowd, and by how much they are out of bounds; those of `sure` apart."""
    for what, by_rule in (("said", False), (f"ended by sure = {SURE:g}", True)):
        some = {
            crowd: [s for o in outcomes if o.run.series == crowd for s in o.said if (s.kind == SURELY) == by_rule]
            for crowd in CROWDS
        }
        count, share = share_true([one for said in some.values() for one in said])
        yield _figure(f"{what}, all crowds", count, share, LOW, HIGH)
        for crowd, said in some.items():
            count, share = share_true(said)
            if by_rule and count < 50:  # too few to judge
                yield Figure(CALIBRATION, f"{what}, {crowd}: true", share, "share", note=f"of {count}, too few")
            else:
                yield _figure(f"{what}, {crowd}", count, share, LEAST, MOST)
    yield from _by_options(outcomes)


def _by_options(outcomes: Sequence[RunOutcome]) -> Iterator[Figure]:
    """Where people differ: pairs and choices among four apart, the latter also by who is named among four."""
    for (crowd, response), options in product(CROWDS.items(), OPTIONS):
        some = [o for o in outcomes if response.differs and o.run.series == crowd and o.run.feedback.options == options]
        said = [one for o in some for one in o.said if one.kind != SURELY]
        if said:
            what = f"said, {crowd}, best of {options}"
            count, share = share_true(said)
            yield Figure(CALIBRATION, f"{what}: true", share, "share", note=f"of {count:,}")
            if options > 2:
                _, share = share_true(as_asked(said))
                yield Figure(CALIBRATION, f"{what}, by who is named: true", share, "share", note=f"of {count:,}")


def _figure(what: str, count: int, share: float, low: float, high: float) -> Figure:
    """The share that is true; its target is the bound that is nearer."""
    note = f"of {count:,}; {low:.0%} to {high:.0%} is aimed at"
    if share < (low + high) / 2:
        return Figure(CALIBRATION, f"{what}: true", share, "share", "≥", low, note)
    return Figure(CALIBRATION, f"{what}: true", share, "share", "≤", high, note)
