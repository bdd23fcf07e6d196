"""One person chooses alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.cli.crowd import print_link
from handful.crowd.host import end_visits
from handful.crowd.intake import ingest
from handful.crowd.plan import SOLO_IN_FLIGHT, StudyPlan
from handful.crowd.registry import Registry, open_registry, solo_study
from handful.crowd.settings import Settings
from handful.errors import InvalidProblem
from tests.crowd.clients import STUDY, Started
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


@pytest.mark.parametrize(
    ("options", "items", "questions"),
    [
        (2, 2, 12), (2, 6, 36), (2, 12, 72), (2, 25, 150), (2, 26, 150), (2, 1000, 150), (3, 1000, 90),
        (4, 8, 48), (4, 10, 60), (4, 100, 60), (None, 100, 60), (9, 1000, 60),
    ],
)  # fmt: skip
def test_few_pictures_take_few_questions_and_many_take_a_few_minutes(
    options: int | None, items: int, questions: int
) -> None:
    assert StudyPlan(k=6, options=options).answers(items, solo=True) == questions


def test_somebody_alone_is_asked_pairs_of_texts_and_as_many_as_pairs_take(tmp_path: Path) -> None:
    table = tmp_path / "texts.csv"
    table.write_text("text\n" + "".join(f"text {n}\n" for n in range(30)))
    registry = open_registry(tmp_path / "a.db", ingest(table, tmp_path / "items"), ("Texts",), StudyPlan(k=6), ALONE)
    assert solo_study(registry).progress().budget == 150
    registry.close()


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
    end_visits(solo_study(registry).study)
    assert study.ask(6, "ben") != []
    assert study.held_by("anna") == []
    assert len(study.state.provisional) == 0
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


def test_what_is_not_chosen_yet_comes_first(tmp_path: Path) -> None:
    registry = chosen_from(folder_of(4, tmp_path / "photos"), tmp_path / "a.db", "Holiday", "Boats")
    assert solo_study(registry).theme == "Boats"
    registry.close()


def test_the_journal_says_whom_a_study_is_for_however_many_questions_may_be_in_flight(tmp_path: Path) -> None:
    items = ingest(folder_of(4, tmp_path / "photos"), tmp_path / "items")
    many = StudyPlan(k=2, explorer="topx", budget=12, in_flight=SOLO_IN_FLIGHT)
    open_registry(tmp_path / "a.db", items, ("Ours",), many).close()
    open_registry(tmp_path / "a.db", items, ("Mine",), PLAN, ALONE).close()
    registry = open_registry(tmp_path / "a.db", items, (), settings=ALONE)
    assert {name: hosted.study.setup.solo for name, hosted in registry.studies.items()} == {
        "ours": False,
        "mine": True,
    }
    assert solo_study(registry).theme == "Mine"
    registry.close()


def test_a_study_of_the_library_says_nothing_of_whom_it_is_for() -> None:
    assert "solo" not in Study(range(4), 2, feedback=Preferences(), budget=9).setup.to_dict()


def test_a_finished_selection_is_seen_in_any_browser_that_has_the_link(serve: Callable[..., Started]) -> None:
    server = serve(StudyPlan(k=2, explorer="topx", budget=12, in_flight=6), replace(ALONE, undo_s=0, redo_s=0))
    anybody, here = server.browser(), f"/api/s/{STUDY}"
    assert anybody.get(f"{here}/summary").status_code == 401
    person = server.person()
    while person.next()["questions"]:
        person.answer()
    assert len(anybody.get(f"{here}/summary").json()["chosen"]) == 2
    assert anybody.get(f"{here}/sheet.png").content.startswith(b"\x89PNG")


@pytest.mark.parametrize("sure", [None, 0.9])
def test_the_terminal_says_how_many_questions_there_are_at_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sure: float | None
) -> None:
    items = ingest(folder_of(4, tmp_path / "photos"), tmp_path / "items")
    registry = open_registry(tmp_path / "a.db", items, ("A",), StudyPlan(k=2, options=2, budget=60, sure=sure), ALONE)
    print_link(solo_study(registry), "http://127.0.0.1:8000/s/a")
    said = "60 questions, about" if sure is None else "at most 60 questions, about"
    assert f"2 of 4, {said}" in capsys.readouterr().out
    registry.close()
