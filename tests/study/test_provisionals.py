"""Provisional answers are found by their worker and by their time, as a look at all of them would find them."""

from __future__ import annotations

import random

from handful.state import Provisional, Provisionals


def test_what_is_due_and_whose_it_is_agrees_with_looking_at_everything() -> None:
    rng, kept, now = random.Random(1), Provisionals(), 0.0
    for question in range(2_000):
        now += rng.random()
        kept[question] = Provisional(rng.choice("abc"), now + rng.choice([1.0, 5.0]))
        worker = rng.choice("abc")
        assert kept.of(worker) == tuple(q for q, held in kept.items() if held.worker == worker)
        if rng.random() < 0.2:
            kept.drop(rng.randrange(question + 1))
        expected = tuple(q for q, held in kept.items() if held.until <= now)
        due = kept.due(now)
        assert due == expected
        for one in due:
            del kept[one]
    assert dict(kept.snapshot()) == dict(kept)
