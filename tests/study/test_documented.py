"""The documentation says what there is."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import handful
from handful.events import KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"


def sections(page: str) -> dict[str, str]:
    """The text under each heading of the second level."""
    parts = re.split(r"^## (.+)$", (DOCS / page).read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_kind_of_event_has_a_heading_and_no_heading_is_left_over() -> None:
    assert set(sections("events.md")) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_an_event_is_explained(kind: str) -> None:
    keys = re.findall(r"^\| `(\w+)` \|", sections("events.md")[kind], flags=re.MULTILINE)
    assert keys == list(KINDS[kind].keys)
    within_another = {"given"}  # part of `j` in the journal
    assert len(keys) == len([field for field in fields(KINDS[kind]) if field.name not in within_another])


def test_every_argument_of_a_study_is_explained() -> None:
    page = (DOCS / "studies.md").read_text()
    unsaid = {"self", "clock", "ratio"}
    arguments = set(inspect.signature(handful.Study.__init__).parameters) - unsaid
    assert {name for name in arguments if f"`{name}`" not in page} == set()


def test_every_public_method_of_a_study_is_mentioned() -> None:
    pages = "".join((DOCS / page).read_text() for page in ("studies.md", "events.md", "people.md"))
    looked_at = {"state", "records", "journal", "mismatches", "setup", "note", "held_by", "snapshot"}
    looked_at |= {"apply_rule", "standstill", "let_in_by"}  # all of these are for those who build on it
    methods = {name for name in vars(handful.Study) if not name.startswith("_")} - looked_at
    assert {name for name in methods if not re.search(rf"\b{name}\b", pages)} == set()


def test_every_field_of_a_question_is_explained() -> None:
    page = (DOCS / "oracles.md").read_text()
    assert {f.name for f in fields(handful.Question) if f"`q.{f.name}`" not in page} == set()


def test_every_public_name_is_there() -> None:
    for name in handful.__all__:
        assert getattr(handful, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Stduy'"):
        handful.Stduy  # noqa: B018
