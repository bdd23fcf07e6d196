"""What the pages about known functions show, runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import handful.objectives

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ["maximize.md", "from-apricot.md", "from-submodlib.md", "context-budget.md", "turf.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_code_block_runs(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), {})
    assert capsys.readouterr().out


def test_every_objective_has_a_line_in_the_table() -> None:
    page = (DOCS / "maximize.md").read_text()
    unlisted = {"Metric", "Table"}
    names = [name for name in handful.objectives.__all__ if name[0].isupper() and name not in unlisted]
    assert [name for name in names if f"| `{name}(" not in page] == []
