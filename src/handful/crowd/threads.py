"""Where the event loop hands over what blocks: waiting for an answer to be durable, drawing a sheet, copying a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

T = TypeVar("T")

THREADS = 64
"""Answers that wait for one commit together. More would not make the disk faster."""

_limiter: RunVar[CapacityLimiter] = RunVar("handful_threads")


async def in_thread(function: Callable[..., T], *args: Any, **options: Any) -> T:
    """Run in one of our threads. A client who leaves does not stop it half-way."""
    limiter = _limiter.get(None)
    if limiter is None:
        limiter = CapacityLimiter(THREADS)
        _limiter.set(limiter)
    return await to_thread.run_sync(partial(function, *args, **options), limiter=limiter)
