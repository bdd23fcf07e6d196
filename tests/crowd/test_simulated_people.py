"""Simulated people, and the whole app at work with nobody in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from handful.crowd.app import Links
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from handful.crowd.simulation.demo import DemoStatus, run_demo
from handful.crowd.simulation.http_client import ConnectionLost, HttpClient
from handful.crowd.simulation.simulated_people import Crew, answer_all
from tests.crowd.clients import PATIENCE_S, STUDY, Started
from tests.crowd.pictures import folder_of

Serve = Callable[..., Started]
QUICK = Settings(undo_s=0, redo_s=0, limits=ServerLimits.none())


def worth(name: str) -> float:
    return float(name.removeprefix("photo ").removesuffix(".jpg"))


def by_number(study: str, chosen: tuple[str, ...], left: str, right: str) -> float:
    assert not {left, right} & set(chosen)
    return worth(left) - worth(right)


@pytest.mark.parametrize("explorer", ["topx", "duels"])
def test_a_crew_finishes_a_study_and_finds_what_it_prefers(serve: Serve, explorer: str) -> None:
    server = serve(StudyPlan(k=3, explorer=explorer, budget=600, in_flight=30), QUICK)
    crew = Crew(10, think_s=0, beta=(2, 5), careless=0.2, skips=0.05, wait_s=0.05)
    report = asyncio.run(answer_all(server.url, [STUDY], server.registry.studies[STUDY].collection, by_number, crew))
    study = server.registry.studies[STUDY].study
    assert study.finished is not None
    assert report.answers == study.status().answers == 600
    assert report.skips > 0
    assert (report.refused, report.broken, report.repeated) == ({}, 0, 0)
    # The order of arrival is not the same twice, and people choose by chance: two of the best three are there.
    assert len(set(study.result().chosen) & {"photo 5.jpg", "photo 6.jpg", "photo 7.jpg"}) >= 2
    assert len(server.registry.studies[STUDY].study.state.workers.names) == 10


def test_a_crew_stops_when_told(serve: Serve) -> None:
    server = serve(StudyPlan(k=3, explorer="topx", budget=100_000, in_flight=30), QUICK)

    async def for_a_moment() -> int:
        stop = asyncio.Event()
        crew = Crew(5, think_s=0.01)
        going = asyncio.create_task(
            answer_all(server.url, [STUDY], server.registry.studies[STUDY].collection, by_number, crew, stop=stop)
        )
        until = time.monotonic() + PATIENCE_S
        while server.registry.studies[STUDY].study.status().answers <= 5 and time.monotonic() < until:
            await asyncio.sleep(0.05)
        stop.set()
        return (await asyncio.wait_for(going, PATIENCE_S)).answers

    assert asyncio.run(for_a_moment()) > 5


def test_somebody_who_cannot_connect_is_told() -> None:
    with pytest.raises(ConnectionLost):
        asyncio.run(HttpClient("http://127.0.0.1:1").get("/"))


def test_the_demo_ends_with_a_summary_and_a_sheet_for_every_theme(tmp_path: Path) -> None:
    links: list[Links] = []
    seen: list[Sequence[DemoStatus]] = []
    pictures = folder_of(6, tmp_path / "pictures")
    summaries, report = run_demo(
        pictures,
        ["Numbers", "Letters"],
        by_number,
        tmp_path,
        plan=StudyPlan(k=2, explorer="topx", budget=60, in_flight=10),
        crew=Crew(6, think_s=0.005, wait_s=0.05),
        started=links.append,
        watching=seen.append,
    )
    assert list(links[0].workers) == ["Numbers", "Letters"]
    assert "/organize/login#" in links[0].organizer
    assert [(standing.answers, standing.chosen) for standing in seen[-1]] == [(60, 2), (60, 2)]
    assert report.answers == 120
    for summary in summaries:
        assert len(summary.chosen) == 2
        assert summary.sheet.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("explorer", ["topx", "duels"])
def test_a_hundred_people_at_once_all_have_something_to_answer(serve: Serve, explorer: str) -> None:
    server = serve(StudyPlan(k=3, explorer=explorer, options=2, budget=3_000, in_flight=200), QUICK)
    path = f"/api/s/{STUDY}"

    async def twice() -> list[str]:
        lines = [HttpClient(server.url) for _ in range(100)]
        joined = await asyncio.gather(*(line.post(f"{path}/join", {"consent": True}) for line in lines))
        first = [work for _, work in joined]
        answers = [
            line.post(f"{path}/answer", {"token": work["questions"][0]["token"], "side": "left"})
            for line, work in zip(lines, first, strict=True)
        ]
        second = [work for _, work in await asyncio.gather(*answers)]
        for line in lines:
            line.close()
        return [work["state"] for work in (*first, *second)]

    assert asyncio.run(twice()) == ["questions"] * 200
    assert server.registry.studies[STUDY].study.status().answers == 100
