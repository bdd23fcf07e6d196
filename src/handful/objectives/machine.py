"""What this machine has left."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

SHARE = 0.25  # of the free memory may be taken for what only saves time
UNKNOWN = 4_000_000_000  # bytes, where the system does not tell
CONTAINER = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Bytes that can still be had: of the machine, and of the container where there is one."""
    return min(_of_machine(), _of_container())


def _of_machine() -> int:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return UNKNOWN


def _of_container() -> int:
    """What the limit of the control group leaves, files in memory not counted."""
    try:
        limit, used = (int((CONTAINER / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        told = (CONTAINER / "memory.stat").read_text(encoding="ascii").splitlines()
        files = sum(int(line.split()[1]) for line in told if line.startswith("inactive_file "))
    except (OSError, ValueError):  # no limit is written as "max"
        return sys.maxsize
    return max(limit - used + files, 0)
