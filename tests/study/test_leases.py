"""One clock of leases: the study's."""

from __future__ import annotations

from handful.state import Leases


def test_an_overdue_question_is_held_until_its_lease_is_ended() -> None:
    leases = Leases()
    leases.grant(0, "ann", 60.0)
    leases.grant(1, "ben", 90.0)
    assert leases.overdue(59.9) == []
    assert leases.overdue(60.0) == leases.overdue(61.0) == [0]
    assert leases.due(61.0) == (0,), "looking at what is overdue ended no lease"
    assert leases.holder(0) == (True, "ann")
    leases.end(0, again=True)
    assert leases.overdue(100.0) == [1]


def test_an_answered_question_and_one_leased_again_are_not_overdue() -> None:
    leases = Leases()
    for question in (0, 1, 2):
        leases.grant(question, "ann", 60.0)
    leases.drop(0)
    leases.end(1, again=True)
    leases.grant(1, "ben", 120.0)
    assert leases.overdue(60.0) == [2]


def test_holders_are_named_once_for_each_question_that_is_not_overdue() -> None:
    leases = Leases()
    for question, expires in enumerate((60.0, 90.0, 90.0)):
        leases.grant(question, "ann" if question < 2 else None, expires)
    assert leases.holders() == ["ann", "ann", None]
    assert leases.holders(now=60.0) == ["ann", None]
