"""A study is held by one process, or by none: whatever the disk does."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from handful.errors import StorageLocked
from handful.storage import open_journal
from handful.testing import records


def test_on_a_full_disk_a_study_is_held_and_freed_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        journal = open_journal(tmp_path / "s.db", "a")
    with closing(journal):
        journal.append(records(0, 1)).wait()
        with pytest.raises(StorageLocked, match="holder unknown"):
            open_journal(tmp_path / "s.db", "a", mode="write")
    open_journal(tmp_path / "s.db", "a", mode="write").close()
    assert list(tmp_path.glob("*.lock")) == []
