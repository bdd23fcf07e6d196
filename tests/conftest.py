"""What many tests share: a database and a browser, each started by the first test that asks for it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from sqlalchemy import NullPool, create_engine, make_url, text

from tests import postgres

if TYPE_CHECKING:
    from playwright.sync_api import Browser


NEEDS = {"browser": "browser", "postgres_url": "postgres"}
"""Fixtures that need something beside Python, and the markers by which people leave their tests out."""
_numbers = count()

hypothesis.settings.register_profile("handful", deadline=None)  # how long an example takes says how busy the machine is
hypothesis.settings.load_profile("handful")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a browser or PostgreSQL."""
    for item in items:
        for fixture in set(NEEDS) & set(getattr(item, "fixturenames", ())):
            item.add_marker(NEEDS[fixture])


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> None:
    """Let no test without its marker start a browser or PostgreSQL, for instance by `getfixturevalue`."""
    needed = NEEDS.get(fixturedef.argname)
    if needed is not None and request._pyfuncitem.get_closest_marker(needed) is None:
        pytest.fail(f"{request._pyfuncitem.nodeid} uses {fixturedef.argname}: mark it as {needed}")


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """A test that sends the server's logs somewhere takes its handlers along: their streams are closed after it."""
    loggers = [logging.getLogger(name) for name in ("handful.crowd", "uvicorn.error")]
    before = [(logger, logger.handlers[:], logger.propagate, logger.level) for logger in loggers]
    yield
    for logger, handlers, propagate, level in before:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The SQLAlchemy URL of an empty PostgreSQL that belongs to this test process alone."""
    with postgres.cluster() as url:
        yield url


@pytest.fixture
def sqlite_storage(tmp_path: Path) -> str:
    """An empty SQLite database."""
    return f"sqlite:///{tmp_path}/studies.db"


@pytest.fixture
def postgres_storage(postgres_url: str) -> Iterator[str]:
    """A schema of the test's own."""
    schema = f"test_{next(_numbers)}"
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


# Per module, because while it is open no other test in the process could call `asyncio.run`.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's headless Chromium. Nothing is downloaded; take a `browser.new_context()` per test."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell",
            args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"],
        )
        yield chromium
        chromium.close()
