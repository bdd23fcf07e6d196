"""A running server, and people in front of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from handful.crowd.hall import Hall
from handful.crowd.items import Collection
from handful.crowd.opening import Plan, open_hall
from handful.crowd.running import listen, serving
from handful.crowd.settings import Settings

STUDY = "cathedrals-in-venice"
PLAN = Plan(k=3, explorer="topx", budget=60, in_flight=20)


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
        """Answer the question at hand, which must be there and be taken."""
        response = self.post("answer", {"token": self.token, "side": side, **more})
        assert response.status_code == 200, response.text
        self.work = response.json()
        return self.work


@dataclass(frozen=True)
class Started:
    """A server and its address."""

    url: str
    hall: Hall
    browsers: ExitStack

    def browser(self) -> httpx.Client:
        """With cookies of its own; closed when the server stops."""
        return self.browsers.enter_context(httpx.Client(base_url=self.url, timeout=30))

    def person(self, study: str = STUDY, **options: Any) -> Person:
        return Person(self.browser(), study, **options)

    def organizer(self) -> httpx.Client:
        client = self.browser()
        response = client.post("/api/organize/login", json={"key": self.hall.secret.organizer_key})
        assert response.status_code == 204, response.text
        return client


@contextmanager
def started(
    collection: Collection,
    plan: Plan | None = None,
    settings: Settings | None = None,
    themes: tuple[str, ...] = ("Cathedrals in Venice",),
    storage: str | Path | None = None,
    clock: Callable[[], float] = time.time,
) -> Iterator[Started]:
    hall = open_hall(storage, collection, themes, plan or PLAN, settings, clock=clock)
    with serving(hall, listen("127.0.0.1", 0)) as url, ExitStack() as browsers:
        yield Started(url, hall, browsers)
