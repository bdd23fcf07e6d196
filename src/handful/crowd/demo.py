"""The whole app at work without a single person: pictures in, simulated people, a summary and its sheet out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from handful.crowd.booth import Booth
from handful.crowd.hall import Hall
from handful.crowd.ingesting import Progress, ingest
from handful.crowd.opening import Plan, items_folder, open_hall
from handful.crowd.running import listen, serving
from handful.crowd.settings import Limits, Settings
from handful.crowd.sheet import write_contact_sheet
from handful.crowd.simulated import Advantage, Crew, Tale, answer_all

LOOK_EVERY_S = 0.5

HUMAN = Crew(workers=100, think_s=2.2)
FAST = Crew(workers=100, think_s=0.15, wait_s=0.15)


@dataclass(frozen=True)
class Links:
    """Where to look while it runs."""

    workers: dict[str, str]
    organizer: str


@dataclass(frozen=True)
class Standing:
    """How a study stands, for a progress bar."""

    study: str
    theme: str
    answers: int
    budget: int | None
    chosen: int
    k: int


@dataclass(frozen=True)
class Summary:
    """What came out of a study."""

    study: str
    theme: str
    chosen: tuple[str, ...]
    answers: int
    verdict: str
    certificate: str
    sheet: Path


def run_demo(
    pictures: str | Path,
    themes: Sequence[str],
    advantage: Advantage,
    folder: str | Path,
    *,
    plan: Plan | None = None,
    crew: Crew = HUMAN,
    host: str = "127.0.0.1",
    port: int = 0,
    ingested: Progress | None = None,
    started: Callable[[Links], None] = lambda _: None,
    watching: Callable[[Sequence[Standing]], None] = lambda _: None,
    finished: Callable[[Sequence[Summary]], None] = lambda _: None,
) -> tuple[list[Summary], Tale]:
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
        limits=Limits.none(),
    )
    hall = open_hall(storage, collection, themes, plan or Plan(), settings)
    with serving(hall, listen(host, port)) as url:
        started(links_of(hall, url))
        tale = asyncio.run(_answered(hall, url, advantage, crew, watching))
        summaries = [_summary(booth, Path(folder)) for booth in hall.booths.values()]
        finished(summaries)
    return summaries, tale


def links_of(hall: Hall, url: str) -> Links:
    """The links that are printed at start. What stands after the # never leaves the organizer's browser."""
    return Links(
        {booth.theme: f"{url}/s/{name}" for name, booth in hall.booths.items()},
        f"{url}/organize/login#{hall.secret.organizer_key}",
    )


def standing_of(booth: Booth) -> Standing:
    progress = booth.progress()
    return Standing(booth.name, booth.theme, progress.answers, progress.budget, progress.chosen, progress.k)


async def _answered(
    hall: Hall, url: str, advantage: Advantage, crew: Crew, watching: Callable[[Sequence[Standing]], None]
) -> Tale:
    crowd = asyncio.create_task(answer_all(url, list(hall.booths), hall.collection, advantage, crew))
    while True:
        done, _ = await asyncio.wait({crowd}, timeout=LOOK_EVERY_S)
        watching([standing_of(booth) for booth in hall.booths.values()])
        if done:
            return crowd.result()


def _summary(booth: Booth, folder: Path) -> Summary:
    result, sheet = booth.found(), folder / f"{booth.name}.png"
    write_contact_sheet(booth.collection, result.chosen, booth.theme, result.words, sheet)
    return Summary(
        booth.name, booth.theme, result.chosen, booth.tallies.answers, result.verdict, str(result.certificate), sheet
    )
