"""`handful demo` does everything by itself, over real HTTP, and ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PIL import Image

HANDFUL = [sys.executable, "-c", "from handful.cli import main; main()"]


def test_the_demo_ends_by_itself_with_three_summaries_and_their_sheets(tmp_path: Path) -> None:
    words = ["demo", "--fast", "--exit-when-done", "--folder", str(tmp_path)]
    made = subprocess.run([*HANDFUL, *words], capture_output=True, text=True, timeout=840)
    assert made.returncode == 0, made.stderr
    assert "/organize/login#" in made.stdout
    for sheet in ("venice", "venice-carnival", "venice-cathedrals"):
        with Image.open(tmp_path / f"{sheet}.png") as picture:
            assert picture.width > 800
    assert made.stdout.count("6 of 6 picked") >= 3
    assert made.stdout.count("Won ") >= 18
    assert "pairs: TopX + Borda (the paper)" in made.stdout, "pairs stand beside the best of several"
    assert len(list((tmp_path / "demo.db.items").glob("*-small.webp"))) == 60


def test_the_demo_in_the_terminal_compares_with_other_means() -> None:
    made = subprocess.run([*HANDFUL, "demo", "--terminal"], capture_output=True, text=True, timeout=840)
    assert made.returncode == 0, made.stderr
    shares = {
        name: float(next(line for line in made.stdout.splitlines() if name in line).split("│")[3].strip(" %"))
        for name in ("pairs: duels", "best of 4: duels", "TopX + Borda", "UNIFORM", "RANDOM")
    }
    assert shares["best of 4: duels"] > shares["pairs: duels"] > shares["TopX + Borda"] > shares["RANDOM"]
