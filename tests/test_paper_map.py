"""docs/paper-map.md is true: every line of both algorithms is there, and every function it names exists."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import reduce
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "paper-map.md").read_text()
REFERENCE = re.compile(r"`(?!module:)([a-z][\w.]*):([A-Za-z_][\w.]*)`")
FEWEST_REFERENCES = 55
FORMULAS = (
    "Condition (2)",
    "rad_t(i)",
    "R",
    "σ²",
    "Theorem 1",
    "Theorem 2",
    "Budget",
    "Borda score",
    "τ",
    "Appendix A",
    "Appendix B",
    "Appendix D",
    "Appendix E: w_j",
    "Appendix E: f′_j(s)",
    "Appendix E: f_j(S)",
    "Appendix E: f(S)",
)


def rows(heading: str) -> dict[str, list[str]]:
    """The cells of a section's table, by their first."""
    section = PAGE.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[1:]]
    return {first: rest for first, *rest in cells}


def resolve(module: str, name: str) -> object:
    found = reduce(getattr, name.split("."), importlib.import_module(f"handful.{module}"))
    return getattr(found, "py_func", found)


def lines_mentioned(text: str) -> set[int]:
    """Numbers in “line 4”, “Lines 6–10 and 12”."""
    found: set[int] = set()
    for numbers in re.findall(r"[Ll]ines? (\d+(?:(?:–|, | and )\d+)*)", text):
        for part in re.split(", | and ", numbers):
            ends = [int(end) for end in part.split("–")]
            found.update(range(ends[0], ends[-1] + 1))
    return found


def test_mentions_of_lines_are_read_as_people_write_them() -> None:
    assert lines_mentioned("Lines 6–8 and 12 of one; line 3, and (line 15)") == {3, 6, 7, 8, 12, 15}


def test_the_map_leads_to_the_code_often_enough() -> None:
    """A change of how functions are written on the page must not go by as a page without functions."""
    assert len(set(REFERENCE.findall(PAGE))) >= FEWEST_REFERENCES


@pytest.mark.parametrize(("module", "name"), sorted(set(REFERENCE.findall(PAGE))))
def test_every_function_named_exists_and_says_what_it_does(module: str, name: str) -> None:
    assert inspect.getdoc(resolve(module, name))


@pytest.mark.parametrize(("algorithm", "last"), [("Algorithm 1: ExpGreedy", 7), ("Algorithm 2: TopX", 16)])
def test_every_line_of_the_algorithm_is_there_and_leads_somewhere(algorithm: str, last: int) -> None:
    table = rows(algorithm)
    assert list(table) == [str(line) for line in range(1, last + 1)]
    for says, where, _ in table.values():
        assert says
        assert REFERENCE.search(where)


# Lines 1 and 2 are input and output.
@pytest.mark.parametrize(
    ("algorithm", "line"), [("Algorithm 1: ExpGreedy", 5), *(("Algorithm 2: TopX", line) for line in range(3, 17))]
)
def test_the_code_of_a_line_gives_its_number(algorithm: str, line: int) -> None:
    where = rows(algorithm)[str(line)][1]
    sources = [inspect.getsource(resolve(*reference)) for reference in REFERENCE.findall(where)]  # type: ignore[arg-type]
    assert any(line in lines_mentioned(source) for source in sources)


def test_every_formula_is_there_and_leads_somewhere() -> None:
    table = rows("Formulas")
    assert [name for name in FORMULAS if not any(first.startswith(name) for first in table)] == []
    for says, where, _ in table.values():
        assert says
        assert REFERENCE.search(where)
