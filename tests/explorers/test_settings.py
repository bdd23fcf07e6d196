"""Explorers by name, by name with options, and by settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from handful.explorers.registry import EXPLORERS, Certified, Duels, Explorer, TopX, explorer_of, spelled

WRITTEN: list[tuple[str, Explorer]] = [
    *((name, kind()) for name, kind in EXPLORERS.items()),
    ("certified:rule=chain", Certified(rule="chain")),
    ("certified:rule=bank,near=0.05", Certified(rule="bank", near=0.05)),
    ("topx:variant=O,l=1", TopX(variant="O", l=1)),
    ("duels:careless=0", Duels(careless=0)),
]


@pytest.mark.parametrize(("text", "settings"), WRITTEN, ids=[text for text, _ in WRITTEN])
def test_what_is_written_is_what_is_meant_and_back(text: str, settings: Explorer) -> None:
    assert explorer_of(text) == settings == explorer_of(settings)
    assert spelled(settings) == text


def test_settings_of_ones_own_can_be_spelled_too() -> None:
    @dataclass(frozen=True)
    class Mine(TopX):
        name: ClassVar[str] = "mine"

    assert spelled(Mine(l=2)) == "mine:l=2"


def test_spaces_and_what_is_usual_are_no_matter() -> None:
    assert explorer_of(" topx : variant = full , l = null ") == TopX()
    assert spelled(explorer_of("topx:variant=full")) == "topx"
