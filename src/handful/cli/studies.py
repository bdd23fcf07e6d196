"""Commands about stored studies: list, status, export, replay, plot."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from handful.cli import app, needs, say
from handful.cli.existing_storage import check_not_elsewhere
from handful.cli.parameters import STORAGE, Json, Name, Storage
from handful.cli.printing import console_for, print_json, print_table, when
from handful.errors import HandfulError, InvalidProblem, StorageMissing
from handful.wording import counted

if TYPE_CHECKING:
    from handful.study import Study


@app.command("list", epilog="[bold]Example[/bold]  handful list --storage venice.db")
def list_(storage: Storage = STORAGE, as_json: Json = False) -> None:
    """List the studies in a storage."""
    from handful.storage import list_studies, without_password

    if "://" not in storage and not Path(storage).exists():
        raise StorageMissing(f"there is no file {storage}: check the path")
    found = list_studies(storage)
    if as_json:
        print_json([{"name": s.name, "events": s.records, "first": s.first_time, "last": s.last_time} for s in found])
        return
    if not found:
        console_for().print(f"{without_password(storage)} has no studies yet")
        return
    rows = [(s.name, f"{s.records:,}", when(s.first_time), when(s.last_time)) for s in found]
    print_table(("study", "events", "begun", "last event"), rows, whole=("study",))


@app.command(epilog="[bold]Example[/bold]  handful status photos --json")
def status(study: Name = None, storage: Storage = STORAGE, as_json: Json = False) -> None:
    """Say where a study stands, also while it is running."""
    from rich.markup import escape
    from rich.table import Table

    with opened_study(study, storage) as opened:
        now, result, agreement = opened.status(), opened.result(), opened.agreement()
        called = str if as_json else _called(storage, opened)
    if as_json:
        told = {"result": result.to_dict(), "agreement": agreement.to_dict()}
        print_json({"study": opened.name, **now.to_dict(), **told})
        return
    console = console_for()
    spent = counted(now.answers, "answer") + ("" if now.budget is None else f" of {now.budget:,}")
    picked = f"{len(now.chosen)} of {now.k} picked from {len(now.items):,}"
    console.print(f"[bold]{escape(opened.name)}[/bold]: {picked}; {spent}")
    drawn = any(r.size > 1 for r in result.rounds)  # from several that were as good, as the paper does
    table = Table("round", "pick", "answers", "decided by", *(("drawn from",) if drawn else ()))
    for r in result.rounds:
        cells = (str(r.round), escape(called(r.pick)), r.answers_said.removesuffix(" answers"), r.ending.by)
        table.add_row(*cells, *((str(r.size),) if drawn else ()))
    if result.rounds:
        console.print(table)
    for place, pick in enumerate(result.picks, start=1):
        console.print(
            f"{place}. [bold]{escape(called(pick.item))}[/bold]: {escape(' '.join(pick.sentences(called)))}",
            highlight=False,
        )
    for sentence in (*result.of_repeats, *agreement.sentences()):
        console.print(sentence, highlight=False)
    if now.finished:
        console.print(f"Finished: {now.finished}. {escape(result.words)}", highlight=False)
    else:
        leader = "" if now.leader is None else f"; {escape(called(now.leader))} leads"
        limit = "" if now.round_limit is None else f" of at most {now.round_limit:,}"
        paused = " (paused)" if now.paused else ""
        console.print(
            f"Round {now.round}{paused}: {now.round_answers:,}{limit} answers, {now.in_flight} in flight{leader}"
        )


@app.command(
    epilog="""
[bold]Examples[/bold]

 handful export photos > answers.csv

 handful export photos --format jsonl -o journal.jsonl

 handful export photos --format result -o result.json
"""
)
def export(
    study: Name = None,
    storage: Storage = STORAGE,
    format_: Annotated[
        Literal["csv", "jsonl", "result"],
        typer.Option(
            "--format",
            help="csv: one line per answer; jsonl: the whole journal; result: what was found, proved and assumed, as "
            "JSON.",
        ),
    ] = "csv",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file instead of the terminal.")] = None,
) -> None:
    """Write out all answers (CSV), everything that happened (JSON lines), or what was found (JSON)."""
    from handful.export import answer_lines, journal_lines

    with opened_study(study, storage) as opened:
        gc.freeze()  # it stays until the end: there is no garbage to look for in it, line after line
        if format_ == "result":
            found = {**opened.result().to_dict(), "agreement": opened.agreement().to_dict()}
            lines: Iterable[str] = [json.dumps(found, ensure_ascii=False, indent=1), "\n"]
        else:
            lines = answer_lines(opened) if format_ == "csv" else journal_lines(opened.records())
        _write(lines, output)


@app.command(
    epilog="[bold]Example[/bold]  handful replay photos --check   (exit code 1 if any decision would differ today)"
)
def replay(
    study: Name = None,
    storage: Storage = STORAGE,
    check: Annotated[
        bool, typer.Option("--check", help="Fail if any recorded decision would be another today.")
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A preregistration (.json): say whether the study kept to it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Go through a study's journal from the start: every question, every round, every pick is computed again."""
    from collections import Counter

    with opened_study(study, storage) as opened:
        kinds = Counter(record.kind for record in opened.records())
        mismatches, answers = opened.mismatches, opened.status().answers
        edition, today = opened.fold.setup.edition, opened.fold.setup.explorer.edition
        departed = None if against is None else _departures(opened, storage, against)
    if as_json:
        found = {"study": opened.name, "events": dict(kinds), "answers": answers, "edition": edition, "today": today}
        kept = {} if departed is None else {"departures": departed}
        print_json(found | {"mismatches": mismatches.count, "first": mismatches.first} | kept)
    else:
        console = console_for()
        for kind, count in kinds.most_common():
            console.print(f"{count:>9,}  {kind}")
        for line in mismatches.first:
            console.print(line, style="red", highlight=False)
        if edition != today:
            console.print(
                f"made by edition {edition} of its explorer's rules, and today's is {today}: it is as recorded, and "
                "only decisions of today's edition are computed again"
            )
        console.print(
            f"{opened.name}: {counted(answers, 'answer')}; "
            + ("every decision is the same" if not mismatches.count else f"{mismatches.count:,} decisions differ")
        )
        for line in departed or ():
            console.print(f"not as registered: {line}", style="red", highlight=False)
        if departed == []:
            console.print("the study kept to its preregistration")
    if check and (mismatches.count or departed):
        raise typer.Exit(1)


@app.command(epilog="[bold]Example[/bold]  handful plot photos -o photos.png")
def plot(
    output: Annotated[Path, typer.Option("--output", "-o", help="A .png, .svg or .pdf file.")],
    study: Name = None,
    storage: Storage = STORAGE,
) -> None:
    """Draw a study: the contenders' intervals per round, answers over items, what each pick added."""
    needs("plots", "a picture of the result")
    if output.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InvalidProblem(f"cannot draw {output.name}: give a file that ends in .png, .svg or .pdf")
    with opened_study(study, storage) as opened:
        try:
            opened.result().plot(output)
        except OSError as error:
            raise InvalidProblem(f"cannot write {output}: {error.strerror}") from error
    say(f"drew {output}")


def _called(storage: str, study: Study) -> Callable[[Any], str]:
    """What people call an item: of a study that the crowd app served, as its pages do."""
    try:
        from handful.crowd.hosting.preregistering import collection_in
    except ImportError:  # without the extra there is no crowd app
        return str
    try:
        collection = collection_in(storage, study)
    except HandfulError as error:
        say(f"items are called by their ids, as {error}")
        return str
    return str if collection is None else collection.name_of


def _departures(study: Study, storage: str, against: Path) -> list[str]:
    """In what the study differs from a preregistration."""
    from handful.cli.preregister import shown_to_people
    from handful.study.done_by_hand import done_by_hand
    from handful.study.preregistration import departures, read_record

    try:
        text = against.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidProblem(f"--against {against} cannot be read: {error}") from error
    registered = read_record(text)
    now = study.registration(*shown_to_people(storage, study, registered.get("format", 1)))
    return departures(registered, now, study.fold.registered, done_by_hand(study.records()))


def opened_study(name: str | None, storage: str) -> Study:
    """The study, read-only; without a name, the only one there is."""
    from handful.study import Study

    check_not_elsewhere(storage)
    return Study.open(storage, name or only_study(storage), read_only=True)


def only_study(storage: str) -> str:
    """The name of the only study there is."""
    from handful.storage import list_studies

    names = [s.name for s in list_studies(storage)]
    if len(names) != 1:
        there = ", ".join(names) or "none"
        raise InvalidProblem(f"{storage} has {len(names)} studies, so say which one; there are: {there}")
    return names[0]


def _write(lines: Iterable[str], output: Path | None) -> None:
    if output is None:
        try:
            sys.stdout.writelines(lines)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever reads has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    try:
        with output.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
    except OSError as error:
        raise InvalidProblem(f"cannot write {output}: {error.strerror}") from error
