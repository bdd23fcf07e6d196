"""`python -m benchmarks.exact`: measurements in processes of their own, and figures with targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.exact import measurements
from benchmarks.exact.measurements import CASES, TARGETS, Measured, draw, figures, measure, times_csv, times_markdown
from handful.errors import InvalidProblem


def made_up(case: str, library: str, seconds: float, picks: tuple[int, ...] = (1, 2)) -> Measured:
    return Measured(case, library, 2 * seconds, seconds, 100.0, picks)


def test_figures_are_ratios_of_the_same_case_and_say_what_is_missed() -> None:
    found = figures([made_up("similarity 2,000", "handful", 0.01), made_up("similarity 2,000", "submodlib", 0.2)])
    warm = next(f for f in found if f.what == "than submodlib, warm")
    first = next(f for f in found if f.what == "than submodlib, first call")
    assert (warm.value, warm.target, warm.met) == (pytest.approx(20.0), 15.0, True)
    assert first.met is None
    slow = figures([made_up("similarity 2,000", "handful", 0.1), made_up("similarity 2,000", "submodlib", 0.2)])
    assert [f.met for f in slow if f.target] == [False]


def test_picks_that_differ_from_pyversitys_are_noticed() -> None:
    pair = [made_up("mmr", "handful", 1.0, (1, 2)), made_up("mmr", "pyversity", 1.0, (1, 3))]
    assert [f.value for f in figures(pair) if "picks" in f.what] == [0.5]


def test_every_target_is_about_a_case_that_is_measured() -> None:
    assert all(library in CASES[case] for case, library in TARGETS)


def test_a_case_is_measured_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(measurements, "CASES", {"mmr": ("handful",)})
    (found,) = measure(["mmr"], tmp_path, lambda m: None)
    assert len(set(found.picks)) == 100
    assert 0.0 < found.warm < 60.0
    assert found.peak > 10.0
    assert "mmr" in times_markdown([found])
    assert times_csv([found]).startswith("case,library,first_s")
    draw([found], tmp_path / "exact.png")
    assert (tmp_path / "exact.png").stat().st_size > 1000


def test_missing_peers_are_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match="make bench-peers"):
        measure(["similarity 2,000"], tmp_path, lambda m: None, libraries=["apricot"])
