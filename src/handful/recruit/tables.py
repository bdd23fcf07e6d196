"""The tables of recruiting."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Double, Integer, LargeBinary, MetaData, Table, Text, UniqueConstraint

metadata = MetaData()
recruitments = Table(
    "recruitments", metadata, Column("study", Text, primary_key=True), Column("setup", Text, nullable=False)
)
recruited = Table(
    "recruited",
    metadata,
    Column("study", Text, primary_key=True),
    Column("pseudonym", Text, primary_key=True),
    Column("participant", Text, nullable=False),
    Column("session", Text, nullable=False),  # empty where the panel has none
    Column("panel_study", Text),
    Column("arrived", Double),
    Column("seen", Double),
    Column("consented", Double),
    Column("verified", Boolean),
    Column("status", Text),
    Column("outcome", Text),
    Column("ended", Double),
    Column("completed", Boolean, nullable=False, default=False),
    Column("failed", Integer, nullable=False, default=0),
    Column("decision", Text),
    Column("chance", LargeBinary),
    UniqueConstraint("study", "participant", "session"),
)
ledger = Table(
    "ledger",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("study", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("who", Text),
    Column("cents", Integer, nullable=False),
    Column("made", Double, nullable=False),
    Column("sent", Double),
    Column("outcome", Text),
    Column("settled", Double),
    Column("reference", Text),
    Column("words", Text, nullable=False, default=""),
    sqlite_autoincrement=True,
)
promised = Table(  # which line of the ledger was written for a request, so that repeating the request writes no other
    "ledger_requests",
    metadata,
    Column("study", Text, primary_key=True),
    Column("request", Text, primary_key=True),
    Column("number", Integer, nullable=False),
)
to_forget = Table(
    "recruited_to_forget",
    metadata,
    Column("study", Text, primary_key=True),
    Column("pseudonym", Text, primary_key=True),
)
