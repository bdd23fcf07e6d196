"""What people read is the organizer's: practice of their own, words from a file, and what may change while it runs."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handful.cli.crowd import practice_files, words_said
from handful.crowd import intake
from handful.crowd.changes import RequestedChanges
from handful.crowd.collection import Collection
from handful.crowd.intake import ingest, keep_practice_pictures, practice_pictures
from handful.crowd.lessons import Lesson
from handful.crowd.practice import lessons_shown
from handful.crowd.registry import StudyPlan, open_registry
from handful.crowd.settings import Settings
from handful.errors import InvalidProblem
from handful.events import Noted
from handful.rules import Admission, Door, Rule
from tests.crowd.clients import PLAN, STUDY, Started
from tests.crowd.pictures import drawn, encoded, folder_of
from tests.crowd.test_setup_routes import empty_server

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


def test_pictures_of_ones_own_are_practised_on_judged_here_and_never_chosen_from(serve: Serve, tmp_path: Path) -> None:
    items = ingest(folder_of(4, tmp_path / "photos"), tmp_path / "a.db.items")
    server = serve(PLAN, Settings(undo_s=0, redo_s=0), storage=tmp_path / "a.db", items=items)
    organizer, notes = server.organizer(), []
    for number, name in ((21, "church.png"), (22, "photo 1.jpg"), (22, "again.jpg")):
        sent = organizer.put(f"{HERE}/practice/{name}", content=encoded(drawn(number), "PNG"))
        assert sent.status_code == 200, sent.text
        notes.append(sent.json())
    church, thumb, same = (note["name"] for note in notes)
    assert (church, thumb, same) == ("church.png", "photo 1 (2).jpg", thumb), "an item has that name; twice is once"
    assert organizer.get(notes[0]["thumbnail"]).content[8:12] == b"WEBP"
    assert organizer.post(f"{HERE}/words", json={"practice": [lesson(church, thumb, "why")]}).status_code == 200
    assert organizer.get(f"{HERE}/words").json()["practice_pictures"] == notes[:2]
    (shown,) = server.browser().get(ABOUT).json()["practice"]
    right, wrong = shown["cards"][shown["better"]], shown["cards"][1 - shown["better"]]
    assert [card["kind"] for card in (right, wrong)] == ["picture", "picture"]
    assert right["thumbnail"] == notes[0]["thumbnail"]
    server.person(joined=False).post("join", {"consent": True, "practice": [right["id"]]})
    hosted = server.registry.studies[STUDY]
    joined = [event.data for _, event in hosted.study.journal() if isinstance(event, Noted) and event.topic == "joined"]
    assert [one["practice"] for one in joined] == [{"correct": 1, "of": 1}]
    assert hosted.study.setup.ids == items.ids
    record = organizer.post(f"{HERE}/preregister").json()
    uploaded = record["words"]["practice_pictures"][church]["uploaded"]
    assert uploaded == sha256(encoded(drawn(21), "PNG")).hexdigest()
    draft = organizer.post(f"{HERE}/new-study", json={"chosen": []}).json()["draft"]
    kept = organizer.get(f"/api/setup/{draft}").json()
    assert [one["name"] for one in kept["practice_pictures"]] == [church, thumb], "a new study from here has them too"


def test_what_is_no_picture_is_not_taken_for_the_practice(serve: Serve) -> None:
    server = serve()
    organizer = server.organizer()
    for name, data, why in (("a.svg", b"<svg/>", "SVG"), ("a.txt", b"text", "is a text"), ("a.jpg", b"no", "a.jpg")):
        refused = organizer.put(f"{HERE}/practice/{name}", content=data)
        assert (refused.status_code, why in refused.json()["message"]) == (422, True), refused.text
    assert server.browser().put(f"{HERE}/practice/a.jpg", content=b"").status_code == 401
    assert organizer.get(f"{HERE}/words").json()["practice_pictures"] == []


def test_a_draft_keeps_the_practice_pictures_that_its_pairs_name(tmp_path: Path) -> None:
    with empty_server(tmp_path / "handful.db") as server:
        organizer = server.organizer()
        draft = organizer.post("/api/setup", json={"theme": "Churches", "k": 2}).json()["draft"]
        here = f"/api/setup/{draft}"
        for number, name in ((31, "good.jpg"), (32, "bad.jpg"), (33, "unused.jpg")):
            assert organizer.put(f"{here}/practice/{name}", content=encoded(drawn(number))).status_code == 200
        organizer.post(f"{here}/texts", json={"texts": "one\ntwo\nthree\nfour"})
        organizer.post(f"{here}/prepare")
        while organizer.get(here).json()["state"] == "preparing":
            pass
        words = {"practice": [lesson("good.jpg", "bad.jpg", "It is good.")]}
        organizer.patch(here, json={"theme": "Churches", "k": 2, "words": words})
        (previewed,) = organizer.post(f"{here}/preview").json()["about"]["practice"]
        assert {card["kind"] for card in previewed["cards"]} == {"picture"}
        thumbnails = [one["thumbnail"] for one in organizer.get(here).json()["practice_pictures"]]
        study = organizer.post(f"{here}/open").json()["study"]
        assert [organizer.get(one).status_code for one in thumbnails] == [200, 200, 404]
        assert not {thumbnails[2].removeprefix("/items/")} & set(server.registry.pictures)
        shown = organizer.get(f"/api/s/{study}").json()["practice"]
        assert shown == [previewed]
        folder = server.registry.studies[study].collection.folder
        assert practice_pictures(folder).ids == ("good.jpg", "bad.jpg")
        assert len(list(folder.glob("*.webp"))) == 4, "what no pair names is gone"
        assert organizer.put(f"{here}/practice/late.jpg", content=encoded(drawn(34))).status_code == 422


def test_a_running_study_lets_go_of_practice_pictures_that_no_pair_of_any_study_names(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_PICTURES", 4)
    items = ingest(folder_of(4, tmp_path / "photos"), tmp_path / "a.db.items")
    server = serve(PLAN, themes=("Cathedrals in Venice", "Boats"), storage=tmp_path / "a.db", items=items)
    organizer = server.organizer()
    added = {}

    def add(number: int) -> int:
        sent = organizer.put(f"{HERE}/practice/{number}.png", content=encoded(drawn(number), "PNG"))
        added[number] = sent.json().get("thumbnail")
        return sent.status_code

    def say(study: str, *names: str) -> int:
        return organizer.post(f"/api/organize/{study}/words", json={"practice": [lesson(*names)]}).status_code

    assert [add(number) for number in range(51, 56)] == [200, 200, 200, 200, 422]
    assert say("boats", "51.png", "a text") == 200
    assert practice_pictures(items.folder).ids == ("51.png",)
    assert [add(number) for number in (52, 53)] == [200, 200]
    assert say(STUDY, "52.png", "photo 1.jpg") == 200
    assert practice_pictures(items.folder).ids == ("51.png", "52.png"), "other studies of these items keep theirs"
    assert [organizer.get(added[number]).status_code for number in (51, 52, 53)] == [200, 200, 404]
    assert say(STUDY, "53.png", "photo 1.jpg") == 409, "a name that is gone is not shown as a text"
    assert add(53) == 200
    assert organizer.get(added[53]).status_code == 200


def test_a_picture_whose_file_is_gone_is_not_found(serve: Serve, tmp_path: Path) -> None:
    items = ingest(folder_of(4, tmp_path / "photos"), tmp_path / "a.db.items")
    server = serve(PLAN, storage=tmp_path / "a.db", items=items)
    name = items.pictures(items.items[0])[0]
    assert server.browser().get(f"/items/{name}").status_code == 200
    (items.folder / name).unlink()
    assert server.browser().get(f"/items/{name}").status_code == 404


def test_a_picture_that_one_practice_lets_go_of_is_still_shown_to_others(serve: Serve, tmp_path: Path) -> None:
    items = ingest(folder_of(4, tmp_path / "photos"), tmp_path / "a.db.items")
    server = serve(PLAN, storage=tmp_path / "a.db", items=items)
    organizer = server.organizer()
    sent = organizer.put(f"{HERE}/practice/church.png", content=encoded(drawn(61), "PNG")).json()
    draft = organizer.post("/api/setup", json={"theme": "Churches", "k": 2}).json()["draft"]
    organizer.put(f"/api/setup/{draft}/practice/church.png", content=encoded(drawn(61), "PNG"))
    keep_practice_pictures(server.registry.drafts.get(draft).folder, ())
    server.registry.show_practice(server.registry.drafts.get(draft).folder)
    assert organizer.get(sent["thumbnail"]).status_code == 200


def test_how_many_answers_each_gives_is_not_for_the_words_of_a_panels_study(serve: Serve) -> None:
    organizer = serve(StudyPlan(k=2, budget=30, options=2, door=Door("panel"))).organizer()
    assert "paid for" in organizer.get(f"{HERE}/words").json()["fixed"]["goal"]
    refused = organizer.post(f"{HERE}/words", json={"goal": 7})
    assert (refused.status_code, refused.json()["error"]) == (409, "fixed")


def test_by_a_panels_door_nobody_gets_in_before_there_is_a_panel(serve: Serve) -> None:
    server = serve(StudyPlan(k=2, budget=30, options=2, door=Door("panel")))
    assert server.browser().get(f"/api/s/{STUDY}").json()["panel"] is True
    refused = server.person(joined=False).join()
    assert (refused.status_code, refused.json()["error"]) == (409, "preview")
    assert server.registry.studies[STUDY].study.state.workers.names == []


def test_a_consent_as_long_as_may_be_is_taken(serve: Serve) -> None:
    long = "\u672c" * 20_000
    server = serve()
    assert server.organizer().post(f"{HERE}/words", json={"consent": long}).status_code == 200
    assert server.browser().get(ABOUT).json()["consent"] == long


def test_null_is_the_built_in_word_and_nothing_is_none(serve: Serve) -> None:
    server = serve()
    organizer = server.organizer()

    def consent(**said: Any) -> str | None:
        answer = organizer.post(f"{HERE}/words", json=said)
        assert answer.status_code == 200, answer.text
        text: str | None = server.browser().get(ABOUT).json()["consent"]
        return text

    built_in = server.browser().get(ABOUT).json()
    assert consent(consent=None) == built_in["consent"] is not None, "as it was"
    for own in ("", "Do you agree?"):
        assert consent(consent=own) == (own or None)
        assert organizer.get(f"{HERE}/words").json()["words"]["consent"] == own
        previewed = organizer.post(f"{HERE}/preview", json={"consent": None}).json()["about"]
        assert previewed["consent"] == consent(consent=None) == built_in["consent"]
        assert organizer.get(f"{HERE}/words").json()["words"]["consent"] is None
    organizer.post(f"{HERE}/words", json={"instructions": "Look well."})
    organizer.post(f"{HERE}/words", json={"instructions": None, "instruction": None})
    assert server.browser().get(ABOUT).json()["instructions"] == built_in["instructions"]
    all_of_them = organizer.get(f"{HERE}/words").json()["words"]
    assert consent(**all_of_them) == built_in["consent"], "what is told can be said again"
    refused = organizer.post(f"{HERE}/words", json=all_of_them | {"language": "de"})
    assert (refused.status_code, refused.json()["error"]) == (409, "not_accepted"), "nobody has read it in German"


def test_a_language_that_there_is_not_is_refused(serve: Serve) -> None:
    organizer = serve().organizer()
    for answer in (
        organizer.post(f"{HERE}/words", json={"language": "xx"}),
        organizer.post(f"{HERE}/preview", json={"language": "xx"}),
        organizer.get(f"{HERE}/words?language=xx"),
    ):
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
        assert "language is one of en, " in answer.json()["message"]


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


def test_pictures_beside_the_file_of_words_are_practised_on(tmp_path: Path) -> None:
    items = ingest(folder_of(4, tmp_path / "photos"), tmp_path / "a.db.items")
    for number, name in ((41, "good.jpg"), (42, "bad.jpg")):
        (tmp_path / name).write_bytes(encoded(drawn(number)))
    file = tmp_path / "words.toml"
    said = words_of(
        file, '[[practice]]\nright = "good.jpg"\nwrong = "bad.jpg"\n[[practice]]\nright = "photo 1.jpg"\nwrong = "a"'
    )

    def practice(*themes: str) -> Any:
        changes = RequestedChanges(words=said, pictures=practice_files(file, said))
        registry = open_registry(tmp_path / "a.db", items, themes, PLAN, changes=changes)
        registry.close()
        return lessons_shown(registry.studies[STUDY].settings.practice, items)

    first = practice("Cathedrals in Venice")
    assert [sorted(card.kind for card in one.cards) for one in first] == [["picture"] * 2, ["picture", "text"]]
    assert practice() == first, "the same again changes nothing"
    (tmp_path / "good.jpg").write_bytes(encoded(drawn(43)))
    assert practice()[0] != first[0], "another picture of that name is another picture"
    (tmp_path / "bad.jpg").unlink()
    practice()
    said["practice"][0]["wrong"] = "gone.jpg"
    with pytest.raises(InvalidProblem, match="neither an item of that name nor the picture"):
        practice()


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
