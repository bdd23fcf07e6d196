"""Earlier visits of one person who chooses alone, perhaps in another browser: nothing waits for them."""

from __future__ import annotations

from handful.study.study import Study


def end_visits(study: Study, but: str | None = None) -> None:
    """Free what earlier visits hold, and let their answers settle; not those of the visit `but`."""
    fold = study.fold
    for worker in filter(None, {*fold.workers.names, *fold.leases.holders()} - {but}):
        study.let_go(worker)
        study.settle(worker)
