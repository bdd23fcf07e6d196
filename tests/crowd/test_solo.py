"""One person chooses alone, and keeps what was chosen."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from handful.crowd.collection.intake import ingest
from handful.crowd.hosting.registry import Registry
from handful.crowd.hosting.solo import end_earlier_visits, solo_study
from handful.crowd.hosting.startup import StudyPlan, open_registry
from handful.crowd.output.picks_folder import picks_folder, write_picks
from handful.crowd.settings import Settings
from handful.errors import InvalidProblem
from tests.crowd.pictures import folder_of

ALONE = Settings(goal=None, consent=None, solo=True)
PLAN = StudyPlan(k=2, explorer="topx", budget=12)


def chosen_from(source: Path, storage: Path, *themes: str) -> Registry:
    """A registry where everything of the first theme is chosen."""
    registry = open_registry(storage, ingest(source, storage.parent / "items"), themes or ("Holiday",), PLAN, ALONE)
    study = next(iter(registry.studies.values())).study
    while study.finished is None:
        for question in study.ask(1, "w"):
            study.tell(question.id, True, "w")
    return registry


def put_picks(registry: Registry, source: Path, folder: Path) -> Path:
    hosted = solo_study(registry)
    return write_picks(hosted.collection, hosted.study.result().chosen, hosted.theme, source, folder)


def picked(source: Path, tmp_path: Path) -> list[Path]:
    registry = chosen_from(source, tmp_path / "a.db")
    folder = put_picks(registry, source, tmp_path / "best")
    registry.close()
    return sorted(folder.iterdir())


@pytest.mark.parametrize(("items", "questions"), [(2, 12), (6, 36), (12, 72), (25, 150), (26, 150), (1000, 150)])
def test_few_pictures_take_few_questions_and_many_take_a_few_minutes(items: int, questions: int) -> None:
    assert StudyPlan(k=6).answers(items, solo=True) == questions


def test_who_says_how_many_is_asked_that_many() -> None:
    assert StudyPlan(k=6, budget=300).answers(10, solo=True) == 300


@pytest.mark.parametrize("answers", [0, 1])
def test_what_an_earlier_visit_holds_is_free_again(tmp_path: Path, answers: int) -> None:
    registry = open_registry(
        tmp_path / "a.db", ingest(folder_of(4, tmp_path / "photos"), tmp_path / "items"), ("A", "B"), PLAN, ALONE
    )
    study = solo_study(registry).study
    questions = study.ask(6, "anna")
    for question in questions[:answers]:
        study.tell(question.id, True, "anna", undo_s=1000)
    end_earlier_visits(solo_study(registry))
    assert study.ask(6, "ben") != []
    assert study.held_by("anna") == []
    assert len(study.fold.provisional) == 0
    assert solo_study(registry, ["B"]).theme == "B"
    registry.close()


def test_alone_one_does_not_answer_in_a_study_for_many(tmp_path: Path) -> None:
    items = ingest(folder_of(4, tmp_path / "photos"), tmp_path / "items")
    open_registry(tmp_path / "a.db", items, ("Cathedrals",), PLAN).close()
    registry = open_registry(tmp_path / "a.db", items, (), PLAN, ALONE)
    with pytest.raises(InvalidProblem, match="'Cathedrals', a study for many: .* --theme of your own"):
        solo_study(registry)
    registry.close()
    registry = open_registry(tmp_path / "a.db", items, ("Mine",), PLAN, ALONE)
    assert solo_study(registry).theme == "Mine"
    registry.close()


def test_the_picks_are_the_files_of_the_folder(tmp_path: Path) -> None:
    folder = folder_of(4, tmp_path / "photos")
    one, two, sheet = picked(folder, tmp_path)
    assert sheet.name == "contact-sheet.png"
    assert one.name.startswith("1-photo")
    assert two.read_bytes() == (folder / two.name.removeprefix("2-")).read_bytes()


def test_the_picks_are_the_files_of_the_zip(tmp_path: Path) -> None:
    folder = folder_of(4, tmp_path / "photos")
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"2019/{path.name}")
    one = picked(tmp_path / "photos.zip", tmp_path)[0]
    assert one.read_bytes() == (folder / one.name.removeprefix("1-")).read_bytes()


def test_the_picks_are_the_files_that_the_csv_names(tmp_path: Path) -> None:
    folder = folder_of(4, tmp_path / "photos")
    (tmp_path / "photos.csv").write_text("image\n" + "".join(f"photos/{path.name}\n" for path in folder.iterdir()))
    one = picked(tmp_path / "photos.csv", tmp_path)[0]
    assert one.read_bytes() == (folder / one.name.removeprefix("1-")).read_bytes()


def test_where_the_files_are_gone_the_picks_are_as_they_were_shown(tmp_path: Path) -> None:
    folder_of(4, tmp_path / "photos")
    registry = chosen_from(tmp_path / "photos", tmp_path / "a.db")
    folder = put_picks(registry, tmp_path / "a.db", tmp_path / "best")
    registry.close()
    assert {path.suffix for path in folder.iterdir()} == {".webp", ".png"}


def test_texts_become_files(tmp_path: Path) -> None:
    (tmp_path / "talks.csv").write_text("text\nOne talk\nAnother talk\nA third\n")
    one = picked(tmp_path / "talks.csv", tmp_path)[0]
    assert one.read_text() in ("One talk\n", "Another talk\n", "A third\n")


def test_nothing_is_ever_put_into_a_folder_that_is_there(tmp_path: Path) -> None:
    registry = chosen_from(folder_of(4, tmp_path / "photos"), tmp_path / "a.db")
    (tmp_path / "best").mkdir()
    assert put_picks(registry, tmp_path / "photos", tmp_path / "best") == tmp_path / "best-2"
    assert list((tmp_path / "best").iterdir()) == []
    registry.close()


def test_what_is_not_chosen_yet_comes_first(tmp_path: Path) -> None:
    registry = chosen_from(folder_of(4, tmp_path / "photos"), tmp_path / "a.db", "Holiday", "Boats")
    assert solo_study(registry).theme == "Boats"
    registry.close()


def test_the_folder_of_the_picks_is_named_after_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "holiday").mkdir()
    monkeypatch.chdir(tmp_path / "holiday")
    assert picks_folder(Path()) == picks_folder(Path("../holiday/")) == Path("holiday-best")
