"""What studies ask, pick, charge and certify stays as it is; `python -m tests.pins.write` writes the pins anew."""

from __future__ import annotations

import pytest

from tests.pins.figures import QUICK, SLOW, pin_of_figure
from tests.pins.settings import SETTINGS, pin_of_study
from tests.pins.write import PINS, pinned

PINNED = pinned()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_study_goes_as_it_is_pinned(name: str) -> None:
    assert pin_of_study(name) == PINNED[name]


@pytest.mark.parametrize("figure", [*QUICK, *(pytest.param(figure, marks=pytest.mark.slow) for figure in SLOW)])
def test_the_tables_of_a_figure_are_as_they_are_pinned(figure: str) -> None:
    assert pin_of_figure(figure) == PINNED[f"figure {figure}"]


def test_everything_that_is_pinned_is_played() -> None:
    assert PINNED.keys() == PINS.keys()
