"""Ask and tell: a study, its questions and its result. Each name is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handful.study.events import Event as Event
    from handful.study.items import Row as Row
    from handful.study.questions import Question as Question
    from handful.study.questions import Receipt as Receipt
    from handful.study.results import Estimate as Estimate
    from handful.study.results import Result as Result
    from handful.study.results import RoundResult as RoundResult
    from handful.study.status import Status as Status
    from handful.study.status import WorkerStatus as WorkerStatus
    from handful.study.study import Study as Study

_HOMES = {
    "Estimate": "handful.study.results",
    "Event": "handful.study.events",
    "Question": "handful.study.questions",
    "Receipt": "handful.study.questions",
    "Result": "handful.study.results",
    "RoundResult": "handful.study.results",
    "Row": "handful.study.items",
    "Status": "handful.study.status",
    "Study": "handful.study.study",
    "WorkerStatus": "handful.study.status",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'handful.study' has no attribute {name!r}")
