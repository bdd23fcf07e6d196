"""Three hundred cookies that take questions and answer none do not keep honest people from answering."""

from __future__ import annotations

import pytest

from handful import study
from tests.crowd.hoarders import COOKIES, WAYS, honest_rate

BROAD = [WAYS["300 networks"](n) for n in range(COOKIES)]


@pytest.mark.parametrize("way", [pytest.param(way, marks=pytest.mark.slow) for way in WAYS if way != "300 networks"])
def test_hoarding_from_one_network_hardly_slows_honest_people(way: str) -> None:
    assert honest_rate([WAYS[way](n) for n in range(COOKIES)], seconds=120) >= 0.8 * honest_rate([], seconds=120)


def test_hoarding_from_everywhere_hardly_slows_honest_people() -> None:
    assert honest_rate(BROAD, seconds=30) >= 0.8 * honest_rate([], seconds=30)


def test_without_questions_of_their_own_honest_people_would_be_kept_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    calm = honest_rate([], seconds=30)
    monkeypatch.setattr(study, "copy_of_held", lambda *_: None)
    assert honest_rate(BROAD, guarded=False, seconds=30) < 0.2 * calm
