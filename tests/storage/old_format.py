"""Databases of storage format 1, which had no hashes: written by SQL, as the first version of handful wrote them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import NullPool, create_engine, text

from handful.storage import Record

_TABLES = (
    "CREATE TABLE handful_format (version INTEGER NOT NULL)",
    "INSERT INTO handful_format VALUES (1)",
    "CREATE TABLE events (study TEXT NOT NULL, seq BIGINT NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL, "
    "time {double} NOT NULL, payload TEXT NOT NULL, PRIMARY KEY (study, seq)) {without_rowid}",
)


def write_format_1(url: str, studies: dict[str, Sequence[Record]]) -> None:
    """Make the tables and put the records of each study in."""
    engine = create_engine(url, poolclass=NullPool)
    sqlite = engine.dialect.name == "sqlite"
    words = {"double": "DOUBLE" if sqlite else "DOUBLE PRECISION", "without_rowid": "WITHOUT ROWID" if sqlite else ""}
    if sqlite:
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
    with engine.begin() as connection:
        for statement in _TABLES:
            connection.execute(text(statement.format(**words)))
        for name, records in studies.items():
            rows = [{"s": name, "n": r.seq, "v": r.version, "k": r.kind, "t": r.time, "p": r.payload} for r in records]
            connection.execute(text("INSERT INTO events VALUES (:s, :n, :v, :k, :t, :p)"), rows)
