"""The map is true: what is there is on it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parent.parent / "src" / "handful"
PACKAGES = sorted(path.parent for path in HOME.rglob("__init__.py") if path.parent != HOME)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(HOME)))
def test_a_packages_first_line_says_what_lives_there(package: Path) -> None:
    said = ast.get_docstring(ast.parse((package / "__init__.py").read_text()))
    assert said
    assert len(said.splitlines()[0]) > 30
