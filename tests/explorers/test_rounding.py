"""Printed numbers are rounded the safe way."""

from __future__ import annotations

import pytest

from handful.certificates import OPTIMUM_BOUND, Certificate, assumptions_of, with_epsilon, within
from handful.numbers import at_least, at_most, confidence, exactly, percent_at_least, percent_at_most
from handful.problem import Preferences, Problem, Values


@pytest.mark.parametrize(
    ("share", "said"), [(0.8571, "85%"), (0.57, "57%"), (0.86, "86%"), (0.8599999, "85%"), (1.0, "100%"), (0.29, "29%")]
)
def test_a_share_is_never_said_to_be_more_than_it_is(share: float, said: str) -> None:
    assert percent_at_least(share) == said
    assert float(percent_at_most(share)[:-1]) >= 100 * share - 1e-12 > float(said[:-1]) - 1e-9


@pytest.mark.parametrize(
    ("x", "low", "high"),
    [
        (1.2349, "1.23", "1.24"),
        (0.1, "0.1", "0.1"),
        (9.999, "9.99", "10"),
        (1234.5, "1,230", "1,240"),
        (999.6, "999", "1,000"),
        (-183_456.0, "-184,000", "-183,000"),
        (1.5e13, "1.5e+13", "1.5e+13"),
        (0.0, "0", "0"),
    ],
)
def test_three_digits_are_rounded_down_for_at_least_and_up_for_at_most(x: float, low: str, high: str) -> None:
    assert (at_least(x), at_most(x)) == (low, high)


def test_a_certificate_claims_no_more_than_it_may() -> None:
    said = Certificate(OPTIMUM_BOUND, 0.12341, 0.05, ratio=0.8571, value=1.2399, optimum=1.4411).sentence
    assert "at least 85% of" in said
    assert "at least 1.23;" in said
    assert "more than 1.45" in said
    assert "− 0.124" in said
    assert with_epsilon(OPTIMUM_BOUND, 0.1000001, 3).endswith("0.101")
    assert confidence(0.05) == "95%"
    assert confidence(0.0123456789) == "98.7654%"


def test_a_share_that_is_promised_is_rounded_down() -> None:
    assert within(0.7, 0.05, ()).bound == "f(S) ≥ 0.7·f(OPT)"
    assert within(6 / 7, 0.05, ()).bound == "f(S) ≥ 0.857142·f(OPT)"


@pytest.mark.parametrize("x", [0.0, 0.3, 1.0, 20.0, 1e-9, 1 / 3, 0.1234567, 1234567.0, -2 / 3])
def test_what_a_claim_rests_on_is_told_exactly(x: float) -> None:
    assert float(exactly(x)) == x
    if x > 0:
        (said,) = assumptions_of(Problem(5, 2, Values(noise=x), epsilon=0.1))
        assert float(said.split("R = ")[1]) == x
        (said,) = assumptions_of(Problem(5, 2, Preferences(beta=x), epsilon=0.1))
        assert float(said.split("β = ")[1]) == x
    (said,) = assumptions_of(Problem(5, 2, Values(range=(x, x + 1 / 7)), epsilon=0.1))
    assert said.endswith(f"lie in [{exactly(x)}, {exactly(x + 1 / 7)}]")
    assert (exactly(0.3), exactly(2.0)) == ("0.3", "2")
