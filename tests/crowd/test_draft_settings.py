"""The settings of a study that is being set up, where they come from somewhere else than from a page of now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from handful.crowd.drafts import DRAFT, Drafts, settings_as_made
from handful.crowd.messages import DraftSettings
from handful.crowd.plan import new_study
from handful.crowd.settings import Settings
from handful.crowd.words import check_lessons
from handful.errors import InvalidProblem, StorageError
from tests.crowd.clients import Started
from tests.crowd.test_setup_routes import begin, empty_server, prepared, server

__all__ = ["server"]


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


WRONG = [
    ({"explorer": "duel"}, "There is no explorer named 'duel'"),
    ({"explorer": "topx:variant=Z"}, "Variant must be one of"),
    ({"explorer": "duels:foo=1"}, "has no option 'foo'"),
    ({"explorer": "worth"}, "asks for values"),
    ({"explorer": "topx", "sure": 0.9}, "is for duels"),
    ({"explorer": "topx", "options": 4}, "two items at a time, not 4"),
    ({"explorer": "topx:l=3"}, "more than the 2 items to pick"),
    ({"sure": 0.9, "epsilon": 0.1}, "not for a claim of ε"),
]


@pytest.mark.parametrize(("settings", "said"), WRONG)
def test_how_is_asked_is_refused_where_it_is_set(server: Started, settings: dict[str, Any], said: str) -> None:
    organizer = server.organizer()
    draft = begin(organizer, options=None, explorer="topx" if "epsilon" not in settings else None)
    before = organizer.get(f"/api/setup/{draft}").json()["settings"]
    for answer in (
        organizer.patch(f"/api/setup/{draft}", json=settings),
        organizer.post("/api/setup", json={"k": 2, **settings}),
    ):
        assert (answer.status_code, answer.json()["error"]) == (422, "explorer")
        assert said in answer.json()["message"]
    assert organizer.get(f"/api/setup/{draft}").json()["settings"] == before
    assert [one.id for one in server.registry.drafts] == [draft]


def test_a_draft_that_was_stored_with_an_explorer_that_is_none_can_be_read_changed_and_mended(tmp_path: Path) -> None:
    storage = tmp_path / "handful.db"
    stored(tmp_path / "handful.db.items", explorer="duel")
    with empty_server(storage) as server:
        organizer = server.organizer()
        (draft,) = server.registry.drafts
        here = f"/api/setup/{draft.id}"
        organizer.post(f"{here}/texts", json={"texts": "\n".join(f"text {n}" for n in range(9))})
        assert prepared(organizer, draft.id)["items"] == 9
        assert organizer.patch(here, json={"k": 3}).status_code == 200
        for method, what in (("GET", "quality"), ("POST", "dry-run"), ("POST", "open")):
            refused = organizer.request(method, f"{here}/{what}")
            assert refused.status_code == 422, what
            assert "no explorer named 'duel'" in refused.json()["message"]
        assert organizer.patch(here, json={"explorer": None}).status_code == 200
        assert organizer.post(f"{here}/open", timeout=120).json()["study"] == "cathedrals"


def test_a_language_that_there_is_not_is_refused_and_left_out_of_what_was_stored(tmp_path: Path) -> None:
    stored(tmp_path / "handful.db.items", words={"language": "xx", "thanks": "Bye"})
    with empty_server(tmp_path / "handful.db") as server:
        organizer = server.organizer()
        (draft,) = server.registry.drafts
        assert (draft.settings.words.language, draft.settings.words.thanks) == (None, "Bye")
        for answer in (
            organizer.patch(f"/api/setup/{draft.id}", json={"words": {"language": "xx"}}),
            organizer.post("/api/setup", json={"words": {"language": "xx"}}),
        ):
            assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
            assert "the language is one of en, " in answer.json()["message"]
        assert organizer.patch(f"/api/setup/{draft.id}", json={"words": {"language": "de"}}).status_code == 200


def test_a_pair_of_the_practice_with_the_same_on_both_sides_is_refused_where_it_is_set(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    same = {"words": {"practice": [{"right": "a church", "wrong": " a church"}]}}
    refused = organizer.patch(f"/api/setup/{draft}", json=same)
    assert (refused.status_code, "on both sides" in refused.json()["message"]) == (422, True)
    assert organizer.post("/api/setup", json=same).status_code == 422
    with pytest.raises(InvalidProblem, match="on both sides"):
        check_lessons(same["words"])


def test_a_pair_that_was_stored_with_the_same_on_both_sides_holds_up_no_other_change(tmp_path: Path) -> None:
    stored(tmp_path, words={"practice": [{"right": "a", "wrong": "a"}]})
    (draft,) = Drafts(tmp_path)
    draft.change(DraftSettings(k=3))
    assert draft.settings.k == 3


def test_drafts_are_gone_through_as_they_were_at_one_moment(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    for moment in (2.0, 1.0):
        drafts.new(DraftSettings(theme="Cathedrals"), moment)
    drafts._drafts = Changing(drafts._drafts)
    assert [draft.made for draft in drafts] == [1.0, 2.0]


class Changing(dict[str, Any]):
    """A dictionary to which another thread adds something whenever it is gone through."""

    def values(self) -> Any:
        for value in super().values():
            self.setdefault("another", value)
            yield value
