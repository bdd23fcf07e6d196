"""A crowd server whose people come from the fake Prolific, and browsers for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from handful.crowd.collection.items import Collection
from handful.crowd.hosting.panel_loop import PanelLoop
from handful.crowd.hosting.startup import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from handful.recruit.fake import FakePlatform, FakeProlific
from handful.recruit.fake.records import FakeSubmission
from handful.recruit.plan import Plan
from handful.recruit.prolific.client import ProlificClient
from handful.recruit.prolific.recruiter import Recruiter
from handful.recruit.store import Store
from tests.crowd.clients import STUDY, Started, started

PLAN = Plan(people=20, answers_each=4, first_places=8)
ADDRESS = f"https://photos.example.org/s/{STUDY}"
QUICK = Settings(undo_s=0.0, redo_s=0.0, limits=ServerLimits.none())


@dataclass
class Visitor:
    """Somebody from the panel with a browser of their own."""

    http: httpx.Client
    parameters: dict[str, str]
    work: dict[str, Any]

    def arrive(self) -> dict[str, Any]:
        reply = self.http.post(f"/api/s/{STUDY}/arrive", json={"parameters": self.parameters})
        assert reply.status_code == 200, reply.text
        told: dict[str, Any] = reply.json()
        return told

    def join(self) -> httpx.Response:
        reply = self.http.post(f"/api/s/{STUDY}/join", json={"consent": True})
        if reply.status_code == 200:
            self.work = reply.json()
        return reply

    def next(self) -> dict[str, Any]:
        self.work = self.http.get(f"/api/s/{STUDY}/next").json()
        return self.work

    def answer(self) -> dict[str, Any]:
        body = {"token": self.work["questions"][0]["token"], "side": "left", "ms": 900}
        reply = self.http.post(f"/api/s/{STUDY}/answer", json=body)
        assert reply.status_code == 200, reply.text
        self.work = reply.json()
        return self.work

    def answer_all(self) -> dict[str, Any]:
        """Until there is nothing more to answer; gives how it ended."""
        while self.work["questions"]:
            self.answer()
        ending: dict[str, Any] = self.work["ending"]
        return ending


@dataclass
class Paid:
    """The server, the platform, and the loop between them."""

    server: Started
    fake: FakeProlific
    storage: Path

    @property
    def loop(self) -> PanelLoop:
        return self.server.registry.panels[STUDY]

    @property
    def store(self) -> Store:
        return Store(self.storage)

    def visitor(self, address: str) -> Visitor:
        parameters = dict(parse_qsl(urlsplit(address).query))
        return Visitor(self.server.browser(), parameters, {})

    def come(self) -> tuple[Visitor, FakeSubmission]:
        """Somebody takes a place on the platform and opens the address it gives them."""
        (study,) = self.fake.platform.studies
        there = self.fake.platform.take_place(study)
        assert there is not None
        return self.visitor(self.fake.platform.address(there)), there

    def settle(self) -> None:
        for _ in range(3):
            self.loop.once()


@contextmanager
def paid_study(
    collection: Collection,
    storage: Path,
    environment: pytest.MonkeyPatch,
    *,
    study: StudyPlan | None = None,
    plan: Plan = PLAN,
    token: str = "fake-token",
) -> Iterator[Paid]:
    """A study that is served, and published on a fake Prolific of its own."""
    study = study or StudyPlan(k=3, explorer="topx", budget=120, in_flight=20)
    with FakeProlific(FakePlatform(), token) as fake, started(collection, study, QUICK, storage=storage) as server:
        environment.setenv("PROLIFIC_TOKEN", fake.token)
        environment.setenv("PROLIFIC_URL", fake.url)
        recruiter = Recruiter(Store(storage), STUDY, ProlificClient.from_environment())
        recruiter.create(ADDRESS, plan, name="Photos", description="Which photo?")
        recruiter.publish(recruiter.cost().first)
        server.registry.look_for_recruiting()
        yield Paid(server, fake, storage)
