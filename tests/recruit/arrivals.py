"""A crowd server whose people come from the fake Prolific, and browsers for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest

from handful.crowd.collection import Collection
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from handful.recruit.desk import PanelLoop
from handful.recruit.ledger import Store
from handful.recruit.payroll import begin_on_prolific
from handful.recruit.plan import Plan, cents_of
from handful.recruit.recruitment import Recruitment
from tests.crowd.clients import STUDY, Started, started
from tests.fakes.prolific import FakePlatform, FakeProlific, FakeSubmission

PLAN = Plan(people=20, answers_each=4)
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
        if told["ending"] is not None:
            self.work = told
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
    came: list[tuple[Visitor, FakeSubmission]] = field(default_factory=list)

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
        self.came.append((self.visitor(self.fake.platform.address(there)), there))
        return self.came[-1]

    def settle(self) -> None:
        """Whoever was sent back is back over there, and both sides are brought to agree."""
        for visitor, there in self.came:
            ending = visitor.work.get("ending")
            if ending is not None and ending["address"]:
                self.fake.platform.come_back(there, parse_qs(urlsplit(ending["address"]).query)["cc"][0])
        for _ in range(3):
            self.loop.once()


def pasted(made: Recruitment, places: int | None = None) -> dict[str, Any]:
    """What the organizer types on the platform's page, by the steps that are shown."""
    typed = [step.paste for step in made.steps() if step.paste is not None]
    link, finished, refused, people, _, _, reward = typed
    return {
        "external_study_url": link,
        "total_available_places": places or int(people),
        "reward": cents_of(reward),
        "completion_codes": [{"code": finished}, {"code": refused}],
    }


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
        store = Store(storage)
        made = begin_on_prolific(store, STUDY, ADDRESS, plan)
        store.keep(replace(made, platform_id=fake.platform.publish(pasted(made)).id))
        server.registry.look_for_recruiting()
        yield Paid(server, fake, storage)
