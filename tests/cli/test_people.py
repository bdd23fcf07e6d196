"""`handful people` and `handful invite`."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from handful import Preferences, Study, cli
from handful.cli import people
from handful.crowd.people import People, Person


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli.app, list(arguments))
    return done.exit_code, done.stdout


def test_people_are_listed_and_erased_to_the_last_byte(tmp_path: Path) -> None:
    assert people
    storage = tmp_path / "s.db"
    with Study(
        ["a", "b", "c"], 1, feedback=Preferences(), explorer="duels", budget=9, storage=storage, name="s"
    ) as study:
        for worker in ("w1", "w2"):
            for question in study.ask(1, worker):
                study.tell(question.id, True, worker)
    known = People("s", storage)
    known.add(Person("w1", link=b"x" * 16, panel="prolific", participant="p-1234567"))
    where = ("-s", str(storage))
    assert "p-1234567" in run("people", "list", "s", "--json", *where)[1]
    assert run("people", "erase", "s", "p-1234567", "--withdraw", *where)[0] == 0
    assert run("people", "erase", "s", "p-1234567", *where)[0] != 0
    assert run("people", "list", "s", "--json", *where)[1].strip() == "[]"
    assert all(b"p-1234567" not in file.read_bytes() for file in tmp_path.iterdir())
    with Study.open(storage, "s", read_only=True) as study:
        assert study.state.workers.excludes("w1")
        assert study.state.answers == 2
    assert run("people", "erase", "s", "w2", *where)[0] != 0, "nothing ties them to anybody"
    assert run("people", "list", "nothing", *where)[0] != 0


def test_invitations_are_made_as_csv_and_revoked(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    with Study(["a", "b", "c"], 1, feedback=Preferences(), budget=9, storage=storage, name="s"):
        pass
    where = ("-s", str(storage))
    made = run("invite", "new", "s", "2", "--url", "https://example.org/", *where)[1].splitlines()
    assert made[0] == "number,code,link"
    number, code, link = made[1].split(",")
    assert (number, link) == ("1", f"https://example.org/s/s#{code}")
    assert run("invite", "new", "s", "1", "-o", str(tmp_path / "more.csv"), *where)[0] == 0
    assert (tmp_path / "more.csv").read_text().splitlines()[1].startswith("3,")
    assert run("invite", "revoke", "s", "1", *where)[0] == 0
    assert run("invite", "list", "s", "--json", *where)[1].count("revoked") == 1
