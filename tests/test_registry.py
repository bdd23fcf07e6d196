"""Every explorer that is registered can be imported, is documented, and is named by the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import handful
from handful.cli.parameters import ExplorerName
from handful.explorers import NAMES
from handful.explorers.protocol import Explorer
from handful.explorers.registry import EXPLORERS

DOCS = Path(__file__).resolve().parent.parent / "docs"
KINDS = pytest.mark.parametrize("kind", EXPLORERS.values(), ids=list(EXPLORERS))


@KINDS
def test_a_registered_explorer_is_exported_by_its_class_name(kind: type[Explorer]) -> None:
    assert kind.__name__ in handful.__all__
    assert getattr(handful, kind.__name__) is kind


@KINDS
def test_a_registered_explorer_has_a_row_in_the_table_of_explorers(kind: type[Explorer]) -> None:
    table = (DOCS / "explorers.md").read_text().split("## What each does")[1]
    assert re.search(rf"^\| `{kind.name}`", table, re.MULTILINE)


@KINDS
def test_the_command_lines_help_names_a_registered_explorer(kind: type[Explorer]) -> None:
    (option,) = ExplorerName.__metadata__
    assert re.search(rf"\b{kind.name}\b", option.help)


def test_the_names_are_known_without_importing_an_explorer() -> None:
    assert list(NAMES) == list(EXPLORERS)


def test_nothing_is_named_twice() -> None:
    assert [kind.name for kind in EXPLORERS.values()] == list(EXPLORERS)
    assert len({kind.__name__ for kind in EXPLORERS.values()}) == len(EXPLORERS)
