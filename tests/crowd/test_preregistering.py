"""A preregistration of a hosted study says what its people read, word for word."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from handful.cli import main
from handful.crowd.collection import Collection, load_collection
from handful.crowd.languages import language
from handful.crowd.registration import shown_in
from handful.crowd.registry import StudyPlan, items_folder
from handful.crowd.settings import CONSENT, Settings
from handful.study.doors import Door, DoorKind
from handful.study.preregistration import FORMAT, PREREGISTERED, digest_of, record_of, to_json
from handful.study.study import Study
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


def test_a_study_registered_in_the_format_before_still_gives_its_record_until_it_changes(
    serve: Serve, tmp_path: Path, items: Collection
) -> None:
    plan = StudyPlan(k=2, budget=30, door=Door("room"))
    server = serve(plan, Settings(), storage=tmp_path / "a.db", items=items)
    hosted, organizer = server.registry.studies[STUDY], server.organizer()
    contents, words = shown_in(str(tmp_path / "a.db"), hosted.study, 2)
    before = record_of(hosted.study.setup, STUDY, "salt", contents, words, 2)
    assert before["words"]["consent"] == CONSENT
    hosted.study.note(PREREGISTERED, {"hash": before["hash"], "salt": "salt"})
    assert organizer.post(f"{HERE}/preregister").text == to_json(before)
    page = organizer.get(f"{HERE}/preregistration.html")
    assert (page.status_code, before["hash"] in page.text) == (200, True)
    hosted.say_words({"question": "Which one is louder?"})
    assert organizer.post(f"{HERE}/preregister").json()["format"] == FORMAT
    assert organizer.get(f"{HERE}/preregistration.html").status_code == 409


def test_a_record_that_was_posted_with_the_consent_of_every_door_is_still_kept_to(
    serve: Serve,
    tmp_path: Path,
    items: Collection,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = StudyPlan(k=2, budget=30, door=Door("room"))
    server = serve(plan, Settings(), storage=tmp_path / "a.db", items=items)
    record = server.organizer().post(f"{HERE}/preregister").json()
    before = {**record, "format": 2, "words": {**record["words"], "consent": CONSENT}}
    before["hash"] = digest_of(before)
    (tmp_path / "before.json").write_text(to_json(before))
    (tmp_path / "now.json").write_text(to_json(record))

    def departed(file: str) -> list[str]:
        replay = ["handful", "replay", STUDY, "-s", str(tmp_path / "a.db"), "--against", str(tmp_path / file), "--json"]
        monkeypatch.setattr(sys, "argv", replay)
        with pytest.raises(SystemExit):
            main()
        found: list[str] = json.loads(capsys.readouterr().out)["departures"]
        return found

    assert departed("now.json") == []
    (other,) = departed("before.json")
    assert "the journal names another preregistration" in other, "it has the digest of the record of now, and no more"
    with Study.open(tmp_path / "a.db", STUDY, read_only=True) as study:
        assert shown_in(str(tmp_path / "a.db"), study, 2)[1]["consent"] == CONSENT
