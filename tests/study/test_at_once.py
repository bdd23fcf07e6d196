"""A thread that must not block writes at once, and is told by a ticket when that is durable; others wait as ever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.errors import StorageError


@pytest.fixture
def study(tmp_path: Path) -> Study[int]:
    return Study(
        range(6), 2, feedback=Preferences(), explorer="topx", budget=40, in_flight=6, storage=tmp_path / "s.db"
    )


def held_up(study: Study[int], monkeypatch: pytest.MonkeyPatch, fails: bool = False) -> threading.Event:
    """Let no commit of the study end before the event is set."""
    committer = study._writer.journal._committer  # type: ignore[attr-defined]
    commit: Callable[[object], None] = committer._commit
    go = threading.Event()

    def waiting(records: object) -> None:
        go.wait(20)
        if fails:
            raise StorageError("the disk is full")
        commit(records)

    monkeypatch.setattr(committer, "_commit", waiting)
    return go


def test_nothing_in_the_block_waits_and_everything_else_does(
    study: Study[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = study.ask(2, "a")
    go = held_up(study, monkeypatch)
    with study.at_once() as done:
        study.tell(first.id, True, "a")
    assert done is not None
    assert done.ticket is not None
    assert not done.ticket.done
    told = threading.Event()
    other = threading.Thread(target=lambda: (study.tell(second.id, True, "a"), told.set()))
    other.start()
    assert not told.wait(0.3)  # it is acknowledged only once it is durable
    called = threading.Event()
    done.ticket.when_done(called.set)  # type: ignore[attr-defined]
    assert not called.is_set()
    go.set()
    other.join()
    study.confirm(done.ticket)
    assert called.wait(20)
    assert study.status().answers == 2
    study.close()


def test_a_block_that_could_not_be_stored_is_told_by_its_ticket(
    study: Study[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (question,) = study.ask(1, "a")
    held_up(study, monkeypatch, fails=True).set()
    with study.at_once() as done:
        study.tell(question.id, True, "a")
    assert done is not None
    assert done.ticket is not None
    with pytest.raises(StorageError, match="full"):
        study.confirm(done.ticket)
    with pytest.raises(StorageError, match="open it again"):
        study.ask(1, "a")
    with pytest.raises(StorageError, match="full"):
        study.close()


def test_while_another_thread_is_at_the_study_there_is_no_block(study: Study[int]) -> None:
    taken, go = threading.Event(), threading.Event()

    def hold() -> None:
        with study._writer.lock:
            taken.set()
            go.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    taken.wait()
    with study.at_once() as done:
        assert done is None
    go.set()
    other.join()
    with study.at_once() as done:
        assert done is not None
    study.close()
