"""What the command line can set for a study can be set in the browser, and the reverse: the two cannot differ."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer.main

from handful.cli import app, crowd
from handful.cli.crowd import OPTIONS, expected_of
from handful.crowd import messages, settings
from handful.crowd.messages import DraftSettings, Words
from handful.crowd.pages import templates
from handful.crowd.people import MOST_DAYS
from handful.crowd.plan import StudyPlan, new_study, plan_of
from handful.crowd.settings import BOUNDS
from handful.errors import InvalidProblem
from handful.preregistration import record_of as preregistration_of
from handful.rules import Rule

OF_THE_SERVER = {"storage", "host", "port", "public_url", "log", "wait"}
"""Options that say nothing of a study."""

ONLY_THERE = {"source", "solo"}
"""The items, which a page takes as files; and one person alone, who needs no page to set anything up."""

SPELLED = {"answers_each": "goal", "retention": "retention_days"}
"""Options whose settings have another name."""

STATIC = Path(settings.__file__).parent
PAGE = "".join((STATIC / "templates" / name).read_text() for name in ("setup.html", "words_fields.html"))


def options_of_a_study() -> set[str]:
    """The options of `handful serve` that are about a study, by the names of the settings."""
    group = typer.main.get_command(app)
    serve = group.commands["serve"]  # type: ignore[attr-defined]
    typed = {parameter.name for parameter in serve.params} - OF_THE_SERVER - ONLY_THERE - {"help"}
    return {SPELLED.get(name, name) for name in typed}


def settings_of_a_draft() -> set[str]:
    return set(DraftSettings.model_fields) | set(Words.model_fields)


def test_every_option_of_the_command_line_is_a_setting_of_the_page() -> None:
    assert options_of_a_study() <= settings_of_a_draft()


def test_every_setting_of_the_page_is_an_option_or_a_word_of_the_file() -> None:
    by_rule = {"checks"}  # --rule standard
    assert settings_of_a_draft() <= options_of_a_study() | set(Words.model_fields) | by_rule
    assert set(OPTIONS) <= set(Words.model_fields)


def test_the_page_has_a_field_for_every_setting() -> None:
    shown = set(re.findall(r'data-(?:setting|word)="(\w+)"', PAGE))
    by_other_means = {"chosen", "words", "practice"}
    assert shown == settings_of_a_draft() - by_other_means
    assert 'id="practising"' in PAGE


def command_line_ranges() -> dict[str, tuple[float | None, float | None]]:
    """The least and the most that each option of a number takes, by the name of the setting."""
    typed = get_type_hints(crowd.serve, include_extras=True)
    said = {
        name: get_args(hint)
        for name, hint in typed.items()
        if hasattr(hint, "__metadata__") and name not in OF_THE_SERVER
    }
    return {
        name: (option.min, option.max)
        for name, (kind, option) in said.items()
        if {int, float} & {kind, *get_args(kind)}
    }


def told_ranges() -> dict[str, tuple[float, float]]:
    """The least and the most that may be sent for each setting that is a number."""
    schema = {**DraftSettings.model_json_schema()["properties"], **Words.model_json_schema()["properties"]}
    kinds = {name: told.get("anyOf", [told])[0] for name, told in schema.items()}
    return {
        name: (kind["minimum"], kind["maximum"])
        for name, kind in kinds.items()
        if kind.get("type") in ("integer", "number")
    }


def test_numbers_lie_between_the_same_bounds_on_the_command_line_and_on_the_page() -> None:
    ranges = told_ranges()
    assert ranges == BOUNDS
    assert ranges["retention_days"] == (0, MOST_DAYS)
    typed = command_line_ranges()
    assert typed.pop("answers_each") == (1, ranges["goal"][1])  # 0 is no number of answers to plan with
    in_words = {"per_hour"}  # --per-hour 9.50
    assert {SPELLED.get(name, name): one for name, one in typed.items()} == {
        name: one for name, one in ranges.items() if name not in in_words
    }
    page = templates.get_template("setup.html").render(draft="", languages=[])
    for name, (least, most) in ranges.items():
        (field,) = re.findall(rf'<input [^>]*data-(?:setting|word)="{name}"[^>]*>', page)
        cents = 100 if "data-cents" in field else 1
        shown = [float(re.findall(rf'{end}="([^"]*)"', field)[0]) * cents for end in ("min", "max")]
        assert shown == pytest.approx([least, most]), name


@pytest.mark.parametrize("pay", ["0", "1000.01"])
def test_pay_lies_between_the_same_bounds_too(pay: str) -> None:
    with pytest.raises(InvalidProblem, match=r"expected 0\.01 to 1,000\.00"):
        expected_of(5, 10, None, False, pay, "GBP")


def test_both_make_the_same_plan() -> None:
    own = Rule(checks=None).to_dict()
    told = DraftSettings(k=3, checks=True, rule=own, epsilon=0.2, delta=0.1, per_hour=1_000, currency="USD")
    plan = plan_of(told)
    assert (plan.k, plan.rule, plan.epsilon, plan.delta) == (3, Rule(checks=None), 0.2, 0.1)
    assert plan.expected is not None
    pay = plan.expected.pay(plan.rule)
    assert pay is not None
    assert (pay.per_hour, pay.currency, pay.checks) == (1_000, "USD", 3)
    assert plan_of(DraftSettings()).delta == StudyPlan().delta
    assert plan_of(DraftSettings(sure=0.9)).explored_by == StudyPlan(sure=0.9).explored_by == "duels:sure=0.9"


def test_how_sure_a_round_must_be_to_end_is_an_option_of_duels() -> None:
    assert StudyPlan().explored_by is None
    assert StudyPlan(explorer="duels", sure=0.9).explored_by == "duels:sure=0.9"
    assert StudyPlan(explorer="duels:widen=0.2", sure=0.95).explored_by == "duels:widen=0.2,sure=0.95"
    assert StudyPlan(sure=0.9).shown(20) == 4
    for other in (StudyPlan(explorer="topx", sure=0.9), StudyPlan(epsilon=0.2, sure=0.9)):
        with pytest.raises(InvalidProblem, match="sure=0.9 is for duels"):
            _ = other.explored_by


@pytest.mark.parametrize("solo", [False, True])
def test_a_study_that_is_sure_ends_its_rounds_early(solo: bool) -> None:
    settled = settings.Settings(solo=solo)
    study = new_study(range(8), StudyPlan(k=3, budget=300, sure=0.9, in_flight=2), settled)
    result = study.run(lambda question: min(question.options))
    assert result.chosen == (0, 1, 2)
    assert study.setup.explorer_spelled == "duels:sure=0.9"
    assert [round_.ended for round_ in result.rounds] == ["rule"] * 3
    assert result.answers < 200
    record = preregistration_of(study.setup, "a study", "salt", None, {})
    assert "once its belief holds a pick for the best with probability 0.9" in record["stopping"]


def test_a_rule_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidProblem):
        plan_of(messages.DraftSettings(checks=True, rule={"version": 9}))
