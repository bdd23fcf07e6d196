"""The examples of the documentation run as they stand, and the README's links and commands are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import handful

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/quickstart.md", "docs/explorers.md")


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_examples_run_as_they_stand(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    found = blocks(page)
    assert found
    for block in found:
        exec(compile(block, page, "exec"), names)
    assert names["result"].chosen  # type: ignore[attr-defined]


def test_the_stored_example_goes_on_when_it_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = (block for block in blocks("README.md") if "storage=" in block)
    told = []
    for _ in range(2):
        names: dict[str, Any] = {"handful": handful}
        exec(compile(block, "README.md", "exec"), names)
        told.append(names["study"].status().answers)
    assert told == [3, 6]


def test_the_readme_links_to_pages_that_are_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert links
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing


def test_the_readme_names_commands_that_make_knows() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^make (\w[\w-]*)", text, re.MULTILINE))
    assert targets >= {"demo", "test"}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
