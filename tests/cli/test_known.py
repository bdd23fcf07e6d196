"""`handful select --by`: rows of a file picked by a known function."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from handful import maximize
from handful.cli import main
from handful.objectives import FacilityLocation

ROWS = np.random.default_rng(0).random((12, 4)).round(3)
BEST = maximize(FacilityLocation.from_features(ROWS, metric="rbf"), 3)
Run = Callable[..., tuple[str, str, int]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    frame = pd.DataFrame(ROWS, columns=list("abcd"))
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.insert(0, "id", [f"p{i}" for i in range(12)])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.assign(tokens=range(1, 13), source=["x", "y"] * 6).to_csv(tmp_path / "passages.csv", index=False)
    (tmp_path / "words.csv").write_text("id,a\np0,1\np1,many\n")
    (tmp_path / "ragged.csv").write_text("id,a\np0\n")
    np.save(tmp_path / "rows.npy", ROWS)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[str, str, int]:
        monkeypatch.setattr(sys, "argv", ["handful", "select", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return said.out, said.err, int(ended.value.code or 0)

    return call


@pytest.mark.parametrize("file", ["rows.csv", "rows.npy", "rows.parquet"])
def test_every_kind_of_file_gives_the_same_rows(run: Run, file: str) -> None:
    out, _, code = run(file, "-k", "3", "--by", "facility-location", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["indices"] == list(BEST.indices)
    assert found["chosen"] == ([f"p{i}" for i in BEST.indices] if file == "rows.csv" else list(BEST.indices))
    assert found["value"] == pytest.approx(BEST.value)


def test_the_ranking_is_printed_with_what_may_be_claimed(run: Run) -> None:
    out, _, code = run("rows.csv", "-k", "3", "--by", "facility-location")
    assert code == 0
    assert out.splitlines()[0].split()[:2] == ["1", f"p{BEST.indices[0]}"]
    assert "of the best" in out


def test_tokens_and_sources_limit_what_is_picked(run: Run) -> None:
    options = (
        "--metric",
        "cosine",
        "--cost",
        "tokens",
        "--budget",
        "20",
        "--group",
        "source",
        "--limit",
        "2",
        "--json",
    )
    found = json.loads(run("passages.csv", "-k", "12", "--by", "facility-location", *options)[0])
    assert found["cost"] <= 20
    assert max(sum(i % 2 == side for i in found["indices"]) for side in (0, 1)) <= 2


@pytest.mark.parametrize("by", ["feature-based", "graph-cut", "log-det"])
def test_other_functions_can_be_named(run: Run, by: str) -> None:
    assert len(json.loads(run("rows.npy", "-k", "4", "--by", by, "--json")[0])["chosen"]) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing.csv", "-k", "2"), "cannot be read"),
        (("words.csv", "-k", "2"), "'many' in column 'a' of item 2 is not a number"),
        (("ragged.csv", "-k", "1"), "line 2 has 1 cells"),
        (("rows.csv", "-k", "99"), "between 1 and the 12 items"),
        (("rows.csv", "-k", "2", "--cost", "price", "--budget", "9"), "no column 'price'"),
        (("rows.csv", "-k", "2", "--cost", "a"), "costs and budget go together"),
        (("rows.csv", "-k", "2", "--group", "a"), "groups and limit go together"),
    ],
)
def test_bad_input_is_refused_with_what_to_do(run: Run, arguments: tuple[str, ...], said: str) -> None:
    _, err, code = run(*arguments, "--by", "facility-location")
    assert code == 2
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rows.csv", "-k", "3", "--by", "log-det", "--noise", "1"), "--noise is about asking"),
        (("rows.csv", "-k", "3", "--by", "log-det", "--explorer", "accept"), "--explorer is about asking"),
        (("rows.csv", "-k", "3", "--by", "log-det", "--epsilon", "1"), "--epsilon is about asking"),
        (("rows.csv", "-k", "3", "--by", "log-det", "--budget", "9"), "--cost COLUMN"),
        (("rows.csv", "-k", "3", "--by", "feature-based", "--metric", "rbf"), "feature-based compares none"),
        (("rows.csv", "-k", "3", "--objective", "coverage", "--metric", "rbf"), "--metric goes with --by"),
        (("rows.csv", "-k", "3", "--by", "log-det", "--id", "name"), "has no column 'name'"),
        (("rows.npy", "-k", "3", "--by", "log-det", "--id", "a"), "--id is for CSV and Parquet"),
        (("rows.npy", "-k", "3", "--by", "log-det", "--columns", "a"), "--columns is for CSV and Parquet"),
        (("passages.csv", "-k", "3", "--by", "log-det"), "--columns A,B"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    _, err, code = run(*arguments)
    assert code != 0
    assert said in " ".join(err.split())


def test_rows_may_be_named_by_any_column_and_text_be_left_out(run: Run) -> None:
    plain, _, _ = run("rows.csv", "-k", "3", "--by", "facility-location", "--json")
    kept = ("--id", "id", "--columns", "a, b,c,d")
    out, _, code = run("passages.csv", "-k", "3", "--by", "facility-location", *kept, "--json")
    assert code == 0
    assert json.loads(out)["chosen"] == json.loads(plain)["chosen"]


def test_similarities_below_zero_are_not_clipped_in_silence(run: Run) -> None:
    np.save("signed.npy", ROWS - 0.5)
    _, err, code = run("signed.npy", "-k", "3", "--by", "facility-location", "--metric", "cosine")
    assert code == 0
    assert "below 0 it counts as 0" in " ".join(err.split())
    _, err, _ = run("rows.npy", "-k", "3", "--by", "facility-location", "--metric", "cosine")
    assert "below 0" not in err
