"""Who counts is settled before the first answer, applied by the journal alone, and paid for in the certificate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from handful import Preferences, Study, events, participation
from handful.claims import BY_HAND, answerers, conditions_of
from handful.errors import InvalidAnswer, InvalidProblem
from handful.events import from_record, to_record
from handful.participation import Standstill
from handful.preregistration import done_by_hand
from handful.rules import (
    Admission,
    Checks,
    ChecksBelow,
    Door,
    FasterThan,
    OneSide,
    Rule,
    chance_of_one_side,
    share_allowed,
)
from handful.workers import NOT_VERIFIED, WITHDREW
from tests.study.worlds import Clock, picture

ITEMS = [f"i{n}" for n in range(6)]
ADMISSION = Admission(practice=1, checks=2, right_at_least=2)
OPEN = Rule(None, None, (), 1.0)


def study_with(rule: Rule | None = None, **options: object) -> Study[str]:
    settings = {"budget": 120, "in_flight": 12, "explorer": "duels"} | options
    return Study(ITEMS, 2, feedback=Preferences(), rule=rule, **settings)  # type: ignore[arg-type]


def admit(study: Study[str], worker: str) -> None:
    study.check(worker, "practice", True, 800)
    study.check(worker, "gold", True, 800)
    study.check(worker, "instructed", True, 800)


def kinds(study: Study[str]) -> list[str]:
    return [record.kind for record in study.records()]


def answer(study: Study[str], worker: str, side: str = "left", ms: int = 2000) -> bool:
    """One answer, if the worker gets a question."""
    for question in study.ask(1, worker):
        study.tell(question.id, question.item < question.rival, worker, {"side": side}, duration=ms)
        return True
    return False


def test_nobody_is_asked_anything_that_counts_before_admission() -> None:
    study = study_with(Rule(ADMISSION, None, ()))
    assert study.ask(1, "ann") == []
    admit(study, "ann")
    assert study.state.conducts.of(study.state.workers.number("ann")).admitted
    (question,) = study.ask(1, "ann")
    with pytest.raises(InvalidAnswer, match="worker bob is not admitted yet"):
        study.tell(question.id, True, "bob")
    with pytest.raises(InvalidAnswer, match="say which worker answers"):
        study.tell(question.id, True)
    assert study.state.answers == 0
    study.tell(question.id, True, "ann")
    assert study.state.answers == 1


def test_who_fails_the_checks_is_never_asked_and_that_costs_nothing() -> None:
    study = study_with(Rule(ADMISSION, None, ()))
    study.check("bob", "practice", True)
    study.check("bob", "gold", False)
    assert "excluded" not in kinds(study)
    study.check("bob", "gold", True)
    assert study.state.workers.excludes("bob")
    assert study.ask(1, "bob") == []
    assert (study.state.answers, study.state.budget) == (0, 120)
    assert not study.state.workers.any_excluded_by_hand


def test_practice_alone_may_admit() -> None:
    study = study_with(Rule(Admission(2, 0, 1), None, ()))
    study.check("ann", "practice", False)
    assert study.ask(1, "ann") == []
    study.check("ann", "practice", True)
    assert len(study.ask(1, "ann")) == 1


def test_the_rule_excludes_by_checks_by_haste_and_by_one_side() -> None:
    def out(act: Callable[[Study[str], int], object], times: int, *rules: object) -> int:
        """After how many the worker is out; 0 if never."""
        study = study_with(Rule(None, Checks(), tuple(rules), 1.0))  # type: ignore[arg-type]
        for n in range(times):
            act(study, n)
            if study.state.workers.excludes("bob"):
                return n + 1
        return 0

    assert out(lambda s, n: s.check("bob", "gold", n != 1), 9, ChecksBelow(0.75, 4)) == 0
    assert out(lambda s, n: s.check("bob", "gold", n > 1), 9, ChecksBelow(0.75, 4)) == 4
    assert out(lambda s, n: answer(s, "bob", ms=499), 30, FasterThan(500, 10)) == 10
    assert out(lambda s, n: answer(s, "bob", ms=500), 30, FasterThan(500, 10)) == 0
    assert out(lambda s, n: answer(s, "bob", "left"), 30, OneSide(0.95, 20)) == 20
    assert out(lambda s, n: answer(s, "bob", "right" if n in (3, 8) else "left"), 24, OneSide(0.95, 20)) == 0


def test_checks_and_times_leave_every_estimate_as_it_is() -> None:
    plain, checked = study_with(OPEN), study_with(OPEN)
    for n in range(20):
        answer(plain, "ann")
        answer(checked, "ann", ms=100 * n)
        checked.check("ann", "gold", n % 2 == 0, 5)
    for one, other in zip(plain.state.exploration.arrays(), checked.state.exploration.arrays(), strict=True):
        assert np.array_equal(one, other)
    assert plain.result().chosen == checked.result().chosen


def test_after_a_kill_the_rule_is_applied_to_what_stands_in_the_journal(tmp_path: Path) -> None:
    storage = tmp_path / "study.db"
    with study_with(Rule(ADMISSION, None, ()), storage=storage, clock=Clock()) as study:
        admit(study, "ann")
        known = picture(study.state)
        # As if the process had ended after the check and before what follows from it.
        with study._writing() as now:
            study._writer.emit(events.CheckAnswered("bob", "practice", True), now)
            for _ in range(2):
                study._writer.emit(events.CheckAnswered("bob", "gold", True), now)
                study._writer.emit(events.CheckAnswered("cid", "gold", False), now)
            study._writer.emit(events.CheckAnswered("cid", "practice", True), now)
    assert known
    with Study.open(storage) as again:
        assert again.ask(1, "bob")
        assert again.state.workers.excludes("cid")
        before = kinds(again)
    with Study.open(storage) as again:
        assert kinds(again) == before


def test_one_person_gives_a_share_of_a_round_at_most() -> None:
    study = study_with(Rule(None, None, (), 0.10), budget=400)
    people = [f"w{n}" for n in range(20)]
    for worker in people:
        for _ in range(5):
            study.check(worker, "gold", True)
    limit = study.state.exploration.limit
    given = sum(answer(study, "w0") for _ in range(100))
    assert study.state.exploration.round == 1
    assert given == int(0.10 * limit)
    held = study.ask(3, "w1")
    assert len(held) == 3
    assert answer(study, "w1")
    assert not answer(study, "w0")


def test_who_is_excluded_does_not_make_the_shares_of_others_smaller() -> None:
    study = study_with(Rule(None, None, (), 0.10), budget=20)
    for worker in ("ann", "bob", "cid", "dan", "eve"):
        for _ in range(5):
            study.check(worker, "gold", worker < "d")
    for worker in ("dan", "eve"):
        study.exclude(worker)
    went_on = True
    while went_on and study.state.exploration.round == 1:
        went_on = sum(answer(study, worker) for worker in ("ann", "bob", "cid")) > 0
    assert study.state.exploration.round == 2, "three of five people can end a round of ten answers"


def test_a_cap_that_keeps_everybody_waiting_is_named_after_two_minutes() -> None:
    now = [1000.0]
    study = study_with(Rule(None, None, (), 0.10), budget=400, clock=lambda: now[0])
    for worker in range(20):
        for _ in range(5):
            study.check(f"w{worker}", "gold", True)
    while answer(study, "w0"):
        assert study.standstill.cap(now[0]) is None
    now[0] += 119
    assert not answer(study, "w0")
    assert study.standstill.cap(now[0]) is None
    now[0] += 1
    assert study.standstill.cap(now[0]) == "person"
    assert answer(study, "w1"), "somebody went on"
    assert study.standstill.cap(now[0]) is None
    now[0] += 600
    assert study.standstill.cap(now[0]) is None, "nobody is there who waits"


def test_how_long_nobody_went_on_is_counted_from_the_first_who_could_not() -> None:
    caps = Standstill()
    caps.went_on()
    caps.kept_back("person", 500.0)  # who comes after everybody had left
    assert caps.cap(500.0) is None
    caps.kept_back("person", 600.0)
    assert caps.cap(619.0) is None
    assert caps.cap(620.0) == "person"
    caps.went_on()
    caps.kept_back("person", 630.0)
    assert caps.cap(630.0) is None


def test_somebody_may_be_kept_back_while_another_thread_asks_by_which_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    caps = Standstill()

    class Meanwhile(float):
        def __rsub__(self, now: float) -> float:
            caps.kept_back("network", 10.0)
            return now - float(self)

    monkeypatch.setattr(participation, "LATELY_S", Meanwhile(participation.LATELY_S))
    caps.kept_back("person", 10.0)
    assert caps.cap(140.0) is None
    assert caps._kept_back.keys() == {"person", "network"}, "while it was looked through"


@pytest.mark.parametrize("excluded_before", [False, True])
def test_nobody_can_restore_somebody_who_withdrew(tmp_path: Path, excluded_before: bool) -> None:
    storage = tmp_path / "a.db"
    with study_with(OPEN, storage=storage) as study:
        assert answer(study, "ann")
        if excluded_before:
            study.exclude("ann")
        study.leave("ann")
        before = kinds(study)
        study.leave("ann")
        with pytest.raises(InvalidProblem, match="worker ann withdrew"):
            study.restore("ann")
        assert kinds(study) == before
    with Study.open(storage) as again:
        assert again.state.workers.excludes("ann")
        assert again.state.workers.any_excluded_by_hand is excluded_before, "that voids the claim, as it did"


def test_who_is_alone_has_no_share_to_keep_to() -> None:
    assert share_allowed(0.1, 0) == share_allowed(0.1, 1) == 1.0
    assert share_allowed(0.1, 3) == 0.5
    assert share_allowed(0.1, 100) == 0.1
    study = study_with(Rule(None, None, ()))
    assert sum(answer(study, "w0", ["left", "right"][n % 2]) for n in range(60)) == 60


def test_an_unknown_worker_is_not_excluded() -> None:
    study = study_with()
    with pytest.raises(InvalidProblem, match="there is no worker 'w99' in this study"):
        study.exclude("w99")
    study.ask(1, "holder")
    study.exclude("holder")


def test_excluding_by_hand_says_whom_and_voids_delta() -> None:
    study = study_with(OPEN)
    while not study.finished and answer(study, f"w{study.state.answers % 7}"):
        pass
    study.exclude("w3", "looks odd")
    reasons = study.result().certificate.reasons
    assert BY_HAND in reasons
    assert "excluded by hand: w3" in reasons
    assert study.result().certificate.delta is None


def test_restoring_overrules_the_rule_unless_the_panel_verified_somebody_late(tmp_path: Path) -> None:
    storage = tmp_path / "study.db"
    with study_with(OPEN, storage=storage, clock=Clock()) as study:
        for worker in ("ann", "bob"):
            answer(study, worker)
        study.exclude("ann", NOT_VERIFIED, by_rule=True)
        assert study.state.workers.awaits_verifying("ann")
        study.restore("ann", verified=True)
        assert not study.state.workers.awaits_verifying("ann")
        assert study.state.workers.overruled == []
        assert done_by_hand(study.records()) == []
    with Study.open(storage) as again:
        assert not again.state.workers.any_excluded_by_hand
        again.exclude("ann", "another rule", by_rule=True)
        again.restore("ann")
        assert again.state.workers.overruled == ["ann"]
        again.state.apply(events.Excluded("bob", NOT_VERIFIED), 0.0)  # by hand, whatever its words
        assert "bob" in again.state.workers.by_hand
        assert not again.state.workers.awaits_verifying("bob")


def test_restoring_by_hand_whom_the_panel_has_not_verified_is_said_and_voids_delta(tmp_path: Path) -> None:
    storage = tmp_path / "study.db"
    with study_with(OPEN, storage=storage) as study:
        while not study.finished and answer(study, f"w{study.state.answers % 7}"):
            pass
        study.exclude("w3", NOT_VERIFIED, by_rule=True)
        study.restore("w3")
    with Study.open(storage) as again:
        certificate = again.result().certificate
        assert certificate.delta is None
        assert "restored against the rule: w3" in certificate.reasons
        assert done_by_hand(again.records()) == ["people were restored by hand (1 time)"]
        assert not again.state.workers.excludes("w3")


def test_in_older_journals_who_waited_for_the_panel_and_was_restored_counts_as_verified() -> None:
    older = [events.Excluded("ann", NOT_VERIFIED, True), events.Restored("ann")]
    records = [to_record(event, n, 0.0) for n, event in enumerate(older)]
    assert [(record.version, record.payload) for record in records][1] == (1, '{"w":"ann"}')
    assert done_by_hand(records) == []
    study = study_with(OPEN)
    for record in records:
        study.state.apply(from_record(record), 0.0)
    assert study.state.workers.overruled == []


@pytest.mark.parametrize("reason", [WITHDREW, NOT_VERIFIED])
def test_by_hand_nobody_is_excluded_for_a_reason_that_a_study_gives_itself(reason: str) -> None:
    study = study_with(OPEN)
    assert answer(study, "ann")
    before = kinds(study)
    with pytest.raises(InvalidProblem, match=f"the reason '{reason}' is kept for those who.*: say in other words why"):
        study.exclude("ann", reason)
    assert kinds(study) == before
    study.exclude("ann", f"{reason}, she said")
    assert done_by_hand(study.records()) == ["people were excluded by hand (1 time)"]
    study.restore("ann")


def test_a_journal_in_which_somebody_was_excluded_as_unverified_by_hand_says_so_of_their_restoring_too() -> None:
    """Versions before took any such restoring for the panel's."""
    by_hand = [events.Excluded("ann", NOT_VERIFIED), events.Restored("ann")]
    records = [to_record(event, n, 0.0) for n, event in enumerate(by_hand)]
    assert done_by_hand(records) == [
        "people were excluded by hand (1 time)",
        "people were restored by hand (1 time)",
    ]


def test_the_certificate_names_the_rule_the_door_and_who_is_out() -> None:
    study = study_with(Rule(ADMISSION, None, ()), door=Door("room"))
    for worker in ("ann", "bob", "cid"):
        admit(study, worker)
    study.check("dot", "practice", True)
    study.check("dot", "gold", False)
    study.check("dot", "gold", False)
    while not study.finished:
        if study.state.answers == 30:
            study.leave("cid")
        assert answer(study, ("ann", "bob", "cid")[study.state.answers % 3]) or study.state.answers % 3 == 2 or True
        if study.state.workers.excludes("cid"):
            answer(study, "ann"), answer(study, "bob")
    sentence = study.result().certificate.sentence
    assert f"(rule {study.setup.rule.hash if study.setup.rule else ''})" in sentence
    assert "4 people answered, 1 was excluded by it, 1 withdrew" in sentence
    assert "that people withdraw is assumed not to depend on what they answered" in sentence
    assert "People came from one room" in sentence
    assert not study.state.workers.any_excluded_by_hand


@pytest.mark.parametrize(
    ("excluded", "said"),
    [
        (None, "0 were excluded by it, 1 withdrew"),
        ("by hand", "0 were excluded by it, 1 withdrew"),
        ("by the rule", "1 was excluded by it, 1 withdrew"),
    ],
)
def test_who_is_excluded_and_then_withdraws_is_counted_for_each(
    tmp_path: Path, excluded: str | None, said: str
) -> None:
    with study_with(OPEN, storage=tmp_path / "a.db") as study:
        for worker in ("ann", "bob"):
            assert answer(study, worker)
        if excluded is not None:
            study.exclude("ann", "noise", by_rule=excluded == "by the rule")
        study.leave("ann")
        assert f"2 people answered, {said}" in " ".join(conditions_of(study.state))
    with Study.open(tmp_path / "a.db") as again:
        assert f"2 people answered, {said}" in " ".join(conditions_of(again.state))


def test_without_a_rule_too_withdrawing_is_nobodys_exclusion_and_names_nobody() -> None:
    study = study_with()
    while not study.finished:
        assert answer(study, ("ann", "bob", "cid")[study.state.answers % 3]) or answer(study, "ann")
    before = study.result()
    assert [r.left_out for r in before.rounds] == [0, 0]
    study.leave("cid")
    result = study.result()
    said = str(result.certificate)
    assert "1 person withdrew; that people withdraw is assumed not to depend on what they answered" in said
    assert BY_HAND not in said
    assert "cid" not in said
    assert result.left_out == len(by_worker(study, "cid")) > 0
    assert result.answers_said == f"{result.answers} answers, of which {result.left_out} no longer count"
    for was, now, pick in zip(before.rounds, result.rounds, result.picks, strict=True):
        given = sum(study.state.questions.round[q] == now.round for q in by_worker(study, "cid"))
        assert now.answers == was.answers
        assert now.left_out == given > 0
        assert now.answers_said == f"{now.answers} answers, of which {given} no longer count"
        assert f"{given} answers of its round count no more." in pick.sentences()
    assert done_by_hand(list(study.records())) == []


def by_worker(study: Study[str], worker: str) -> list[int]:
    number = study.state.workers.number(worker)
    return [q for q, who in enumerate(study.state.questions.worker) if who == number]


@pytest.mark.parametrize("withdrawal", ["remove", "keep"])
def test_the_rule_says_whether_answers_leave_with_whoever_withdraws(withdrawal: str) -> None:
    study = study_with(Rule(ADMISSION, None, (), withdrawal=withdrawal))
    admit(study, "ann")
    answer(study, "ann")
    study.leave("ann")
    assert study.state.workers.excludes("ann") == (withdrawal == "remove")
    assert not study.state.workers.any_excluded_by_hand


def test_what_one_side_may_cost_somebody_who_looks_is_computed() -> None:
    assert chance_of_one_side(0.95, 20) == pytest.approx(2 * 21 / 2**20, rel=1e-3)
    assert chance_of_one_side(1.0, 10) == pytest.approx(2 / 2**10, rel=1e-9)
    rng = np.random.default_rng(0)
    left = np.cumsum(rng.integers(0, 2, (200_000, 60), dtype=np.int8), axis=1, dtype=np.int16)
    n = np.arange(1, 61)
    most = np.maximum(left, n - left)
    found = ((most >= np.ceil(0.8 * n - 1e-9)) & (n >= 12)).any(axis=1).mean()
    assert chance_of_one_side(0.8, 12) == pytest.approx(found, rel=0.05)
    assert Rule(exclude_if=()).false_exclusion == 0


def test_what_the_rule_may_do_wrongly_is_taken_from_the_confidence() -> None:
    def certified(rule: Rule) -> Study[str]:
        study = Study(
            ITEMS, 1, feedback=Preferences(beta=1.0), explorer="topx", epsilon=0.9, budget=20_000, rule=rule, delta=0.05
        )
        n = 0
        while not study.finished:
            n += 1
            for q in study.ask(1, f"w{n % 10}"):
                study.tell(q.id, q.item < q.rival, f"w{n % 10}", {"side": ["left", "right"][n // 10 % 2]})
        return study

    free, paid = certified(OPEN), certified(Rule(None, None, (OneSide(0.95, 20),), 1.0))
    assert free.result().certificate.delta == 0.05
    delta = paid.result().certificate.delta
    assert delta == pytest.approx(0.05 + chance_of_one_side(0.95, 20) * answerers(paid.state))
    assert "which leaves" in paid.result().certificate.sentence


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "version 2 is not known"),
        ({"exclude_if": [{"rule": "disagrees"}]}, "not a rule of who counts"),
        ({"exclude_if": [{"rule": "one_side", "share": 0.4, "after": 20}]}, "above one half"),
        ({"admission": {"practice": 2, "checks": 3, "right_at_least": 4}}, "nobody could be admitted"),
        ({"checks": {"every": 1, "kinds": ["gold"]}}, "every 2 questions"),
        ({"checks": {"every": 12, "kinds": ["repeats"]}}, "of the kinds gold and instructed"),
        ({"share_of_round_at_most": 0}, "above 0"),
        ({"withdrawal": "sell"}, "withdrawal"),
        ({"pay": {"everybody_who_finishes": False}}, "everybody who finishes is paid"),
        ({"agreement": 0.5}, "does not know agreement"),
    ],
)
def test_a_rule_that_is_none_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidProblem, match=said):
        Rule.from_dict(Rule().to_dict() | change)


def test_a_rule_survives_the_journal_and_another_one_has_another_hash(tmp_path: Path) -> None:
    rule = Rule(ADMISSION, Checks(7, ("gold",)), (OneSide(0.9, 30),), 0.2, "keep")
    with study_with(rule, door=Door("open", 16, 40), storage=tmp_path / "s.db"):
        pass
    with Study.open(tmp_path / "s.db", read_only=True) as again:
        assert again.setup.rule == rule
        assert again.setup.door == Door("open", 16, 40)
    assert rule.hash != Rule().hash


def test_a_door_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidProblem, match="a door is one of open, room, invitations, panel, got 'window'"):
        Door("window")  # type: ignore[arg-type]
    with pytest.raises(InvalidProblem, match="IPv4 /8 to /32"):
        Door("open", 4)


def test_what_is_held_for_long_is_asked_of_somebody_who_waits_and_both_answers_count() -> None:
    clock = Clock()
    study = study_with(door=Door(), in_flight=3, budget=60, clock=clock)
    for n in range(3):
        clock.now += 1
        assert len(study.ask(1, f"hoarder{n}")) == 1
    (copy,) = study.ask(5, "ann")
    held = study.held_by("hoarder0")[0]
    assert (copy.item, copy.rival, copy.round) == (held.item, held.rival, held.round)
    assert copy.id != held.id
    study.tell(copy.id, True, "ann")
    study.tell(held.id, False, "hoarder0")
    assert study.state.answers == 2
    assert study.state.exploration.counted == 2
    assert study.mismatches.count == 0


def test_held_questions_are_copied_within_the_budget() -> None:
    study = study_with(door=Door(), in_flight=3, budget=60)
    limit = study.state.exploration.limit
    got = sum(bool(study.ask(1, f"w{n}")) for n in range(200))
    assert got == limit
    assert study.state.spent <= 60
    without = study_with(in_flight=3, budget=60)
    assert sum(bool(without.ask(1, f"w{n}")) for n in range(200)) == 3
