"""How a budget is shared out."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from handful.core.budget import PerItem, Total, Unlimited


@settings(deadline=None)
@given(st.integers(0, 10_000), st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_rounds_never_get_more_than_is_left_and_the_last_gets_all_of_it(answers: int, thrift: list[float]) -> None:
    budget, spent = Total(answers), 0
    for j, share in enumerate(thrift):
        limit = budget.of_round(spent, len(thrift) - j)
        assert 0 <= limit <= answers - spent
        spent += int(share * limit) if j < len(thrift) - 1 else limit
    assert spent == answers


def test_an_unspent_share_goes_to_the_rounds_that_follow() -> None:
    assert Total(600).of_round(0, 6) == 100
    assert Total(600).of_round(10, 5) == 118
    assert Total(600).of_round(700, 5) == 0


def test_a_budget_per_item_is_the_papers_x_axis() -> None:
    assert PerItem(25).total(60, 6) == Total(25 * 60 * 6)
    assert PerItem(0.5).total(3, 1) == Total(2)


def test_without_a_budget_there_is_no_limit() -> None:
    assert Unlimited().of_round(10**9, 1) == -1
