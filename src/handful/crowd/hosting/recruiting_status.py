"""What the organizer sees of recruiting: people by state, money paid and locked, and what waits for a decision."""

from __future__ import annotations

from handful.crowd import panel_messages
from handful.crowd.hosting.panel_loop import PanelLoop
from handful.recruit.prolific.paying import may_ask_return, was_asked
from handful.recruit.prolific.reconciling import counts_of
from handful.recruit.records import Participant, Recruitment


def recruiting_status_of(loop: PanelLoop) -> panel_messages.Recruiting:
    """People and money, as they are known here; the platform is not asked."""
    recruitment, entries, report = loop.desk.recruitment, loop.store.entries(loop.hosted.study.name), loop.report
    waiting = [] if report is None else report.waiting
    return panel_messages.Recruiting(
        panel=recruitment.panel.name,
        status=recruitment.status,
        places=recruitment.places if recruitment.on_prolific else recruitment.panel.places,
        plan=str(recruitment.plan),
        people=counts_of(loop.desk.people()),
        currency=recruitment.plan.currency,
        paid=sum(e.cents for e in entries if e.outcome == "done" and e.kind in ("approve", "screen_out", "bonus")),
        locked=sum(e.cents for e in entries if e.outcome == "done" and e.kind in ("publish", "places")),
        unknown=sum(e.cents for e in entries if e.unknown),
        promised=sum(e.cents for e in entries if e.promised),
        differences=[] if report is None else report.differences[:20],
        waiting=[panel_messages.WaitingLine(who=one.who, line=one.line, words=one.words) for one in waiting],
        may_return=[
            person.pseudonym
            for person in loop.desk.people()
            if _may_return(person, recruitment) and not was_asked(entries, person.pseudonym)
        ],
        trouble=loop.trouble,
    )


def _may_return(person: Participant, recruitment: Recruitment) -> bool:
    return recruitment.on_prolific and may_ask_return(person, recruitment.plan.minutes)
