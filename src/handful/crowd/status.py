"""What the organizer sees of a study: everything that its page shows, and where the answers lead."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from itertools import count
from statistics import fmean

from handful.claims import conditions_of
from handful.crowd import messages
from handful.crowd.cards import item_card
from handful.crowd.host import Host
from handful.crowd.messages import Course
from handful.crowd.picks import pick_lines
from handful.results import Status
from handful.rules import ONLY_VERIFIED
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


def course_of(hosted: Host, status: Status, now: float) -> Course:
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


def _all_have_given(hosted: Host, status: Status) -> bool:
    """Whether everybody who came has given as much as one person is asked for."""
    goal = hosted.goal
    given = [w.answers + hosted.checks.answered(w.name) for w in status.workers if w.answers and not w.excluded]
    return goal is not None and bool(given) and min(given) >= goal


def _pace(hosted: Host, now: float) -> float:
    """Answers per second, of late."""
    timeline = hosted.statistics.timeline
    if timeline.first is None:
        return 0.0
    span = min(max(now - timeline.first, 1.0), GONE_S)
    return timeline.since(now - span) / span


def _present_and_gone(
    hosted: Host, status: Status, now: float, answers_each: int
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


MOST_ITEMS = 400
_turns = count(1)


def organizer_status_of(
    hosted: Host, streams: int = 0, recruiting: messages.Recruiting | None = None
) -> messages.OrganizerStatus:
    """Everything the organizer's page shows, in one message."""
    turn = next(_turns)
    status, found, now = hosted.study.status(), hosted.latest_result(), hosted.clock()
    lines = _item_lines(hosted, status)
    return messages.OrganizerStatus(
        study=hosted.name,
        theme=hosted.theme,
        turn=turn,
        unasked=_filled_if_closed(status),
        registered_after=None if (registered := hosted.study.state.registered) is None else registered.answers,
        state="finished" if status.finished is not None else "paused" if status.paused else "open",
        ended=status.finished,
        k=hosted.k,
        options=hosted.showing.options,
        explorer=hosted.study.setup.explorer_spelled,
        most_in_flight=hosted.study.setup.problem.in_flight,
        lease_s=hosted.study.setup.lease_s,
        round=status.round,
        answers=status.answers,
        provisional=status.provisional,
        in_flight=status.in_flight,
        budget=status.budget,
        answers_per_minute=hosted.statistics.per_minute(now),
        active_workers=hosted.statistics.active(now),
        streams=streams,
        chosen=sorted((line for line in lines if line.chosen is not None), key=lambda line: line.chosen or 0),
        items=[line for line in lines if line.chosen is None][:MOST_ITEMS],
        workers=_worker_lines(hosted, status),
        rounds=[
            messages.RoundLine(
                round=one.round,
                pick=one.pick,
                name=hosted.collection.name_of(one.pick),
                ended=one.ended,
                answers=one.answers,
                left_out=one.left_out,
            )
            for one in found.rounds
        ],
        picks=pick_lines(hosted.collection, found),
        course=course_of(hosted, status, now),
        verdict=found.verdict,
        certificate=str(found.certificate),
        door=None if hosted.door is None else hosted.door.kind,
        checked=hosted.study.setup.rule not in (None, ONLY_VERIFIED),
        stuck=hosted.study.standstill.cap(now) if hosted.open else None,
        circumstances=list(conditions_of(hosted.study.state)),
        recruiting=recruiting,
        show_result=hosted.settings.show_result,
        retention_days=hosted.retention_days,
    )


def _filled_if_closed(status: Status) -> int:
    """How many picks no answer would decide: the open round's own is decided if it has any, and nothing without any."""
    if status.finished is not None or not status.answers:
        return 0
    return status.k - len(status.chosen) - bool(status.round_answers or status.provisional)


def _item_lines(hosted: Host, status: Status) -> list[messages.ItemLine]:
    """Every item, best mean first, those of which nothing is known last."""
    places = {id_: place for place, id_ in enumerate(status.chosen, start=1)}
    floor = max(
        (float(low) for low, open_ in zip(status.lower, status.candidate, strict=True) if open_), default=-math.inf
    )
    leader = None if status.finished else status.leader
    lines = [
        messages.ItemLine(
            id=id_,
            name=hosted.collection.name_of(id_),
            card=item_card(hosted.collection[id_]),
            mean=_number(status.mean[at]),
            lower=_number(status.lower[at]),
            upper=_number(status.upper[at]),
            answers=int(status.counted[at]),
            chosen=places.get(id_),
            leader=id_ == leader,
            contender=bool(status.candidate[at]) and float(status.upper[at]) >= floor and status.finished is None,
        )
        for at, id_ in enumerate(status.items)
    ]
    return sorted(lines, key=lambda line: (line.mean is None, -(line.mean or 0.0)))


def _worker_lines(hosted: Host, status: Status) -> list[messages.WorkerLine]:
    """Every worker, busiest first."""
    lines, state, rule = [], hosted.study.state, hosted.study.setup.rule
    for worker in status.workers:
        statistics = hosted.statistics.of(worker.name)
        conduct = state.conducts.of(state.workers.number_if_known(worker.name))
        lines.append(
            messages.WorkerLine(
                worker=worker.name,
                answers=worker.answers,
                round_answers=worker.round_answers,
                skips=worker.skips,
                left_share=statistics.left_share,
                median_ms=statistics.median_ms if conduct.median_ms is None else conduct.median_ms,
                checks=conduct.checks,
                right=conduct.right,
                admitted=state.conducts.may_answer(state.workers.number_if_known(worker.name)),
                excluded=worker.excluded,
                withdrew=state.workers.has_withdrawn(worker.name),
                why=None if rule is None or not worker.excluded else conduct.failed(rule),
            )
        )
    return sorted(lines, key=lambda line: (-line.answers, line.worker))


def _number(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


LOOK_EVERY_S = 0.3


def when_finished(hosted: Host, act: Callable[[], None], stop: threading.Event) -> threading.Thread:
    """Call `act` once the study has ended, unless `stop` is set before."""

    def watch() -> None:
        while not stop.wait(LOOK_EVERY_S):
            if not hosted.open:
                act()
                return

    thread = threading.Thread(target=watch, name="handful-solo", daemon=True)
    thread.start()
    return thread
