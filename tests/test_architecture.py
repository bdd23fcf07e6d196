"""The map is true: what it names is there, and what is there is on it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "src" / "handful"
MAP = (ROOT / "docs" / "architecture.md").read_text()
STEPS = sorted(set(re.findall(r"`([\w/]+\.(?:py|js)):([\w.#]+)`", MAP)))
FEWEST = 60  # steps: a page on which fewer are found is not read as it was, or says less
PACKAGES = sorted(path.parent for path in HOME.rglob("__init__.py") if path.parent != HOME)


def names_in(path: Path) -> set[str]:
    """The functions, classes and methods that a file defines, methods as Class.method in Python."""
    if path.suffix == ".js":
        lines = [line.strip() for line in path.read_text().splitlines() if line.endswith("{")]
        return set(
            re.findall(r"^(?:export )?(?:async )?(?:function |class )?(#?\w+)\(", "\n".join(lines), re.MULTILINE)
        )
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = [one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
            names |= {f"{node.name}.{name}" for name in inner}
    return names


@pytest.mark.parametrize(("file", "name"), STEPS, ids=[":".join(step) for step in STEPS])
def test_every_step_on_the_map_exists(file: str, name: str) -> None:
    assert name in names_in(HOME / file)


def test_the_map_names_enough_to_walk_by() -> None:
    assert len(STEPS) >= FEWEST
    assert {file.rsplit(".", 1)[1] for file, _ in STEPS} == {"py", "js"}


def test_a_name_that_is_not_there_would_be_noticed() -> None:
    assert "AskTell.ask" in names_in(HOME / "study.py")
    assert "AskTell.nothing" not in names_in(HOME / "study.py")
    names = names_in(HOME / "crowd/static/answer_loop.js")
    assert {"refresh", "#send"} <= names
    assert not {"#sent", "toast"} & names


def test_every_module_and_package_is_on_the_map_or_below_one_that_is() -> None:
    rooms = MAP.split("## The rooms")[1].split("\n## ")[0]
    named = set(re.findall(r"`([\w/]+?)(?:\.py|/)`", rooms))
    top = {path.stem for path in HOME.glob("*.py")} | {path.parent.name for path in HOME.glob("*/__init__.py")}
    small = {
        "__init__",
        "errors",
        "testing",
        "wording",
        "numbers",
        "notebook",
        "draws",
        "venice",
        "images",
        "compilation",
    }
    assert top - named - small == {"kernels", "kernel_cache", "kernel_linking"}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(HOME)))
def test_a_packages_first_line_says_what_lives_there(package: Path) -> None:
    said = ast.get_docstring(ast.parse((package / "__init__.py").read_text()))
    assert said
    assert len(said.splitlines()[0]) > 30
