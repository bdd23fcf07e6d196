"""The paper reproduced, at its quick size: the tables are whole, and the claims point the way the paper says."""

from __future__ import annotations

import csv
import math
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from handful.compilation import compile_ahead
from handful.errors import InvalidProblem
from reproduction.appendix_b import BUDGET, TOP_TWO, steepness
from reproduction.cells import CellTable, Scale
from reproduction.curves import utilities
from reproduction.figure_a import ratio, until_met
from reproduction.report import Finding
from reproduction.runner import FIGURES, KEPT, reproduce
from reproduction.world import CERTIFIED, DUELS, FULL, GREEDY, RANDOM, UNIFORM, G, K, N, O

QUICK = Scale(quick=True)
SILENT = Console(quiet=True)
LIGHT = ("b", "c", "d", "appendix-b", "coverage")
"""What takes seconds; the other figures take a minute."""
TABLES = {
    "a": ("a", "a-first-round"), "b": ("b",), "c": ("c", "c-sizes"), "d": ("d",), "e": ("e",), "f": ("f",),
    "appendix-b": ("appendix-b",), "coverage": ("coverage",), "crowd": ("crowd",),
}  # fmt: skip

pytestmark = pytest.mark.timeout(900)  # the first run on a machine compiles


@dataclass(frozen=True)
class Run:
    """A quick reproduction of everything."""

    folder: Path
    findings: dict[str, Finding]
    seconds: float

    def table(self, name: str) -> CellTable:
        """A table as it stands in its file."""
        with (self.folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return CellTable(tuple({key: _number(cell) for key, cell in row.items()} for row in csv.DictReader(file)))


def _number(cell: str) -> str | float:
    try:
        return float(cell)
    except ValueError:
        return cell


def reproduced(figures: Sequence[str], folder: Path) -> Run:
    compile_ahead(SILENT)
    started = time.process_time()
    findings = reproduce(figures, folder, QUICK, console=SILENT)
    return Run(folder, findings, time.process_time() - started)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A quick reproduction of what takes seconds."""
    return reproduced(LIGHT, tmp_path_factory.mktemp("light"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A quick reproduction of everything, for slow tests."""
    return reproduced(FIGURES, tmp_path_factory.mktemp("whole"))


@pytest.mark.slow
def test_a_quick_run_takes_a_minute_of_computing_at_most(whole: Run) -> None:
    assert whole.seconds < 60


def check_tables_and_pictures(run: Run, figures: Sequence[str]) -> None:
    reports = [(run.folder / report).read_text() for report in ("report.html", "report.md")]
    for figure in figures:
        for table in TABLES[figure]:
            rows = run.table(table).rows
            assert rows
            assert all(list(row) == list(rows[0]) for row in rows)
            assert not any(isinstance(cell, float) and math.isnan(cell) for row in rows for cell in row.values())
        assert (run.folder / f"{figure}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (run.folder / f"{figure}.svg").read_text()
        assert all(f"{figure}.csv" in text for text in reports)


def test_every_figure_has_tidy_tables_pictures_and_a_place_in_both_reports(run: Run) -> None:
    check_tables_and_pictures(run, LIGHT)


@pytest.mark.slow
def test_so_has_every_figure_that_takes_longer(whole: Run) -> None:
    assert set(TABLES) == set(FIGURES) == whole.findings.keys()
    check_tables_and_pictures(whole, FIGURES)


def test_the_report_shows_files_of_its_own_folder_only(run: Run) -> None:
    page = (run.folder / "report.html").read_text()
    shown = re.findall(r"""(?:src|href)="([^"#]+)""", page)
    assert shown
    assert [file for file in shown if not (run.folder / file).is_file()] == []
    assert "http" not in page


def test_every_claim_is_judged_and_measured_with_an_interval(run: Run) -> None:
    for figure, finding in run.findings.items():
        assert finding.claims
        told = " ".join(claim.measured for claim in finding.claims)
        assert re.search(r"\[[^\]]+, [^\]]+\]", told), f"no interval in what {figure} says"


@pytest.mark.slow
def test_uniform_asks_orders_of_magnitude_more_than_expgreedy(whole: Run) -> None:
    _, times = ratio(whole.table("a"), UNIFORM)
    assert times.mid > 10


@pytest.mark.slow
def test_without_noise_the_guarantee_costs_no_more_than_greedy(whole: Run) -> None:
    assert max(whole.table("a").where(sigma2=0.0).column("queries")) <= N * K


@pytest.mark.slow
def test_certified_asks_less_than_the_paper(whole: Run) -> None:
    _, times = ratio(whole.table("a"), FULL, CERTIFIED)
    assert times.low > 1


@pytest.mark.slow
def test_o_is_cheaper_in_a_first_round_where_one_item_is_clearly_best(whole: Run) -> None:
    first = whole.table("a-first-round")
    full, o = first.where(series=FULL), first.where(series=O)
    clear = full.column("gap_1") == full.column("largest_gap")
    assert clear.any()
    assert (o.column("first_round") < full.column("first_round"))[clear].all()


def test_expgreedy_explores_more_than_o_and_less_than_uniform(run: Run) -> None:
    def share_of_best(series: str) -> float:
        own = run.table("b").where(series=series)
        queries = own.column("queries")
        return float(queries[own.column("rank") <= 2].sum() / queries.sum())

    assert share_of_best(O) > share_of_best(FULL) > share_of_best(UNIFORM)


def test_the_size_l_varies_between_1_and_k(run: Run) -> None:
    sizes = run.table("c-sizes").column("l")
    assert sizes.min() == 1
    assert 1 < sizes.max() <= K


def test_quality_rises_with_budget_and_falls_with_noise(run: Run) -> None:
    check_utilities(run.table("d").where(series=FULL), "sigma2", 1.0, 10.0)


@pytest.mark.slow
def test_so_it_does_with_comparisons(whole: Run) -> None:
    check_utilities(whole.table("e").where(series=FULL), "beta", 2.0, 0.5)


def check_utilities(table: CellTable, level: str, quiet: float, noisy: float) -> None:
    _, good = utilities(table.where(**{level: quiet}))
    _, bad = utilities(table.where(**{level: noisy}))
    assert good[-1].low > good[0].high
    assert bad[-1].low > bad[0].high
    assert all(g.mid > b.mid for g, b in zip(good, bad, strict=True))


@pytest.mark.slow
def test_no_run_spends_more_than_its_budget(whole: Run) -> None:
    for figure, cost in (("d", "queries"), ("e", "comparisons"), ("f", "comparisons")):
        table = whole.table(figure)
        assert (table.column(cost) <= np.round(table.column("budget") * N * K)).all()


@pytest.mark.slow
def test_duels_beats_expgreedy_at_the_same_number_of_comparisons(whole: Run) -> None:
    table = whole.table("e").where(beta=0.5)
    _, ours = utilities(table.where(series=DUELS))
    _, paper = utilities(table.where(series=FULL))
    assert all(our.mid > their.mid for our, their in zip(ours, paper, strict=True))


def test_identifying_the_top_two_costs_one_over_alpha_squared(run: Run) -> None:
    table = run.table("appendix-b")
    assert -2.4 <= steepness(table).mid <= -2.0
    assert table.where(series=TOP_TWO).column("picked_c").sum() == 0


def test_variant_g_spends_its_whole_budget_on_equal_items(run: Run) -> None:
    own = run.table("appendix-b").where(series=G)
    assert own.distinct("ended") == ["budget"]
    assert set(own.column("queries")) == {BUDGET}


def test_guarantees_fail_with_a_radius_ten_times_too_small_and_not_with_the_right_one(run: Run) -> None:
    table = run.table("coverage")
    paper = [series for series in table.distinct("series") if series != CERTIFIED]
    for series in paper:
        own = table.where(series=series)
        assert own.where(shrink=1.0).column("condition_failed").mean() <= 0.05
        assert own.where(shrink=0.1).column("condition_failed").mean() > 0.05


@pytest.mark.slow
def test_the_crowd_s_summaries_are_nearly_greedy_s_also_at_a_twentieth_of_the_cost(whole: Run) -> None:
    table = whole.table("crowd")
    for theme in table.distinct("theme"):
        of = table.where(theme=theme)
        best = of.where(series=GREEDY).column("gain").sum()
        random = of.where(series=RANDOM).column("gain").sum() / 100
        for series in (FULL, DUELS):
            assert of.where(series=series).column("gain").sum() > max(0.85 * best, random)
    spent = {series: table.where(series=series).column("comparisons").sum() for series in (FULL, DUELS)}
    assert spent[DUELS] <= spent[FULL] / 20


def test_what_was_measured_is_kept_and_a_torn_line_is_measured_again(run: Run, tmp_path: Path) -> None:
    reproduce(["appendix-b"], tmp_path, QUICK, console=SILENT)
    table, kept = tmp_path / "appendix-b.csv", tmp_path / KEPT
    whole, lines = table.read_bytes(), kept.read_text().splitlines(keepends=True)
    assert whole == (run.folder / "appendix-b.csv").read_bytes()
    kept.write_text("".join(lines[:-3]) + lines[-3][:20])
    reproduce(["appendix-b"], tmp_path, QUICK, console=SILENT, workers=1)
    assert table.read_bytes() == whole
    again = kept.read_text().splitlines(keepends=True)
    assert again[: len(lines) - 3] == lines[:-3]
    assert sorted(again) == sorted(lines)


def test_another_seed_gives_other_numbers(run: Run, tmp_path: Path) -> None:
    reproduce(["appendix-b"], tmp_path, Scale(quick=True, seed=100), console=SILENT)
    assert (tmp_path / "appendix-b.csv").read_bytes() != (run.folder / "appendix-b.csv").read_bytes()


def test_a_run_that_reaches_the_cap_is_marked(run: Run) -> None:
    [row] = until_met(FULL, 1.0, 0, cap=1000)
    assert (row["how"], row["queries"]) == ("capped", 1000)


def test_an_unknown_figure_is_named_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match="no figure 'z'; there are a, b, c"):
        reproduce(["z"], tmp_path, QUICK, console=SILENT)


def test_the_command_makes_a_figure_and_says_what_holds(tmp_path: Path) -> None:
    made = command("appendix-b", "--quick", "--output", str(tmp_path / "out"))
    assert made.returncode == 0, made.stderr
    assert "holds" in made.stdout
    assert (tmp_path / "out" / "report.html").is_file()


def test_the_command_refuses_a_figure_that_there_is_not(tmp_path: Path) -> None:
    made = command("z", "--output", str(tmp_path / "out"))
    assert (made.returncode, made.stdout) == (2, "")
    assert "no figure 'z'" in made.stderr
    assert not (tmp_path / "out").exists()


def command(*words: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parents[2]
    return subprocess.run(
        [sys.executable, "-m", "reproduction", *words], cwd=root, capture_output=True, text=True, check=False
    )
