"""The demo: the whole app at work with simulated people, from pictures to summaries and their contact sheets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from handful.crowd.app import Links, links_of, listen, serving
from handful.crowd.collection import Collection
from handful.crowd.host import Host
from handful.crowd.intake import ItemsDone, ingest
from handful.crowd.outputs import result_sheet
from handful.crowd.plan import StudyPlan
from handful.crowd.registry import Registry, items_folder, open_registry
from handful.crowd.settings import ServerLimits, Settings
from handful.crowd.simulation.simulated_people import Advantage, Crew, CrewReport, answer_all

LOOK_EVERY_S = 0.5

HUMAN = Crew(workers=100, think_s=2.2)
FAST = Crew(workers=100, think_s=0.15, wait_s=0.15)


@dataclass(frozen=True)
class DemoStatus:
    """How far a study is, for a progress bar."""

    study: str
    theme: str
    answers: int
    budget: int | None
    chosen: int
    k: int


@dataclass(frozen=True)
class DemoSummary:
    """What a study picked, its answers, what is said of it, and where its contact sheet is."""

    study: str
    theme: str
    chosen: tuple[str, ...]
    answers: int
    verdict: str
    said: tuple[str, ...]  # of each pick
    certificate: str
    sheet: Path


def run_demo(
    pictures: str | Path,
    themes: Sequence[str],
    advantage: Advantage,
    folder: str | Path,
    *,
    plan: StudyPlan | None = None,
    crew: Crew = HUMAN,
    host: str = "127.0.0.1",
    port: int = 0,
    ingested: ItemsDone | None = None,
    started: Callable[[Links], None] = lambda _: None,
    watching: Callable[[Sequence[DemoStatus]], None] = lambda _: None,
    finished: Callable[[Sequence[DemoSummary]], None] = lambda _: None,
) -> tuple[list[DemoSummary], CrewReport]:
    """Serve the pictures, let the crew answer until every theme has its summary, and draw the contact sheets.

    `advantage(study, chosen, left, right)` is how much more the left item adds than the right one; items go by their
    file names, studies by their names in links. `started` gets the links, `watching` how things stand twice a second;
    the server still runs while `finished` is called, so it may wait there for whoever is looking.
    """
    storage = Path(folder) / "demo.db"
    collection = ingest(pictures, items_folder(storage), ingested)
    in_a_hurry = crew.think_s < 1
    settings = Settings(
        undo_s=0.0 if in_a_hurry else Settings.undo_s,
        redo_s=0.0 if in_a_hurry else Settings.redo_s,
        limits=ServerLimits.none(),
    )
    registry = open_registry(storage, collection, themes, plan or StudyPlan(), settings)
    with serving(registry, listen(host, port)) as (_, url):
        started(links_of(registry, url))
        report = asyncio.run(_answered(registry, collection, url, advantage, crew, watching))
        summaries = [_summary(hosted, Path(folder)) for hosted in registry.studies.values()]
        finished(summaries)
    return summaries, report


def _status_of(hosted: Host) -> DemoStatus:
    progress = hosted.progress()
    return DemoStatus(hosted.name, hosted.theme, progress.answers, progress.budget, progress.chosen, progress.k)


async def _answered(
    registry: Registry,
    collection: Collection,
    url: str,
    advantage: Advantage,
    crew: Crew,
    watching: Callable[[Sequence[DemoStatus]], None],
) -> CrewReport:
    crowd = asyncio.create_task(answer_all(url, list(registry.studies), collection, advantage, crew))
    while True:
        done, _ = await asyncio.wait({crowd}, timeout=LOOK_EVERY_S)
        watching([_status_of(hosted) for hosted in registry.studies.values()])
        if done:
            return crowd.result()


def _summary(hosted: Host, folder: Path) -> DemoSummary:
    result, sheet = hosted.latest_result(), folder / f"{hosted.name}.png"
    sheet.write_bytes(result_sheet(hosted.collection, result, hosted.theme))
    names = hosted.collection.name_of
    said = tuple(f"{names(pick.item)}: {' '.join(pick.sentences(names))}" for pick in result.picks)
    certificate = str(result.certificate)
    return DemoSummary(
        hosted.name, hosted.theme, result.chosen, result.answers, result.verdict, said, certificate, sheet
    )
