"""What survived a full look for garbage is left out of the next ones, for an hour."""

from __future__ import annotations

import gc

from handful.crowd.web.garbage_pauses import THAW_EVERY_S, GarbagePauses, short_garbage_pauses


def test_what_survives_is_not_looked_at_again_and_is_thawed_in_the_end() -> None:
    with short_garbage_pauses():
        before = gc.get_freeze_count()
        assert before > 0
        kept = [[number] for number in range(10_000)]
        gc.collect(1)
        assert gc.get_freeze_count() <= before
        gc.collect()
        assert gc.get_freeze_count() >= before + len(kept)
    assert gc.get_freeze_count() == 0


def test_once_an_hour_everything_is_looked_at() -> None:
    now = [0.0]
    pauses = GarbagePauses(lambda: now[0])
    try:
        pauses("stop", {"generation": 2})
        assert gc.get_freeze_count() > 0
        now[0] = THAW_EVERY_S
        pauses("stop", {"generation": 2})
        assert gc.get_freeze_count() == 0
        pauses("start", {"generation": 2})
        pauses("stop", {"generation": 1})
        assert gc.get_freeze_count() == 0
        pauses("stop", {"generation": 2})
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
