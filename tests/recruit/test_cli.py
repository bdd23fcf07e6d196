"""`handful recruit`, as it is typed, against the fake Prolific."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from handful import Preferences, Study
from handful.cli import app, recruit
from handful.errors import HandfulError, InvalidProblem
from handful.recruit.ledger import Store
from handful.recruit.panel import Identity
from handful.rules import ONLY_VERIFIED, Admission, Checks, Rule
from tests.fakes.prolific import FakeProlific, FakeStudy
from tests.recruit.arrivals import pasted
from tests.recruit.conftest import ADDRESS, STUDY

assert recruit  # registers its commands


@pytest.fixture
def run(fake: FakeProlific, storage: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
    monkeypatch.setenv("PROLIFIC_URL", fake.url)

    def typed(*words: str, said: str | None = None) -> Result:
        result = CliRunner().invoke(app, ["recruit", *words, "-s", str(storage)], input=said)
        if isinstance(result.exception, HandfulError):
            raise result.exception
        return result

    return typed


def published(run, fake: FakeProlific, storage: Path) -> FakeStudy:  # type: ignore[no-untyped-def]
    """A study that the organizer made on the platform's page, by the steps that were printed."""
    said = run("prolific", "--address", ADDRESS, "--people", "20").stdout
    made = Store(storage).recruitment(STUDY)
    assert made is not None
    assert all(step.paste in said for step in made.steps() if step.paste is not None)
    study = fake.platform.publish(pasted(made))
    Store(storage).keep(replace(made, platform_id=study.id))
    return study


def test_people_are_paid_by_typing(run, fake: FakeProlific, storage: Path) -> None:  # type: ignore[no-untyped-def]
    study = published(run, fake, storage)
    there = fake.platform.take_place(study.id)
    assert there is not None
    store = Store(storage)
    person, _ = store.arrive(STUDY, Identity(there.participant, there.id), True, status="ACTIVE")
    assert person is not None
    store.change(STUDY, person.pseudonym, outcome="finished")
    fake.platform.come_back(there, "CODE")
    said = run("bonus", STUDY, person.pseudonym[:6], "1.50").stdout
    assert f"This is about {person.pseudonym}." in said
    assert "promised" in said
    assert json.loads(run("status", "--json").stdout)["promised"] == 150
    run("reconcile")
    assert "Both sides agree" in run("reconcile").stdout
    assert there.bonuses == [150]
    told = json.loads(run("status", "--json").stdout)
    assert told["people"] == {"paid": 1}
    assert (told["paid"], told["promised"]) == (study.reward + 150, 0)
    assert "approve" in run("status", "--ledger").stdout


def test_what_waits_for_a_decision_is_said_with_the_command_that_settles_it(  # type: ignore[no-untyped-def]
    run, fake: FakeProlific, storage: Path
) -> None:  # type: ignore[no-untyped-def]
    study = published(run, fake, storage)
    there = fake.platform.take_place(study.id)
    assert there is not None
    fake.platform.come_back(there, None)
    waiting = json.loads(run("reconcile", "--json").stdout)["waiting"]
    assert "never came here" in waiting[0]["words"]
    assert json.loads(run("status", "--json").stdout)["waiting"] == waiting  # without asking the platform
    assert f"waits for you: {waiting[0]['who']} never came here" in run("status").stdout.replace("\n", " ")
    run("decide", "--who", waiting[0]["who"], "--pay")
    run("reconcile")
    assert there.status == "APPROVED"


def test_another_panel_is_described_by_options_and_its_pay_list_has_the_ids(run, storage: Path) -> None:  # type: ignore[no-untyped-def]
    said = run("panel", "--id", "pid", "--session", "sid", "--code", "SAME", "--places", "3").stdout
    assert f"/s/{STUDY}?pid=…&sid=…" in said
    store = Store(storage)
    person, _ = store.arrive(STUDY, Identity("ann", "s1"), True)
    assert person is not None
    store.change(STUDY, person.pseudonym, outcome="finished")
    lines = run("pay-list").stdout.splitlines()
    assert lines == ["participant,session,outcome,status,code", "ann,s1,finished,,SAME"]


def test_where_nothing_fixed_says_what_becomes_of_the_unverified_one_is_told(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert "This study's beginning does not say so" in run("panel", "--id", "pid").stderr
    storage = tmp_path / "fixed.db"
    Study(range(6), 2, feedback=Preferences(), budget=200, storage=storage, rule=ONLY_VERIFIED).close()
    said = CliRunner().invoke(app, ["recruit", "panel", "--id", "pid", "-s", str(storage)])
    assert (said.exit_code, said.stderr) == (0, "")


def test_the_plan_shows_what_follows_from_what(run) -> None:  # type: ignore[no-untyped-def]
    result = CliRunner().invoke(app, ["recruit", "plan", "--budget", "3000", "--answers-each", "20", "--json"])
    assert json.loads(result.stdout) | {"people": 150, "reward": 60, "minutes": 4} == json.loads(result.stdout)


def test_the_checks_of_a_plan_are_those_of_the_studys_rule(run, fake: FakeProlific, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    storage = tmp_path / "checked.db"
    rule = Rule(Admission(0, 3, 2), Checks(every=10))
    Study(range(6), 2, feedback=Preferences(), budget=200, storage=storage, name=STUDY, rule=rule).close()
    words = ["recruit", "plan", "--study", STUDY, "-s", str(storage), "--answers-each", "30", "--json"]
    told = json.loads(CliRunner().invoke(app, words).stdout)
    assert (told["checks_each"], told["minutes"]) == (6, 5)
    words = ["recruit", "prolific", "-s", str(storage), "--address", ADDRESS, "--answers-each", "30"]
    assert "6 checks each" in CliRunner().invoke(app, words).stdout
    kept = Store(storage).recruitment(STUDY)
    assert kept is not None
    assert (kept.plan.checks, kept.plan.every) == (3, 10)
    assert "checks" not in run("prolific", "--address", ADDRESS).stdout  # this study has no rule


def test_without_a_token_one_is_told_where_it_goes(run, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.delenv("PROLIFIC_TOKEN")
    with pytest.raises(InvalidProblem, match="put it into the environment"):
        run("reconcile")
