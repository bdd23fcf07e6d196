"""What a forked child must let go of at once: the study stays with the process that opened it.

Executors fork. A child that kept its copy of a lock's file or of a connection would hold the study after its parent was
killed, and one that used them would write between its parent's records.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Owned(Protocol):
    """Something that belongs to the process that made it."""

    def leave_to_parent(self) -> None:
        """In a forked child: let go without touching what the parent still uses."""


_owned: WeakSet[Owned] = WeakSet()


def belongs_to_this_process(thing: Owned) -> None:
    _owned.add(thing)


def _leave_all_to_parent() -> None:
    for thing in _owned:
        thing.leave_to_parent()


os.register_at_fork(after_in_child=_leave_all_to_parent)
