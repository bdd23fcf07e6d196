"""A fake Prolific, and a database with a study's recruiting."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.crowd.collection import Collection
from handful.crowd.intake import ingest
from handful.recruit.ledger import Store
from handful.recruit.payroll import Payroll, begin_on_prolific
from handful.recruit.plan import Plan
from handful.recruit.prolific import ProlificClient
from tests.crowd.pictures import folder_of
from tests.fakes.prolific import FakePlatform, FakeProlific
from tests.recruit.arrivals import Paid, paid_study, pasted

STUDY = "venice"
PLAN = Plan(people=20, answers_each=10, checks=2)
ADDRESS = "https://photos.example.org/s/venice"


class Clock:
    """A clock that can be put forward."""

    def __init__(self) -> None:
        self.later = 0.0

    def __call__(self) -> float:
        return time.time() + self.later


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Eight pictures, processed."""
    folder = tmp_path_factory.mktemp("collection")
    return ingest(folder_of(8, folder / "photos"), folder / "items")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def fake(clock: Clock) -> Iterator[FakeProlific]:
    with FakeProlific(FakePlatform(clock=clock)) as running:
        yield running


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    path = tmp_path / "venice.db"
    Study(range(6), 2, feedback=Preferences(), budget=200, storage=path, name=STUDY).close()
    return path


@pytest.fixture
def begun(fake: FakeProlific, storage: Path, clock: Clock) -> Payroll:
    """People shall come from Prolific; nothing was done there yet."""
    store = Store(storage, clock)
    begin_on_prolific(store, STUDY, ADDRESS, PLAN)
    return Payroll(store, STUDY, ProlificClient(fake.token, fake.url, patience_s=2.0))


@pytest.fixture
def published(begun: Payroll, fake: FakeProlific) -> Payroll:
    """A study that is on Prolific, with five places for a start, and known here."""
    study = fake.platform.publish(pasted(begun.recruitment(), places=5))
    begun.store.keep(replace(begun.recruitment(), platform_id=study.id))
    return begun


@pytest.fixture
def paid(collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Paid]:
    """A study that is paid through a fake Prolific, and served."""
    with paid_study(collection, tmp_path / "venice.db", monkeypatch) as running:
        yield running
