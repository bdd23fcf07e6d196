"""Checks among the questions: drawn for each person, judged by the server, and in no respect unlike the others."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from handful.crowd.checks import DrawnChecks
from handful.crowd.collection import Collection, Item
from handful.crowd.identity import known_worker
from handful.crowd.intake import CARDS, check_cards, spoiled_text
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from handful.crowd.tokens import Worker
from handful.rules import Admission, Checks, ChecksBelow, Rule
from tests.crowd.clients import PATIENCE_S, STUDY, Person, Started
from tests.crowd.test_people import OFTEN
from tests.crowd.test_worker_routes import Clock

Serve = Callable[..., Started]
RULE = Rule(Admission(2, 3, 3), Checks(every=4), (ChecksBelow(0.75, 4),), share=1.0)


def plan(options: int = 2, rule: Rule = RULE) -> StudyPlan:
    return StudyPlan(k=2, explorer="duels", budget=200, in_flight=20, options=options, rule=rule)


class Visitor(Person):
    """Somebody who knows which questions are checks, as only a test can."""

    def __init__(self, server: Started) -> None:
        super().__init__(server.browser(), joined=False)
        self.hosted = server.registry.studies[STUDY]
        self.server = server
        joined = self.post("join", {"consent": True, "practice": ["apple", "pear"]})
        assert joined.status_code == 200, joined.text
        self.work = joined.json()

    @property
    def worker(self) -> Worker:
        worker = known_worker(self.server.registry.secret, self.hosted, self.http.cookies["handful"])
        assert worker is not None
        return worker

    @property
    def is_checked(self) -> bool:
        question = self.worker.question(self.token)
        assert question is not None
        return DrawnChecks.is_check(question)

    def choice(self, right: bool) -> dict[str, str]:
        """What to say in order to be right or wrong in a check; of a question, anything."""
        question, shown = self.worker.question(self.token), self.work["questions"][0]
        assert question is not None
        if "left" in shown:
            sides = ({"side": "left"}, {"side": "right"})
        else:
            sides = tuple({"option": option["id"]} for option in shown["options"])  # type: ignore[assignment]
        if not DrawnChecks.is_check(question):
            return sides[0]
        return next(said for said in sides if self._is_right(question, said) == right)

    def _is_right(self, question: str, said: dict[str, str]) -> bool:
        from handful.crowd.messages import Answer

        return self.hosted.checks.judge(self.worker, question, Answer(token=self.token, **said)).right  # type: ignore[arg-type]

    def go_on(self, right: bool = True) -> dict[str, Any]:
        response = self.post("answer", {"token": self.token, **self.choice(right)})
        assert response.status_code == 200, response.text
        self.work = response.json()
        return self.work

    @property
    def conduct(self) -> Any:
        state = self.hosted.study.state
        return state.conducts.of(state.workers.number_if_known(self.worker.id))


@pytest.mark.parametrize("options", [2, 4])
def test_checks_come_first_and_whoever_fails_them_gives_no_answer_that_counts(serve: Serve, options: int) -> None:
    server = serve(plan(options), OFTEN)
    careful, careless = Visitor(server), Visitor(server)
    for person, right in ((careful, True), (careless, False)):
        for _ in range(3):
            assert person.is_checked
            person.go_on(right)
    assert careful.conduct.admitted
    assert careful.work["state"] == "questions"
    assert not careful.is_checked
    assert careless.work["state"] == "finished"
    assert careless.hosted.study.state.answers == 0
    assert careless.worker.id in {careless.hosted.study.state.workers.name(n) for n in server_excluded(careless)}
    careful.go_on()
    assert careful.hosted.study.state.answers == 1


def server_excluded(person: Visitor) -> list[int]:
    return person.hosted.study.state.workers.excluded


@pytest.mark.parametrize("options", [2, 4])
def test_later_checks_come_among_the_questions_and_do_not_count_as_answers(serve: Serve, options: int) -> None:
    server, many = serve(replace(plan(options), budget=2000), OFTEN), 0
    for _ in range(3):
        person, before = Visitor(server), server.registry.studies[STUDY].study.state.answers
        places = []
        for at in range(60):
            if person.is_checked:
                places.append(at)
            person.go_on()
        later = [at for at in places if at >= 3]
        many += len(later)
        assert len({b - a for a, b in itertools.pairwise(later)}) > 1  # not by the clock
        assert person.hosted.study.state.answers == before + 60 - len(places)
        assert person.conduct.right == len(places)
        assert person.work["progress"]["answered"] == 60
    assert 16 <= many <= 52  # of 171, one in four answers or so: by chance it is otherwise once in 100,000 times


def test_somebody_who_tires_is_excluded_by_the_rule(serve: Serve) -> None:
    person = Visitor(serve(plan(), OFTEN))
    for _ in range(3):
        person.go_on()
    for _ in range(80):
        if person.work["state"] == "finished":
            break
        person.go_on(right=False)
    assert person.work["state"] == "finished"
    assert server_excluded(person)
    assert person.hosted.study.state.workers.any_excluded_by_hand is False


def test_a_reload_and_a_restart_show_the_same_check(serve: Serve, tmp_path: Path) -> None:
    server = serve(plan(4), OFTEN, storage=tmp_path / "s.db")
    person = Visitor(server)
    before = person.work["questions"]
    assert person.next()["questions"] == before
    person.hosted._attach(person.hosted.study)  # as after a fault of the storage
    assert person.next()["questions"] == before


def test_an_answer_to_a_check_can_be_undone_like_any_other(serve: Serve) -> None:
    person = Visitor(serve(plan(), replace(OFTEN, undo_s=5.0, redo_s=5.0)))
    token, right, wrong = person.token, person.choice(True), person.choice(False)
    person.go_on(right=False)
    assert person.work["undo"]["token"] == token
    taken = person.post("undo", {"token": token, **right}).json()
    assert taken["answer"] == {"token": token, "side": right["side"], "option": None, "repeated": False}
    assert (person.conduct.checks, person.conduct.right) == (1, 1)
    again = person.post("answer", {"token": token, **wrong}).json()
    assert again["answer"]["repeated"]
    assert again["answer"]["side"] == right["side"]
    assert (person.conduct.checks, person.conduct.right) == (1, 1)


def test_a_skipped_check_comes_back_as_another_one_later(serve: Serve) -> None:
    person = Visitor(serve(plan(), OFTEN))
    for _ in range(3):
        person.go_on()
    while not person.is_checked:
        person.go_on()
    skipped = person.token
    person.work = person.post("skip", {"token": skipped, "reason": "unsure"}).json()
    assert not person.is_checked
    tokens = set()
    for _ in range(30):
        if person.is_checked:
            tokens.add(person.token)
        person.go_on()
    assert tokens
    assert skipped not in tokens
    assert person.conduct.right == person.conduct.checks


def test_pictures_have_addresses_of_their_own_for_each_person(serve: Serve) -> None:
    server = serve(plan(4), OFTEN)
    ann, bob = Visitor(server), Visitor(server)
    addresses = [{option["image"] for option in person.work["questions"][0]["options"]} for person in (ann, bob)]
    assert not addresses[0] & addresses[1]
    for address in addresses[0]:
        mine, theirs = ann.http.get(address), bob.http.get(address)
        assert (mine.status_code, mine.headers["content-type"]) == (200, "image/webp")
        assert theirs.status_code == 404
        assert "private" in mine.headers["cache-control"]
    assert httpx.get(f"{server.url}{next(iter(addresses[0]))}", timeout=PATIENCE_S).status_code == 404


def test_nothing_but_the_pictures_tells_a_check_from_a_question(serve: Serve) -> None:
    person = Visitor(serve(plan(4), OFTEN))
    for _ in range(3):
        person.go_on()
    seen: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for _ in range(150):
        if person.work["state"] != "questions":
            break
        kind, work = person.is_checked, person.work
        address = work["questions"][0]["options"][0]["image"]
        headers = person.http.get(address).headers
        token = work["questions"][0]["token"]
        shape = {
            "fields": str(_shape(work)),
            "headers": str(sorted(name for name in headers if name != "content-length")),
            "length of the token": len(token),
            "length of the ids": str([len(option["id"]) for option in work["questions"][0]["options"]]),
            "ahead": len(work["questions"]),
            "round": work["questions"][0]["round"] == work["progress"]["chosen"] + 1,
            "chosen again": bool(
                {card["alt"] for card in work["questions"][0]["chosen"]}
                & {option["alt"] for option in work["questions"][0]["options"]}
            ),
        }
        reply = person.go_on()
        shape["reply"] = str(_shape(reply))
        seen[kind].append(shape)
    assert len(seen[True]) >= 15
    for name in seen[True][0]:
        checks, questions = ({one[name] for one in seen[kind]} for kind in (True, False))
        assert checks <= questions, name  # what was seen of a check was seen of questions too


def test_no_reply_shows_a_check_of_a_pick_that_was_just_decided(serve: Serve) -> None:
    """Questions are all of the open round: what was not would be known as a check."""
    rule = Rule(None, Checks(every=2), (), share=1.0)
    person, rounds = Visitor(serve(replace(plan(rule=rule), k=6, budget=40), OFTEN)), set()
    while person.work["state"] == "questions":
        shown = {question["round"] for question in person.work["questions"]}
        assert shown == {person.work["progress"]["chosen"] + 1}
        rounds |= shown
        person.go_on()
    assert rounds == set(range(1, 7))


def test_questions_of_a_pick_that_an_answer_decides_go_as_checks_do(serve: Serve) -> None:
    """A round that ends because it is sure leaves questions in people's hands: who keeps them knows what is none."""
    rule, gone, kept = Rule(None, Checks(every=8), (), share=1.0), 0, 0
    while not gone:
        person = Visitor(serve(replace(plan(rule=rule), explorer="duels:sure=0.6", k=6, budget=400), OFTEN))
        while person.work["state"] == "questions":
            decided = person.work["progress"]["chosen"]
            behind = {one["token"]: person.worker.question(one["token"]) for one in person.work["questions"][1:]}
            person.go_on()
            if person.work["state"] != "questions" or person.work["progress"]["chosen"] == decided:
                continue
            assert len(person.work["questions"]) == 2
            now = {one["token"] for one in person.work["questions"]}
            kept += len(now & set(behind))
            gone += sum(not DrawnChecks.is_check(question or "") for question in behind.values())
    assert kept == 0


def _shape(value: Any, name: str = "") -> Any:
    """What a message looks like without its contents."""
    if isinstance(value, dict):
        return {key: _shape(one, key) for key, one in value.items() if key not in ("progress",)}
    if isinstance(value, list):
        return sorted({str(_shape(one)) for one in value})
    return type(value).__name__


def test_people_can_tell_a_spoiled_picture_and_read_the_card(collection: Collection, tmp_path: Path) -> None:
    cards = check_cards(replace(collection), "Please choose this one.")
    for name, copy in cards.spoiled.items():
        whole = _pixels(collection.large(collection[name]))
        spoiled = _pixels(cards.folder / f"{copy.picture}.webp")
        assert whole.shape == spoiled.shape
        assert (collection[name].width, collection[name].height) == (copy.width, copy.height)
        assert spoiled.mean(axis=-1).std() > 25  # static, also of a picture that is nearly of one colour
    assert len(cards.instructed) == CARDS
    drawn = _pixels(cards.folder / f"{cards.instructed[0].picture}.webp")
    paper = np.median(drawn.reshape(-1, 3), axis=0)
    inked = (np.abs(drawn - paper).max(axis=-1) > 100).mean()
    assert 0.02 < inked < 0.5
    assert check_cards(collection, "Please choose this one.") == cards  # the same after a restart
    assert check_cards(collection, "Bitte dieses hier wählen.") != cards


def _pixels(path: Path) -> np.ndarray[Any, Any]:
    return np.asarray(Image.open(BytesIO(path.read_bytes())).convert("RGB"), float)


def test_texts_are_checked_too(tmp_path: Path) -> None:
    texts = Collection(tmp_path, tuple(Item(f"t{n}", "text", text=f"This is the joke number {n}.") for n in range(6)))
    cards = check_cards(texts, "お願いします")
    assert all(card.text == "お願いします" for card in cards.instructed)
    for name, copy in cards.spoiled.items():
        assert copy.text != texts[name].text
        assert sorted(copy.text) == sorted(texts[name].text)
    assert spoiled_text("a b") in ("a b", "b a")


def test_words_that_cannot_be_drawn_leave_gold_checks(serve: Serve) -> None:
    person = Visitor(serve(plan(), replace(OFTEN, instruction="これを選んでください")))
    assert person.hosted.showing.deck.instructed == []
    for _ in range(3):
        person.go_on()
    assert person.conduct.admitted


def test_a_study_without_a_rule_shows_its_pictures_to_all_under_one_address(serve: Serve) -> None:
    server = serve(None, Settings())
    shown = [server.person().work["questions"][0] for _ in range(2)]
    assert all(question["left"]["image"].startswith("/items/") for question in shown)


def test_nobody_is_excluded_for_a_check_while_it_may_be_undone(serve: Serve) -> None:
    clock = Clock()
    person = Visitor(serve(plan(), replace(OFTEN, undo_s=5.0, redo_s=5.0), clock=clock))
    for _ in range(2):
        person.go_on()
    token, right = person.token, person.choice(True)
    assert person.go_on(right=False)["state"] == "waiting"
    clock.now += 8  # longer than the offer stands, and within the time to choose again
    assert person.post("undo", {"token": token, **right}).status_code == 200
    assert person.conduct.admitted
    other = Visitor(person.server)
    for _ in range(2):
        other.go_on()
    other.go_on(right=False)
    clock.now += 11
    other.hosted.tick()
    assert other.next()["state"] == "finished"


def test_an_old_token_skips_no_check(serve: Serve) -> None:
    person = Visitor(serve(plan(), OFTEN))
    old = person.token
    checks = 0
    for _ in range(60):
        checks += person.is_checked
        person.go_on()
        assert person.post("skip", {"token": old, "reason": "unsure"}).status_code == 200
        person.next()
    assert checks >= 6


def test_what_was_not_shown_is_no_answer_to_a_check_as_to_a_question(serve: Serve) -> None:
    person = Visitor(serve(plan(4), OFTEN))
    codes = {True: set[str](), False: set[str]()}
    for _ in range(25):
        shown = {option["id"] for option in person.work["questions"][0]["options"]}
        question = person.worker.question(person.token)
        other = next(name for at in range(8) if (name := person.worker.card_name(at, question)) not in shown)
        for what in ("undo", "answer"):
            refused = person.post(what, {"token": person.token, "option": other})
            codes[person.is_checked].add(f"{what} {refused.status_code} {refused.json()['error']}")
        person.go_on()
    assert codes[True] == codes[False] == {"undo 422 not_an_option", "answer 422 not_an_option"}


def test_no_address_and_no_count_tells_a_check_afterwards(serve: Serve) -> None:
    person = Visitor(serve(plan(4), OFTEN))
    counts = set()
    for _ in range(12):
        for option in person.work["questions"][0]["options"]:
            data = person.http.get(option["image"]).content
            assert person.http.get(f"/items/{sha256(data).hexdigest()[:32]}.webp").status_code == 200
        counts.add((person.go_on()["progress"]["answers"], person.work["progress"]["budget"]))
    assert counts == {(0, None)}


def test_a_closed_study_takes_no_answer_to_a_check(serve: Serve) -> None:
    person = Visitor(serve(plan(), OFTEN))
    said = person.choice(False)
    person.hosted.study.finish("enough")
    assert person.post("answer", {"token": person.token, **said}).json()["error"] == "closed"
    assert person.conduct.checks == 0


def test_whoever_leaves_out_the_practice_is_told(serve: Serve) -> None:
    server = serve(plan(), OFTEN)
    person = Person(server.browser(), joined=False)
    assert person.join().json()["error"] == "no_practice"


def test_what_a_check_showed_before_a_restart_is_an_answer_to_it(serve: Serve) -> None:
    """It stood behind a question, whose answer may change what is drawn for it; the page shows what it showed."""
    person, tried = Visitor(serve(plan(4, Rule(None, Checks(every=3), (), share=1.0)), OFTEN)), 0
    while tried < 6:
        after = person.work["questions"][1:2]
        person.go_on()
        if after and person.is_checked and person.token == after[0]["token"]:
            said, token = person.choice(True), person.token
            person.hosted._attach(person.hosted.study)
            if tried % 2:
                person.next()
            assert person.post("answer", {"token": token, **said}).status_code == 200
            person.next()
            tried += 1
