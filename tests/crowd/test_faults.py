"""The server is killed, the database restarted, the disk fails: nothing acknowledged is lost, nothing counts twice."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from sqlalchemy import create_engine, text

from handful import Study
from handful.crowd import registry
from handful.crowd.collection import Collection
from handful.crowd.simulation.http_client import ConnectionLost, HttpClient
from handful.crowd.simulation.simulated_people import Crew, CrewReport, SimulatedPerson, answer_all
from handful.crowd.tokens import Worker, secret_in, tokens_key
from handful.errors import StorageError
from handful.events import Revised, Told
from tests import postgres
from tests.crowd.clients import PATIENCE_S, STUDY, Started

ROOT = Path(__file__).resolve().parent.parent.parent
Trouble = Callable[["Trial", int, random.Random], Coroutine[Any, Any, int]]


def own_place() -> socket.socket:
    """A port of this machine that nobody else is given for as long as this is open, also while no server is there."""
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # so that the server may listen there beside it
    place.bind(("127.0.0.1", 0))
    return place


@dataclass
class Trial:
    """A server in a child process, a crew in front of it, and what the server said was stored."""

    collection: Collection
    storage: str
    crew: Crew
    budget: int
    place: socket.socket = field(default_factory=own_place)
    acknowledged: list[tuple[str, bool]] = field(default_factory=list)
    child: subprocess.Popen[bytes] | None = None
    limits: Literal["real", "none"] = "none"

    @property
    def port(self) -> int:
        number: int = self.place.getsockname()[1]
        return number

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        where = [str(self.collection.folder), self.storage, str(self.port), str(self.budget), self.limits]
        self.child = subprocess.Popen([sys.executable, "-m", "tests.crowd.child", *where], cwd=ROOT)

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.wait(30)
        self.place.close()

    def end(self, how: int) -> int:
        assert self.child is not None
        self.child.send_signal(how)
        return self.child.wait(30)

    def note(self, person: SimulatedPerson, token: str, side: str) -> None:
        key = tokens_key(secret_in(self.collection.folder), STUDY, person.client.cookie.split("=", 1)[1])
        assert key is not None
        worker = Worker("", key)
        question = worker.question(token)
        assert question is not None
        self.acknowledged.append((question, (side == "left") == worker.item_is_left(question)))

    async def up(self) -> None:
        client = HttpClient(self.url)
        while True:
            with suppress(ConnectionLost):
                await client.get("/healthz")
                client.close()
                return
            await asyncio.sleep(0.05)

    async def answer_while(self, trouble: Callable[[], Any]) -> CrewReport:
        """Let the crew answer to the end of the study while `trouble` happens."""
        self.start()
        await self.up()
        crowd = asyncio.create_task(
            answer_all(self.url, [STUDY], self.collection, lambda *_: 0.0, self.crew, acknowledged=self.note)
        )
        await trouble()
        return await asyncio.wait_for(crowd, 600)

    def check(self) -> None:
        """Against the journal, after the server has stopped."""
        with Study.open(self.storage, STUDY, read_only=True) as study:
            events = [event for _, event in study.journal()]
            told = [event for event in events if isinstance(event, Told)]
            status = study.status()
        assert max(Counter(event.question for event in told).values()) == 1
        stored = {f"q{event.question}": bool(event.answer) for event in told}
        stored |= {f"q{event.question}": bool(event.answer) for event in events if isinstance(event, Revised)}
        lost = [(question, answer) for question, answer in self.acknowledged if stored.get(question) != answer]
        assert lost == []
        assert status.answers == len(told) == self.budget
        assert len({question for question, _ in self.acknowledged}) > 0.9 * self.budget
        assert status.finished == "all 3 items are picked"


def live_status(url: str, key: str) -> dict[str, Any]:
    with httpx.Client(base_url=url, timeout=PATIENCE_S) as organizer:
        organizer.post("/api/organize/login", json={"key": key})
        status: dict[str, Any] = organizer.get(f"/api/organize/{STUDY}").json()
        return status


async def kill_again_and_again(trial: Trial, times: int, rng: random.Random) -> int:
    """How often the server was killed; it stays dead for no longer than it takes to start."""
    for _ in range(times):
        await asyncio.sleep(rng.uniform(0.05, 0.6))
        trial.end(signal.SIGKILL)
        trial.start()
        await trial.up()
    return times


async def hand_over_again_and_again(trial: Trial, times: int, rng: random.Random) -> int:
    """The same where the next server waits for the lock already, or is about to, when the one before is killed."""
    for _ in range(times):
        serving = trial.child
        assert serving is not None
        trial.start()
        await asyncio.sleep(rng.uniform(0.3, 2.0))
        serving.kill()
        serving.wait(30)
        await trial.up()
    return times


def killed(
    collection: Collection, storage: Path | str, workers: int, kills: int, budget: int, how: Trouble | None = None
) -> Trial:
    trouble = how or kill_again_and_again
    with Trial(collection, str(storage), Crew(workers, think_s=0.2, wait_s=0.2), budget) as trial:
        asyncio.run(trial.answer_while(lambda: trouble(trial, kills, random.Random(kills))))
        live = live_status(trial.url, secret_in(collection.folder).organizer_key())
        assert trial.end(signal.SIGTERM) in (0, -signal.SIGTERM)
    trial.check()
    with Study.open(trial.storage, STUDY, read_only=True) as replayed:
        assert list(replayed.result().chosen) == [line["id"] for line in live["chosen"]]
        assert replayed.status().answers == live["answers"]
    return trial


def test_a_killed_server_loses_nothing_it_acknowledged(collection: Collection, tmp_path: Path) -> None:
    killed(collection, tmp_path / "study.db", workers=12, kills=2, budget=240)


def test_a_server_that_waits_takes_over_and_loses_nothing(collection: Collection, tmp_path: Path) -> None:
    killed(collection, tmp_path / "study.db", workers=12, kills=1, budget=120, how=hand_over_again_and_again)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_fifty_servers_that_wait_take_over_and_lose_nothing(collection: Collection, tmp_path: Path) -> None:
    kills = int(os.environ.get("HANDFUL_KILLS", "50"))
    killed(
        collection, tmp_path / "study.db", workers=50, kills=kills, budget=180 * kills, how=hand_over_again_and_again
    )


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_hundred_kills_under_a_hundred_workers_lose_nothing(collection: Collection, tmp_path: Path) -> None:
    kills = int(os.environ.get("HANDFUL_KILLS", "200"))
    trial = killed(collection, tmp_path / "study.db", workers=100, kills=kills, budget=180 * kills)
    assert len(trial.acknowledged) >= 160 * kills


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_kills_beside_postgresql_lose_nothing(collection: Collection) -> None:
    kills = int(os.environ.get("HANDFUL_KILLS", "100"))
    with postgres.cluster() as url:
        killed(collection, url, workers=100, kills=kills, budget=180 * kills)


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_restarted_database_loses_nothing(collection: Collection) -> None:
    with (
        postgres.cluster() as url,
        Trial(collection, url, Crew(40, think_s=0.2, wait_s=0.2), budget=2_000) as trial,
    ):

        async def restarts() -> None:
            engine = create_engine(url)
            with engine.connect() as connection:
                folder = connection.execute(text("SHOW data_directory")).scalar_one()
            engine.dispose()
            for _ in range(3):
                await asyncio.sleep(1.5)
                await asyncio.to_thread(
                    postgres.run, "pg_ctl", "restart", "--wait", "--mode", "immediate", "-D", folder
                )

        asyncio.run(trial.answer_while(restarts))
        trial.end(signal.SIGTERM)
        trial.check()


def test_a_server_that_is_asked_to_stop_finishes_what_it_has_begun(collection: Collection, tmp_path: Path) -> None:
    with Trial(collection, str(tmp_path / "study.db"), Crew(6, think_s=0, wait_s=0.1), budget=90) as trial:

        async def stop_once() -> None:
            await asyncio.sleep(0.2)
            with httpx.stream("GET", f"{trial.url}/api/s/{STUDY}/events", timeout=30) as listener:
                assert listener.status_code == 200
                assert await asyncio.to_thread(trial.end, signal.SIGTERM) in (0, -signal.SIGTERM)
            trial.start()
            await trial.up()

        asyncio.run(trial.answer_while(stop_once))
        trial.end(signal.SIGTERM)
    trial.check()


def test_after_a_failure_of_the_storage_the_study_is_taken_up_again(
    serve: Callable[..., Started], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(storage=tmp_path / "study.db")
    hosted = server.registry.studies[STUDY]
    person = server.person()
    person.answer()
    committer = hosted.study._writer.journal._committer  # type: ignore[attr-defined]

    def full(_: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(committer, "_commit", full)
    refused = person.post("answer", {"token": person.token, "side": "left"})
    assert (refused.status_code, refused.json()["error"]) == (503, "storage")
    hosted.tick()
    assert person.post("answer", {"token": person.token, "side": "left"}).json()["answer"]["repeated"] is False
    assert hosted.progress().answers == hosted.study.status().answers == 2


def test_health_is_found_out_by_writing_and_its_cause_is_told_once(
    serve: Callable[..., Started], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registry, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(logging.getLogger("handful.crowd"), "propagate", True)
    server = serve(storage=tmp_path / "study.db")
    server.person().answer()

    def health() -> int:
        return httpx.get(f"{server.url}/healthz", timeout=PATIENCE_S).status_code

    def full(_: object) -> None:
        raise StorageError("the disk is full")

    assert health() == 200
    with monkeypatch.context() as patch:
        patch.setattr(registry, "probe", full)
        assert [health() for _ in range(3)] == [503] * 3
    assert [health() for _ in range(2)] == [200] * 2
    records = dict.fromkeys(caplog.records)  # one record comes twice where two loggers hand it on
    told = [(record.message, getattr(record, "cause", None)) for record in records if "stored" in record.message]
    assert told == [("answers cannot be stored", "the disk is full"), ("answers can be stored again", None)]
