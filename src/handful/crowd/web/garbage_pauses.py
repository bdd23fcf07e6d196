"""Short pauses for garbage collection: what has survived a full look is not looked at again for an hour.

Much of what stays is made only when the first people come, such as compiled code that is loaded then. To go through it
again with every full look would stop everybody for a tenth of a second each time.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

FULL = 2
THAW_EVERY_S = 3600.0
"""So that what became garbage since then is found."""


class GarbagePauses:
    """Is told by Python when it begins and ends to look for garbage."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._thawed = clock()

    def __call__(self, phase: str, about: Mapping[str, int]) -> None:
        """Leave out what survived; once an hour let the next full look go through all of it."""
        if phase != "stop" or about["generation"] != FULL:
            return
        now = self._clock()
        if now - self._thawed >= THAW_EVERY_S:
            self._thawed = now
            gc.unfreeze()
        else:
            gc.freeze()


@contextmanager
def short_garbage_pauses() -> Iterator[None]:
    """Keep the pauses short within the block, beginning with what is there now."""
    pauses = GarbagePauses()
    gc.callbacks.append(pauses)
    try:
        gc.collect()
        yield
    finally:
        gc.callbacks.remove(pauses)
        gc.unfreeze()
