"""Every storage of ours keeps every promise of a journal."""

from __future__ import annotations

from functools import partial

import pytest

from handful.storage import open_journal
from handful.testing import JournalConformance, PersistentJournalConformance


class TestMemory(JournalConformance):
    @pytest.fixture(autouse=True)
    def _storage(self) -> None:
        self.open = partial(open_journal, None)


class TestSqlite(PersistentJournalConformance):
    @pytest.fixture(autouse=True)
    def _storage(self, sqlite_storage: str) -> None:
        self.open = partial(open_journal, sqlite_storage)


class TestPostgres(PersistentJournalConformance):
    @pytest.fixture(autouse=True)
    def _storage(self, postgres_storage: str) -> None:
        self.open = partial(open_journal, postgres_storage)
