"""Whether a storage can be written to is found out by writing."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from handful.errors import StorageError
from handful.storage import open_journal, probe
from handful.testing import records
from tests.storage.test_faults import no_room_on_disk


def test_a_probe_changes_nothing_beside_a_writer(storage: str) -> None:
    with closing(open_journal(storage, "a")) as journal:
        journal.append(records(0, 10)).wait()
        for _ in range(3):
            probe(storage)
        journal.append(records(10, 20)).wait()
        assert list(journal.read()) == records(0, 20)


def test_a_full_disk_is_noticed_and_so_is_that_there_is_room_again(sqlite_storage: str, tmp_path: Path) -> None:
    with closing(open_journal(sqlite_storage, "a")) as journal:
        journal.append(records(0, 6_000)).wait()
        assert (tmp_path / "studies.db-wal").stat().st_size > 200_000
        with no_room_on_disk(), pytest.raises(StorageError, match="disk"):
            probe(sqlite_storage)
        probe(sqlite_storage)


def test_a_file_that_is_gone_or_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with pytest.raises(StorageError, match="moved or deleted"):
        probe(path)
    path.write_text("This is not a database. " * 500)
    with pytest.raises(StorageError):
        probe(path)
