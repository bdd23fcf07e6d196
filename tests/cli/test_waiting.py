"""`--wait` takes over when another process lets go, and only then."""

from __future__ import annotations

import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.cli.crowd import once_free
from handful.crowd.app import listen, port_of
from handful.errors import InvalidProblem, StorageLocked, StudyNotFound


def test_a_study_is_taken_over_once_its_holder_lets_go(tmp_path: Path) -> None:
    first = Study(range(5), 2, feedback=Preferences(), budget=20, storage=tmp_path / "a.db")
    opening = partial(Study.open, tmp_path / "a.db")
    with pytest.raises(StorageLocked, match="elsewhere: stop what serves it there, or add --wait to take over"):
        once_free(opening, False, print)
    said: list[str] = []
    threading.Timer(0.7, first.close).start()
    with once_free(opening, True, said.append) as second:
        assert second.status().answers == 0
    assert len(said) == 1
    assert "waiting, since study 'study'" in said[0]


def test_a_port_is_taken_over_once_its_holder_lets_go() -> None:
    first = listen("127.0.0.1", 0)
    again = partial(listen, "127.0.0.1", port_of(first))
    with pytest.raises(InvalidProblem, match="cannot listen"):
        once_free(again, False, print)
    threading.Timer(0.5, first.close).start()
    with closing(once_free(again, True, lambda _: None)) as second:
        assert second.fileno() >= 0


def test_what_no_waiting_helps_with_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(StudyNotFound):
        once_free(partial(Study.open, tmp_path / "a.db"), True, print)
