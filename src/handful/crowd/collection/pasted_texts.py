"""Texts that were pasted, as a table: each row keeps its name for good, whichever others come or go."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from handful.crowd.collection.sources import MAX_TEXT, clean_text

FIRST = 2
"""The number of the first row under the header, as in a table without names."""


def parts_of(pasted: str) -> list[str]:
    """The texts in what was pasted: one for each paragraph, or for each line where no line is empty.

    Of each a character more is kept than people will see, so that whoever prepares the items can say that it was cut.
    """
    whole = clean_text(pasted, len(pasted))
    parts = (part.strip() for part in whole.split("\n\n" if "\n\n" in whole else "\n"))
    return [part[: MAX_TEXT + 1] for part in parts if part]


def with_more(rows: dict[str, str], texts: Sequence[str]) -> dict[str, str]:
    """The rows, followed by these texts under names of their own.

    If all of them are there already nothing is added: they may be sent twice, where the first reply was lost. If only
    some are, these have rows all the same, so that whoever prepares the items can say which are left out as the same.
    """
    if set(texts) <= set(rows.values()):
        return rows
    first = 1 + max((int(name.removeprefix("row ")) for name in rows), default=FIRST - 1)
    return rows | {f"row {number}": text for number, text in enumerate(texts, start=first)}


def table_of(rows: dict[str, str]) -> str:
    """The rows as a CSV. All cells are quoted, as a text may hold whatever parts them."""
    written = io.StringIO()
    table = csv.writer(written, quoting=csv.QUOTE_ALL)
    table.writerow(["id", "text"])
    table.writerows(rows.items())
    return written.getvalue()


def rows_of(table: str) -> dict[str, str]:
    """The rows of such a CSV; those of earlier versions have no names, and are called by their numbers."""
    rows = csv.DictReader(io.StringIO(table, newline=""))
    return {row.get("id") or f"row {number}": row["text"] for number, row in enumerate(rows, start=FIRST)}
