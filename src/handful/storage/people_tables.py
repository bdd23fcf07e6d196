"""The tables about people, outside the journal: who is behind a pseudonym, from which network, by which invitation."""

from __future__ import annotations

from sqlalchemy import Column, Double, Integer, LargeBinary, MetaData, Table, Text, UniqueConstraint

metadata = MetaData()

people = Table(
    "people",
    metadata,
    Column("study", Text, primary_key=True),
    Column("pseudonym", Text, primary_key=True),
    Column("link", LargeBinary),  # of a cookie, hashed under the secret of the server
    Column("panel", Text),
    Column("participant", Text),
    Column("session", Text),
    Column("network", LargeBinary),  # a keyed tag, never an address
    Column("state", Text, nullable=False),
    Column("joined", Double, nullable=False),
    UniqueConstraint("study", "link"),
    UniqueConstraint("study", "panel", "participant"),
)

# One row per study that people take part in.
studies_of_people = Table(
    "people_studies",
    metadata,
    Column("study", Text, primary_key=True),
    Column("key", LargeBinary),  # of the network tags
    Column("closed", Double),
    Column("changes", Integer, nullable=False),  # grows with every change, so that others notice
)

# How long a study's rows about people are kept after it is closed; where nothing is said, they stay.
retention = Table(
    "people_retention",
    metadata,
    Column("study", Text, primary_key=True),
    Column("days", Integer, nullable=False),
)

invitations = Table(
    "invitations",
    metadata,
    Column("study", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("code", LargeBinary, nullable=False),  # hashed
    Column("made", Double, nullable=False),
    Column("revoked", Double),
    Column("pseudonym", Text),  # of whoever used it
    UniqueConstraint("study", "code"),
)
