"""The time of day without its jumps: what leases and records are timed by."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

log = logging.getLogger("handful.study")

JUMP_S = 30.0
"""A difference that is worth telling: clocks that are kept right are moved by less."""


def _since_boot() -> float:
    """Seconds that never jump; those in which the machine slept count too, where the system tells them."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class SteadyClock:
    """Begins with the time of day, and goes on evenly whatever becomes of that.

    `not_before` is the last time that was recorded. A clock that was set back since then begins there, so that no
    lease lasts an hour longer for it. A jump is told in the log, once each; times follow it after the next start.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = _since_boot,
        not_before: float = -math.inf,
    ) -> None:
        self._wall, self._elapsed = wall, elapsed
        now = wall()
        self._began_at = max(now, not_before)
        self._elapsed_then = elapsed()
        self._behind = now - self._began_at  # by how much the time of day differs

    def __call__(self) -> float:
        now = self._began_at + (self._elapsed() - self._elapsed_then)
        behind = self._wall() - now
        if abs(behind - self._behind) > JUMP_S:
            log.warning(
                "the clock of this machine jumped by %+.0f seconds: leases and recorded times go on without the jump "
                "until the next start",
                behind - self._behind,
            )
            self._behind = behind
        return now
