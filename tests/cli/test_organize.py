"""`handful organize`: what the page can do, the command line can, with a server or without."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from handful import Preferences, Study, cli
from handful.cli import people as registers_its_commands  # noqa: F401
from handful.crowd.people import DAY_S, People, Person, keep_for, retire
from handful.errors import InvalidProblem, StorageLocked
from handful.rules import Door
from tests.crowd.clients import Started
from tests.crowd.conftest import collection, serve  # noqa: F401

Serve = Callable[..., Started]


def run(*arguments: str) -> str:
    done = CliRunner().invoke(cli.app, ["organize", *arguments], catch_exceptions=True)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def study(tmp_path: Path) -> str:
    """Three workers who have answered twice, two of them from one network, in the first round of two."""
    storage = str(tmp_path / "s.db")
    with Study(
        range(6),
        2,
        feedback=Preferences(),
        explorer="topx",
        budget=40,
        in_flight=6,
        storage=storage,
        name="s",
        door=Door(),
    ) as made:
        for worker in ("w1", "w2", "w3"):
            for question in made.ask(2, worker):
                made.tell(question.id, True, worker)
    people = People("s", storage)
    for number, (name, network) in enumerate([("w1", "here"), ("w2", "here"), ("w3", "there")]):
        people.add(Person(name, link=name.encode(), network=people.tag_of(network), joined=1000.0 + number))
    return storage


def excluded(storage: str) -> set[str]:
    with Study.open(storage, "s", read_only=True) as opened:
        return {opened.state.workers.names[number] for number in opened.state.workers.excluded}


def test_somebody_is_excluded_after_it_was_said_what_that_means(study: str) -> None:
    said = run("exclude", "s", "w1", "-s", study)
    assert "w1 gave 2 answers; 2 of them" in said
    assert "nothing was changed" in said
    assert excluded(study) == set()
    for worker in ("w1", "w2"):
        run("exclude", "s", worker, "--yes", "-s", study)
    assert excluded(study) == {"w1", "w2"}
    assert "count again" in run("restore", "s", "w2", "-s", study)
    assert excluded(study) == {"w1"}
    with pytest.raises(InvalidProblem, match="no worker 'w9'"):
        run("exclude", "s", "w9", "-s", study)


def test_of_a_study_that_is_over_it_is_said_that_its_picks_stand(study: str) -> None:
    assert "w1 gave 2 answers; 2 of them would no longer count" in " ".join(
        run("exclude", "s", "w1", "-s", study).split()
    )
    run("close", "s", "--yes", "-s", study)
    said = " ".join(run("exclude", "s", "w1", "-s", study).split())
    assert "w1 gave 2 answers. The study is over: its picks stand; only the certificate changes." in said
    assert "the certificate will claim nothing" in said


def test_nobody_is_restored_who_is_not_known_or_not_excluded(study: str) -> None:
    with pytest.raises(InvalidProblem, match="no worker 'w9'"):  # which `main` turns into the exit code 2
        run("restore", "s", "w9", "-s", study)
    assert "were not excluded" in run("restore", "s", "w1", "-s", study)


def test_budgets_are_extended_studies_paused_and_people_leave(study: str) -> None:
    run("leave", "s", "w1", "-s", study)
    assert excluded(study) == {"w1"}
    run("extend", "s", "7", "-s", study)
    run("pause", "s", "-s", study)
    with Study.open(study, "s") as opened:
        assert opened.status().budget == 47
        assert opened.status().paused
    run("resume", "s", "-s", study)
    with Study.open(study, "s") as opened:
        assert not opened.status().paused
    run("close", "s", "--yes", "-s", study)
    with Study.open(study, "s", read_only=True) as opened:
        assert opened.finished


def test_it_is_said_what_closing_means_or_that_the_study_is_finished(study: str) -> None:
    said = run("close", "s", "-s", study)
    assert "nobody can answer any more" in said
    assert "nothing was changed" in said
    with Study.open(study, "s", read_only=True) as opened:
        assert opened.finished is None
    assert "closed" in run("close", "s", "--yes", "-s", study)
    for typed in ((), ("--yes",)):
        said = run("close", "s", *typed, "-s", study)
        assert "it is finished already: the study was finished early" in " ".join(said.split())
        assert "--yes" not in said


def test_closing_starts_the_days_that_people_are_kept_for(study: str) -> None:
    keep_for(study, "s", 10)
    run("close", "s", "--yes", "-s", study)
    assert retire(study, time.time() + 9 * DAY_S) == []
    assert len(People("s", study)) == 3
    assert retire(study, time.time() + 10 * DAY_S) == ["s"]
    assert len(People("s", study)) == 0


def test_where_a_server_has_the_study_open_its_page_is_named(study: str) -> None:
    with Study.open(study, "s"), pytest.raises(StorageLocked, match="its organizer's page does the same"):
        run("pause", "s", "-s", study)


@pytest.mark.parametrize("there", [(), ("photos.db",)])
def test_where_the_storage_is_another_file_an_order_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in there:
        (tmp_path / name).touch()
    wanted = "say where the study is: -s photos.db" if there else "there is no file handful.db: say with -s"
    with pytest.raises(InvalidProblem, match=wanted):
        run("pause", "s")
    assert [path.name for path in tmp_path.iterdir()] == list(there)
