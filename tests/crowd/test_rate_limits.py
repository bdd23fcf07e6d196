from __future__ import annotations

import pytest

from handful.crowd import guard
from handful.crowd.guard import RateLimiter
from handful.crowd.settings import Rate


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_allowed_and_then_the_rate() -> None:
    clock = Clock()
    limit = RateLimiter(Rate(2, 3), clock)
    assert [limit.wait("a") for _ in range(4)] == [0, 0, 0, 0.5]
    clock.now += 0.5
    assert limit.wait("a") == 0
    assert limit.wait("a") == 0.5


def test_one_does_not_slow_another_down() -> None:
    limit = RateLimiter(Rate(1, 1), Clock())
    assert limit.wait("a") == 0
    assert limit.wait("a") > 0
    assert limit.wait("b") == 0


def test_many_names_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST_REMEMBERED", 100)
    clock = Clock()
    limit = RateLimiter(Rate(1, 5), clock)
    for n in range(1000):
        limit.wait(f"address {n}")
    assert len(limit._levels) <= 100
    clock.now += 100
    for n in range(101):
        limit.wait(f"later {n}")
    assert "address 999" not in limit._levels
