"""A lock between processes that dies with its holder."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from contextlib import suppress
from pathlib import Path

from handful.errors import StorageError, StorageLocked
from handful.storage.forks import belongs_to_this_process

CLOSE_IT = "close it there first, or open it read-only"
"""What to do about a study that another process writes; commands that cannot do that say something else."""


class FileLock:
    """An exclusive `flock` on a file of its own. The system frees it however the process ends."""

    def __init__(self, path: Path, *, held_by_other: str, patience: float = 0.0) -> None:
        """Take the lock, trying for `patience` seconds; `held_by_other` begins the message if it stays taken."""
        self._path = path
        self._file: int | None = None
        deadline = time.monotonic() + patience
        try:
            while not self._try():
                if time.monotonic() >= deadline:
                    raise StorageLocked(f"{held_by_other} ({self._holder()})")
                time.sleep(0.01)
        except OSError as error:
            if isinstance(error, StorageError):
                raise
            raise StorageError(
                f"cannot make the lock file {path}: {error.strerror}; choose a folder that exists and can be written"
            ) from error
        belongs_to_this_process(self)

    def release(self) -> None:
        if self._file is not None:
            # Deleted while still held: `_try` sees that the name has gone, or names another file, and begins again.
            self._path.unlink(missing_ok=True)
            self._let_go()

    def leave_to_parent(self) -> None:
        """Closing a child's copy of the file leaves the lock with the parent; the last copy closed would free it."""
        self._let_go()

    def _let_go(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _try(self) -> bool:
        while True:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                return False
            if self._still_names(file):
                self._file = file
                with suppress(OSError):  # on a full disk the lock holds as well, and nobody can read whose it is
                    os.ftruncate(file, 0)
                    os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())
                return True
            os.close(file)

    def _still_names(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), self._path.stat())
        except FileNotFoundError:
            return False

    def _holder(self) -> str:
        try:
            return self._path.read_text(errors="replace") or "holder unknown"
        except OSError:
            return "holder unknown"
