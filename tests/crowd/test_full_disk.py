"""A disk that is full refuses answers in words, loses none, and recovers by itself."""

from __future__ import annotations

import logging
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from handful.crowd.registry import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from tests.crowd.clients import PATIENCE_S, STUDY, Person, Started

Serve = Callable[..., Started]
MANY = StudyPlan(k=3, explorer="topx", budget=100_000, in_flight=50)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "handful", str(folder)]).returncode
    ):
        pytest.skip("only root can make a small file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Leave no byte free."""
    file = disk / "filler"
    with file.open("ab", buffering=0) as stream:
        try:
            while True:
                stream.write(b"x" * 4096)
        except OSError:
            return file


def answer_until_refused(person: Person) -> tuple[int, httpx.Response]:
    """How many answers were taken before one was refused, and the refusal."""
    for taken in range(5_000):
        response = person.post("answer", {"token": person.token, "side": "left"})
        if response.status_code != 200:
            return taken, response
        person.work = response.json()
    raise AssertionError("the disk is never full")


def go_on(person: Person) -> None:
    """Until the server takes answers again."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        response = person.http.get(f"/api/s/{STUDY}/next")
        if response.status_code == 200 and response.json()["questions"]:
            person.work = response.json()
            if person.post("answer", {"token": person.token, "side": "right"}).status_code == 200:
                person.next()
                return
        time.sleep(0.1)
    raise AssertionError("the server did not recover")


def fill_again_and_again(serve: Serve, disk: Path, times: int, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(MANY, Settings(limits=ServerLimits.none()), storage=disk / "study.db")
    person = server.person()
    acknowledged = 0
    for _ in range(times):
        caplog.clear()
        filler = fill(disk)
        taken, refused = answer_until_refused(person)
        assert refused.status_code == 503
        assert "could not be stored" in refused.json()["message"]
        until = time.monotonic() + PATIENCE_S
        while httpx.get(server.url + "/healthz", timeout=PATIENCE_S).status_code != 503:
            fill(disk)  # letting go of the database freed what its log had taken
            person.post("answer", {"token": person.token, "side": "left"})
            assert time.monotonic() < until
        time.sleep(1.2)
        messages = [record.getMessage() for record in caplog.records if record.name == "handful.crowd"]
        told = messages.count("answers cannot be stored")
        # By the study and by whoever asks after its health, at most once each; and not for as long as it lasts.
        assert 1 <= told <= messages.count("answers can be stored again") + 2
        causes = [vars(record)["cause"] for record in caplog.records if hasattr(record, "cause")]
        assert all("full" in cause for cause in causes)
        filler.unlink()
        go_on(person)
        acknowledged += taken + 1
        stored = server.registry.studies[STUDY].study.status().answers
        assert stored >= acknowledged
    assert httpx.get(server.url + "/healthz", timeout=PATIENCE_S).status_code == 200


@pytest.fixture(autouse=True)
def _hear_everything(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(logging.getLogger("handful.crowd"), "propagate", True)


def test_a_full_disk_is_told_once_and_the_study_goes_on_by_itself(
    serve: Serve, small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill_again_and_again(serve, small_disk, 2, caplog)


@pytest.mark.slow
def test_twenty_fillings_of_a_small_disk_lose_nothing(
    serve: Serve, small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill_again_and_again(serve, small_disk, int(os.environ.get("HANDFUL_FILLINGS", "20")), caplog)
