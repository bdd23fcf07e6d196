"""Storages to test on: each test gets an empty one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, make_url, text

_numbers = count()


@pytest.fixture
def sqlite_storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/journal.db"


@pytest.fixture
def postgres_storage(postgres_url: str) -> Iterator[str]:
    """A schema of the test's own."""
    schema = f"storage_{next(_numbers)}"
    engine = create_engine(postgres_url, poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    url = make_url(postgres_url).update_query_dict({"options": f"-csearch_path={schema}"})
    yield url.render_as_string(hide_password=False)
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def storage(request: pytest.FixtureRequest) -> str:
    """Each persistent storage in turn."""
    url: str = request.getfixturevalue(f"{request.param}_storage")
    return url
