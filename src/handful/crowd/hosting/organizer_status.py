"""What the organizer sees of a study."""

from __future__ import annotations

import math
from itertools import count

from handful.crowd import organizer_messages, panel_messages
from handful.crowd.hosting.course import course_of
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.item_card import item_card
from handful.crowd.hosting.pick_lines import pick_lines
from handful.study.circumstances import circumstances_of
from handful.study.rules import ONLY_VERIFIED
from handful.study.status import Status

MOST_ITEMS = 400
_turns = count(1)


def organizer_status_of(
    hosted: HostedStudy, streams: int = 0, recruiting: panel_messages.Recruiting | None = None
) -> organizer_messages.OrganizerStatus:
    """Everything the organizer's page shows, in one message."""
    turn = next(_turns)
    status, found, now = hosted.study.status(), hosted.latest_result(), hosted.clock()
    lines = _item_lines(hosted, status)
    return organizer_messages.OrganizerStatus(
        study=hosted.name,
        theme=hosted.theme,
        turn=turn,
        unasked=_filled_if_closed(status),
        registered_after=None if (registered := hosted.study.fold.registered) is None else registered.answers,
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
            organizer_messages.RoundLine(
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
        circumstances=list(circumstances_of(hosted.study.fold)),
        recruiting=recruiting,
        show_result=hosted.settings.show_result,
        retention_days=hosted.retention_days,
    )


def _filled_if_closed(status: Status) -> int:
    """How many picks no answer would decide: the open round's own is decided if it has any, and nothing without any."""
    if status.finished is not None or not status.answers:
        return 0
    return status.k - len(status.chosen) - bool(status.round_answers or status.provisional)


def _item_lines(hosted: HostedStudy, status: Status) -> list[organizer_messages.ItemLine]:
    """Every item, best mean first, those of which nothing is known last."""
    places = {id_: place for place, id_ in enumerate(status.chosen, start=1)}
    floor = max(
        (float(low) for low, open_ in zip(status.lower, status.candidate, strict=True) if open_), default=-math.inf
    )
    leader = None if status.finished else status.leader
    lines = [
        organizer_messages.ItemLine(
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


def _worker_lines(hosted: HostedStudy, status: Status) -> list[organizer_messages.WorkerLine]:
    """Every worker, busiest first."""
    lines, fold, rule = [], hosted.study.fold, hosted.study.setup.rule
    for worker in status.workers:
        statistics = hosted.statistics.of(worker.name)
        conduct = fold.conducts.of(fold.workers.number_if_known(worker.name))
        lines.append(
            organizer_messages.WorkerLine(
                worker=worker.name,
                answers=worker.answers,
                round_answers=worker.round_answers,
                skips=worker.skips,
                left_share=statistics.left_share,
                median_ms=statistics.median_ms if conduct.median_ms is None else conduct.median_ms,
                checks=conduct.checks,
                right=conduct.right,
                admitted=fold.conducts.may_answer(fold.workers.number_if_known(worker.name)),
                excluded=worker.excluded,
                withdrew=fold.workers.has_withdrawn(worker.name),
                why=None if rule is None or not worker.excluded else conduct.failed(rule),
            )
        )
    return sorted(lines, key=lambda line: (-line.answers, line.worker))


def _number(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None
