"""`handful.check` finds what a function does not keep."""

from __future__ import annotations

import numpy as np
import pytest

import handful
from handful.errors import InvalidProblem
from handful.objectives import Function, GraphCut
from tests.objectives.every import KINDS, make


@pytest.mark.parametrize("kind", KINDS)
def test_no_failure_is_seen_where_there_is_none(kind: str) -> None:
    found = handful.check(make(kind, 0, 10, 6), chains=5)
    assert found, str(found)
    assert "evidence, not proof" in str(found)


def test_a_function_that_grows_faster_is_shown_not_to_be_submodular() -> None:
    found = handful.check(Function(lambda items: float(len(items) ** 2), 4))
    assert not found
    assert found.monotone is None
    assert found.submodular is not None
    assert "adds 1 to {} but 3 once item" in found.submodular


def test_a_cut_beyond_one_half_is_shown_not_to_be_monotone() -> None:
    found = handful.check(GraphCut(np.ones((6, 6)), 0.9))
    assert found.submodular is None
    assert found.monotone is not None
    assert "Not monotone: item" in str(found)


def test_a_noisy_function_is_shown_to_be_noisy() -> None:
    draws = np.random.default_rng(0)
    found = handful.check(Function(lambda items: len(items) + draws.normal(), 4))
    assert not found
    assert found.repeatable is not None
    assert "handful.Study" in found.repeatable


def test_the_number_of_chains_is_a_number() -> None:
    with pytest.raises(InvalidProblem, match="chains"):
        handful.check(make("modular", 0, 3, 3), chains=0)
