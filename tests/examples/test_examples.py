"""The examples run offline and end with a picture."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"
EXAMPLES = {
    "few_shot": ("--seeds", "1", "--budget", "1200"),
    "feature_selection": ("--seeds", "1", "--peer-seeds", "1", "--columns", "1"),
    "influence": ("--nodes", "60", "--pick", "2"),
}
SAYS = {
    "few_shot": "random search, 6× the calls",
    "feature_selection": "SequentialFeatureSelector(cv=5): 305 fits",
    "influence": "Les Misérables, handful: ",
}


def test_every_example_is_run_here() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_ends_with_a_picture(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("networkx")
    picture = tmp_path / "picture.png"
    with warnings.catch_warnings():
        runpy.run_path(str(FOLDER / f"{name}.py"))["main"]([*EXAMPLES[name], "--output", str(picture)])
    assert picture.stat().st_size > 5000
    assert SAYS[name] in capsys.readouterr().out
