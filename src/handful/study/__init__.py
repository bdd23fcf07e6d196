"""Ask and tell: a study, its questions and its result."""

from __future__ import annotations

from handful.study.events import Event
from handful.study.items import Row
from handful.study.questions import Question, Receipt
from handful.study.results import Estimate, Result, RoundResult
from handful.study.status import Status, WorkerStatus
from handful.study.study import Study

__all__ = [
    "Estimate",
    "Event",
    "Question",
    "Receipt",
    "Result",
    "RoundResult",
    "Row",
    "Status",
    "Study",
    "WorkerStatus",
]
