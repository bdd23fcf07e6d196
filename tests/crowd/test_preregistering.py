"""A preregistration of a hosted study says what its people read, word for word."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from handful.crowd.collection import Collection, load_collection
from handful.crowd.languages import language
from handful.crowd.registration import shown_in
from handful.crowd.registry import StudyPlan, items_folder
from handful.crowd.settings import Settings
from handful.rules import Door, DoorKind
from tests.crowd.clients import STUDY, Started

Serve = Callable[..., Started]
HERE = f"/api/organize/{STUDY}"
DOORS: tuple[DoorKind, ...] = ("open", "room", "invitations", "panel")


@pytest.fixture
def items(collection: Collection, tmp_path: Path) -> Collection:
    """The collection where the command line looks for it."""
    return load_collection(Path(shutil.copytree(collection.folder, items_folder(tmp_path / "a.db"))))


@pytest.mark.parametrize("door", DOORS)
def test_the_consent_of_the_record_is_the_one_that_people_agree_to(
    serve: Serve, tmp_path: Path, items: Collection, door: DoorKind
) -> None:
    storage = tmp_path / "a.db"
    plan = StudyPlan(k=2, budget=30, door=Door(door))
    server = serve(plan, Settings(language="de"), storage=storage, items=items)
    organizer = server.organizer()
    record = organizer.post(f"{HERE}/preregister").json()
    shown = server.browser().get(f"/api/s/{STUDY}").json()["consent"]
    assert record["words"]["consent"] == shown
    assert shown.startswith(language("de").consent(marked=door == "open"))
    assert (language("de").said("consent.panel") in shown) == (door == "panel")
    assert organizer.post(f"{HERE}/preview", json={}).json()["about"]["consent"] == shown
    study = server.registry.studies[STUDY].study
    assert shown_in(str(storage), study)[1]["consent"] == shown, "the command line says the same"
    again = organizer.post(f"{HERE}/preregister").json()
    assert again["hash"] == record["hash"], "what the journal keeps of the words changes nothing"
