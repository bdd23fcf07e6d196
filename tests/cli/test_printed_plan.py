"""What is printed of a plan and of a study, to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from handful.cli import (
    app,
    crowd,  # noqa: F401  (registers it)
)
from handful.crowd import plan
from handful.pricing import Bought, bought
from tests.cli.starting import end_at_once
from tests.crowd.pictures import folder_of


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three photos in the current folder, and servers that start and end at once."""
    folder_of(3, tmp_path / "photos")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    end_at_once(monkeypatch)


def serve(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["serve", "photos", "--theme", "A", "-k", "1", "--port", "0", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_of_a_study_with_checks_the_terminal_says_the_budget_too() -> None:
    assert "1 of 3, 60 answers at most: A" in serve("--rule", "standard", "--budget", "60", "--explorer", "topx")


def test_one_of_something_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "quality_of", lambda plan, collection: None)
    said = serve("--people", "1", "--answers-each", "1", "--explorer", "topx")
    assert "1 person × 1 answer: 1 answer in all." in said
    one = Bought(20, 3, 1, 0.5, 0.4, 0.6, 1, 32)
    assert "In simulation, 1 answer chooses 3 of 20 about 50% as well" in one.words()
    assert "In simulation, 2 answers choose 3 of 20" in Bought(20, 3, 2, 0.5, 0.4, 0.6, 2, 32).words()


def test_a_forecast_says_what_chance_would_give_in_the_same_simulation() -> None:
    few, many = bought(20, 3, 40, 4), bought(20, 3, 600, 4)
    assert few.at_random is not None
    assert few.at_random == many.at_random
    assert 0.3 < few.at_random < few.quality < many.quality
    said = Bought(20, 3, 60, 0.785, 0.7, 0.85, 60, 32, at_random=0.611).words()
    assert "about 78% as well as if everybody's taste were known; at random it would be 62% (80% of" in said
