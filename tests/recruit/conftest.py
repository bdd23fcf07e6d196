"""A fake Prolific, and a database with a study's recruiting."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.crowd.collection.intake import ingest
from handful.crowd.collection.items import Collection
from handful.recruit.fake import FakePlatform, FakeProlific
from handful.recruit.plan import Plan
from handful.recruit.prolific.client import ProlificClient
from handful.recruit.prolific.recruiter import Recruiter
from handful.recruit.store import Store
from tests.crowd.pictures import folder_of
from tests.recruit.arrivals import Paid, paid_study

STUDY = "venice"
PLAN = Plan(people=20, answers_each=10, checks=2, first_places=5)
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
def recruiter(fake: FakeProlific, storage: Path, clock: Clock) -> Recruiter:
    return Recruiter(Store(storage, clock), STUDY, ProlificClient(fake.token, fake.url, patience_s=2.0))


@pytest.fixture
def published(recruiter: Recruiter) -> Recruiter:
    """A study that is on Prolific, with five places for a start."""
    recruiter.create(ADDRESS, PLAN, name="Photos", description="Which photo?", screen_out=30)
    recruiter.publish(recruiter.cost().first)
    return recruiter


@pytest.fixture
def paid(collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Paid]:
    """A study that is paid through a fake Prolific, and served."""
    with paid_study(collection, tmp_path / "venice.db", monkeypatch) as running:
        yield running
