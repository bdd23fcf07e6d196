"""A classifier over all that a client is sent, but pictures and the words of items, tells no check from a question.

The words of items are left out: a study asks about some items more often than about others, and how often somebody has
seen an item's words before still says a little. So is the time until a reply comes.

It is taught with the truth about some people's questions, and tried on those of others: first by every feature alone,
then by all of them in a linear model. A leak that is planted is found.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from handful.crowd import checks, tokens
from handful.crowd.registry import StudyPlan
from handful.crowd.session import BACK_WITHIN_S
from handful.problem import Floats
from handful.rules import Admission, Checks, Rule
from tests.crowd.clients import PATIENCE_S, Started
from tests.crowd.test_drawn_checks import Visitor
from tests.crowd.test_people import OFTEN
from tests.crowd.test_worker_routes import Clock

Serve = Callable[..., Started]
Features = dict[str, float]

RULE = Rule(Admission(2, 3, 3), Checks(every=4), (), share=1.0)
PEOPLE, QUESTIONS = 6, 45
NOT_LOOKED_AT = {"content-length", "date"}
"""The length of a picture is told by its bytes, which are no secret; the date is that of the reply."""


def flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a message with their places in it."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key not in ("alt", "caption"):
                yield from flat(one, f"{name}.{key}")
    elif isinstance(value, list):
        yield f"{name} how many", len(value)
        for at, one in enumerate(value):
            yield from flat(one, f"{name}[{at}]")
    else:
        yield name, value


def numbers_of(name: str, value: Any, before: dict[str, int]) -> Iterator[tuple[str, float]]:
    """What a classifier may look at in one leaf: what it is, how long, of which letters, and whether it is new."""
    yield f"{name} is {type(value).__name__}", 1.0
    if isinstance(value, bool | int | float):
        yield f"{name} value", float(value)
    elif isinstance(value, str):
        yield f"{name} length", float(len(value))
        last = value.rsplit("/", 1)[-1]
        for at, letter in enumerate(last[:12]):
            yield f"{name} letter {at}", float(ord(letter))
        yield f"{name} seen before", float(before.get(value, 0))
        before[value] = before.get(value, 0) + 1


def visit(server: Started) -> list[tuple[bool, Features]]:
    """What one person is sent with each question after admission, and whether it is a check."""
    person = Visitor(server)
    for _ in range(3):
        person.go_on()
    before: dict[str, int] = {}
    found = []
    for number in range(QUESTIONS):
        if person.work["state"] != "questions":
            break
        features: Features = {"number": float(number)}
        for period in range(2, 12):
            features |= {
                f"number {f.__name__} {period}": float(f(2 * np.pi * number / period)) for f in (np.sin, np.cos)
            }
        shown = person.work["questions"][0]
        told = {**person.work, "questions": len(person.work["questions"])}
        for where, value in flat({"shown": shown, "work": told}):
            features |= dict(numbers_of(where, value, before))
        for at, option in enumerate(shown["options"]):
            reply = person.http.get(option["image"])
            for header, value in reply.headers.items():
                if header not in NOT_LOOKED_AT:
                    features |= dict(numbers_of(f"picture {at} {header}", value, before))
        is_check, said = person.is_checked, {"token": person.token, **person.choice(right=True)}
        response = person.post("answer", said)
        assert response.status_code == 200, response.text
        reply_to = person.work = response.json()
        for where, value in flat(reply_to["answer"]):
            features |= dict(numbers_of(f"reply{where}", value, {}))
        found.append((is_check, features))
    return found


def auc(score: Floats, labels: np.ndarray[Any, Any]) -> float:
    """How often a check has the higher score, of a check and a question; a draw counts half."""
    _, at, same = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(same) - (same - 1) / 2)[at]
    checks = int(labels.sum())
    return float((ranks[labels].sum() - checks * (checks + 1) / 2) / (checks * (len(labels) - checks)))


def told(people: list[list[tuple[bool, Features]]], letters: bool = True) -> tuple[dict[str, float], float, float]:
    """What each feature alone and all together tell of people who were not learned from, and the chance deviation.

    Without the letters of ids there are fewer features, and what is left of them is found sooner.
    """
    all_names = {name for one in people for _, features in one for name in features}
    names = sorted(name for name in all_names if letters or "letter" not in name)
    x = [np.array([[features.get(name, -1.0) for name in names] for _, features in one]) for one in people]
    y = [np.array([is_check for is_check, _ in one]) for one in people]
    labels = np.concatenate(y)
    deviation = float(np.sqrt((1 / labels.sum() + 1 / (~labels).sum()) / 12))
    alone = np.zeros((len(names), len(labels)))
    together = np.zeros(len(labels))
    at = 0
    for out, (mine, _) in enumerate(zip(x, y, strict=True)):
        others = np.concatenate([one for person, one in enumerate(x) if person != out])
        truth = np.concatenate([one for person, one in enumerate(y) if person != out])
        here = slice(at, at + len(mine))
        at += len(mine)
        scale = others.std(axis=0) + 1e-9
        standard, seen = (others - others.mean(axis=0)) / scale, (mine - others.mean(axis=0)) / scale
        slope = np.sign(np.array([auc(column, truth) - 0.5 for column in others.T]))
        alone[:, here] = (slope * seen).T
        ridge = standard.T @ standard + 30.0 * np.eye(len(names))
        together[here] = seen @ np.linalg.solve(ridge, standard.T @ (truth - truth.mean()))
    by_name = {name: auc(score, labels) for name, score in zip(names, alone, strict=True)}
    return by_name, auc(together, labels), deviation


def asked_of(serve: Serve) -> tuple[list[tuple[float, str]], float, float]:
    """The features that tell most, what they tell together, and the deviation that chance has."""
    server = serve(StudyPlan(k=2, explorer="duels", budget=4000, in_flight=20, options=4, rule=RULE), OFTEN)
    people = [visit(server) for _ in range(PEOPLE)]
    alone, together, deviation = told(people)
    assert len(alone) > 500
    together = max(together, told(people, letters=False)[1])
    return sorted(((tells, name) for name, tells in alone.items()), reverse=True)[:10], together, deviation


def is_told(alone: list[tuple[float, str]], together: float, deviation: float) -> bool:
    """Whether that is more than chance: of hundreds of features, one or the other deviates by more than three."""
    return alone[0][0] > 0.5 + 4.5 * deviation or together > 0.5 + 4.5 * deviation


def test_a_classifier_without_pictures_and_words_tells_checks_no_better_than_chance(serve: Serve) -> None:
    found = asked_of(serve)
    if is_told(*found):  # by chance once in some hundred times, with so many features: a leak tells twice
        found = asked_of(serve)
    assert not is_told(*found), found


def addresses_for_each_person(environment: pytest.MonkeyPatch) -> None:
    """What a check shows is then seen less often than what questions show."""
    environment.setattr(tokens, "_shown_in", lambda question: bytes(tokens.NUMBER_BYTES))


def every_fifth(environment: pytest.MonkeyPatch) -> None:
    environment.setattr(checks, "_gap", lambda worker, number, checks: checks.every)


def a_field_now_and_then(environment: pytest.MonkeyPatch) -> None:
    shown = checks.DrawnChecks.shown

    def otherwise(self: checks.DrawnChecks, worker: tokens.Worker, question: str) -> Any:
        message = shown(self, worker, question)
        return message.model_copy(update={"round": message.round + (int(question[1:]) % 2)})

    environment.setattr(checks.DrawnChecks, "shown", otherwise)


LEAKS = [
    every_fifth,
    *(pytest.param(leak, marks=pytest.mark.slow) for leak in (addresses_for_each_person, a_field_now_and_then)),
]


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_found(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, leak: Callable[[pytest.MonkeyPatch], None]
) -> None:
    leak(monkeypatch)
    found = asked_of(serve)
    assert is_told(*found), found


# What is held and left

HELD = Rule(None, Checks(every=3), (), share=1.0)
LEASE_S = 100.0
TURNS = 45
Fate = tuple[int | None, ...]


class Held:
    """Somebody with questions and checks in hand, and somebody else who goes on answering."""

    def __init__(self, serve: Serve, in_flight: int = 100, budget: int = 4000) -> None:
        self.clock = Clock()
        plan = StudyPlan(
            k=2, explorer="duels", budget=budget, in_flight=in_flight, lease_s=LEASE_S, options=4, rule=HELD
        )
        server = serve(plan, OFTEN, clock=self.clock)
        self.person, self.other = Visitor(server), Visitor(server)
        self.hosted = self.person.hosted

    @property
    def tokens(self) -> list[str]:
        return [shown["token"] for shown in self.person.work["questions"]]

    @property
    def kinds(self) -> list[bool]:
        """Of what is held, whether it is a check."""
        questions = [self.person.worker.question(token) for token in self.tokens]
        return [checks.DrawnChecks.is_check(question or "") for question in questions]

    def somebody_asks(self, times: int = 2) -> None:
        """Leases that have run out end."""
        for _ in range(times):
            self.other.go_on()

    def leave(self, passed_on: bool = True) -> None:
        """The page is closed, and what it held goes to others."""
        self.hosted.page_opened(self.person.worker)
        self.hosted.page_closed(self.person.worker)
        self.clock.now += BACK_WITHIN_S + 0.1
        self.hosted.tick()
        until = time.monotonic() + PATIENCE_S
        while self.hosted.study.state.leases.held_by(
            self.person.worker.id
        ):  # the server's own tick was a little faster
            assert time.monotonic() < until, "what somebody held who left is not passed on"
            time.sleep(0.01)
        self.somebody_asks(6 if passed_on else 0)

    def take_what_waits(self) -> None:
        """Others, who have compared nothing yet, take all that was let go: what is let go next is the first in line."""
        while self.hosted.study.state.leases.any_waiting:
            Visitor(self.person.server).go_on()

    def outstay(self) -> None:
        """The lease of all that is held ends."""
        self.clock.now += LEASE_S + 1
        self.somebody_asks()

    def age(self) -> None:
        """One answer later the second that is held was shown half a lease after the first."""
        self.clock.now += LEASE_S / 2
        self.person.go_on()

    def outstay_the_first(self) -> None:
        """The lease of what is held longest ends."""
        self.clock.now += LEASE_S / 2 + 1
        self.somebody_asks()

    def outstay_alone(self) -> None:
        """The lease of all that is held ends, and nobody asks for anything."""
        self.clock.now += LEASE_S + 1


def fates(held: Held, happens: Callable[[Held], None]) -> dict[bool, Counter[tuple[int, Fate]]]:
    """Of checks and of questions: where each stood, and where all that was held stands after it happened."""
    found: dict[bool, Counter[tuple[int, Fate]]] = {True: Counter(), False: Counter()}
    for _ in range(TURNS):
        held.person.next()
        if happens == Held.outstay_the_first:
            held.age()
        before, kinds = held.tokens, held.kinds
        happens(held)
        held.person.next()
        now = held.tokens
        fate = tuple(now.index(token) if token in now else None for token in before)
        for at, kind in enumerate(kinds):
            found[kind][at, (*fate, len(now))] += 1
        held.person.go_on()
    return found


HAPPENINGS: list[tuple[Callable[[Held], None], Fate]] = [
    (Held.leave, (None, None, 2)),
    (Held.outstay, (None, None, 2)),
    (Held.outstay_the_first, (None, 0, 2)),
    (Held.outstay_alone, (0, 1, 2)),
]


@pytest.mark.parametrize(("happens", "fate"), HAPPENINGS)
def test_a_check_that_is_held_and_left_goes_where_a_question_goes(
    serve: Serve, happens: Callable[[Held], None], fate: Fate
) -> None:
    found = fates(Held(serve), happens)
    assert found[True].keys() == found[False].keys() == {(0, fate), (1, fate)}, found
    assert min(found[True].values()) >= 3


def test_a_decided_pick_lets_go_of_checks_as_of_questions(serve: Serve) -> None:
    held = Held(serve, budget=60)
    while not held.kinds[0]:
        held.person.go_on()
    before, round_ = held.tokens, held.hosted.study.state.exploration.round
    while held.other.work["state"] == "questions" and held.hosted.study.state.exploration.round == round_:
        held.other.go_on()
    if held.hosted.study.state.exploration.round == round_:  # what is left to ask is in hand, behind the check
        answer = {"token": before[1], "option": held.person.work["questions"][1]["options"][0]["id"]}
        assert held.person.post("answer", answer).status_code == 200
    held.person.next()
    assert any(held.kinds)
    assert not set(before) & set(held.tokens)
    assert {shown["round"] for shown in held.person.work["questions"]} == {round_ + 1}


def test_a_check_shows_the_same_while_it_is_held(serve: Serve) -> None:
    held, seen, moved = Held(serve), dict[str, Any](), 0
    for _ in range(TURNS):
        for shown, is_check in zip(held.person.work["questions"], held.kinds, strict=True):
            assert seen.setdefault(shown["token"], shown) == shown
            moved += is_check
        held.other.go_on()
        held.person.go_on()
    assert moved >= 10


def test_a_late_answer_to_a_check_is_taken_as_one_to_a_question(serve: Serve) -> None:
    """What is let go is answered by others before its first holder says something; else the first holder is heard."""
    held = Held(serve, in_flight=1000)
    replies: dict[bool, set[tuple[bool, bool]]] = {True: set(), False: set()}
    for turn in range(TURNS):
        held.person.next()
        held.take_what_waits()
        kind, said = held.kinds[0], {"token": held.person.token, **held.person.choice(right=True)}
        held.leave(passed_on=False)
        if turn % 2:
            others = Visitor(held.person.server)  # they have compared nothing yet: what was let go is for them
            for _ in range(4):
                others.go_on()
        held.person.next()
        in_hand = held.tokens
        reply = held.person.post("answer", said)
        assert reply.status_code == 200, reply.text
        held.person.work = reply.json()
        assert held.person.work["answer"]["repeated"] == bool(turn % 2), (turn, kind)
        replies[kind].add((held.person.work["answer"]["repeated"], held.tokens == in_hand))
        held.person.go_on()
        held.somebody_asks(4)
    assert replies[True] == replies[False] == {(True, True), (False, True)}


def test_leaving_gets_rid_of_no_check(serve: Serve) -> None:
    held = Held(serve)
    while not held.kinds[0]:
        held.person.go_on()
    checks, conduct = {held.tokens[0]}, held.person.conduct
    answered = conduct.checks
    for turn in range(5):
        held.leave()
        if turn == 2:
            held.hosted._attach(held.hosted.study)  # as after a restart
        held.person.next()
        assert held.kinds[0]
        checks.add(held.tokens[0])
    assert len(checks) >= 5
    assert (held.person.conduct.checks, held.person.conduct.right) == (answered, answered)
    assert sum(event.kind == "skipped" for _, event in held.hosted.study.journal()) == 0
    held.person.go_on()
    assert held.person.conduct.checks == answered + 1
