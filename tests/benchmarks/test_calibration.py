"""What is said of picks with 85 to 95 percent is true about as often."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from benchmarks.answers.calibration import (
    CROWDS,
    HIGH,
    LEAST,
    LOW,
    MOST,
    as_asked,
    calibration_figures,
    calibration_runs,
    share_true,
)
from benchmarks.answers.runs import QUICK, Run, RunOutcome, perform
from benchmarks.answers.statements import AMONG, SURELY, JudgedStatement, borda_sums, shares_named
from handful.explorers.board import View
from handful.explorers.registry import Duels
from handful.problem import Problem

FRESH = replace(QUICK, instances=3, first_seed=900)  # albums that nothing was chosen by


def test_borda_sums_count_whom_each_person_prefers_and_ties_half() -> None:
    people = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [0.0, 0.0, 9.0]])
    beaten = np.array([2 + 2 + 0.5, 1 + 1 + 0.5, 0 + 0 + 2])
    assert borda_sums(people) == pytest.approx(beaten / 3 + 0.5)


def test_shares_named_are_of_all_sets_that_may_be_shown() -> None:
    people = np.random.default_rng(0).integers(0, 4, (5, 7)).astype(float)  # with many ties
    shown = np.zeros((7, 2))
    for options in combinations(range(7), 3):
        for gains in people:
            best = [i for i in options if gains[i] == gains[list(options)].max()]
            shown[best, 0] += 1.0 / len(best)
            shown[list(options), 1] += 1.0
    assert shares_named(people, 3) == pytest.approx(shown[:, 0] / shown[:, 1])
    assert 6 * shares_named(people, 2) + 0.5 == pytest.approx(borda_sums(people))


def test_a_share_is_of_what_is_said_with_85_to_95_percent() -> None:
    said = [
        JudgedStatement(AMONG, 0.9, True, True),
        JudgedStatement(AMONG, 0.86, False, False),
        JudgedStatement(AMONG, 0.99, False, False),
        JudgedStatement(AMONG, 0.5, False, False),
    ]
    assert share_true(said) == (2, 0.5)


def test_figures_are_by_crowd_and_those_of_sure_apart() -> None:
    run = next(iter(calibration_runs(FRESH)))
    said = (JudgedStatement(AMONG, 0.9, True, True), JudgedStatement(SURELY, 0.9, False, False))
    figures = {f.what: f.value for f in calibration_figures([RunOutcome(run, 1, 1.0, True, said=said)])}
    assert figures["said, all crowds: true"] == 1.0
    assert figures["ended by sure = 0.9, all crowds: true"] == 0.0


@pytest.fixture(scope="module")
def outcomes() -> list[RunOutcome]:
    return [perform(run) for run in calibration_runs(FRESH)]


@pytest.mark.slow
def test_what_is_said_of_picks_is_true_as_often_as_it_is_said(outcomes: list[RunOutcome]) -> None:
    said = [one for outcome in outcomes for one in outcome.said if one.kind != SURELY]
    count, share = share_true(said)
    assert count > 500
    assert LOW <= share <= HIGH
    for crowd in CROWDS:
        count, share = share_true([s for o in outcomes if o.run.series == crowd for s in o.said if s.kind != SURELY])
        slack = 2 * (0.09 / count) ** 0.5  # of chance
        assert LEAST - slack <= share <= MOST + slack, crowd


@pytest.mark.slow
def test_of_choices_among_four_it_is_true_of_who_is_named_where_people_differ(outcomes: list[RunOutcome]) -> None:
    of_four = [o for o in outcomes if o.run.response.differs and o.run.feedback.options == 4]
    said = [one for outcome in of_four for one in outcome.said if one.kind != SURELY]
    count, share = share_true(as_asked(said))
    slack = 2 * (0.09 / count) ** 0.5  # of chance
    assert LOW - slack <= share <= MOST + slack
    assert share > share_true(said)[1]  # than of who is preferred to a random other


@pytest.mark.slow
def test_a_belief_that_is_surer_than_it_should_be_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with a quarter of the variance: what is said is then true far less often."""
    view = Duels.view

    def surer(self: Duels, problem: Problem, state: object) -> View:
        known = view(self, problem, state)  # type: ignore[arg-type]
        return replace(known, lower=(known.mean + known.lower) / 2, upper=(known.mean + known.upper) / 2)

    monkeypatch.setattr(Duels, "view", surer)
    runs: list[Run] = [run for run in calibration_runs(FRESH) if run.explorer == Duels()]
    _, share = share_true([one for run in runs for one in perform(run).said])
    assert share < LOW - 0.05
