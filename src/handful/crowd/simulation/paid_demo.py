"""A whole paid study with simulated people: a draft, its cost, arrivals, an outage, pay, and the ledger at the end."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from handful.crowd.collection.intake import ingest
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.panel_loop import PanelLoop
from handful.crowd.hosting.startup import items_folder, open_registry
from handful.crowd.hosting.study_plan import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from handful.crowd.simulation.paid_people import come_and_answer
from handful.crowd.simulation.simulated_people import Advantage, Crew
from handful.crowd.web.links import Links, links_of
from handful.crowd.web.server import listen, serving
from handful.recruit.fake import FakeProlific
from handful.recruit.fake.server import Fault
from handful.recruit.plan import Plan
from handful.recruit.prolific import paying
from handful.recruit.prolific.client import TOKEN, URL, ProlificClient
from handful.recruit.prolific.reconciling import counts_of
from handful.recruit.prolific.recruiter import Recruiter
from handful.recruit.records import Entry
from handful.recruit.store import Store

PUBLIC = "https://photos.example.org"
"""Where the study would be; the fake refuses addresses that the world cannot reach, as the real one does."""

PAID_CREW = Crew(think_s=0.12, wait_s=0.1)
LOOK_EVERY_S = 0.5
LONGEST_S = 120.0
BONUS = 50


@dataclass(frozen=True)
class PaidSummary:
    """What a paid study ended with: its picks, its ledger, and the platform's own books for comparison."""

    chosen: tuple[str, ...]
    answers: int
    people: dict[str, int]
    entries: list[Entry]
    ledger: dict[str, int]
    books: dict[str, int]
    differences: list[str]
    waiting: list[str]


def run_paid_demo(
    pictures: str | Path,
    theme: str,
    advantage: Advantage,
    folder: str | Path,
    plan: Plan,
    *,
    k: int = 4,
    port: int = 0,
    say: Callable[[str], None] = lambda _: None,
    started: Callable[[Links], None] = lambda _: None,
    finished: Callable[[PaidSummary], None] = lambda _: None,
) -> PaidSummary:
    """Run it. The token and the address of the fake are put into this process's environment, as for the real one."""
    storage = Path(folder) / "paid.db"
    collection = ingest(pictures, items_folder(storage))
    settings = Settings(undo_s=0.0, redo_s=0.0, limits=ServerLimits.none())
    study = StudyPlan(k=k, budget=round(0.8 * plan.budget))
    with FakeProlific() as fake:
        os.environ[TOKEN], os.environ[URL] = fake.token, fake.url
        registry = open_registry(storage, collection, [theme], study, settings)
        with serving(registry, listen("127.0.0.1", port)) as (_, url):
            (name, hosted), *_ = registry.studies.items()
            started(links_of(registry, url))
            recruiter = Recruiter(Store(storage), name, ProlificClient.from_environment())
            recruiter.create(
                f"{PUBLIC}/s/{name}", plan, name=theme, description="Which picture adds more?", screen_out=20
            )
            cost = recruiter.cost()
            say(f"Draft made: {plan}")
            say(f"Cost: {cost}")
            recruiter.publish(cost.first)
            say("Published; people come")
            registry.look_for_recruiting()
            loop = registry.panels[name]
            asyncio.run(_played(url, hosted, loop, fake, advantage, say))
            summary = _summary(hosted, loop, fake)
            finished(summary)
    return summary


async def _played(
    url: str, hosted: HostedStudy, loop: PanelLoop, fake: FakeProlific, advantage: Advantage, say: Callable[[str], None]
) -> None:
    """People come until both sides agree; half-way the platform is out of order for a while, and one gets a bonus."""
    stop, there = asyncio.Event(), loop.desk.recruitment.platform_id or ""
    crowd = asyncio.create_task(
        come_and_answer(url, hosted.name, fake.platform, there, hosted.collection, advantage, PAID_CREW, stop)
    )
    began, troubled, promised = time.monotonic(), False, False
    while time.monotonic() - began < LONGEST_S:
        await asyncio.sleep(LOOK_EVERY_S)
        loop.soon()
        people = loop.desk.people()
        done = [person for person in people if person.status == "APPROVED"]
        if not troubled and len(done) >= 3:
            troubled = True
            fake.faults.append(Fault("", 502, times=12))
            say("The platform is out of order for a while: people go on all the same")
        if not promised and len(done) >= 5:
            promised = True
            recruiter = Recruiter(loop.store, hosted.study.name, ProlificClient.from_environment())
            paying.promise_bonus(recruiter, done[0].pseudonym, BONUS)
            say("A bonus is promised")
        if not hosted.open:
            stop.set()
            if crowd.done() and loop.report is not None and loop.report.agrees:
                break
    stop.set()
    await crowd


def _summary(hosted: HostedStudy, loop: PanelLoop, fake: FakeProlific) -> PaidSummary:
    entries, result, report = loop.store.entries(hosted.study.name), hosted.latest_result(), loop.report
    kinds = ("approve", "screen_out", "bonus")
    return PaidSummary(
        result.chosen,
        result.answers,
        counts_of(loop.store.people(hosted.study.name)),
        entries,
        {kind: sum(e.cents for e in entries if e.kind == kind and e.outcome == "done") for kind in kinds},
        {kind: sum(p.cents for p in fake.platform.books if p.kind == kind) for kind in kinds},
        [] if report is None else report.differences,
        [] if report is None else [one.words for one in report.waiting],
    )
