"""Kill -9 at any moment of making, opening, changing and erasing leaves a study that is whole or not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def dying(folder: Path, every: int, *url: str) -> dict[str, int]:
    """How many steps each way of making a study was killed at the last time."""
    command = [sys.executable, "-m", "tests.crowd.dying", str(folder), str(every), *url]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return {name: int(steps) for name, steps in (line.split() for line in done.stdout.splitlines())}


def test_dying_at_some_steps_leaves_a_study_whole_or_not_there(tmp_path: Path) -> None:
    steps = dying(tmp_path, 9)
    assert steps["by_the_page"] > 40
    assert steps["by_the_command_line"] > 7
    assert steps["with_pictures"] > 40


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_dying_at_every_step_leaves_a_study_whole_or_not_there(tmp_path: Path) -> None:
    dying(tmp_path, 1)


def test_dying_at_some_steps_leaves_a_study_in_postgres_whole_or_not_there(tmp_path: Path, postgres_url: str) -> None:
    steps = dying(tmp_path, 30, postgres_url)
    assert steps["by_the_page"] > 40


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_dying_at_every_step_leaves_a_study_in_postgres_whole_or_not_there(tmp_path: Path, postgres_url: str) -> None:
    dying(tmp_path, 1, postgres_url)
