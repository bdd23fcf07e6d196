"""The options of `handful serve` that say how many people come, how, and who counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from handful.cli.crowd_console import note
from handful.crowd.setting_bounds import BOUNDS
from handful.errors import InvalidProblem

if TYPE_CHECKING:
    from handful.crowd.hosting.expected_people import ExpectedPeople
    from handful.study.rules import Rule

STANDARD = "standard"
DoorOption = Annotated[
    Literal["open", "room", "invitations", "panel"],
    typer.Option("--door", help="how people come: open caps what one network may answer; see handful invite"),
]
RuleOption = Annotated[
    Path | None,
    typer.Option(
        "--rule",
        help="who counts, fixed before the first answer: standard (with checks among the questions), or a JSON file",
    ),
]


def who_counts(door: Literal["open", "room", "invitations", "panel"], rule: Path | None, solo: bool) -> dict[str, Any]:
    """The door and the rule of a new study."""
    from handful.study.doors import Door

    if door == "room" and not solo:
        note("one room: nothing tells one person with several browsers from several people; the certificate says so")
    return {"rule": _read(rule), "door": Door(door)}


def expected_of(
    people: int | None, answers_each: int | None, goal: int | None, solo: bool, per_hour: str | None, currency: str
) -> ExpectedPeople | None:
    """Who will come, if that was typed; `goal` is the one that was typed."""
    from handful.crowd.hosting.expected_people import ExpectedPeople
    from handful.crowd.settings import Settings
    from handful.recruit.plan import cents_of, check_currency

    if people is None:
        if answers_each is not None:
            raise InvalidProblem("--answers-each says what each of --people gives: give both, or --goal alone")
        if per_hour is not None:
            raise InvalidProblem("--per-hour says what each of --people is paid: give both")
        return None
    if solo:
        raise InvalidProblem("--solo is for one person, and --people for many: leave one of them out")
    if answers_each is not None and goal not in (None, answers_each):
        raise InvalidProblem(f"--goal {goal} and --answers-each {answers_each} are the same thing: give one of them")
    cents = None if per_hour is None else cents_of(per_hour)
    least, most = BOUNDS["per_hour"]
    if cents is not None and not least <= cents <= most:
        raise InvalidProblem(f"--per-hour {per_hour} is no pay: expected {least / 100:.2f} to {most / 100:,.2f}")
    return ExpectedPeople(people, answers_each or goal or Settings().goal or 1, cents, check_currency(currency))


def _read(file: Path | None) -> Rule | None:
    from handful.study.rules import EXCLUDE, Rule

    if file is None:
        return None
    if str(file) == STANDARD:
        return Rule()
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidProblem(f"--rule {file} cannot be read as JSON: {error}") from error
    return replace(Rule.from_dict(told), unverified=EXCLUDE)
