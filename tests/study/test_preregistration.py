"""What a study will do is written down before it begins, and checked afterwards."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from handful import Preferences, Study
from handful.cli import main
from handful.errors import InvalidProblem, StudyFinished
from handful.preregistration import UNVERIFIED, commitment, departures, done_by_hand, page_of, read_record, to_json
from handful.rules import ONLY_VERIFIED, Rule

SEED = 7_070_707_070_707


def study(**options: Any) -> Study[str]:
    return Study(["a", "b", "c", "d"], 2, feedback=Preferences(), budget=20, seed=SEED, **options)


def test_the_record_names_what_is_fixed_and_hides_the_seed() -> None:
    record = study().preregister({name: name * 64 for name in "abcd"}, {"question": "Which?"})
    assert (record["k"], record["budget"], record["words"]) == (2, 20, {"question": "Which?"})
    assert [one["sha256"] for one in record["items"]["each"]] == [name * 64 for name in "abcd"]
    assert "seed" in record
    assert str(SEED) not in to_json({**record, "items": None})


def test_the_seed_is_committed_to_with_a_salt_that_the_journal_keeps() -> None:
    mine = study()
    record = mine.preregister()
    assert mine.state.registered is not None
    assert record["seed"] == commitment(SEED, mine.state.registered.salt)
    assert record["seed"] != study().preregister()["seed"], "another salt each time"


def test_the_certificate_names_the_digest_and_says_when() -> None:
    mine = study()
    record = mine.preregister()
    mine.run(lambda question: question.item < question.rival)
    assert f"preregistered before the first answer, as {record['hash']}" in str(mine.result().certificate)
    late = study()
    (question,) = late.ask()
    late.tell(question.id, True)
    late.preregister()
    late.run(lambda question: question.item < question.rival)
    assert "after 1 answer, which is late" in str(late.result().certificate)


def test_a_study_that_is_over_is_not_announced_any_more() -> None:
    over, announced = study(), study()
    record = announced.preregister()
    for one in (over, announced):
        one.run(lambda question: question.item < question.rival)
    with pytest.raises(StudyFinished, match="this study is over"):
        over.preregister()
    assert over.state.registered is None
    assert announced.preregister() == record


def test_a_study_that_kept_to_it_departs_in_nothing_and_every_change_is_named() -> None:
    mine = study()
    record = mine.preregister()
    registered = mine.state.registered
    assert departures(read_record(to_json(record)), mine.registration(), registered) == []
    for key, other, word in (
        ("k", 3, "to be chosen"),
        ("budget", 99, "answers at most"),
        ("words", {"question": "?"}, "what people read"),
        ("seed", "0" * 64, "seed is not the one"),
        ("items", {"number": 4}, "items are others"),
    ):
        (found,) = departures(record, {**record, key: other}, registered)
        assert word in found
    assert departures(record, record, None) == ["the journal has no preregistration"]


def test_of_what_people_read_it_is_said_what_differs_and_from_where_on() -> None:
    long = "We would like to know which of these photographs shows the church best. " * 3
    words = {"theme": "Churches", "consent": f"{long}You may stop.", "thanks": None, "goal": 30}
    mine = study(rule=ONLY_VERIFIED)
    record = mine.preregister(words=words)

    def found(**other: Any) -> list[str]:
        return departures(record, mine.registration(words={**words, **other}), mine.state.registered)

    assert found() == []
    assert found(thanks="Many thanks.", goal=20) == [
        'what people read, thanks: registered nothing, now "Many thanks."',
        "what people read, goal: registered 30, now 20",
    ]
    (consent,) = found(consent=f"{long}You must stay.")
    assert consent.startswith("what people read, consent: registered …")
    assert consent.endswith('…e church best. You may stop.", now …e church best. You must stay."')
    (later,) = found(welcome="Hello")
    assert later == 'what people read, welcome: registered nothing, now "Hello"'
    other = {**record, "rule": {**record["rule"], "unverified": None}}
    assert departures(record, other, mine.state.registered) == [
        'who counts, unverified: registered "exclude", now nothing'
    ]


def test_of_items_it_is_said_which_were_another_file_and_which_look_otherwise() -> None:
    contents = {name: {"uploaded": name * 64, "sha256": name.upper() * 64} for name in "abcd"}
    mine = study()
    record = mine.preregister(contents, {"question": "Which?", "language": "ja"})
    assert (record["language"], record["words"]) == ("ja", {"question": "Which?"})
    assert record["items"]["each"][0] == {"name": "a", **contents["a"]}
    assert f"as uploaded <code>{'a' * 64}" in page_of(record)

    def found(**other: dict[str, str]) -> list[str]:
        now = mine.registration({**contents, **other}, {"question": "Which?", "language": "ja"})
        return departures(record, now, mine.state.registered)

    assert found() == []
    assert found(b={"uploaded": "0" * 64, "sha256": "B" * 64}) == ["of the items, b was another file"]
    assert found(c={"uploaded": "c" * 64, "sha256": "0" * 64}) == ["of the items, c looks otherwise"]


def test_a_changed_file_is_refused() -> None:
    record = study().preregister()
    with pytest.raises(InvalidProblem, match="changed after it was written"):
        read_record(json.dumps({**record, "k": 3}))
    with pytest.raises(InvalidProblem, match="not a preregistration"):
        read_record("[]")


def test_what_becomes_of_the_unverified_is_in_the_record_and_in_words_on_the_page() -> None:
    record = study(rule=ONLY_VERIFIED).preregister()
    assert record["rule"]["unverified"] == "exclude"
    assert UNVERIFIED in page_of(record)
    assert UNVERIFIED not in page_of(study().preregister())


def test_a_journal_of_before_keeps_its_rule_and_hash() -> None:
    told = Rule().to_dict()
    assert told.pop("unverified") == "exclude"
    before = Rule.from_dict(told)
    assert before.unverified is None
    assert before.to_dict() == told
    assert before.hash != Rule().hash
    record = study(rule=before).preregister()
    assert UNVERIFIED not in page_of(record)
    with pytest.raises(InvalidProblem, match="unverified"):
        Rule.from_dict({**told, "unverified": "count"})


def test_the_page_is_written_for_people_and_the_json_stands_at_its_end() -> None:
    practice = [{"right": "a church", "wrong": "a spoon", "why": "It is about churches."}]
    words = {"theme": "教会", "consent": "One.\n\nTwo.", "thanks": None, "practice": practice, "language": "ja"}
    page, _, json_ = page_of(study(rule=Rule(), solo=False).preregister(words=words)).partition("<pre>")
    for raw in ("False", "True", "[]", "null", "None", "{&quot;", "&quot;", ">60.0<", "exclude_if"):
        assert raw not in page, raw
    for said in (
        "<dt>For one person</dt><dd>no</dd>",
        "<dt>Chosen before the start</dt><dd>none</dd>",
        "<dt>Thanks</dt><dd>the built-in words</dd>",
        '<span dir="auto" lang="ja">教会</span>',
        '<dt>What people agree to</dt><dd><span dir="auto" lang="ja">One.\n\nTwo.</span></dd>',
        '<dt>Right</dt><dd><span dir="auto" lang="ja">a church</span></dd>',
        "<li><dl><dt>Share</dt><dd>0.75</dd>",
        "median faster than",
        "<dt>Everybody who finishes is paid</dt><dd>yes</dd>",
    ):
        assert said in page, said
    assert "&quot;exclude_if&quot;" in json_


def test_words_on_the_page_are_never_markup() -> None:
    page = page_of(study().preregister(words={"question": "<script>alert(1)</script>"}))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_first_preregistration_stands_and_is_there_after_reopening(tmp_path: Path) -> None:
    storage = tmp_path / "a.db"
    with study(storage=storage, name="photos") as mine:
        first = mine.preregister()
        assert mine.preregister() == first
    with Study.open(storage, "photos", read_only=True) as again:
        assert again.registration() == first
        assert again.state.registered is not None
        assert again.state.registered.hash == first["hash"]


def test_the_command_writes_both_files_and_replay_checks_against_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def handful(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["handful", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), capsys.readouterr().out

    study(storage="a.db", name="photos").close()
    study(storage="a.db", name="other").close()
    assert handful("preregister", "photos", "-s", "a.db")[0] == 0
    assert (tmp_path / "photos-preregistration.html").read_text().startswith("<!doctype html>")
    against = ("-s", "a.db", "--check", "--against", "photos-preregistration.json")
    with Study.open("a.db", "photos") as running:
        for worker in ("ann", "bob"):
            (question,) = running.ask(1, worker)
            running.tell(question.id, True, worker)
        running.run(lambda question: question.item < question.rival)
    code, said = handful("replay", "photos", *against)
    assert (code, "kept to its preregistration" in said) == (0, True), said
    digest = json.loads((tmp_path / "photos-preregistration.json").read_text())["hash"]
    for kind in ("result", "jsonl", "csv"):
        assert digest in handful("export", "photos", "-s", "a.db", "--format", kind)[1], "the export names it"
    with Study.open("a.db", "photos") as running:
        running.exclude("ann")
        running.restore("ann")
        running.leave("bob")
    code, said = handful("replay", "photos", *against)
    for departed in (
        "people were excluded by hand (1 time)",
        "people were restored by hand (1 time)",
    ):
        assert f"not as registered: {departed}" in said, said
    assert (code, said.count("not as registered")) == (1, 2), said
    code, said = handful("replay", "other", *against)
    assert (code, "not as registered: the journal has no preregistration" in said) == (1, True), said


def test_a_budget_that_grew_and_an_item_that_was_withdrawn_are_told() -> None:
    running = study()
    running.extend(10)
    running.withdraw("d")
    assert done_by_hand(running.records()) == ["the budget grew by 10 answers", "1 item could be chosen no more"]
