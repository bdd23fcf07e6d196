"""A running server, and people in front of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from handful.crowd.app import listen, serving
from handful.crowd.collection import Collection
from handful.crowd.guard import RequestLimits
from handful.crowd.registry import Registry, StudyPlan, open_registry
from handful.crowd.settings import Settings

STUDY = "cathedrals-in-venice"
PATIENCE_S = 60.0  # also on a machine that has much else to do
PLAN = StudyPlan(k=3, explorer="topx", budget=60, in_flight=20)


class Person:
    """Somebody with a browser of their own, in one study."""

    def __init__(self, http: httpx.Client, study: str = STUDY, *, joined: bool = True) -> None:
        self.http = http
        self.study = study
        self.work: dict[str, Any] = self.join().json() if joined else {}

    def join(self) -> httpx.Response:
        return self.post("join", {"consent": True})

    def post(self, what: str, body: dict[str, Any], **options: Any) -> httpx.Response:
        return self.http.post(f"/api/s/{self.study}/{what}", json=body, **options)

    def next(self) -> dict[str, Any]:
        self.work = self.http.get(f"/api/s/{self.study}/next").json()
        return self.work

    @property
    def token(self) -> str:
        token: str = self.work["questions"][0]["token"]
        return token

    def answer(self, side: str = "left", **more: Any) -> dict[str, Any]:
        """Answer the question at hand, which must be there and be taken; go on after what was asked for."""
        response = self.post("answer", {"token": self.token, "side": side, **more})
        assert response.status_code == 200, response.text
        self.work = response.json()
        progress = self.work["progress"]
        if self.work["state"] == "waiting" and progress["answered"] == progress["goal"]:
            self.next()
        return self.work


@dataclass(frozen=True)
class Started:
    """A server and its address."""

    url: str
    registry: Registry
    limits: RequestLimits
    browsers: ExitStack

    def browser(self) -> httpx.Client:
        """With cookies of its own; closed when the server stops."""
        return self.browsers.enter_context(httpx.Client(base_url=self.url, timeout=PATIENCE_S))

    def person(self, study: str = STUDY, **options: Any) -> Person:
        return Person(self.browser(), study, **options)

    def organizer(self) -> httpx.Client:
        client = self.browser()
        response = client.post("/api/organize/login", json={"key": self.registry.keys.organizer})
        assert response.status_code == 204, response.text
        return client


@contextmanager
def started(
    collection: Collection,
    plan: StudyPlan | None = None,
    settings: Settings | None = None,
    themes: tuple[str, ...] = ("Cathedrals in Venice",),
    storage: str | Path | None = None,
    clock: Callable[[], float] = time.time,
) -> Iterator[Started]:
    registry = open_registry(storage, collection, themes, plan or PLAN, settings, clock=clock)
    with serving(registry, listen("127.0.0.1", 0)) as (running, url), ExitStack() as browsers:
        yield Started(url, registry, running.limits, browsers)
