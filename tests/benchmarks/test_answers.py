"""The benchmark's arithmetic, and a very small run of it."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from benchmarks.answers import __main__ as command
from benchmarks.answers.choices import ALONE
from benchmarks.answers.comparisons import FLIGHT
from benchmarks.answers.report import (
    BenchReport,
    bench,
    cells,
    csv_text,
    draw,
    fewest_runs,
    json_text,
    markdown,
    sections,
    summary,
)
from benchmarks.answers.runs import FULL, QUICK, BenchPlan, Run, RunOutcome, people_with_tastes, perform, perform_all
from benchmarks.answers.targets import CurvePoint, Figure, advantage, better, cost_of
from handful.explorers.registry import Certified, Duels
from handful.problem import PerItem, Preferences, Values
from handful.responses import btl, tastes, uniform
from handful.venice import venice
from reproduction.statistics import student_quantile

TINY = BenchPlan(2, 1, 1, 1, 1, (1.0,), ("btl",), (60,), 1)
RUN = Run("a", Duels(), Preferences(), btl(2.0), 0, 0, budget=PerItem(0.5))


def points(*pairs: tuple[float, float]) -> list[CurvePoint]:
    return [CurvePoint(x, y, 0.0) for x, y in pairs]


def test_a_crossing_is_interpolated_in_log_budget() -> None:
    assert cost_of(points((1, 0.8), (100, 1.0)), 0.9) == pytest.approx(10.0)


def test_a_curve_is_not_followed_below_its_first_point_and_what_is_never_reached_costs_infinity() -> None:
    assert cost_of(points((2, 0.8), (4, 0.9)), 0.5) == 2.0
    assert cost_of(points((2, 0.8), (4, 0.9)), 0.95) == math.inf


def test_the_better_of_two_curves_is_taken_budget_by_budget() -> None:
    assert better(points((1, 0.5), (2, 0.9)), points((1, 0.6), (2, 0.8))) == points((1, 0.6), (2, 0.9))


@pytest.mark.parametrize(("freedom", "published"), [(4, 2.776), (9, 2.262), (19, 2.093), (1000, 1.962)])
def test_students_t_is_as_published(freedom: int, published: float) -> None:
    assert student_quantile(freedom) == pytest.approx(published, rel=0.01)


def test_an_advantage_is_paired_by_instance() -> None:
    """Instances differ much, the pairs hardly: the limit must not see the instances."""

    def outcomes(more: float) -> list[RunOutcome]:
        qualities = [0.1 * i + more + 0.001 * (i % 2) * more for i in range(10)]
        return [RunOutcome(replace(RUN, instance=i), 1, q, True) for i, q in enumerate(qualities)]

    mean, least = advantage(outcomes(0.05), outcomes(0.0))
    assert mean == pytest.approx(0.05, abs=1e-3)
    assert 0.0499 < least < mean


@pytest.mark.parametrize(
    ("sense", "value", "met"),
    [("≥", 3.0, True), ("≥", 2.9, False), ("≤", 3.0, True), ("≤", 3.1, False), ("<", 3.0, False), ("<", 2.9, True)],
)
def test_a_target_is_met_on_its_own_side_only(sense: str, value: float, met: bool) -> None:
    assert Figure("s", "w", value, "×", sense, 3.0).met is met  # type: ignore[arg-type]


def test_a_figure_without_target_is_neither_met_nor_missed() -> None:
    assert Figure("s", "w", 1.0).met is None
    assert cells(Figure("s", "w", 1234.4, "answers")) == ("s", "w", "1,234", "", "", "")


def test_a_markdown_table_has_a_row_per_setting_a_column_per_measure_and_no_empty_column() -> None:
    text = markdown(
        [
            Figure("s", "a", 1234.4, "answers"),
            Figure("s", "a: mean f", 0.5, "f/greedy", "≥", 0.4),
            Figure("s", "b", 5.0, "answers"),
            Figure("s", "b: mean f", 0.5, "f/greedy", "≥", 0.6, "too noisy"),
            Figure("t", "c: saving", 2.0, "×"),
        ]
    )
    assert text.splitlines() == [
        "### S",
        "",
        "| setting | answers | mean f | note |",
        "|---|---:|---:|---|",
        "| a | 1,234 | 0.500 (≥ 0.400 ✓) |  |",
        "| b | 5 | 0.500 (≥ 0.600 ✗) | too noisy |",
        "",
        "### T",
        "",
        "| setting | saving |",
        "|---|---:|",
        "| c | 2.0× |",
    ]


def test_the_same_run_has_the_same_outcome_and_another_seed_another() -> None:
    value = Run("v", Certified(), Values(noise=0.5), uniform(0.5), 0, 0, epsilon=0.1)
    assert perform(value) == perform(value)
    assert perform(value).answers != perform(replace(value, seed=1)).answers


def test_outcomes_come_in_the_order_of_the_runs_and_progress_adds_up() -> None:
    runs = [replace(RUN, seed=seed) for seed in range(11)]
    done: list[int] = []
    assert perform_all(runs, 1, done.append) == [perform(run) for run in runs]
    assert sum(done) == 11


def test_the_quick_plan_covers_ten_instances_and_every_section_of_the_full_one() -> None:
    assert QUICK.instances >= 10
    assert FULL.instances >= 10
    assert sections(QUICK).keys() == sections(FULL).keys()
    for runs, _ in sections(QUICK).values():
        assert any(True for _ in runs)


def test_a_report_is_one_table_in_three_forms_and_one_picture(tmp_path: Path) -> None:
    report = bench(TINY, 1, lambda *_: None, [FLIGHT])
    assert {f.section for f in report.figures} == {FLIGHT}
    rows = list(csv.DictReader(io.StringIO(csv_text(report.figures))))
    data = json.loads(json_text(report))
    assert len(rows) == len(data["figures"]) == len(report.figures)
    assert float(rows[0]["measured"]) == data["figures"][0]["measured"] == report.figures[0].value
    text = markdown(report.figures)
    assert all(f.what.partition(": ")[0] in text for f in report.figures)
    drawn = BenchReport(report.figures, {"comparisons, β = 2": {"duels": points((1, 0.8), (2, 0.9))}})
    draw(drawn, tmp_path / "a.png", tmp_path / "a.svg")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()


def test_targets_are_judged_where_there_are_half_as_many_runs_as_in_full() -> None:
    quick = bench(TINY, 1, lambda *_: None, [FLIGHT])
    assert quick.unjudged
    assert not quick.missed
    assert all(figure.met is None and cells(figure)[4] == "not judged" for figure in quick.unjudged)
    assert "not judged)" in markdown(quick.figures)
    assert summary(quick)[-1] == f"Not judged, for too few runs: {len(quick.unjudged)} other targets."
    assert 2 * fewest_runs(sections(QUICK)[ALONE][0]) >= fewest_runs(sections(FULL)[ALONE][0]), "one is judged"


def test_the_targets_that_are_not_met_are_named_at_the_end() -> None:
    met, missed = Figure("a", "x: f", 1.0, "×", "≥", 0.5), Figure("a", "y: f", 0.25, "share", "≥", 0.5)
    report = BenchReport((met, missed, Figure("a", "z", 1.0)), {})
    assert summary(report) == ["1 of 2 targets met.", "Not met: a, y: f: 0.250, aimed at ≥ 0.500"]


def test_without_a_terminal_each_section_is_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "QUICK", TINY)
    app = Typer()
    app.command()(command.main)
    asked = ["--quick", "--section", FLIGHT, "--processes", "1", "--output", str(tmp_path / "out")]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert done.stderr.count(f"{FLIGHT}: ") == 1
    assert "other targets." in done.stdout
    assert not list((tmp_path / "out").glob("answers.[ps][nv]g"))  # nothing of this section is in the picture
    assert "picture" not in done.stdout.splitlines()[-1]


def test_people_with_tastes_differ_and_want_as_much_in_all() -> None:
    album = venice(0, n=30).objective
    crowd = people_with_tastes(album, 5, seed=1)
    weights = [part.weights for part in crowd.parts]  # type: ignore[attr-defined]
    assert [w.sum() for w in weights] == pytest.approx([album.weights.sum()] * 5)
    assert len({int(w.argmax()) for w in weights}) > 1
    assert people_with_tastes(album, 5, seed=1).parts[0].weights.tolist() == weights[0].tolist()  # type: ignore[attr-defined]


def test_a_run_with_people_is_judged_by_what_they_want_on_average() -> None:
    outcome = perform(replace(RUN, feedback=Preferences(options=4), response=tastes(), people=5, budget=PerItem(8.0)))
    assert 0.8 < outcome.quality <= 1.05
