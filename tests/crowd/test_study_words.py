"""What people read is the organizer's: practice of their own, words from a file, and what may change while it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handful.cli.words_file import words_said
from handful.crowd.collection.items import Collection
from handful.crowd.hosting.requested_changes import RequestedChanges
from handful.crowd.hosting.startup import StudyPlan, open_registry
from handful.crowd.lessons import Lesson
from handful.crowd.settings import Settings
from handful.errors import InvalidProblem
from handful.study.rules import Admission, Rule
from tests.crowd.clients import PLAN, STUDY, Started

Serve = Callable[..., Started]
HERE = f"/api/organize/{STUDY}"
ABOUT = f"/api/s/{STUDY}"
ADMITS = Rule(Admission(practice=2, checks=0, right_at_least=2), checks=None, exclude_if=())


def lesson(right: str, wrong: str, why: str = "") -> dict[str, str]:
    return {"right": right, "wrong": wrong, "why": why}


def test_a_practice_of_ones_own_shows_texts_and_items_and_is_judged_here(serve: Serve, collection: Collection) -> None:
    own = (Lesson(collection.ids[0], "a spoon", "It shows a church."), Lesson("yes", "no"))
    server = serve(StudyPlan(k=2, budget=30, options=2, rule=ADMITS), Settings(undo_s=0, redo_s=0, practice=own))
    told = server.browser().get(ABOUT).json()["practice"]
    right = [one["cards"][one["better"]] for one in told]
    assert [(card["kind"], card["text"]) for card in right] == [("picture", None), ("text", "yes")]
    assert server.browser().get(right[0]["image"]).status_code == 200
    assert [one["why"] for one in told] == ["It shows a church.", ""]

    def state(*places: int) -> str:
        said = {"consent": True, "practice": [told[n]["cards"][place]["id"] for n, place in enumerate(places)]}
        state: str = server.person(joined=False).post("join", said).json()["state"]
        return state

    better = [one["better"] for one in told]
    assert state(*better) == "questions"
    assert state(better[0], 1 - better[1]) == "finished", "who practises badly is not admitted by this rule"


def test_there_may_be_no_practice_and_the_built_in_one_comes_back(serve: Serve) -> None:
    server = serve()
    organizer = server.organizer()
    organizer.post(f"{HERE}/words", json={"practice": []})
    assert server.browser().get(ABOUT).json()["practice"] == []
    organizer.post(f"{HERE}/words", json={"practice": None})
    assert server.browser().get(ABOUT).json()["practice"] is None


def test_a_practice_that_decides_who_counts_stays_as_it_was_when_the_study_was_opened(serve: Serve) -> None:
    server = serve(StudyPlan(k=2, budget=30, options=2, rule=ADMITS))
    refused = server.organizer().post(f"{HERE}/words", json={"practice": [lesson("a", "b"), lesson("c", "d")]})
    assert (refused.status_code, refused.json()["error"]) == (409, "fixed")
    assert "settled when the study was opened" in refused.json()["message"]
    assert server.browser().get(ABOUT).json()["practice"] is None


def test_the_place_of_the_better_one_tells_nothing() -> None:
    places = [Lesson(f"right {n}", f"wrong {n}").better for n in range(200)]
    assert 70 < sum(places) < 130


def test_a_question_that_somebody_holds_stays_and_half_a_lesson_is_refused(serve: Serve) -> None:
    server = serve(StudyPlan(k=2, budget=30, options=2))
    organizer = server.organizer()
    assert server.person().next()["questions"]
    refused = organizer.post(f"{HERE}/words", json={"question": "Which is worse?"})
    assert "people have been asked it, and an answer to another one" in refused.json()["message"]
    half = organizer.post(f"{HERE}/words", json={"practice": [lesson(" ", "b")]})
    assert (half.status_code, half.json()["error"]) == (409, "fixed")
    assert "nothing on one side" in half.json()["message"]


def test_once_answered_a_question_stays_and_everything_harmless_may_change(serve: Serve) -> None:
    server = serve(StudyPlan(k=2, budget=30, options=2), Settings(undo_s=0, redo_s=0))
    organizer = server.organizer()
    assert organizer.post(f"{HERE}/words", json={"question": "Which is finer?"}).status_code == 200
    person = server.person()
    person.answer()
    refused = organizer.post(f"{HERE}/words", json={"question": "Which is worse?", "thanks": "Bye"})
    assert (refused.status_code, refused.json()["error"]) == (409, "fixed")
    assert "people have been asked it (1 answer so far)" in refused.json()["message"]
    about = person.http.get(ABOUT).json()
    assert (about["question"], about["thanks"]) == ("Which is finer?", None), "all of it, or nothing"
    harmless = {"question": "Which is finer?", "thanks": "Bye", "welcome": "Hello", "consent": "Agree", "practice": []}
    assert organizer.post(f"{HERE}/words", json=harmless).status_code == 200
    about = person.http.get(ABOUT).json()
    assert {name: about[name] for name in harmless} == harmless


def words_of(path: Path, text: str) -> dict[str, Any]:
    path.write_text(text, encoding="utf-8")
    return words_said(path)


TOML = """
question = "Which is finer?"
consent = ""
goal = 7
listed = false

[[practice]]
right = "a church"
wrong = "a spoon"
"""


def begun(storage: Path, collection: Collection, *themes: str, say: Callable[[str], None] = print, **words: Any) -> Any:
    return open_registry(storage, collection, themes, PLAN, changes=RequestedChanges(words=words), say=say)


def test_words_from_a_file_are_kept_in_the_journal_of_a_new_study(tmp_path: Path, collection: Collection) -> None:
    said = words_of(tmp_path / "words.toml", TOML)
    registry = begun(tmp_path / "a.db", collection, "Cathedrals in Venice", **said)
    registry.close()
    registry = open_registry(tmp_path / "a.db", collection, ())
    settings = registry.studies[STUDY].settings
    registry.close()
    assert (settings.question, settings.consent, settings.goal, settings.listed) == ("Which is finer?", None, 7, False)
    assert settings.practice == (Lesson("a church", "a spoon"),)


def test_words_typed_later_are_for_the_study_that_is_named_or_the_only_one(
    tmp_path: Path, collection: Collection
) -> None:
    storage, said = tmp_path / "a.db", list[str]()
    begun(storage, collection, "Cathedrals in Venice", "Boats", goal=7).close()
    registry = begun(storage, collection, goal=9, say=said.append)
    assert {hosted.settings.goal for hosted in registry.studies.values()} == {7}
    registry.close()
    assert said == [
        f"{theme}: the study keeps its own goal; name it with --theme to change that"
        for theme in ("Boats", "Cathedrals in Venice")
    ]
    registry = begun(storage, collection, "Boats", goal=9, say=said.append)
    assert {hosted.theme: hosted.settings.goal for hosted in registry.studies.values()} == {
        "Cathedrals in Venice": 7,
        "Boats": 9,
    }
    registry.close()
    assert said[2:] == ["Boats: people read another goal from now on"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.toml", "question = ", "cannot be read as TOML"),
        ("a.json", "{", "cannot be read as JSON"),
        ("a.toml", "questoin = 'x'", "questoin: extra inputs are not permitted; what can be said is question, welcome"),
        ("a.toml", "goal = 'x'", "goal: input should be a valid integer"),
        ("a.toml", "language = 'xx'", "language is one of"),
        ("a.toml", "[[practice]]\nright = 'x'", "practice.0.wrong: field required"),
    ],
)
def test_a_file_that_says_nothing_sensible_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(InvalidProblem, match=said):
        words_of(tmp_path / name, text)


def test_the_same_word_typed_and_in_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text('{"goal": 5}')
    with pytest.raises(InvalidProblem, match="--goal and goal in .* say the same thing"):
        words_said(tmp_path / "w.json", goal=6)
