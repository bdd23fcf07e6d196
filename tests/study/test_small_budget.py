"""That a budget is small is a warning, or is heard by whoever makes studies in threads."""

from __future__ import annotations

import threading

import pytest

from handful import Preferences, Study
from handful.errors import SmallBudget
from handful.setup import small_budgets_heard


def small() -> Study:
    return Study(range(9), 2, feedback=Preferences(), budget=4)


def test_a_small_budget_is_heard_in_its_thread_and_a_warning_in_all_others() -> None:
    warned = []

    def elsewhere() -> None:
        with pytest.raises(SmallBudget) as raised:  # here warnings are errors
            small()
        warned.append(str(raised.value))

    with small_budgets_heard() as heard:
        small()
        other = threading.Thread(target=elsewhere)
        other.start()
        other.join()
    assert len(heard) == 1
    assert heard == warned
    with pytest.warns(SmallBudget) as caught:
        small()
    assert caught[0].filename == __file__, "the line that made the study is named"
