"""The settings of a study that is being set up, where they come from somewhere else than from a page of now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from handful.crowd.hosting.draft_file import DRAFT, settings_as_made
from handful.crowd.hosting.drafts import Drafts
from handful.crowd.hosting.study_plan import new_study
from handful.crowd.settings import Settings
from handful.crowd.setup_messages import DraftSettings
from handful.errors import InvalidProblem, StorageError


def stored(folder: Path, **settings: Any) -> Path:
    """A draft of which an earlier version kept these settings."""
    draft = Drafts(folder).new(DraftSettings(theme="Cathedrals", options=2), 0.0)
    path = draft.folder / DRAFT
    told = json.loads(path.read_text())
    told["settings"] |= settings
    path.write_text(json.dumps(told))
    return path


@pytest.mark.parametrize(
    "settings",
    [
        {"delta": 1e-9},
        {"epsilon": 1e-8, "explorer": "certified"},
        {"epsilon": 3.0},
        {"sure": 0.9995},
        {"words": {"goal": 200_000}},
    ],
)
def test_a_draft_that_was_stored_under_other_bounds_is_read_as_it_is(tmp_path: Path, settings: dict[str, Any]) -> None:
    stored(tmp_path, **settings)
    for _ in range(2):
        (draft,) = Drafts(tmp_path)
        kept = draft.settings.model_dump()
        assert all(kept[name] == value for name, value in settings.items() if name != "words")
        assert draft.settings.words.goal == settings.get("words", {}).get("goal")
        draft.change(DraftSettings(k=3))  # written again, as a page changes something else


def test_what_is_sent_keeps_within_the_bounds() -> None:
    for beyond in ({"delta": 1e-9}, {"epsilon": 3.0}, {"sure": 0.9995}):
        with pytest.raises(ValidationError):
            DraftSettings.model_validate(beyond)


@pytest.mark.parametrize("settings", [{"delta": "small"}, {"k": True}, {"sure": float("inf")}, {"unknown": 1}])
def test_a_draft_that_says_what_no_version_wrote_is_still_refused(tmp_path: Path, settings: dict[str, Any]) -> None:
    stored(tmp_path, **settings)
    with pytest.raises(StorageError, match="restore it, or delete it"):
        Drafts(tmp_path)


def test_numbers_that_no_study_can_have_are_refused_when_one_is_made(tmp_path: Path) -> None:
    stored(tmp_path, delta=-1.0)
    (draft,) = Drafts(tmp_path)
    with pytest.raises(InvalidProblem, match="delta"):
        new_study([f"item {n}" for n in range(9)], draft.plan, Settings())


def test_settings_within_the_bounds_are_what_they_were() -> None:
    told = DraftSettings(theme="Cathedrals", delta=0.1, sure=0.9).model_dump()
    assert settings_as_made(told) == DraftSettings.model_validate(told)
