"""What to ask about so that the joint bound U falls: the items of the worst set that are known least."""

from __future__ import annotations

import numpy as np

from handful.core.kernels import small
from handful.core.objective import Ints
from handful.core.parts.joint import Joint

EQUAL = 0.25  # who is at least so urgent, compared with the most urgent, is asked too


@small
def may_grow(joint: Joint, p: int) -> int:
    """Answers about an item of the worst set to which more can be added."""
    row = joint.items[joint.worst[p]]
    return row.old if joint.rules[0].anchor == 0 else row.now


@small
def urgency(joint: Joint, p: int) -> float:
    """How much one more answer about this item of the worst set narrows the squared error of its mean."""
    return joint.errors[p] / max(1, may_grow(joint, p))


@small
def most_urgent(joint: Joint) -> float:
    """The largest urgency."""
    most = 0.0
    for p in range(joint.rules[0].members):
        most = max(most, urgency(joint, p))
    return most


@small
def worth_asking(joint: Joint) -> float:
    """How much one more answer narrows U, about twice."""
    rules, most = joint.rules[0], most_urgent(joint)
    total, urgent, asked = 0.0, 0.0, 0
    for p in range(rules.members):
        total += joint.errors[p]
        if urgency(joint, p) >= EQUAL * most:
            urgent += urgency(joint, p)
            asked += 1
    return rules.width * urgent / (asked * total) if total < np.inf else np.inf


@small
def batch(known: int, room: int) -> int:
    """How many answers to ask for at once: a tenth of those there are, or a sixth if so many may be in flight."""
    return max(1, known // 10, min(known // 6, room))


@small
def wanted(joint: Joint, queue: Ints, in_flight: int) -> int:
    """Fill a queue with more questions about those of the worst set that are known least; how many."""
    rules, most = joint.rules[0], most_urgent(joint)
    queued = 0
    for p in range(rules.members):
        if urgency(joint, p) >= EQUAL * most:
            more = batch(may_grow(joint, p), in_flight // rules.members)
            for _ in range(min(more, max(1, len(queue) // rules.members))):
                queue[queued] = joint.worst[p]
                queued += 1
    return queued
