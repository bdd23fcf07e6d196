"""What `handful serve` prints: what the plan buys, the links, and what has finished."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from collections.abc import Collection as Container
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from handful.cli.crowd_console import console, note
from handful.wording import counted

if TYPE_CHECKING:
    import typer

    from handful.crowd.collection import Collection
    from handful.crowd.hosting.expected_people import ExpectedPeople
    from handful.crowd.hosting.hosted_study import HostedStudy
    from handful.crowd.hosting.registry import Registry
    from handful.crowd.hosting.study_plan import StudyPlan

HERE = ("127.0.0.1", "localhost", "::1", "[::1]")
"""Names of this machine that no other knows it by."""


def print_plan(plan: StudyPlan, collection: Collection | None) -> None:
    """What the people who will come buy, and how many more it takes if that is too little. Nothing where nobody said
    who will come, or there is nothing to choose from.
    """
    from handful.crowd.hosting.planned_quality import MOST_SIMULATED, quality_of

    expected = plan.expected
    if expected is None or collection is None:
        return
    pay = expected.pay(plan.rule)
    if pay is not None:
        console.print(f"{pay}.", highlight=False, soft_wrap=True)
    answers = plan.answers(len(collection), solo=False)
    simulated = answers <= MOST_SIMULATED
    planned = "" if plan.budget is None else f" ({expected.answers:,}), and by --budget"
    console.print(
        f"{_people(expected.people)} × {counted(expected.answers_each, 'answer')}{planned}: "
        f"{counted(answers, 'answer')} in all. "
        f"{'Simulating what that buys …' if simulated else 'That is too many to simulate: see handful price.'}",
        highlight=False,
        soft_wrap=True,
    )
    bought = quality_of(plan, collection)
    if bought is not None:
        style = "" if bought.suffices else "yellow"
        console.print(
            bought.words(expected.people, expected.answers_each), style=style, highlight=False, soft_wrap=True
        )


def print_plans(
    plan: StudyPlan,
    collection: Collection | None,
    registry: Registry,
    themes: Container[str],
    before: Container[str],
) -> None:
    """The plan, if a study was begun by it. Of studies that were there `before`, and are of these themes if there are
    any, whom they were begun for: who will come plans new studies alone.
    """
    if plan.expected is None:
        return
    studies = list(registry.studies.values())
    if any(hosted.study.name not in before for hosted in studies):
        print_plan(plan, collection)
    for hosted in studies:
        if hosted.study.name not in before or not hosted.open or (themes and hosted.theme not in themes):
            continue
        kept = ""
        if hosted.expected is None:
            kept = "; it was begun without --people"
        elif hosted.expected != plan.expected:
            kept = f"; it was begun for {_people(hosted.expected.people)}, {_each(hosted.expected)}"
        note(
            f"{hosted.theme}: the study is there already, so nothing is simulated: its own settings hold, but for "
            f"changes that are said above{kept}"
        )


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _each(expected: ExpectedPeople) -> str:
    pay = "" if expected.per_hour is None else f", paid {expected.per_hour / 100:.2f} {expected.currency} an hour"
    return f"{counted(expected.answers_each, 'answer')} each{pay}"


STOPPING = "Stopping: what is under way is finished first. Ctrl-C again stops at once; what was confirmed is stored.\n"


def say_stopping() -> None:
    """Say that it stops, and what a second Ctrl-C does. Called from a signal's handler: so without a buffer."""
    with suppress(OSError, ValueError):  # standard output is closed, or no file
        os.write(sys.stdout.fileno(), f"\n{STOPPING}".encode())


def print_consents(registry: Registry, code: str) -> None:
    """The built-in consent of the studies in this language, which whoever serves them accepts by that."""
    from handful.crowd.languages import built_in

    told = {
        hosted.settings.agreed_to(marked=hosted.marks_networks): hosted.settings.catalogue.name
        for hosted in registry.studies.values()
        if hosted.open and hosted.settings.language == code and hosted.settings.consent in built_in("consent")
    }
    for text, name in told.items():
        console.print(f"\nThe built-in consent in {name}, which people agree to before they begin:\n", highlight=False)
        console.print(text, style="dim", markup=False, highlight=False, soft_wrap=True)
        console.print(
            "\nBy serving the study you accept this text; --consent FILE puts your own in its place.",
            highlight=False,
            soft_wrap=True,
        )


def print_links(registry: Registry, url: str, where: str, here_only: bool) -> None:
    """The links to share and to organize by, for every study, and `where` they are stored; `here_only`: nobody else
    can open them.
    """
    from handful.crowd.web.links import links_of

    links = links_of(registry, url)
    console.print()
    for hosted in registry.studies.values():
        console.print(f"[bold]{hosted.k} of {len(hosted.collection)}[/bold], {_so_far(hosted)}:", end=" ")
        console.print(hosted.theme, markup=False, style="bold")
        if hosted.open:
            console.print(f"  share      {links.workers[hosted.theme]}", soft_wrap=True)
        else:
            console.print("  nobody can answer any more; the organizer's page has the summary", style="dim")
    console.print(f"  organize   {links.organizer}", soft_wrap=True)
    console.print(f"  kept in    {where}", soft_wrap=True, highlight=False)
    console.print()
    for hosted in registry.studies.values():
        if hosted.open and hosted.expected is None and not hosted.settings.solo:
            _print_who_is_needed(hosted)
    if here_only and urlsplit(url).hostname in HERE:
        console.print("Only this machine can open these links; --host 0.0.0.0 lets others in.", style="dim")
    console.print("Stop with Ctrl-C; nothing is lost.", style="dim")
    sys.stdout.flush()


def _print_who_is_needed(hosted: HostedStudy) -> None:
    """How many people it takes until the last item is picked, where nobody said how many will come."""
    status, goal = hosted.study.status(), hosted.goal
    if status.budget is None or goal is None or status.answers:
        return
    console.print(
        f"{counted(status.budget, 'answer')} are {_people(-(-status.budget // goal))} with {goal} each; "
        f"--people says who will come, and --answers-each what each of them gives: that plans the answers.",
        style="dim",
        highlight=False,
        soft_wrap=True,
    )


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
    status = hosted.study.status()  # and not the progress that people see, which hides numbers where there are checks
    if not hosted.open:
        return f"finished with {len(status.chosen)} picked after {counted(status.answers, 'answer')}"
    most = "any number of answers" if status.budget is None else f"{counted(status.budget, 'answer')} at most"
    return most + (f", {counted(status.answers, 'answer')} so far" if status.answers else "")


def place_of(storage: str) -> str:
    """Where a storage is, for whoever looks for it from another folder."""
    from handful.storage import without_password

    return without_password(storage) if "://" in storage else str(Path(storage).resolve())


def named_again(storage: str | None) -> list[str]:
    """The words that name this storage in a command, if it was named."""
    from handful.storage import without_password

    return [] if storage is None else ["--storage", without_password(storage)]


def typed_again(said: Callable[[str, object], object], context: typer.Context, *names: str) -> list[str]:
    """These options as they were typed: no study keeps them, so they are to be typed again."""
    given = {name: said(name, context.params[name]) for name in names}
    return [
        word
        for name, value in given.items()
        if value is not None
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]
