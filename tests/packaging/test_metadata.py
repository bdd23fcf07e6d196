"""What the project says of itself when it is installed, cited or looked at."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from typing import Any

import yaml
from packaging.requirements import Requirement

import handful
from handful.cli import MODULES
from tests.packaging.building import ROOT, requirements

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))

# Dependencies that nothing here imports by name, and what needs them.
THROUGH_OTHERS = {
    "jinja2": "fastapi.templating",
    "httptools": 'http="httptools"',  # uvicorn's parser
    "psycopg": "postgresql+psycopg",  # SQLAlchemy's driver
    "distributed": "get_executor",  # documented; what it gives is an executor as any other
    "ipykernel": 'kernel_name="python3"',
    "mkdocs": '"mkdocs", "build"',
    "mkdocs-material": "name: material",
    "mypy": '"mypy", "--strict"',
    "import-linter": "lint-imports",
    "ruff": "ruff check",
    "pytest-timeout": "timeout = ",
    "pytest-xdist": "pytest -n 2",
    "schemathesis": "schemathesis",
    "setuptools": "setuptools import build_meta",
}


def test_every_version_is_the_same() -> None:
    assert PROJECT["version"] == CITATION["version"] == handful.__version__ == metadata.version("handful")


def test_the_citation_names_what_it_must() -> None:
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license", "references"} <= CITATION.keys()
    assert CITATION["keywords"] == PROJECT["keywords"]
    (paper,) = CITATION["references"]
    readme = re.sub(r"\s+", " ", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert paper["title"] in readme
    assert [author["family-names"] for author in paper["authors"]] == ["Singla", "Tschiatschek", "Krause"]


def test_no_address_is_given_that_is_not_there() -> None:
    assert "urls" not in PROJECT


def test_every_dependency_is_used() -> None:
    files = [
        path for folder in ("src", "tests", "reproduction", "benchmarks") for path in (ROOT / folder).rglob("*.py")
    ]
    others = [*(ROOT / "docs").glob("*.md"), ROOT / "Makefile", ROOT / "mkdocs.yml", ROOT / "pyproject.toml"]
    # Of this file only what stands above the list, which would find itself.
    text = "\n".join(path.read_text(encoding="utf-8").partition("\nTHROUGH_OTHERS")[0] for path in (*files, *others))
    modules: dict[str, set[str]] = {}
    for module, names in metadata.packages_distributions().items():
        for name in names:
            modules.setdefault(name.lower().replace("_", "-"), set()).add(module)
    unused = []
    for requirement in every_requirement():
        name = requirement.name.lower().replace("_", "-")
        imported = any(
            re.search(rf"^\s*(?:import|from) {re.escape(m)}\b|importorskip\(\"{re.escape(m)}\b", text, re.MULTILINE)
            for m in modules.get(name, ())
        )
        if not imported and THROUGH_OTHERS.get(name, "\0") not in text:
            unused.append(name)
    assert unused == []


def every_requirement() -> list[Requirement]:
    extras = PROJECT["optional-dependencies"]
    every = requirements() + [requirement for extra in extras for requirement in requirements(extra)]
    return [requirement for requirement in every if requirement.name != "handful"]


def test_every_dependency_has_a_lowest_version_and_an_exact_one() -> None:
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    }
    for requirement in every_requirement():
        assert [part.operator for part in requirement.specifier] == [">="], requirement
        assert requirement.name.lower().replace("_", "-") in pinned, requirement


def test_commands_look_for_all_that_an_extra_brings() -> None:
    names = metadata.packages_distributions()
    for extra, modules in MODULES.items():
        assert {names[module][0].lower() for module in modules} == {r.name.lower() for r in requirements(extra)}
