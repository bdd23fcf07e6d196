"""Nobody is asked to compare the same two items twice in a round, while anything else can be asked of them.

A question that is handed out again is left to somebody to whom it is new, while they are around.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from handful import Preferences, Study, Values
from handful.events import Excluded
from handful.explorers.board import ALL, FIRST
from handful.export import answer_lines
from handful.oracles import chooses, compares
from handful.questions import ANSWERED, Questions
from handful.responses import btl
from handful.rounds import SeenQuestions
from handful.rules import Door
from handful.state import repeated_questions
from tests.study.worlds import Clock, coverage


def answered_by(study: Study) -> Iterator[tuple[tuple[int, int, int, int], int]]:
    """(worker, round, the two items compared), and the question; of every answer in a closed or open round."""
    questions = study.state.questions
    for q in range(len(questions)):
        if questions.worker[q] < 0:
            continue
        options = questions.options(q)
        named = int(questions.answer[q]) if questions.names_one else options[0]
        for other in options:
            if other != named:
                pair = min(named, other), max(named, other)
                yield (questions.worker[q], questions.round[q], *pair), q


def marked(study: Study) -> set[int]:
    """The questions that are marked as repeats."""
    return set(repeated_questions(study.state).tolist())


def asked_of_a_crowd(options: int, size: int, people: int, budget: int, **more: object) -> Study:
    """People who take turns at random, hold up to two questions each, and sometimes skip one."""
    rng, world = np.random.default_rng(4), coverage(size)
    study: Study = Study(
        range(size), 3, feedback=Preferences(options=options), budget=budget, in_flight=2 * people, **more
    )
    oracle = compares(world, btl(3.0)) if options == 2 else chooses(world, btl(3.0))
    held: dict[str, list[object]] = {f"p{i}": [] for i in range(people)}
    while study.finished is None:
        who = f"p{rng.integers(people)}"
        mine: list[object] = [q for q in held[who] if q.round == study.status().round]  # type: ignore[attr-defined]
        mine += study.ask(2 - len(mine), who) if len(mine) < 2 else []
        if mine:
            question = mine.pop(0)
            if rng.random() < 0.1:
                study.skip(question.id, "unsure", who)  # type: ignore[attr-defined]
            else:
                study.tell(question.id, oracle(question), who)  # type: ignore[attr-defined, arg-type]
        held[who] = mine
    return study


@pytest.mark.parametrize("options", [2, 4])
def test_nobody_compares_the_same_two_twice_in_a_round(options: int) -> None:
    study = asked_of_a_crowd(options, size=60, people=12, budget=240)
    told = Counter(told for told, _ in answered_by(study))
    assert len(told) > 200
    again = [question for compared, question in answered_by(study) if told[compared] > 1]
    # Of four, what was skipped at the end of a round may be a repeat for everybody who is left.
    assert len(again) <= (0 if options == 2 else 0.02 * sum(told.values()))
    assert marked(study) >= {
        max(q for c, q in answered_by(study) if c == compared) for compared in told if told[compared] > 1
    }


def test_without_names_the_same_two_come_again() -> None:
    """What the test above would find if nobody remembered who was asked what."""
    world = coverage(30)
    study: Study = Study(range(30), 1, feedback=Preferences(), budget=240)
    study.run(compares(world, btl(3.0)))
    asked = Counter(tuple(sorted(study.state.questions.options(q))) for q in range(len(study.state.questions)))
    assert max(asked.values()) > 3


@pytest.mark.parametrize("options", [2, 3])
def test_where_nothing_new_is_left_for_a_person_the_repeat_is_asked_and_marked(options: int) -> None:
    study: Study = Study(range(4), 1, feedback=Preferences(options=options), budget=12)
    while study.finished is None:
        (question,) = study.ask(1, "ann")
        study.tell(question.id, min(question.options) if options > 2 else question.item < question.rival, "ann")
    told = Counter(told for told, _ in answered_by(study))
    assert max(told.values()) > 1
    again = {q for told_, q in answered_by(study) if told[told_] > 1}
    assert marked(study) <= again
    assert marked(study)
    lines = list(csv.DictReader(answer_lines(study)))
    assert [int(line["repeat"]) for line in lines] == [int(q in marked(study)) for q in range(12)]
    result = study.result()
    assert result.repeats == result.to_dict()["repeats"] == len(marked(study))
    assert f"{result.repeats} answers compare two items that the same person had compared before" in str(result)
    assert f"{result.repeats} answers compare two items" in result._repr_html_()


@pytest.mark.parametrize("options", [2, 3])
def test_who_is_nobody_in_particular_repeats_nothing_and_nothing_is_said_of_it(options: int) -> None:
    study: Study = Study(range(4), 1, feedback=Preferences(options=options), budget=12)
    study.run((compares if options == 2 else chooses)(coverage(4), btl(3.0)))
    assert study.result().repeats == 0
    assert "compared before" not in str(study.result())
    assert {line["repeat"] for line in csv.DictReader(answer_lines(study))} == {"0"}


def test_where_values_are_told_nothing_is_compared_again_or_marked() -> None:
    study: Study = Study(range(4), 1, feedback=Values(noise=1.0), budget=12)
    study.run(lambda question: float(question.item))
    assert "repeat" not in next(iter(answer_lines(study)))


@pytest.mark.parametrize("options", [2, 4])
def test_repeats_are_found_as_by_looking_at_one_answer_after_the_other(options: int) -> None:
    study = asked_of_a_crowd(options, size=6, people=3, budget=60)
    before, found = set(), set()
    for compared, question in answered_by(study):
        if compared in before:
            found.add(question)
        before.add(compared)
    assert marked(study) == found
    assert 0 < len(found) < 60


@pytest.mark.parametrize(("options", "size"), [(2, 6), (4, 6), (4, 3)])
def test_what_a_person_saw_is_read_off_the_columns_and_not_question_by_question(
    options: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    study: Study = Study(range(size), 1, feedback=Preferences(options=options), budget=60, in_flight=10)
    for n in range(30):
        (question,) = study.ask(1, f"p{n % 2}")
        if n % 7 == 3:
            study.skip(question.id, "unsure", f"p{n % 2}")
        elif n % 7 != 5:
            study.tell(question.id, max(question.options) if options > 2 else True, f"p{n % 2}")
    questions, seen = study.state.questions, study.state.exploration.seen
    expected = []
    for q in seen._shown["p0"]:
        items, answered = questions.options(q), questions.standing[q] == ANSWERED and options > 2
        named = int(questions.answer[q])
        expected.append((FIRST, named, set(items) - {named}) if answered else (ALL, items[0], set(items[1:])))
    assert {kind for kind, *_ in expected} == ({FIRST, ALL} if options > 2 else {ALL})
    with monkeypatch.context() as patched:
        patched.delattr(Questions, "options")
        rows = seen.rows_for("p0")
    assert rows is not None
    assert [(row[0], row[1], set(row[2:].tolist()) - {-1}) for row in rows] == expected
    assert seen.rows_for("somebody else") is None


def new_screen_exists(candidates: set[int], compared: set[tuple[int, int]], options: int) -> bool:
    """Whether so many candidates can be shown of which no two were compared."""
    if options == 0:
        return True
    left = set(candidates)
    for item in sorted(candidates):
        left.discard(item)
        new = {other for other in left if (item, other) not in compared}
        if len(new) >= options - 1 and new_screen_exists(new, compared, options - 1):
            return True
    return False


@pytest.mark.parametrize(("options", "size", "people", "budget"), [(4, 24, 1, 72), (4, 24, 3, 216), (9, 24, 6, 72)])
def test_nobody_compares_two_items_again_while_a_wholly_new_screen_can_be_had(
    options: int, size: int, people: int, budget: int
) -> None:
    rng, oracle = np.random.default_rng(2), chooses(coverage(size), btl(3.0))
    study: Study = Study(range(size), 3, feedback=Preferences(options=options), budget=budget, in_flight=people)
    told: dict[tuple[str, int], set[tuple[int, int]]] = {}
    again = needless = 0
    while study.finished is None:
        who = f"p{rng.integers(people)}"
        (question,) = study.ask(1, who)
        compared = told.setdefault((who, question.round), set())
        if any((a, b) in compared for a in question.options for b in question.options):
            again += 1
            needless += new_screen_exists(set(range(size)) - set(question.chosen), compared, options)
        named = oracle(question)
        study.tell(question.id, named, who)
        compared |= {pair for other in question.options if other != named for pair in ((named, other), (other, named))}
    assert needless <= 0.02 * budget  # one option after the other is looked for, and not every combination
    assert again < 0.6 * budget


def test_whoever_answers_hundreds_of_times_in_a_round_is_not_asked_again_what_they_were_asked_first() -> None:
    study: Study = Study(range(40), 1, feedback=Preferences(), budget=300, seed=1)
    strengths, rng = np.linspace(0, 2, 40), np.random.default_rng(0)
    while study.finished is None:
        (question,) = study.ask(1, "ann")
        away = strengths[question.item] - strengths[question.rival]
        study.tell(question.id, bool(rng.random() < 1 / (1 + np.exp(-away))), "ann")
    assert len({frozenset(study.state.questions.options(q)) for q in range(300)}) == 300


@pytest.mark.parametrize("options", [2, 4])
def test_what_somebody_has_compared_leaves_no_trace_in_the_explorers_state(options: int) -> None:
    study: Study = Study(range(8), 1, feedback=Preferences(options=options), budget=60)
    for _ in range(30):
        (question,) = study.ask(1, "ann")
        assert not study.state.exploration.state.compared.any()
        assert (study.state.exploration.state.seen == -1).all()
        study.tell(question.id, question.options[0] if options > 2 else True, "ann")


def test_a_question_that_waits_is_not_given_to_somebody_who_has_compared_its_items() -> None:
    study: Study = Study(range(3), 1, feedback=Preferences(), budget=60, in_flight=8)
    (first,) = study.ask(1, "ann")
    study.tell(first.id, True, "ann")
    asked = {}
    while frozenset({first.item, first.rival}) not in asked:
        (question,) = study.ask(1, f"person {len(asked)}")
        asked[frozenset({question.item, question.rival})] = question
        if {question.item, question.rival} == {first.item, first.rival}:
            study.skip(question.id, "unsure", f"person {len(asked) - 1}")
    (given,) = study.ask(1, "ann")
    assert {given.item, given.rival} != {first.item, first.rival}
    (given,) = study.ask(1, "bob")
    assert {given.item, given.rival} == {first.item, first.rival}


def the_last_question_waits(clock: Clock, *around: str) -> Study:
    """Both questions there are were about the same two items: Ann has answered one, and Bob has skipped the other."""
    study: Study = Study(range(2), 1, feedback=Preferences(), budget=2, in_flight=2, clock=clock)
    (first,) = study.ask(1, "ann")
    study.tell(first.id, True, "ann")
    (other,) = study.ask(1, "bob")
    for somebody in around:
        assert study.ask(1, somebody) == []
    study.skip(other.id, "unsure", "bob")
    return study


def test_a_question_that_would_repeat_is_left_to_somebody_who_asked_lately() -> None:
    clock = Clock()
    study = the_last_question_waits(clock, "eve")
    assert study.ask(1, "ann") == []
    (question,) = study.ask(1, "eve")
    study.tell(question.id, True, "eve")
    assert not marked(study)


def test_a_question_that_would_repeat_is_asked_once_nobody_else_has_asked_lately() -> None:
    clock = Clock()
    study = the_last_question_waits(clock, "eve")
    clock.now += 59.0
    assert study.ask(1, "ann") == []
    clock.now += 2.0
    (question,) = study.ask(1, "ann")
    study.tell(question.id, True, "ann")
    assert marked(study) == {1}


def test_a_question_that_would_repeat_is_not_left_to_those_who_skipped_it_or_were_excluded() -> None:
    study = the_last_question_waits(Clock())
    assert len(study.ask(1, "ann")) == 1  # Bob has skipped it
    study = the_last_question_waits(Clock(), "eve")
    with study._writer.writing() as now:  # of whom the study knows nothing yet
        study._writer.emit(Excluded("eve", "a robot", False), now)
    assert len(study.ask(1, "ann")) == 1


def test_a_question_that_would_repeat_is_not_left_to_somebody_who_has_gone() -> None:
    study = the_last_question_waits(Clock(), "eve")
    study.let_go("eve")
    assert len(study.ask(1, "ann")) == 1


def test_a_repeat_that_somebody_alone_gives_back_comes_to_them_again() -> None:
    study = the_last_question_waits(Clock())
    (repeat,) = study.ask(1, "ann")
    study.skip(repeat.id, "unsure", "ann")
    assert [question.id for question in study.ask(1, "ann")] == [repeat.id]


def test_a_repeat_is_left_to_nobody_for_longer_than_a_lease_lasts() -> None:
    clock = Clock()
    study: Study = Study(range(2), 1, feedback=Preferences(), budget=2, in_flight=2, lease_s=10, clock=clock)
    for who in ("ann", "bob"):
        (question,) = study.ask(1, who)
        if who == "ann":
            study.tell(question.id, True, who)
    assert study.ask(1, "eve") == []
    study.skip(question.id, "unsure", "bob")
    assert study.ask(1, "ann") == []
    clock.now += 11.0
    assert len(study.ask(1, "ann")) == 1


def test_explorers_that_do_not_look_at_who_asks_leave_nothing_to_others() -> None:
    study: Study = Study(range(2), 1, feedback=Preferences(), explorer="topx", budget=2, in_flight=2, clock=Clock())
    (first,) = study.ask(1, "ann")
    study.tell(first.id, True, "ann")
    (other,) = study.ask(1, "bob")
    assert study.ask(1, "eve") == []
    study.skip(other.id, "unsure", "bob")
    assert len(study.ask(1, "ann")) == 1


def test_of_many_who_are_around_few_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    study: Study = Study(range(2), 1, feedback=Preferences(), budget=500, in_flight=40, door=Door("room"))
    people = [f"p{number}" for number in range(200)]
    for who in people:
        for question in study.ask(1, who):
            study.tell(question.id, True, who)
    for who in people[:40]:
        assert len(study.ask(1, who)) == 1
    looked, look = Counter[str](), SeenQuestions.would_repeat

    def counted(seen: SeenQuestions, question: int, worker: str | None) -> bool:
        looked["all"] += 1
        return look(seen, question, worker)

    monkeypatch.setattr(SeenQuestions, "would_repeat", counted)
    assert study.ask(1, people[-1]) == [], "who holds a question is here"
    assert 40 <= looked["all"] <= 200


@pytest.mark.parametrize("idle", ["holds another", "has no name"])
def test_no_copy_is_kept_for_somebody_who_could_not_have_it(idle: str) -> None:
    clock = Clock()
    study: Study = Study(range(2), 1, feedback=Preferences(), budget=60, in_flight=3, clock=clock, door=Door("room"))
    (first,) = study.ask(1, "ann")
    study.tell(first.id, True, "ann")
    study.ask(1, "bob")
    if idle == "holds another":
        study.ask(2, "eve")
    else:
        study.ask(2, "bob")
    clock.now += 50.0
    assert study.ask(1, "eve" if idle == "holds another" else None) == []
    clock.now += 15.0  # Bob seems gone, and whoever else is around cannot have a copy
    assert len(study.ask(1, "ann")) == 1


def test_a_copy_of_what_is_held_goes_to_whoever_has_compared_it_only_when_its_holder_seems_gone() -> None:
    clock = Clock()
    study: Study = Study(range(2), 1, feedback=Preferences(), budget=60, in_flight=2, clock=clock, door=Door("room"))
    (first,) = study.ask(1, "ann")
    study.tell(first.id, True, "ann")
    study.ask(1, "bob")
    study.ask(1, "eve")
    assert study.ask(1, "ann") == []
    clock.now += 61.0
    (copy,) = study.ask(1, "ann")
    assert {copy.item, copy.rival} == {0, 1}


def test_while_an_answer_may_be_undone_no_two_of_its_options_are_shown_again() -> None:
    """What was named may become another option, and then the others were compared with that one."""
    for seed in range(10):
        study: Study = Study(range(24), 1, feedback=Preferences(options=4), budget=60, in_flight=2, seed=seed)
        last: set[int] = set()
        for _ in range(12):
            (question,) = study.ask(1, "ann")
            assert len(last & set(question.options)) <= 1
            study.tell(question.id, max(question.options), "ann", undo_s=60.0)
            last = set(question.options)


def test_a_question_that_was_proposed_to_one_person_is_not_handed_to_another() -> None:
    study: Study = Study(range(12), 1, feedback=Preferences(options=4), budget=60, in_flight=4)
    exploration = study.state.exploration
    before = [array.copy() for array in exploration.arrays()]
    first = exploration.proposal("ann")
    assert exploration.proposal("ann") == first
    exploration.proposal("bob")
    exploration.options.swap(exploration._proposal, None)
    exploration._proposal = None
    exploration.state.options[:] = -1
    for now, then in zip(exploration.arrays(), before, strict=True):
        assert now.tobytes() == then.tobytes()


@pytest.mark.parametrize("options", [2, 4])
def test_a_journal_read_again_asks_the_same_of_the_same_people(tmp_path: Path, options: int) -> None:
    where = tmp_path / "seen.db"
    clock = Clock()
    with asked_of_a_crowd(options, 20, 6, 90, storage=where, name="seen", clock=clock) as study:
        state = [array.tobytes() for array in study.state.exploration.arrays()]
        chosen = study.result().chosen
    with Study.open(where, "seen", range(20), clock=clock) as again:
        assert [array.tobytes() for array in again.state.exploration.arrays()] == state
        assert again.result().chosen == chosen


def test_a_persons_repeats_count_once_and_the_certificate_says_whom_it_speaks_of() -> None:
    def shown(worker: str | None) -> tuple[int, str]:
        study: Study = Study(range(3), 1, feedback=Preferences(), budget=60)
        while study.finished is None:
            (question,) = study.ask(1, worker)
            study.tell(question.id, question.item < question.rival, worker)
        certificate = study.result().certificate
        return sum(beaten for beaten, _ in certificate.shown), str(certificate)

    by_anybody, said = shown(None)
    assert by_anybody == 2
    assert "speaks of answers" in said
    assert shown("ann")[0] == 0  # one person, however often they say it


def test_a_person_who_answers_thousands_of_questions_is_not_looked_through_each_time() -> None:
    study = Study(range(40), 2, feedback=Values(noise=1.0), epsilon=1e-6, budget=10**6, explorer="topx", seed=1)
    looked = 0

    class Counted(SeenQuestions):
        def _compared(self, question: int) -> list[int]:
            nonlocal looked
            looked += 1
            return super()._compared(question)

    study.state.exploration.seen.__class__ = Counted
    for n in range(300):
        (question,) = study.ask(1, "ann")
        study.tell(question.id, n % 2, "ann")
    assert looked == 0  # a single item compares nothing
