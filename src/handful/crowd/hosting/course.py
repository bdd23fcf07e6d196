"""Whether a study is on course: how far the people who came have brought it, and where that leads."""

from __future__ import annotations

from statistics import fmean

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.organizer_messages import Course
from handful.study.status import Status
from handful.wording import counted

GONE_S = 600.0
"""Who has not answered for so long is taken to have left."""
FEW = 3
"""As long as fewer people have left, nothing is read from how much they gave."""
QUIET_S = 180.0
"""Where nobody has answered for so long, nothing is said of when it is done."""
EARLY = 0.1
"""Of the answers planned: with fewer nothing is said of where they lead."""
SHORT = 0.95
"""Of the answers planned: a study that leads to less is behind."""


def course_of(hosted: HostedStudy, status: Status, now: float) -> Course:
    """What the answers so far lead to, in words and numbers."""
    timeline = hosted.statistics.timeline
    if not hosted.open or status.budget is None:
        return Course(on_course=None, words="", ends=None, leads_to=None, timeline=timeline.points())
    expected = hosted.expected
    left = max(status.budget - status.answers, 0)
    early = status.answers < EARLY * status.budget
    lately = timeline.last is not None and timeline.last > now - QUIET_S
    pace = _pace(hosted, now) if lately and not early else 0.0
    if hosted.study.standstill.cap(now):
        words = f"Nobody who is here can go on, with {counted(left, 'answer')} to go: see the notice on this page."
        return Course(on_course=False, words=words, ends=None, leads_to=None, timeline=timeline.points())
    over = _all_have_given(hosted, status)
    ends = now + left / pace if pace > 0 and not over else None
    if expected is None:
        words = f"{counted(left, 'answer')} to go." if status.answers else "No answers yet."
        words += " Everybody who came has given what they were asked for: more people are needed." if over else ""
        return Course(on_course=None, words=words, ends=ends, leads_to=None, timeline=timeline.points())
    here, gone = _present_and_gone(hosted, status, now, expected.answers_each)
    came = len(here) + len(gone)
    if not came:
        each = counted(expected.answers_each, "answer")
        words = f"Nobody has answered yet: {expected.people:,} people with {each} each are expected."
        return Course(on_course=None, words=words, ends=None, leads_to=status.budget, timeline=[])
    told = [given for given, excluded in gone if not excluded]
    typical = fmean(told) if len(told) >= FEW else float(expected.answers_each)
    to_come = max(expected.people - came, 0)
    leads_to = round(sum(given for given, _ in gone) + sum(max(given, typical) for given in here) + to_come * typical)
    on_course = leads_to >= SHORT * status.budget
    gave = f"{typical:.0f} answers each" if len(told) >= FEW else f"{counted(status.answers, 'answer')} so far"
    who = f"{came:,} of {expected.people:,} expected" if came <= expected.people else f"{came:,} people"
    words = f"{who} came, {gave}. "
    if early:
        words += "It is too early to tell where that leads."
        return Course(on_course=None, words=words, ends=None, leads_to=leads_to, timeline=timeline.points())
    if on_course:
        words = f"On course: {words}That leads to all {status.budget:,} answers."
    else:
        more = -(-(status.budget - leads_to) // max(1, round(typical)))
        people = "person" if more == 1 else "people"
        words = (
            f"Behind: {words}At this rate it ends with {leads_to:,} of {status.budget:,} answers; "
            f"{more:,} more {people} would make up for it."
        )
    return Course(on_course=on_course, words=words, ends=ends, leads_to=leads_to, timeline=timeline.points())


def _all_have_given(hosted: HostedStudy, status: Status) -> bool:
    """Whether everybody who came has given as much as one person is asked for."""
    goal = hosted.goal
    given = [w.answers + hosted.checks.answered(w.name) for w in status.workers if w.answers and not w.excluded]
    return goal is not None and bool(given) and min(given) >= goal


def _pace(hosted: HostedStudy, now: float) -> float:
    """Answers per second, of late."""
    timeline = hosted.statistics.timeline
    if timeline.first is None:
        return 0.0
    span = min(max(now - timeline.first, 1.0), GONE_S)
    return timeline.since(now - span) / span


def _present_and_gone(
    hosted: HostedStudy, status: Status, now: float, answers_each: int
) -> tuple[list[int], list[tuple[int, bool]]]:
    """How much those gave who are still here, and those who are done or have left, with whether they are excluded."""
    here: list[int] = []
    gone: list[tuple[int, bool]] = []
    for worker in status.workers:
        if worker.answers:
            away = worker.excluded or hosted.statistics.of(worker.name).last < now - GONE_S
            if away or worker.answers >= answers_each:
                gone.append((worker.answers, worker.excluded))
            else:
                here.append(worker.answers)
    return here, gone
