"""A thread that waits until a hosted study has ended."""

from __future__ import annotations

import threading
from collections.abc import Callable

from handful.crowd.hosting.hosted_study import HostedStudy

LOOK_EVERY_S = 0.3


def when_finished(hosted: HostedStudy, act: Callable[[], None], stop: threading.Event) -> threading.Thread:
    """Call `act` once the study has ended, unless `stop` is set before."""

    def watch() -> None:
        while not stop.wait(LOOK_EVERY_S):
            if not hosted.open:
                act()
                return

    thread = threading.Thread(target=watch, name="handful-solo", daemon=True)
    thread.start()
    return thread
