"""What is refused is refused before anything that takes long, and before anything that hides it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from handful.cli import (
    app,
    crowd,  # noqa: F401
    select,  # noqa: F401  (registers it)
)
from handful.crowd import plan as plans
from handful.crowd.app import listen, port_of
from handful.errors import HandfulError
from tests.cli.starting import end_at_once
from tests.crowd.pictures import folder_of


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three photos in the current folder, and servers that start and end at once."""
    folder_of(3, tmp_path / "photos")
    monkeypatch.chdir(tmp_path)
    end_at_once(monkeypatch)


def serve(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["serve", *arguments])


def test_a_study_that_was_begun_otherwise_is_refused_before_its_plan_is_simulated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulated = []
    monkeypatch.setattr(plans, "quality_of", lambda plan, collection: simulated.append(plan))
    plan = ("photos", "--theme", "A", "--explorer", "topx", "--people", "3", "--answers-each", "4", "--port", "0")
    assert serve(*plan, "-k", "1").exit_code == 0
    assert len(simulated) == 1
    again = serve(*plan, "-k", "2")
    assert isinstance(again.exception, HandfulError)
    assert "was begun with k = 1" in str(again.exception), again.exception
    assert "Simulating" not in again.output
    assert len(simulated) == 1


def test_for_a_study_that_is_there_nothing_is_simulated_and_its_own_settings_are_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    simulated = []
    monkeypatch.setattr(plans, "quality_of", lambda plan, collection: simulated.append(plan))
    begin = ("photos", "--explorer", "topx", "-k", "1", "--port", "0")
    assert serve(*begin, "--theme", "A", "--people", "1", "--answers-each", "4").exit_code == 0
    assert len(simulated) == 1
    kept = "A: the study is there already, so nothing is simulated: its own settings hold"
    same = serve(*begin, "--theme", "A", "--people", "1", "--answers-each", "4").output
    assert kept in same
    assert "begun for" not in same
    other = serve(*begin, "--people", "5", "--budget", "3").output
    assert "the study keeps its budget of 4 answers" in other
    assert kept in other
    assert "it was begun for 1 person, 4 answers each" in other
    assert "Simulating" not in same + other
    assert len(simulated) == 1
    assert "Simulating" in serve(*begin, "--theme", "B", "--people", "5").output, "another theme is another study"


def test_where_there_is_no_folder_nothing_is_said_of_a_theme() -> None:
    done = serve("nowhere", "--port", "0")
    assert "there is no nowhere" in str(done.exception)
    assert "theme" not in done.output


@pytest.mark.parametrize("explorer", [(), ("--explorer", "duels"), ("--explorer", "duels:sure=0.9")])
def test_an_epsilon_that_the_explorer_would_not_heed_is_refused_for_a_new_study(explorer: tuple[str, ...]) -> None:
    new = ("photos", "--theme", "A", "-k", "1", "--epsilon", "0.1", "--port", "0")
    done = serve(*new, *explorer)
    assert isinstance(done.exception, HandfulError)
    assert "--epsilon 0.1 is not heeded by" in str(done.exception)
    assert "give --explorer topx with it" in str(done.exception)
    assert not Path("photos.db.items").exists(), "items were processed for nothing"


def test_an_epsilon_that_is_heeded_is_kept_by_the_study() -> None:
    new = ("photos", "--theme", "A", "-k", "1", "--epsilon", "0.1", "--port", "0")
    assert serve(*new, "--explorer", "topx").exit_code == 0
    assert serve(*new).exit_code == 0, "the study that is there has it"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nowhere", "--theme", "A"), "there is no nowhere"),
        (("nowhere.db",), "there is no collection nowhere.db.items beside nowhere.db"),
        (("photos", "--theme", "A", "-k", "9"), "k = 9 is more than there are files or rows, 3"),
    ],
)
def test_what_is_wrong_is_said_also_where_the_port_is_taken(arguments: tuple[str, ...], expected: str) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = ("--port", str(port_of(taken)))
        assert expected in str(serve(*arguments, *port).exception)
        well = str(serve("photos", "--theme", "A", "-k", "2", *port).exception)
    assert "another handful may be running there: choose another --port (0 finds a free one) or --host" in well


@pytest.mark.parametrize(
    "wrong", [("--quality", "1.5"), ("--epsilon", "0.1", "--explorer", "duels"), ("--quality", "0.9", "--best-gain=-1")]
)
def test_a_price_is_refused_before_it_says_that_it_simulates(wrong: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, ["price", "-n", "20", "-k", "3", "--noise", "0.5", *wrong])
    assert isinstance(done.exception, HandfulError)
    assert "simulating" not in done.output


def test_a_price_says_that_it_simulates() -> None:
    done = CliRunner().invoke(app, ["price", "-n", "6", "-k", "2", "--noise", "0.5", "--quality", "0.8", "--runs", "2"])
    assert done.exit_code == 0, done.output
    assert "simulating 2 runs" in done.output
