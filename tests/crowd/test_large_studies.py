"""Studies with very many answers: back at once after kill -9, and nobody waits while they are looked at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import postgres

BENCHMARK = Path(__file__).resolve().parent.parent.parent / "benchmarks" / "large_studies.py"


def met(folder: Path, *options: str) -> None:
    """Measure, and fail with the table where something takes longer than it may."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--folder", str(folder), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_large_study_is_back_after_kill_9_keeps_nobody_waiting_and_is_exported_soon(tmp_path: Path) -> None:
    met(tmp_path)


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_large_study_in_postgresql_is_back_after_kill_9(tmp_path: Path) -> None:
    with postgres.cluster() as url:
        met(tmp_path, "--storage", url, "--looked-at", "0", "--exported", "0")
