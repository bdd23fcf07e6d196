"""How a budget is shared out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful.explorers.board import NOBODY, NOW, Board, even_share, new_board, pick_one
from handful.explorers.protocol import ExplorerState, explores, extend, open_round
from handful.explorers.registry import TopX
from handful.kernels import kernel
from handful.objectives import Modular
from handful.problem import BUDGET, PerItem, Problem, Total, Unlimited, Values
from handful.responses import uniform
from handful.simulation import simulate


@settings(deadline=None)
@given(st.integers(0, 10_000), st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_rounds_never_get_more_than_is_left_and_the_last_gets_all_of_it(answers: int, thrift: list[float]) -> None:
    budget, spent = Total(answers), 0
    for j, share in enumerate(thrift):
        limit = even_share(budget.left(spent), len(thrift) - j)
        assert 0 <= limit <= answers - spent
        spent += int(share * limit) if j < len(thrift) - 1 else limit
    assert spent == answers


def test_an_unspent_share_goes_to_the_rounds_that_follow() -> None:
    assert even_share(Total(600).left(0), 6) == 100
    assert even_share(Total(600).left(10), 5) == 118
    assert even_share(Total(600).left(700), 5) == 0


def test_a_budget_per_item_is_the_papers_x_axis() -> None:
    assert PerItem(25).total(60, 6) == Total(25 * 60 * 6)
    assert PerItem(0.5).total(3, 1) == Total(2)


def test_without_a_budget_there_is_no_limit() -> None:
    assert even_share(Unlimited().left(10**9), 1) == -1


class _Spender(NamedTuple):
    """Ends its rounds itself: after two answers each, whatever there is to spend."""

    board: Board


@kernel
def _propose(state: _Spender, n: int) -> tuple[int, int, int]:
    return state.board.open[0], NOBODY, NOW


@kernel
def _tell(state: _Spender, item: int, rival: int, given: int, answer: float) -> None:
    if state.board.round[0].counted == 2:
        pick_one(state.board, item, BUDGET, np.inf)


@kernel
def _share(state: _Spender) -> int:
    return state.board.round[0].left


explores(_Spender, propose=_propose, tell=_tell, share=_share)


@pytest.mark.slow
def test_an_explorer_may_end_its_rounds_itself_and_what_it_leaves_serves_those_that_follow() -> None:
    state = _Spender(new_board(6, 4, 1, 1))
    run = simulate(state, Modular([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), uniform(0.1), 4, budget=Total(7))
    assert [r.answers for r in run.rounds] == [2, 2, 2, 1]
    assert [r.ended for r in run.rounds] == ["budget"] * 4


TOPX = TopX().build(Problem(6, 3, Values(noise=1.0), epsilon=1.0))


@pytest.mark.parametrize(("state", "first", "more"), [(_Spender(new_board(6, 3, 1, 1)), 20, 10), (TOPX, 6, 4)])
def test_a_budget_that_grows_gives_the_open_round_its_share(state: ExplorerState, first: int, more: int) -> None:
    open_round(state, 1, 20, 3)
    limit = state.board.round["limit"]
    assert limit[0] == first
    assert extend(state, 10) == more
    assert limit[0] == first + more
