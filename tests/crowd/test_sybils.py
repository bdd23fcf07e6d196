"""One stranger with many cookies gets a tenth of the answers, and moves nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.crowd.sybils import ATTACKS, attacked

SEEDS = range(2)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hundred_cookies_in_one_network_change_next_to_nothing(attack: str) -> None:
    calm = [attacked(seed, []) for seed in SEEDS]
    under_attack = [attacked(seed, ATTACKS[attack]) for seed in SEEDS]
    assert max(one.share for one in under_attack) <= 0.10
    assert max(one.pushed for one in under_attack) <= 1
    assert np.mean([one.value for one in under_attack]) >= 0.97 * np.mean([one.value for one in calm])


def test_without_a_door_ten_cookies_would_push_what_they_like() -> None:
    outcome = attacked(0, ["192.0.2.1"] * 10, capped=False)
    assert outcome.share > 0.5
    assert outcome.pushed >= 2
