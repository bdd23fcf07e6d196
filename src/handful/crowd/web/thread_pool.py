"""Where the event loop hands over what blocks: waiting for an answer to be durable, drawing a sheet, copying a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

THREADS = 16
"""Answers that wait for one commit together. More make no disk faster, and get into each other's way."""

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="handful")


async def in_thread(function: Callable[..., T], *args: Any, **options: Any) -> T:
    """Run in one of our threads. A client who leaves does not stop it half-way."""
    return await asyncio.get_running_loop().run_in_executor(_threads, partial(function, *args, **options))
