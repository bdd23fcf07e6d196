"""Recruiting for a hosted study: its plan, the loop that pays, and what the organizer sees of both."""

from __future__ import annotations

import math
from pathlib import Path

from handful.crowd import messages
from handful.crowd.host import Host
from handful.crowd.people import forget_settled
from handful.crowd.tokens import Secret, new_chance, panel_key
from handful.recruit.desk import PanelLoop
from handful.recruit.ledger import Store, has_recruitments
from handful.recruit.payroll import counts_of
from handful.recruit.plan import MOST_PEOPLE, Plan

ANSWERS_EACH = 30
PER_HOUR = 900


def panel_loop_for(hosted: Host, storage: str | Path | None, secret: Secret) -> PanelLoop | None:
    """The loop of a study that people are recruited for; None for others."""
    if storage is None or not has_recruitments(storage):
        return None
    store = Store(storage, hosted.clock)
    found = store.recruitment(hosted.study.name)
    if found is None:
        return None
    hosted.fix_unverified()

    def forget() -> bool:
        forgotten = forget_settled(store, hosted.study.name)
        if forgotten:
            hosted.people.look_again()
        return bool(forgotten)

    key = panel_key(secret, hosted.study.name)
    return PanelLoop(store, found, key, new_chance, lambda: hosted.study, forget, hosted.change_signal.changed)


def plan_for(hosted: Host, said: messages.RecruitOnProlific) -> Plan:
    """The plan with what was said. Checks come from the study's rule; people and answers each, where nobody said how
    many, from who is expected or from the budget.
    """
    expected, total = hosted.expected, hosted.study.state.budget
    each = said.answers_each or (expected.answers_each if expected else hosted.settings.goal) or ANSWERS_EACH
    people = said.people or (expected.people if expected else math.ceil((total or 100 * each) / each))
    per_hour = said.per_hour or (expected and expected.per_hour) or PER_HOUR
    currency = said.currency or (expected.currency if expected else "GBP")
    return Plan(min(people, MOST_PEOPLE), each, per_hour=per_hour, currency=currency).by_rule(hosted.study.setup.rule)


def recruiting_status_of(loop: PanelLoop) -> messages.Recruiting:
    """People and money, as they are known here; the platform is not asked."""
    recruitment, report = loop.desk.recruitment, loop.report
    entries = loop.store.entries(recruitment.study)
    waiting = [] if report is None else report.waiting
    return messages.Recruiting(
        panel=recruitment.panel.name,
        status=recruitment.status,
        places=recruitment.places if recruitment.on_prolific else recruitment.panel.places,
        plan=str(recruitment.plan),
        steps=list(recruitment.steps()),
        people=counts_of(loop.desk.people()),
        currency=recruitment.plan.currency,
        pays=recruitment.on_prolific,
        paid=sum(entry.cents for entry in entries if entry.outcome == "done"),
        unknown=sum(entry.cents for entry in entries if entry.unknown),
        promised=sum(entry.cents for entry in entries if entry.promised),
        differences=[] if report is None else report.differences[:20],
        waiting=[messages.WaitingLine(who=one.who, line=one.line, words=one.words) for one in waiting],
        trouble=loop.trouble,
    )
