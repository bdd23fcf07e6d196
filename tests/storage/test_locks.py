"""A lock between processes is held, or it is not there: whatever the disk does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from handful.errors import StorageLocked
from handful.storage.locks import FileLock


def test_on_a_full_disk_a_lock_is_held_and_freed_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        lock = FileLock(tmp_path / "s.lock", held_by_other="it is open elsewhere")
    with pytest.raises(StorageLocked, match="holder unknown"):
        FileLock(tmp_path / "s.lock", held_by_other="it is open elsewhere")
    lock.release()
    FileLock(tmp_path / "s.lock", held_by_other="it is open elsewhere").release()
