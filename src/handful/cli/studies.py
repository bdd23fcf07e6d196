"""Commands about stored studies: list, status, export, replay, plot, preregister; and warm."""

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
from handful.cli.parameters import STORAGE, Json, Name, Storage, check_not_elsewhere
from handful.cli.printing import console_for, print_json, print_table, when
from handful.errors import HandfulError, InvalidProblem, StorageMissing
from handful.wording import counted

if TYPE_CHECKING:
    from handful.preregistration import Contents
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
        setup, answers = opened.setup, opened.status().answers
        mismatches = opened.mismatches if setup.is_current else None
        departed = None if against is None else _departures(opened, storage, against)
    if as_json:
        found = {
            "study": opened.name,
            "events": dict(kinds),
            "answers": answers,
            "handful": setup.handful,
            "rules": setup.rules,
        }
        kept = {} if departed is None else {"departures": departed}
        differ = None if mismatches is None else mismatches.count
        print_json(found | {"mismatches": differ, "first": [] if mismatches is None else mismatches.first} | kept)
    else:
        console = console_for()
        for kind, count in kinds.most_common():
            console.print(f"{count:>9,}  {kind}")
        for line in () if mismatches is None else mismatches.first:
            console.print(line, style="red", highlight=False)
        if mismatches is None:
            said = f"{setup.made_by}: it is as recorded, and no decision can be computed again here"
        else:
            said = f"{mismatches.count:,} decisions differ" if mismatches.count else "every decision is the same"
        console.print(f"{opened.name}: {counted(answers, 'answer')}; {said}", highlight=False)
        for line in departed or ():
            console.print(f"not as registered: {line}", style="red", highlight=False)
        if departed == []:
            console.print("the study kept to its preregistration")
    if check and (mismatches is None or mismatches.count or departed):
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
        from handful.crowd.registration import collection_in
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
    from handful.preregistration import departures, done_by_hand, read_record

    try:
        text = against.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidProblem(f"--against {against} cannot be read: {error}") from error
    registered = read_record(text)
    now = study.registration(*shown_to_people(storage, study))
    return departures(registered, now, study.state.registered, done_by_hand(study.records()))


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


@app.command(
    epilog="""
[bold]Example[/bold]  handful preregister cathedrals -s photos.db

Post both files where others can see them. Afterwards anybody who has the journal can check that the study kept to it:

 handful replay cathedrals -s photos.db --check --against cathedrals-preregistration.json
"""
)
def preregister(
    study: Name = None,
    storage: Storage = STORAGE,
    folder: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")] = Path(),
) -> None:
    """Write down what a study will do, as a page and as JSON to be posted before its first answer.

    It names each item's digest, k, the explorer, the budget, who counts, the wording and when it ends, and commits to
    the seed without telling it. The certificate and the export then name its digest. While a server runs the study, use
    the button on the organizer's page instead.
    """
    from handful.preregistration import page_of, to_json
    from handful.study import Study

    name = study or only_study(storage)
    with Study.open(storage, name) as opened:
        record = opened.preregister(*shown_to_people(storage, opened))
        late = opened.state.registered.answers if opened.state.registered is not None else 0
    html, json_ = (folder / f"{name}-preregistration.{ending}" for ending in ("html", "json"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        html.write_text(page_of(record, late, _built_in(record)), encoding="utf-8")
        json_.write_text(to_json(record), encoding="utf-8")
    except OSError as error:
        raise InvalidProblem(f"cannot write {html}: {error.strerror}") from error
    say(f"wrote {html} and {json_}; the digest is {record['hash']}")
    if late:
        say(f"this study had {late:,} answers already when it was registered, and its certificate says so")


def _built_in(record: dict[str, Any]) -> dict[str, str]:
    """What people read where the organizer wrote nothing."""
    if not record.get("words"):
        return {}
    from handful.crowd.registration import built_in_words

    return built_in_words(record)


def shown_to_people(storage: str, study: Study[Any]) -> tuple[Contents | None, dict[str, Any]]:
    """The digests of what people see, and what they read, where the crowd app serves the study."""
    try:
        from handful.crowd.registration import shown_in
    except ImportError:  # without the extra there is no crowd app
        return None, {}
    return shown_in(storage, study)


@app.command()
def warm() -> None:
    """Compile all explorers now, so that no later study has to wait for it.

    Compiled code is kept beside the package, or in your cache folder where that cannot be written, or where the
    environment variable NUMBA_CACHE_DIR says. It is compiled anew when the package, Numba or Python change.
    """
    from rich.console import Console

    from handful.compilation import compile_ahead
    from handful.kernels import can_keep

    took = compile_ahead(Console(stderr=True))
    if not can_keep():
        say("no folder can be written, so nothing was kept: let NUMBA_CACHE_DIR name one")
        raise typer.Exit(1)
    say("all is compiled already" if took is None else f"compiled in {took:.0f} s, and kept for the next time")


# The study that is meant


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
