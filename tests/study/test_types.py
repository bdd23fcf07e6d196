"""What a type checker knows of a study's items."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_type_checker_knows_the_type_of_the_items() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "tests/study/typed.py"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
