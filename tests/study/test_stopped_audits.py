"""An audit that a budget ends anywhere claims nothing that is false."""

from __future__ import annotations

import pytest

from handful import Study, Values
from handful.objectives import Modular
from handful.oracles import noisy, uniform

GAINS = [1.0] * 30
K = 10


@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
def test_whenever_the_answers_end_the_value_certified_is_at_most_the_true_one() -> None:
    """Of half a batch the sum is too large for the answers that are counted; that was taken for what was shown."""
    certified = 0
    for budget in range(300, 440, 5):
        study = Study(range(len(GAINS)), K, feedback=Values(noise=0.1), ratio=0.999, budget=budget, seed=budget)
        certificate = study.run(noisy(Modular(GAINS), uniform(0.1))).certificate
        if certificate.value is not None:
            certified += 1
            assert certificate.value <= K
    assert certified >= 10
