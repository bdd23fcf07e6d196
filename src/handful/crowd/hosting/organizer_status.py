"""What the organizer sees of a study."""

from __future__ import annotations

import math

from handful.crowd import messages, panel_messages
from handful.crowd.hosting.course import course_of
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.item_card import item_card
from handful.crowd.hosting.pick_lines import pick_lines
from handful.study.circumstances import circumstances_of
from handful.study.rules import ONLY_VERIFIED
from handful.study.status import Status

MOST_ITEMS = 400


def organizer_status_of(
    hosted: HostedStudy, streams: int = 0, recruiting: panel_messages.Recruiting | None = None
) -> messages.OrganizerStatus:
    """Everything the organizer's page shows, in one message."""
    status, found, now = hosted.study.status(), hosted.latest_result(), hosted.clock()
    lines = _item_lines(hosted, status)
    return messages.OrganizerStatus(
        study=hosted.name,
        theme=hosted.theme,
        state=hosted.state,
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
            messages.RoundLine(round=one.round, pick=str(one.pick), ended=one.ended, answers=one.answers)
            for one in found.rounds
        ],
        picks=pick_lines(hosted.collection, found),
        course=course_of(hosted, status, now),
        verdict=found.verdict,
        certificate=str(found.certificate),
        door=None if hosted.study.setup.door is None else hosted.study.setup.door.kind,
        checked=hosted.study.setup.rule not in (None, ONLY_VERIFIED),
        stuck=hosted.open and hosted.caps.stuck(now),
        warning=hosted.visitors.warning,
        circumstances=list(circumstances_of(hosted.study.fold)),
        recruiting=recruiting,
        show_result=hosted.settings.show_result,
        retention_days=hosted.retention_days,
    )


def _item_lines(hosted: HostedStudy, status: Status) -> list[messages.ItemLine]:
    """Every item, best mean first, those of which nothing is known last."""
    places = {id_: place for place, id_ in enumerate(status.chosen, start=1)}
    floor = max(
        (float(low) for low, open_ in zip(status.lower, status.candidate, strict=True) if open_), default=-math.inf
    )
    leader = None if status.finished else status.leader
    lines = [
        messages.ItemLine(
            id=id_,
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


def _worker_lines(hosted: HostedStudy, status: Status) -> list[messages.WorkerLine]:
    """Every worker, busiest first."""
    lines, fold, rule = [], hosted.study.fold, hosted.study.setup.rule
    for worker in status.workers:
        statistics = hosted.statistics.of(worker.name)
        conduct = fold.conducts.of(fold.workers.number_if_known(worker.name))
        lines.append(
            messages.WorkerLine(
                worker=worker.name,
                answers=worker.answers,
                skips=worker.skips,
                left_share=statistics.left_share,
                median_ms=statistics.median_ms,
                checks=conduct.checks,
                right=conduct.right,
                admitted=fold.conducts.may_answer(fold.workers.number_if_known(worker.name)),
                excluded=worker.excluded,
                why=None if rule is None or not worker.excluded else conduct.failed(rule),
            )
        )
    return sorted(lines, key=lambda line: (-line.answers, line.worker))


def _number(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None
