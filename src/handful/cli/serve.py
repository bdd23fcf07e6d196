"""`handful serve` and `handful backup`: the crowd app from the command line."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar
from urllib.parse import urlsplit

import typer
from rich.console import Console

from handful.cli import app
from handful.errors import InvalidCollection, InvalidProblem, MissingExtra, StorageError

if TYPE_CHECKING:
    import socket

    from handful.crowd.booth import Booth
    from handful.crowd.hall import Hall
    from handful.crowd.items import Collection
    from handful.crowd.settings import Settings

T = TypeVar("T")
console = Console(highlight=False)
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
LEFT_OUT_SHOWN = 8


@app.command()
def serve(
    context: typer.Context,
    source: Annotated[
        Path, typer.Argument(help="a folder of pictures, a .zip, a .csv of texts or images, or a .db to go on with")
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="how many to choose")] = 6,
    theme: Annotated[
        list[str] | None, typer.Option(help="what the selection is about; several make several studies")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(min=1, help="answers in all, per theme (default: four per item and pick; with --solo fewer)"),
    ] = None,
    storage: Annotated[
        str | None, typer.Option(help="a .db file or a postgresql:// URL (default: SOURCE.db, here)")
    ] = None,
    host: Annotated[str, typer.Option(help="0.0.0.0 lets other machines in")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any free one")] = 8000,
    explorer: Annotated[
        str | None, typer.Option(help="what decides what is asked: duels or topx, or topx:variant=O (default: duels)")
    ] = None,
    in_flight: Annotated[int, typer.Option(min=1, help="questions that may be unanswered at once")] = 200,
    lease: Annotated[float, typer.Option(min=1, help="seconds until a question is asked of somebody else")] = 60,
    goal: Annotated[int, typer.Option(min=0, help="answers a worker is asked for; 0 for no number")] = 30,
    consent: Annotated[Path | None, typer.Option(help="a text file to agree to, instead of the built-in text")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the study's random choices")] = 0,
    solo: Annotated[
        bool, typer.Option("--solo", help="one person, this machine only, no consent; ends with a folder")
    ] = False,
    public_url: Annotated[str | None, typer.Option(help="the address people use, when a proxy stands in front")] = None,
    log: Annotated[
        str | None, typer.Option(help="a file for JSON logs without personal data; - is standard error")
    ] = None,
) -> None:
    """Ask a crowd: share a link, and watch the summary grow.

    [bold]handful serve photos/ -k 6 --theme "Cathedrals in Venice"[/bold]
      a study in photos.db; the same command goes on where it stopped

    [bold]handful serve photos/ --theme Cathedrals --theme Boats --host 0.0.0.0[/bold]
      two themes over one collection, open to the network

    [bold]handful serve abstracts.csv -k 5 --theme "Talks for the morning"[/bold]
      texts instead of pictures: a column named text

    [bold]handful serve holiday/ --solo[/bold]
      choose the best six yourself in a few minutes
    """
    _needs_the_crowd_extra()
    from handful.crowd.opening import Plan, check_first, open_hall
    from handful.crowd.running import Server, listen, log_to, port_of
    from handful.crowd.wishes import Wishes

    where = storage or (str(source) if source.suffix == ".db" else f"{_stem(source)}.db")
    settings = _settings(host, solo, goal, consent, public_url)
    plan = Plan(k, explorer, budget, in_flight=in_flight, lease_s=lease, seed=seed)
    if solo and host not in LOOPBACK:
        _note(f"--solo is for this machine only, so --host {host} is left aside")
    said = _said(context)
    wishes = Wishes(
        k=said("k", k),
        explorer=explorer,
        budget=budget,
        in_flight=None if solo else said("in_flight", in_flight),
        lease_s=said("lease", lease),
        seed=said("seed", seed),
    )
    themes = theme or ([_stem(source)] if solo and not Path(where).exists() else [])
    log_to(log)
    with closing(listen("127.0.0.1" if solo else host, port)) as listening:
        collection = _collection(source, where, lambda items: check_first(where, themes, plan, settings, items))
        hall = open_hall(where, collection, themes, plan, settings, wishes=wishes, say=_note)
        if solo:
            again = shlex.join(["handful", "serve", str(source), *_again(storage), "--solo"])
            _alone(hall, themes, listening, source, again)
            return
        url = public_url.rstrip("/") if public_url else f"http://{_shown(host)}:{port_of(listening)}"
        server = Server(hall, public_url is not None)
        _print_links(hall, url, host, len(collection))
        with _saying_what_finishes(hall):
            server.run_until_interrupted(listening)
    kept = [where] if where.endswith(".db") else [str(source), *_again(storage)]
    again = shlex.join(["handful", "serve", *kept])
    console.print(f"Stopped. Everything is stored; to go on: [bold]{again}[/bold]", soft_wrap=True)


@app.command()
def backup(
    storage: Annotated[str, typer.Argument(help="the .db file or postgresql:// URL of a crowd study")],
    output: Annotated[Path, typer.Option("-o", "--output", help="the zip to write")] = Path("handful-backup.zip"),
) -> None:
    """Put a crowd study and its collection into one zip, while it runs.

    [bold]handful backup photos.db -o photos-backup.zip[/bold]

    To restore, unpack it anywhere and serve what is inside: [bold]handful serve handful.db[/bold]. The zip holds the
    secret that cookies are checked with: keep it as safe as the study itself.
    """
    _needs_the_crowd_extra()
    from handful.crowd.backups import backup_file
    from handful.crowd.opening import items_folder

    items = items_folder(storage)
    if not items.is_dir():
        raise StorageError(f"there is no collection {items} beside the database: was this served from another folder?")
    console.print(f"Wrote {backup_file(storage, items, output)}")


def _needs_the_crowd_extra() -> None:
    try:
        import fastapi  # noqa: F401
        import PIL  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra("the crowd app", "crowd") from None


def _said(context: typer.Context) -> Callable[[str, T], T | None]:
    """What was typed; None for a default."""

    def said(name: str, value: T) -> T | None:
        source = context.get_parameter_source(name)
        return None if source is None or source.name.startswith("DEFAULT") else value

    return said


def _note(text: str) -> None:
    console.print(f"Note: {text}", style="yellow", markup=False, soft_wrap=True)


def _stem(source: Path) -> str:
    return source.resolve().stem


def _settings(host: str, solo: bool, goal: int, consent: Path | None, public_url: str | None) -> Settings:
    from handful.crowd.settings import CONSENT, Settings

    hosts: tuple[str, ...] | None = None
    if public_url is not None:
        name = urlsplit(public_url).hostname
        if name is None:
            raise InvalidProblem(f"--public-url {public_url!r} is not an address: expected https://example.org")
        hosts = (*LOOPBACK, name)
    elif solo or host in LOOPBACK:
        hosts = LOOPBACK
    try:
        text = CONSENT if consent is None else consent.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidProblem(f"--consent {consent} cannot be read as text: {error}") from error
    return Settings(
        goal=None if solo or goal == 0 else goal,
        consent=None if solo else text,
        solo=solo,
        hosts=hosts,
        secure_cookies=public_url is not None and public_url.startswith("https:"),
    )


def _collection(source: Path, storage: str, check: Callable[[int], None]) -> Collection:
    """The collection that was processed before, or a new one, with a progress bar.

    Processing may take minutes, so `check` is called before, with how many items there are at most.
    """
    from handful.crowd.ingesting import ingest
    from handful.crowd.items import has_collection, load_collection
    from handful.crowd.opening import items_folder
    from handful.crowd.sources import number_of_items

    folder = items_folder(storage)
    if has_collection(folder):
        collection = load_collection(folder)
        console.print(f"Using the {len(collection)} items processed before, in {folder}.")
        _say_changes(source, collection)
        return collection
    if source.suffix == ".db":
        raise InvalidCollection(f"there is no collection {folder} beside {source}: give the pictures instead")
    check(number_of_items(source))
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Preparing the items"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("items", total=None)
        collection = ingest(source, folder, lambda done, total: bar.update(task, completed=done, total=total))
    console.print(f"{len(collection)} items are ready, in {folder}.")
    for one in collection.left_out[:LEFT_OUT_SHOWN]:
        console.print(f"  left out: {one.name} {one.why}", style="yellow", markup=False)
    if len(collection.left_out) > LEFT_OUT_SHOWN:
        console.print(f"  … and {len(collection.left_out) - LEFT_OUT_SHOWN} more", style="yellow")
    return collection


def _say_changes(source: Path, collection: Collection) -> None:
    from handful.crowd.sources import changes_since

    if source.suffix == ".db" or not source.exists():
        return
    new, gone = changes_since(source, collection)
    if new or gone:
        what = "folder" if source.is_dir() else "file"
        counts = ", ".join(f"{count:,} {word}" for count, word in ((new, "new"), (gone, "gone")) if count)
        _note(
            f"the {what} has changed since: {counts}; a study keeps the items it began with. "
            "To take it in anew, give --storage with another file"
        )


def _shown(host: str) -> str:
    """The name to print: this machine's own address, when it listens to all."""
    if host in LOOPBACK:
        return "127.0.0.1" if host not in ("::1", "[::1]") else "[::1]"
    if host in ("0.0.0.0", "::"):
        return _own_address()
    return f"[{host}]" if ":" in host else host


def _own_address() -> str:
    """Where others on the network find this machine. Connecting a datagram socket sends nothing."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            address: str = probe.getsockname()[0]
        except OSError:
            return socket.gethostname()
        return address


def _print_links(hall: Hall, url: str, host: str, items: int) -> None:
    from handful.crowd.demo import links_of

    links = links_of(hall, url)
    console.print()
    for booth in hall.booths.values():
        progress = booth.progress()
        console.print(f"[bold]{progress.k} of {items}[/bold], {_so_far(booth)}:", end=" ")
        console.print(booth.theme, markup=False, style="bold")
        if booth.open:
            console.print(f"  share      {links.workers[booth.theme]}", soft_wrap=True)
        else:
            console.print("  nobody can answer any more; the organizer's page has the summary", style="dim")
    console.print(f"  organize   {links.organizer}", soft_wrap=True)
    console.print()
    if host in LOOPBACK and urlsplit(url).hostname in LOOPBACK:
        console.print("Only this machine can open these links; --host 0.0.0.0 lets others in.", style="dim")
    console.print("Stop with Ctrl-C; nothing is lost.", style="dim")
    sys.stdout.flush()


@contextmanager
def _saying_what_finishes(hall: Hall) -> Iterator[None]:
    """A line in the terminal when a study ends."""
    from handful.crowd.solo import when_finished

    def say(booth: Booth) -> None:
        status = booth.study.status()
        words = f"Finished: {booth.theme} ({len(status.chosen)} picked after {status.answers:,} answers)"
        console.print(words, markup=False, soft_wrap=True)
        sys.stdout.flush()

    stop = threading.Event()
    watching = [when_finished(booth, partial(say, booth), stop) for booth in hall.booths.values() if booth.open]
    try:
        yield
    finally:
        stop.set()
        for thread in watching:
            thread.join()


def _so_far(booth: Booth) -> str:
    progress = booth.progress()
    if not booth.open:
        return f"finished with {progress.chosen} picked after {progress.answers:,} answers"
    most = "any number of answers" if progress.budget is None else f"{progress.budget:,} answers at most"
    return most + (f", {progress.answers:,} answers so far" if progress.answers else "")


def _again(storage: str | None) -> list[str]:
    return [] if storage is None else ["--storage", storage]


def _alone(hall: Hall, themes: Sequence[str], listening: socket.socket, source: Path, again: str) -> None:
    """One person chooses, on this machine; ends with a folder of the picks."""
    from handful.crowd.running import Server, port_of
    from handful.crowd.solo import booth_of_one, end_earlier_visits, picks_folder, put_picks, when_finished

    booth, folder, put = booth_of_one(hall, themes), picks_folder(source), threading.Lock()
    if not booth.open:
        hall.close()
        kept = folder if folder.exists() else put_picks(booth, source, folder)
        console.print(
            f"All {booth.k} are chosen already: your picks and their contact sheet are in [bold]{kept}[/bold]."
        )
        console.print(f"To choose anew, name another file for your answers: {again} --storage again.db", soft_wrap=True)
        return
    end_earlier_visits(booth)
    server, stop, kept_in = Server(hall), threading.Event(), list[Path]()

    def keep() -> None:
        with put:
            if not kept_in:
                kept_in.append(put_picks(booth, source, folder))
                console.print(f"\nDone: your picks and their contact sheet are in [bold]{kept_in[0]}[/bold].")

    def finish() -> None:
        keep()
        console.print("The page stays for ten minutes, or until you press Ctrl-C.", style="dim")
        sys.stdout.flush()
        stop.wait(LAST_LOOK_S)
        server.stop()

    _print_link(booth, f"http://127.0.0.1:{port_of(listening)}/s/{booth.name}")
    watching = when_finished(booth, finish, stop)
    server.run_until_interrupted(listening)
    stop.set()
    watching.join()
    if booth.state == "finished":
        keep()
    else:
        console.print(f"Stopped. Your answers are stored; to go on: [bold]{again}[/bold]", soft_wrap=True)


def _print_link(booth: Booth, link: str) -> None:
    progress = booth.progress()
    assert progress.budget is not None
    left = progress.budget - progress.answers
    minutes = max(1, round(left * SECONDS_PER_ANSWER / 60))
    about = (
        f"{left:,} questions{' left' if progress.answers else ''}, about {minutes} minute{'s' if minutes > 1 else ''}"
    )
    console.print(f"\n[bold]{progress.k} of {len(booth.collection)}[/bold], {about}:", end=" ")
    console.print(booth.theme, markup=False, style="bold")
    console.print(f"  open       {link}", soft_wrap=True)
    console.print("\nStop with Ctrl-C; nothing is lost.", style="dim")
    sys.stdout.flush()


LAST_LOOK_S = 600
"""How long the page stays up after the last pick, to be looked at."""
SECONDS_PER_ANSWER = 2.2
"""What one answer takes, for somebody who looks at both pictures."""
