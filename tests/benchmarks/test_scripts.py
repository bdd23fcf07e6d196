"""Every benchmark runs, at a size that shows nothing but that it runs."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SMALLEST = {
    "borda": "--crowds 2 --per-item 2",
    "captions": "{folder}/contest.csv --runs 2 --k 2 --without-ucb",
    "cascades": "--nodes 200 --edges 400 --runs 20",
    "embeddings": "--measure handful 60 4",
    "first_answers": "--functions 1 --runs 2",
    "heavy_tails": "--runs 2",
    "imports": "--runs 1",
    "influence": "--nodes 60 --pick 2 --per-node 5",
    "large": "--items 200 --k 2 --most 1000",
    "little_agreement": "--studies 1",
    "portfolio": "--models 6 --pick 2 --seeds 1 --queries 5",
    "reopening": "--answers 50 --only duels",
    "running": "--seconds 0.00001 --without-dask --without-costs",
    "screens_of_four": "--albums 1 --runs 1",
    "simulator": "--items 8 --pick 2 --seconds 0",
    "storage": "--threads 2 --seconds 0.05 --records 100",
    "study": "--answers 100 --threads 2 --seconds 0.05",
    "thinking": "--answers 20 --seconds 0",
}
IMPORTED = {
    "crowd": "it starts servers",
    "large_studies": "it starts servers, and tests/crowd/test_large_studies.py runs it",
    "first_run": "it compiles everything anew in other processes",
}
"""What is only imported, and why."""
SHARED = {"__init__", "non_transitive", "rivals"}
"""What others import."""
LONG = {"captions", "heavy_tails", "imports", "influence", "running", "simulator", "thinking"}
"""What takes more than a few seconds even so: it compiles, starts processes, or has a million items."""


def test_every_benchmark_is_listed() -> None:
    assert {path.stem for path in BENCHMARKS.glob("*.py")} == SMALLEST.keys() | IMPORTED.keys() | SHARED


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in SMALLEST]
)
def test_a_benchmark_runs(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = [f"caption {n},{n + 1},2,3" for n in range(8)]
    (tmp_path / "contest.csv").write_text("\n".join(["caption,unfunny,somewhat_funny,funny", *lines]))
    monkeypatch.setattr(sys, "argv", [name, *SMALLEST[name].format(folder=tmp_path).split()])
    with suppress(SystemExit):  # where something takes longer than it should: here it may
        import_module(f"benchmarks.{name}").main()
    assert any(letter.isdigit() for letter in capsys.readouterr().out)


@pytest.mark.parametrize("name", IMPORTED)
def test_a_benchmark_can_be_imported(name: str) -> None:
    assert callable(import_module(f"benchmarks.{name}").main)
