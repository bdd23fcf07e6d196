"""A portfolio scored scenario by scenario: every call is kept, and sample average is offered."""

from __future__ import annotations

import pickle

import pytest

from handful import Study, Values
from handful.errors import BetterTool, InvalidProblem
from handful.oracles import Portfolio, sample_average


def score(model: int, seed: int) -> float:
    """Model m is right on every query whose seed leaves the rest m when divided by five."""
    return float(seed % 5 == model)


def test_a_set_is_worth_its_best_item_and_each_score_is_asked_for_once() -> None:
    asked: list[tuple[int, int]] = []

    def noted(model: int, seed: int) -> float:
        asked.append((model, seed))
        return model / 10

    portfolio = Portfolio(noted)
    assert portfolio.value((), 7) == 0.0
    assert portfolio.value((3, 5), 7) == portfolio.value((5, 3), 7) == 0.5
    assert asked == [(3, 7), (5, 7)]
    assert portfolio.calls == 2
    assert pickle.loads(pickle.dumps(Portfolio(score))).calls == 0


def test_a_study_on_a_portfolio_is_told_of_sample_average_which_makes_a_call_per_item_and_scenario() -> None:
    with pytest.warns(BetterTool, match=r"sample_average\(portfolio.value, items, k"):
        Study(range(5), 2, feedback=Values(), budget=20).run(Portfolio(score))
    portfolio = Portfolio(score)
    found = sample_average(portfolio.value, range(5), 2, most=1.0, scenarios=40, fresh=50)
    assert portfolio.calls == 5 * 90
    assert found.fresh_value == pytest.approx(0.4, abs=0.2)


@pytest.mark.parametrize("wrong", [lambda model, seed: -1.0, lambda model, seed: float("nan")])
def test_scores_below_zero_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidProblem, match="expected a number from 0 up"):
        Portfolio(wrong).value((1,), 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidProblem, match="give a function"):
        Portfolio(7)  # type: ignore[arg-type]
