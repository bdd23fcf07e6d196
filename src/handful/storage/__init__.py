"""Where a study's journal lives: in memory, in a SQLite file, or in PostgreSQL.

Storage keeps records in order and interprets none of them; what they mean is the study's business.
"""

from __future__ import annotations

from handful.storage.backup import backup
from handful.storage.base import Journal, Mode, StudySummary, Ticket
from handful.storage.opening import list_studies, make_storage, open_journal
from handful.storage.probing import probe
from handful.storage.records import Record

__all__ = [
    "Journal",
    "Mode",
    "Record",
    "StudySummary",
    "Ticket",
    "backup",
    "list_studies",
    "make_storage",
    "open_journal",
    "probe",
]
