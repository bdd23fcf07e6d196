"""What the command line can set for a study can be set in the browser, and the reverse: the two cannot differ."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from handful.cli import app
from handful.cli import serve as serve_commands  # noqa: F401  (registers them)
from handful.cli.words_file import OPTIONS
from handful.crowd import settings, setup_messages
from handful.crowd.hosting.study_plan import StudyPlan, plan_of
from handful.crowd.setup_messages import DraftSettings, Words
from handful.errors import InvalidProblem
from handful.study.rules import Rule

OF_THE_SERVER = {"storage", "host", "port", "public_url", "log", "wait"}
"""Options that say nothing of a study."""

ONLY_THERE = {"source", "solo"}
"""The items, which a page takes as files; and one person alone, who needs no page to set anything up."""

SPELLED = {"answers_each": "goal", "retention": "retention_days"}
"""Options whose settings have another name."""

STATIC = Path(settings.__file__).parent / "web"
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


def test_a_rule_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidProblem):
        plan_of(setup_messages.DraftSettings(checks=True, rule={"version": 9}))
