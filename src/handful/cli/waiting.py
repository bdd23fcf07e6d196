"""For `--wait`: to take over as soon as another process lets go."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from typing import TypeVar

from handful.errors import HandfulError, StorageLocked
from handful.storage import CLOSE_IT

T = TypeVar("T")
AGAIN_S = 0.2
OR_WAIT = "stop what serves it there, or add --wait to take over as soon as it lets go"


def once_free(act: Callable[[], T], wait: bool, say: Callable[[str], None]) -> T:
    """What `act` gives; with `wait`, once nobody else has what it needs, which is said."""
    said = False
    while True:
        try:
            return act()
        except HandfulError as error:
            if not wait and isinstance(error, StorageLocked):
                raise StorageLocked(str(error).replace(CLOSE_IT, OR_WAIT)) from error
            if not wait or not _is_taken(error):
                raise
            if not said:
                said = True
                say(f"waiting, since {error}")
        time.sleep(AGAIN_S)


def _is_taken(error: HandfulError) -> bool:
    """Whether another process has the study or the port."""
    return isinstance(error, StorageLocked) or getattr(error.__cause__, "errno", None) == errno.EADDRINUSE
