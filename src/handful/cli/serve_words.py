"""What `handful serve` prints: what the plan buys, the links, and what has finished."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from handful.cli.crowd_console import console
from handful.wording import counted

if TYPE_CHECKING:
    from handful.crowd.collection.items import Collection
    from handful.crowd.hosting.hosted_study import HostedStudy
    from handful.crowd.hosting.registry import Registry
    from handful.crowd.hosting.study_plan import StudyPlan

HERE = ("127.0.0.1", "localhost", "::1", "[::1]")
"""Names of this machine that no other knows it by."""


def print_plan(plan: StudyPlan, collection: Collection) -> None:
    """What the people who will come buy, and how many more it takes if that is too little."""
    from handful.crowd.hosting.planned_quality import MOST_SIMULATED, quality_of

    expected = plan.expected
    assert expected is not None
    pay = expected.pay(plan.rule)
    if pay is not None:
        console.print(f"{pay}.", highlight=False, soft_wrap=True)
    answers = plan.answers(len(collection), solo=False)
    simulated = answers <= MOST_SIMULATED
    console.print(
        f"{expected.people:,} people × {counted(expected.answers_each, 'answer')}: "
        f"{counted(answers, 'answer')} in all. "
        f"{'Simulating what that buys …' if simulated else 'That is too many to simulate: see handful price.'}",
        highlight=False,
        soft_wrap=True,
    )
    bought = quality_of(plan, collection)
    if bought is not None:
        console.print(bought.words(expected.people), style="" if bought.suffices else "yellow", highlight=False)


def print_links(registry: Registry, url: str, here_only: bool) -> None:
    """The links to share and to organize by, for every study; `here_only`: nobody else can open them."""
    from handful.crowd.web.links import links_of

    links = links_of(registry, url)
    console.print()
    for hosted in registry.studies.values():
        progress = hosted.progress()
        console.print(f"[bold]{progress.k} of {len(hosted.collection)}[/bold], {_so_far(hosted)}:", end=" ")
        console.print(hosted.theme, markup=False, style="bold")
        if hosted.open:
            console.print(f"  share      {links.workers[hosted.theme]}", soft_wrap=True)
        else:
            console.print("  nobody can answer any more; the organizer's page has the summary", style="dim")
    console.print(f"  organize   {links.organizer}", soft_wrap=True)
    console.print()
    if here_only and urlsplit(url).hostname in HERE:
        console.print("Only this machine can open these links; --host 0.0.0.0 lets others in.", style="dim")
    console.print("Stop with Ctrl-C; nothing is lost.", style="dim")
    sys.stdout.flush()


@contextmanager
def saying_what_finishes(registry: Registry) -> Iterator[None]:
    """A line in the terminal when a study ends."""
    from handful.crowd.hosting.finish_watcher import when_finished

    def say(hosted: HostedStudy) -> None:
        status = hosted.study.status()
        words = f"Finished: {hosted.theme} ({len(status.chosen)} picked after {counted(status.answers, 'answer')})"
        console.print(words, markup=False, soft_wrap=True)
        sys.stdout.flush()

    stop = threading.Event()
    watching: list[threading.Thread] = []

    def watch(hosted: HostedStudy) -> None:
        watching.append(when_finished(hosted, partial(say, hosted), stop))

    for hosted in registry.studies.values():
        if hosted.open:
            watch(hosted)
    registry.on_added.append(watch)
    try:
        yield
    finally:
        stop.set()
        for thread in watching:
            thread.join()


def _so_far(hosted: HostedStudy) -> str:
    progress = hosted.progress()
    if not hosted.open:
        return f"finished with {progress.chosen} picked after {counted(progress.answers, 'answer')}"
    most = "any number of answers" if progress.budget is None else f"{counted(progress.budget, 'answer')} at most"
    return most + (f", {counted(progress.answers, 'answer')} so far" if progress.answers else "")
