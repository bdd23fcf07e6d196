"""A person has themselves forgotten by their own code, and everybody is forgotten when the retention is over."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from handful import Preferences
from handful.crowd.collection import Collection
from handful.crowd.people import DAY_S, People, keep_for, kept_for, retire
from handful.crowd.people import Person as KnownPerson
from handful.crowd.registry import Registry, open_registry
from handful.crowd.settings import Settings
from handful.study import Study
from tests.crowd.clients import STUDY, Person, Started
from tests.crowd.test_people import OFTEN, plan

Serve = Callable[..., Started]
HERE = f"/api/s/{STUDY}"


def code_of(person: Person) -> str:
    told = person.http.get(f"{HERE}/me")
    assert told.status_code == 200, told.text
    return str(told.json()["code"])


def test_somebody_is_forgotten_by_their_code_and_their_answers_stay(serve: Serve, tmp_path: Path) -> None:
    server = serve(plan(), OFTEN, storage=tmp_path / "s.db")
    person, other = server.person(), server.person()
    person.answer()
    other.answer()
    code = code_of(person)
    assert code != code_of(other)
    (link,) = [known.link for known in server.registry.studies[STUDY].people.all()][:1]
    assert link is not None
    elsewhere = server.browser()  # another device
    assert elsewhere.get(f"{HERE}/me").status_code == 401
    gone = elsewhere.post(f"{HERE}/forget", json={"code": code.upper().replace("-", " ")})
    assert (gone.status_code, gone.json()) == (200, {"done": True})
    hosted = server.registry.studies[STUDY]
    assert len(hosted.people) == 1
    assert hosted.study.state.answers == 2
    assert person.http.get(f"{HERE}/next").status_code == 401, "whoever is forgotten is a stranger"
    assert link not in (tmp_path / "s.db").read_bytes()


def test_withdrawing_takes_the_answers_out_of_the_open_round(serve: Serve, tmp_path: Path) -> None:
    server = serve(plan(), OFTEN, storage=tmp_path / "s.db")
    person = server.person()
    person.answer()
    (name,) = server.registry.studies[STUDY].study.state.workers.names
    code = code_of(person)
    gone = person.post("forget", {"code": code, "withdraw": True})
    assert gone.json() == {"done": True}
    assert "handful" not in person.http.cookies
    hosted = server.registry.studies[STUDY]
    assert hosted.study.state.workers.excludes(name)
    assert hosted.study.state.workers.withdrew == 1
    assert person.post("forget", {"code": code, "withdraw": True}).status_code == 200, "doing it again changes nothing"


def test_a_code_that_is_nobodys_forgets_nobody(serve: Serve) -> None:
    server = serve(plan(), OFTEN)
    person = server.person()
    person.answer()
    (name,) = server.registry.studies[STUDY].study.state.workers.names
    for wrong in ("x", name, "aaaa-bbbb-cccc-dddd", code_of(person)[:-1]):
        refused = server.browser().post(f"{HERE}/forget", json={"code": wrong, "withdraw": True})
        assert (refused.status_code, refused.json()["error"]) == (422, "no_such_code")
    assert person.next()["progress"]["answered"] == 1


def test_everybody_is_forgotten_when_the_retention_is_over_and_no_sooner(serve: Serve, tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    server = serve(plan(), Settings(undo_s=0, redo_s=0, retention_days=30), storage=storage)
    server.person().answer()
    organizer = server.organizer()
    told = organizer.post(f"/api/organize/{STUDY}/words", json={"retention_days": 10}).json()
    assert told["retention_days"] == 10
    assert server.browser().get(HERE).json()["retention_days"] == 10
    hosted = server.registry.studies[STUDY]
    answers = hosted.study.state.answers
    assert retire(storage, 1e12) == [], "an open study keeps its people"
    hosted.people.closed(1_000.0)
    assert retire(storage, 1_000.0 + 10 * DAY_S - 1) == []
    assert len(People(STUDY, storage)) == 1
    keep_for(storage, STUDY, 20)
    assert retire(storage, 1_000.0 + 10 * DAY_S) == [], "the organizer has kept it for longer"
    assert retire(storage, 1_000.0 + 20 * DAY_S) == [STUDY]
    assert len(People(STUDY, storage)) == 0
    assert hosted.people.look_again()
    assert hosted.study.state.answers == answers


def closed_study(storage: Path, closed: float) -> None:
    Study(["a", "b", "c"], 1, feedback=Preferences(), budget=10, storage=storage, name="s").close()
    people = People("s", storage)
    people.add(KnownPerson("w1", b"a link of theirs"))
    people.closed(closed)


def test_a_study_of_which_nobody_said_anything_keeps_its_people(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    closed_study(storage, 0.0)
    assert retire(storage, 1e12) == []
    assert len(People("s", storage)) == 1


def test_a_study_closed_before_anything_was_said_keeps_its_people_ninety_days_from_then(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    closed_study(storage, 0.0)
    assert kept_for(storage, "s", 100 * DAY_S) == 190
    assert kept_for(storage, "s", 150 * DAY_S) == 190, "what was said stands"
    assert retire(storage, 190 * DAY_S - 1) == []
    assert retire(storage, 190 * DAY_S) == ["s"]
    assert len(People("s", storage)) == 0
    assert b"of theirs" not in storage.read_bytes()


def test_all_studies_are_kept_for_as_long_as_was_said_whichever_is_opened_first(
    collection: Collection, tmp_path: Path
) -> None:
    storage, themes = tmp_path / "s.db", ("Boats", "Bridges")
    now = 1_000.0

    def opened(days: int | None) -> Registry:
        return open_registry(storage, collection, themes, plan(), Settings(retention_days=days), clock=lambda: now)

    def known() -> list[int]:
        return [len(People(name, storage)) for name in ("boats", "bridges")]

    with closing(opened(None)) as registry:
        for hosted in registry.studies.values():
            hosted.people.add(KnownPerson("w1", b"a link of theirs"))
            hosted.study.finish()
            hosted.people.closed(now)
    now += 100 * DAY_S
    with closing(opened(3650)) as registry:
        assert known() == [1, 1]
    with closing(opened(None)) as registry:
        assert [hosted.retention_days for hosted in registry.studies.values()] == [3650, 3650]
        assert known() == [1, 1], "what was said before stands"
    with closing(opened(30)) as registry:
        assert known() == [0, 0]
        assert [len(hosted.people) for hosted in registry.studies.values()] == [0, 0]


DYING = """
import os, signal, sys
from handful.crowd import people

storage, moment = sys.argv[1:]
die = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
known = people.People("s", storage)
setattr(people, {"within the transaction": "_count_change", "before the traces are wiped": "_wipe"}[moment], die)
known.forget("w1")
"""


@pytest.mark.parametrize(("moment", "left"), [("within the transaction", 1), ("before the traces are wiped", 0)])
def test_dying_while_somebody_is_forgotten_leaves_them_whole_or_gone(tmp_path: Path, moment: str, left: int) -> None:
    storage = tmp_path / "s.db"
    Study(["a", "b", "c"], 1, feedback=Preferences(), budget=10, storage=storage, name="s").close()
    People("s", storage).add(KnownPerson("w1", b"a link of theirs"))
    died = subprocess.run([sys.executable, "-c", DYING, str(storage), moment], check=False)
    assert died.returncode == -signal.SIGKILL
    again = People("s", storage)
    assert len(again) == left
    again.forget("w1")
    assert len(People("s", storage)) == 0
    with Study.open(storage, "s") as study:
        assert study.finished is None
