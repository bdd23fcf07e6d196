"""`handful serve` and `handful backup`: a collection for a crowd, or for one person."""

from __future__ import annotations

import errno
import glob
import json
import os
import shlex
import shutil
import socket
import sys
import threading
import time
import tomllib
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Container
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

import typer

from handful.cli import app, needs
from handful.cli.parameters import bounded
from handful.cli.printing import console, note
from handful.crowd.settings import BOUNDS
from handful.errors import HandfulError, InvalidCollection, InvalidProblem, StorageLocked
from handful.storage import CLOSE_IT
from handful.wording import counted

if TYPE_CHECKING:
    from handful.crowd.collection import Collection
    from handful.crowd.host import Host
    from handful.crowd.plan import ExpectedPeople, StudyPlan
    from handful.crowd.registry import Registry
    from handful.crowd.settings import Settings
    from handful.rules import Rule


T = TypeVar("T")
PROXIES = ("127.0.0.0/8", "::1")
"""Whose word about addresses is taken with --public-url: a proxy on this machine."""

STANDARD = "standard"
DoorOption = Annotated[
    Literal["open", "room", "invitations", "panel"],
    typer.Option("--door", help="how people come: open caps what one network may answer; see handful invite"),
]
RuleOption = Annotated[
    Path | None,
    typer.Option(
        "--rule",
        help="who counts, fixed before the first answer: standard (with checks among the questions), or a JSON file",
    ),
]
WordsOption = Annotated[
    Path | None,
    typer.Option(
        "--words",
        help="what people read, as TOML or JSON: question, welcome, instructions, consent, thanks, practice and more",
    ),
]
OPTIONS = {"goal": "--goal", "consent": "--consent", "language": "--language", "retention_days": "--retention"}
"""Words that have an option of their own."""


@app.command()
def serve(
    context: typer.Context,
    source: Annotated[
        Path | None,
        typer.Argument(
            help="a folder of pictures, a .zip, a .csv of texts or images, or a .db to go on with; "
            "without it, studies are set up in the browser"
        ),
    ] = None,
    k: Annotated[int, bounded("k", "how many to choose", "-k")] = 6,
    theme: Annotated[
        list[str] | None,
        typer.Option(help="what the selection is about; several make several studies (default: as SOURCE is called)"),
    ] = None,
    budget: Annotated[
        int | None,
        bounded(
            "budget",
            "answers in all, per theme (default: four per item and pick, at least 25 a pick; with --solo fewer)",
        ),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            "--storage",
            "-s",
            envvar="HANDFUL_DATABASE",
            help="a .db file or a postgresql:// URL, also from HANDFUL_DATABASE (default: SOURCE.db, here)",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="0.0.0.0 lets other machines in")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any free one")] = 8000,
    explorer: Annotated[
        str | None, typer.Option(help="what decides what is asked: duels or topx, or topx:variant=O (default: duels)")
    ] = None,
    epsilon: Annotated[
        float | None, bounded("epsilon", "for topx and certified: how near to the best each pick is shown to be")
    ] = None,
    delta: Annotated[float, bounded("delta", "how likely what is claimed may be wrong")] = 0.05,
    sure: Annotated[
        float | None, bounded("sure", "end a round once its best is the best with this probability, by its belief")
    ] = None,
    options: Annotated[
        int | None, bounded("options", "how many are shown at a time (default: 4; topx and others: 2)")
    ] = None,
    in_flight: Annotated[int, bounded("in_flight", "questions that may be unanswered at once")] = 200,
    lease: Annotated[float, bounded("lease", "seconds until a question is asked of somebody else")] = 60,
    people: Annotated[
        int | None, bounded("people", "who will come: plans the budget, and says before the start what it buys")
    ] = None,
    answers_each: Annotated[
        int | None, bounded("goal", "with --people: answers that each is asked for (default: as --goal)", least=1)
    ] = None,
    per_hour: Annotated[
        str | None,
        typer.Option(help="what --people from a panel are paid an hour, such as 9.50: says what that costs"),
    ] = None,
    currency: Annotated[str, typer.Option(help="of --per-hour: GBP or USD")] = "GBP",
    goal: Annotated[int, bounded("goal", "answers a worker is asked for; 0 for no number")] = 30,
    consent: Annotated[Path | None, typer.Option(help="a text file to agree to, instead of the built-in text")] = None,
    language: Annotated[str, typer.Option(help="of the page that people see: en, de, ja or ar")] = "en",
    seed: Annotated[int, bounded("seed", "of the study's random choices")] = 0,
    chosen: Annotated[
        list[str] | None,
        typer.Option(metavar="ITEM", help="an item that is chosen from the start, by its name; -k counts it"),
    ] = None,
    retention: Annotated[
        int, bounded("retention_days", "days after closing until it is forgotten who gave which answers")
    ] = 90,
    words: WordsOption = None,
    door: DoorOption = "open",
    rule: RuleOption = None,
    solo: Annotated[
        bool, typer.Option("--solo", help="one person, this machine only, no consent; ends with a folder")
    ] = False,
    public_url: Annotated[str | None, typer.Option(help="the address people use, when a proxy stands in front")] = None,
    log: Annotated[
        str | None, typer.Option(help="a file for JSON logs without personal data; - is standard error")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="wait until another process lets go of the studies and of the port")
    ] = False,
) -> None:
    """Ask a crowd: share a link, and watch the summary grow.

    [bold]handful serve[/bold]
      opens a page where a study is set up: drop photos, choose the words, share the link

    [bold]handful serve photos/ -k 6 --theme "Cathedrals in Venice"[/bold]
      a study in photos.db; the same command goes on where it stopped

    [bold]handful serve photos/ --theme Cathedrals --people 100 --answers-each 30[/bold]
      plans for who will come, and says what quality that buys

    [bold]handful serve photos/ --theme Cathedrals --theme Boats --host 0.0.0.0[/bold]
      two themes over one collection, open to the network

    [bold]handful serve abstracts.csv -k 5 --theme "Talks for the morning"[/bold]
      texts instead of pictures: a column named text

    [bold]handful serve holiday/ --solo[/bold]
      choose the best six yourself in a few minutes
    """
    needs("crowd", "the crowd app")
    from handful.crowd.app import Server, links_of, listen, log_to, not_ready_on, port_of
    from handful.crowd.changes import RequestedChanges
    from handful.crowd.plan import StudyPlan
    from handful.crowd.practice import check_can_be_practised
    from handful.crowd.registry import check_first, open_registry, solo_study, stored_studies
    from handful.crowd.words import check_lessons, settings_with

    host = host.strip("[]")
    if source is None and (solo or theme):
        raise InvalidProblem("--solo and --theme are about items: give a folder of pictures, a .zip or a .csv first")
    where = storage or database_of(source)
    said = _said(context)
    expected = expected_of(people, answers_each, said("goal", goal), solo, per_hour, currency)
    goal = goal if expected is None else expected.answers_each
    settings = _settings(host, solo, goal, consent, public_url, language)
    settings = replace(settings, retention_days=said("retention", retention))  # not typed: what was said before stands
    told = words_said(
        words,
        goal=said("goal", goal) if expected is None else goal,
        consent=None if consent is None else settings.consent,
        language=said("language", language),
        retention_days=settings.retention_days,
    )
    if solo and words is not None:
        raise InvalidProblem("--words is for people who are asked, and --solo for you alone: leave one of them out")
    who = who_counts(door, rule, solo)
    check_lessons(told)
    check_can_be_practised(who["rule"], settings_with(settings, told).practice)
    plan = StudyPlan(
        k,
        explorer,
        budget,
        options,
        epsilon,
        delta,
        in_flight=in_flight,
        lease_s=lease,
        seed=seed,
        sure=sure,
        chosen=tuple(chosen or ()),
        expected=expected,
        **who,
    )
    if solo and host not in HERE:
        note(f"--solo is for this machine only, so --host {host} is left aside")
    changes = RequestedChanges(
        k=said("k", k),
        explorer=plan.explored_by,
        budget=budget or (None if expected is None else expected.answers),
        in_flight=None if solo else said("in_flight", in_flight),
        lease_s=said("lease", lease),
        seed=said("seed", seed),
        options=options,
        epsilon=epsilon,
        delta=said("delta", delta),
        door=None if solo else said("door", door),
        rule=None if solo else who["rule"],
        words={} if solo else told,
        pictures={} if solo else practice_files(words, told),
    )
    themes = theme or theme_of(source, where)
    log_to(log)
    look_ahead(source, where, partial(check_first, where, themes, plan, settings))
    check_claimed(plan, themes, where)
    if themes and not theme and not solo:
        say_theme(themes[0])
    with closing(once_free(lambda: listen("127.0.0.1" if solo else host, port), wait, note)) as listening:
        with not_ready_on(listening), leaving_nothing_if_refused(where):
            collection = collection_of(source, where)
            before = [study.name for study in stored_studies(where)]  # may refuse the plan: not simulated then
            if not before:
                print_plan(plan, collection)
            opening = partial(open_registry, where, collection, themes, plan, settings, changes=changes, say=note)
            registry = once_free(opening, wait, note)
            if before:
                print_plans(plan, collection, registry, themes, before)
        if solo:
            assert source is not None
            typed = typed_again(said, context, "port", "log")
            again = shlex.join(["handful", "serve", str(source), *named_again(storage), "--solo", *typed])
            alone = solo_study(registry, themes)
            choose_alone(registry, themes, listening, source, again)
            if not alone.open:  # otherwise it was said, and how to go on
                console.print(f"Stopped. Everything is stored; to see it again: [bold]{again}[/bold]", soft_wrap=True)
            return
        if told.get("language") is not None:
            print_consents(registry, told["language"])
        url = public_url.rstrip("/") if public_url else f"http://{name_of(host)}:{port_of(listening)}"
        server = Server(registry, say_stopping)

        def announce() -> None:
            print_links(registry, url, place_of(where), host in HERE)
            if source is None:
                show_page(links_of(registry, url).organizer)

        with saying_what_finishes(registry):
            server.run_until_interrupted(listening, announce)
    if source is None:
        kept = named_again(storage)
    else:
        kept = [where] if where.endswith(".db") else [str(source), *named_again(storage)]
    kept += typed_again(said, context, "host", "port", "public_url", "goal", "consent", "language", "retention", "log")
    again = shlex.join(["handful", "serve", *kept])
    console.print(f"Stopped. Everything is stored; to go on: [bold]{again}[/bold]", soft_wrap=True)


@app.command()
def backup(
    storage: Annotated[
        str,
        typer.Argument(
            envvar="HANDFUL_DATABASE",
            help="the .db file or postgresql:// URL of a crowd study, also from HANDFUL_DATABASE",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="the zip to write")] = Path("handful-backup.zip"),
) -> None:
    """Put a crowd study and its collection into one zip, while it runs.

    [bold]handful backup photos.db -o photos-backup.zip[/bold]

    To restore, unpack it anywhere and serve what is inside: [bold]handful serve handful.db[/bold]. The zip holds the
    secret that cookies are checked with: keep it as safe as the study itself.
    """
    needs("crowd", "the crowd app")
    from handful.crowd.outputs import backup_file
    from handful.crowd.registry import items_folder

    items = items_folder(storage)
    if not items.is_dir():
        raise InvalidProblem(
            f"there is no collection {items} beside the database: was this served from another folder?"
        )
    console.print(f"Wrote {backup_file(storage, items, output)}")


def _said(context: typer.Context) -> Callable[[str, T], T | None]:
    """What was typed; None for a default."""

    def said(name: str, value: T) -> T | None:
        source = context.get_parameter_source(name)
        return None if source is None or source.name.startswith("DEFAULT") else value

    return said


def _settings(
    host: str, solo: bool, goal: int, consent: Path | None, public_url: str | None, language: str
) -> Settings:
    from handful.crowd.languages import languages
    from handful.crowd.settings import CONSENT, Settings

    if language not in languages():
        raise InvalidProblem(f"--language is one of {', '.join(languages())}, got {language!r}")
    hosts: tuple[str, ...] | None = None
    if public_url is not None:
        name = urlsplit(public_url).hostname
        if name is None:
            raise InvalidProblem(f"--public-url {public_url!r} is not an address: expected https://example.org")
        hosts = (*HERE, name)
    elif solo or host in HERE:
        hosts = HERE
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
        proxies=() if public_url is None else PROXIES,
        language=language,
    ).in_its_language()


# Who comes, and who counts


def who_counts(door: Literal["open", "room", "invitations", "panel"], rule: Path | None, solo: bool) -> dict[str, Any]:
    """The door and the rule of a new study."""
    from handful.rules import Door

    if door == "room" and not solo:
        note("one room: nothing tells one person with several browsers from several people; the certificate says so")
    return {"rule": _read_rule(rule), "door": Door(door)}


def expected_of(
    people: int | None, answers_each: int | None, goal: int | None, solo: bool, per_hour: str | None, currency: str
) -> ExpectedPeople | None:
    """Who will come, if that was typed; `goal` is the one that was typed."""
    from handful.crowd.plan import ExpectedPeople
    from handful.crowd.settings import Settings
    from handful.recruit.plan import cents_of, check_currency

    if people is None:
        if answers_each is not None:
            raise InvalidProblem("--answers-each says what each of --people gives: give both, or --goal alone")
        if per_hour is not None:
            raise InvalidProblem("--per-hour says what each of --people is paid: give both")
        return None
    if solo:
        raise InvalidProblem("--solo is for one person, and --people for many: leave one of them out")
    if answers_each is not None and goal not in (None, answers_each):
        raise InvalidProblem(f"--goal {goal} and --answers-each {answers_each} are the same thing: give one of them")
    cents = None if per_hour is None else cents_of(per_hour)
    least, most = BOUNDS["per_hour"]
    if cents is not None and not least <= cents <= most:
        raise InvalidProblem(f"--per-hour {per_hour} is no pay: expected {least / 100:.2f} to {most / 100:,.2f}")
    return ExpectedPeople(people, answers_each or goal or Settings().goal or 1, cents, check_currency(currency))


def _read_rule(file: Path | None) -> Rule | None:
    from handful.rules import EXCLUDE, Rule

    if file is None:
        return None
    if str(file) == STANDARD:
        return Rule()
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidProblem(f"--rule {file} cannot be read as JSON: {error}") from error
    return replace(Rule.from_dict(told), unverified=EXCLUDE)


# What people read


def words_said(file: Path | None, **typed: Any) -> dict[str, Any]:
    """What a file and the options that were typed (None: it was not) say of the words of a study."""
    words = {} if file is None else _read_words(file)
    for name, value in typed.items():
        if value is not None:
            if name in words:
                raise InvalidProblem(f"{OPTIONS[name]} and {name} in {file} say the same thing: give one of them")
            words[name] = value
    return words


def practice_files(file: Path | None, words: Mapping[str, Any]) -> dict[str, Path]:
    """The pictures that the practice names, and where they are if they are no items: beside the file."""
    from handful.crowd.intake import is_picture

    lessons = (words.get("practice") or ()) if file is not None else ()
    cards = [lesson[side] for lesson in lessons for side in ("right", "wrong")]
    return {card: file.parent / card for card in cards if is_picture(card)} if file is not None else {}


def _read_words(file: Path) -> dict[str, Any]:
    from pydantic import ValidationError

    from handful.crowd.languages import languages
    from handful.crowd.messages import Words

    try:
        text = file.read_text(encoding="utf-8")
        told = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        kind = "JSON" if file.suffix == ".json" else "TOML"
        raise InvalidProblem(f"--words {file} cannot be read as {kind}: {error}") from error
    try:
        words = Words.model_validate(told).model_dump(exclude_unset=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        known = f"; what can be said is {', '.join(Words.model_fields)}" if first["type"] == "extra_forbidden" else ""
        raise InvalidProblem(f"--words {file}: {where}: {first['msg'].lower()}{known}") from error
    if words.get("language") not in (None, *languages()):
        raise InvalidProblem(f"--words {file}: language is one of {', '.join(languages())}, got {words['language']!r}")
    return words


# The collection


_LEFT_OUT_SHOWN = 8
_LONGEST_LINE = 400
LEFT_OUT = "left-out.txt"


@contextmanager
def leaving_nothing_if_refused(storage: str) -> Iterator[None]:
    """If the block is refused, delete the items that it processed and the file that it made for studies.

    Whatever was there before stays, and so does everything once a study is stored or set up in the browser, or while
    another process has the storage. Interrupted, it deletes nothing: processed items are there for the next try.
    """
    from handful.crowd.drafts import set_up_in_browser
    from handful.crowd.registry import items_folder, stored_studies

    folder = items_folder(storage)
    before = _of_storage(folder, storage)
    try:
        yield
    except StorageLocked:
        raise
    except HandfulError:
        with suppress(HandfulError):
            used = set_up_in_browser(folder) or stored_studies(storage)
            for path in () if used else _of_storage(folder, storage) - before:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        raise


def _of_storage(folder: Path, storage: str) -> set[Path]:
    """What there is of a storage: the folder of its items, its file, and what is kept beside that."""
    file = Path(storage) if "://" not in storage else None
    endings = ("", "-wal", "-shm", ".*.lock", ".setup.lock")
    files = () if file is None else (one for end in endings for one in file.parent.glob(glob.escape(file.name) + end))
    return {path for path in (folder, *files) if path.exists()}


def look_ahead(source: Path | None, storage: str, check: Callable[[int], None]) -> None:
    """Refuse what can be seen to be wrong before the items are processed, which may take minutes, and before a port is
    asked for; `check` is called with how many items there are at most.
    """
    from handful.crowd.collection import has_collection
    from handful.crowd.drafts import set_up_in_browser
    from handful.crowd.intake import number_of_items
    from handful.crowd.registry import items_folder

    folder = items_folder(storage)
    if source is None or has_collection(folder):
        return
    if source.suffix != ".db":
        check(number_of_items(source))
    elif not set_up_in_browser(folder):
        raise InvalidCollection(f"there is no collection {folder} beside {source}: give the pictures instead")


def collection_of(source: Path | None, storage: str) -> Collection | None:
    """The collection that was processed before, or a new one, with a progress bar; None where there is none to begin
    with, and studies are set up in the browser.
    """
    from handful.crowd.collection import has_collection, load_collection
    from handful.crowd.intake import ingest, storing
    from handful.crowd.registry import items_folder

    folder = items_folder(storage)
    if has_collection(folder):
        collection = load_collection(folder)
        console.print(f"Using the {len(collection)} items processed before, in {folder}.")
        if source is not None:
            _say_changes(source, collection)
        return collection
    if source is None or source.suffix == ".db":
        return None
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Preparing the items"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("items", total=None)
        collection = ingest(source, folder, lambda done, total: bar.update(task, completed=done, total=total))
    collection = replace(collection, source=str(source.resolve()))  # where the originals of the picks are
    with storing(folder):
        collection.save()
    console.print(f"{len(collection)} items are ready, in {folder}.")
    _say_left_out(collection)
    return collection


def _say_left_out(collection: Collection) -> None:
    """Name every file that was left out: where they are many, the first here and all of them in a file."""
    from handful.crowd.intake import storing

    left_out = sorted(collection.left_out, key=lambda one: one.files == 1)  # what many are named in comes first
    lines = [f"{'left out: ' if one.files else ''}{one.name} {one.why}" for one in left_out]
    shown = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} …" for line in lines[:_LEFT_OUT_SHOWN]]
    for line in shown:
        console.print(f"  {line}", style="yellow", markup=False, soft_wrap=True)
    if shown != lines:
        with storing(collection.folder):
            (collection.folder / LEFT_OUT).write_text("\n".join(lines) + "\n", encoding="utf-8")
        more = f"and {len(lines) - len(shown):,} more: " if len(lines) > len(shown) else ""
        where = f"  … {more}all are named in {collection.folder / LEFT_OUT}"
        console.print(where, style="yellow", markup=False, soft_wrap=True)


def _say_changes(source: Path, collection: Collection) -> None:
    from handful.crowd.intake import changes_since

    if source.suffix == ".db" or not source.exists():
        return
    new, gone = changes_since(source, collection)
    if new or gone:
        what = "folder" if source.is_dir() else "file"
        counts = ", ".join(f"{count:,} {word}" for count, word in ((new, "new"), (gone, "gone")) if count)
        note(
            f"the {what} has changed since: {counts}; a study keeps the items it began with. "
            "To take it in anew, give --storage with another file"
        )


def theme_of(source: Path | None, storage: str) -> list[str]:
    """The theme where none is given: what the folder or file is called, unless there are studies to go on with."""
    from handful.crowd.registry import stored_studies

    if source is None or source.suffix == ".db" or stored_studies(storage):
        return []
    return [stem_of(source)]


def say_theme(theme: str) -> None:
    """Say that a study gets this theme because nobody gave one."""
    note(
        f'no --theme was given, so the theme is "{theme}", which people read above every question; '
        '--theme "Cathedrals in Venice" would begin a study of that theme instead'
    )


def check_claimed(plan: StudyPlan, themes: Sequence[str], storage: str) -> None:
    """Refuse an ε for a new study whose explorer would not heed it. Studies that are there say what they keep."""
    from handful.crowd.plan import DUELS
    from handful.crowd.registry import slug_of, stored_studies

    if plan.epsilon is None or (plan.explorer or DUELS).partition(":")[0].strip() != DUELS:
        return
    stored = {study.name for study in stored_studies(storage)}
    if any(theme not in stored and slug_of(theme) not in stored for theme in themes):
        told = "the default explorer, duels," if plan.explorer is None else "the explorer duels"
        raise InvalidProblem(
            f"--epsilon {plan.epsilon:g} is not heeded by {told} which spends its budget and proves no ε: "
            "give --explorer topx with it, or leave it out"
        )


def stem_of(source: Path) -> str:
    """What a folder or file is called, without its ending."""
    return source.resolve().stem


def database_of(source: Path | None) -> str:
    """Where studies are kept when nothing else is said: beside what they are about, in the current folder."""
    if source is None:
        return "handful.db"
    return str(source) if source.suffix == ".db" else f"{stem_of(source)}.db"


# What is printed


HERE = ("127.0.0.1", "localhost", "::1", "[::1]")
"""Names of this machine that no other knows it by."""


def print_plan(plan: StudyPlan, collection: Collection | None) -> None:
    """What the people who will come buy, and how many more it takes if that is too little. Nothing where nobody said
    who will come, or there is nothing to choose from.
    """
    from handful.crowd.plan import MOST_SIMULATED, quality_of

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
    from handful.crowd.app import links_of

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


def _print_who_is_needed(hosted: Host) -> None:
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
    from handful.crowd.status import when_finished

    def say(hosted: Host) -> None:
        status = hosted.study.status()
        words = f"Finished: {hosted.theme} ({len(status.chosen)} picked after {counted(status.answers, 'answer')})"
        console.print(words, markup=False, soft_wrap=True)
        sys.stdout.flush()

    stop = threading.Event()
    watching: list[threading.Thread] = []

    def watch(hosted: Host) -> None:
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


def _so_far(hosted: Host) -> str:
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


def show_page(link: str) -> None:
    """Open the organizer's page, where this machine has a browser and somebody who looks."""
    somebody = sys.stdout.isatty() and (sys.platform in ("darwin", "win32") or _has_display())
    if somebody and not webbrowser.open(link):
        note("no browser could be opened: open the link above yourself")


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def name_of(host: str) -> str:
    """The name to print: this machine's own address, when it listens to all."""
    if host in HERE:
        return "127.0.0.1" if host not in ("::1", "[::1]") else "[::1]"
    if host in ("0.0.0.0", "::"):
        return _own_address()
    return f"[{host}]" if ":" in host else host


def _own_address() -> str:
    """Where others on the network find this machine. Connecting a datagram socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()


# One person alone


_LAST_LOOK_S = 600
"""How long the page stays up after the last pick, to be looked at."""
_SECONDS_PER_PAIR, _MORE_PER_OPTION = 2.2, 0.25
"""What one answer takes, for somebody who looks at both pictures; and how much longer with every further one."""


def choose_alone(registry: Registry, themes: Sequence[str], listening: socket.socket, source: Path, again: str) -> None:
    """One person chooses, on this machine; ends with a folder of the picks. What is chosen already is shown again."""
    from handful.crowd.app import Server, port_of
    from handful.crowd.host import end_visits
    from handful.crowd.outputs import picks_folder, write_picks
    from handful.crowd.registry import solo_study
    from handful.crowd.status import when_finished

    hosted, folder, put = solo_study(registry, themes), picks_folder(source), threading.Lock()

    def write() -> Path:
        return write_picks(hosted.collection, hosted.study.result(), hosted.theme, (source,), folder)

    link = f"http://127.0.0.1:{port_of(listening)}/s/{hosted.name}"
    if not hosted.open:
        kept = folder if folder.exists() else write()
        Server(registry, say_stopping).run_until_interrupted(
            listening, partial(_print_chosen, hosted, link, kept, again)
        )
        return
    end_visits(hosted.study)
    server, stop, kept_in = Server(registry, say_stopping), threading.Event(), list[Path]()

    def keep() -> None:
        with put:
            if not kept_in:
                kept_in.append(write())
                console.print(f"\nDone: your picks and their contact sheet are in [bold]{kept_in[0]}[/bold].")

    def finish() -> None:
        keep()
        console.print("The page stays for ten minutes, or until you press Ctrl-C.", style="dim")
        sys.stdout.flush()
        stop.wait(_LAST_LOOK_S)
        server.stop()

    watching = when_finished(hosted, finish, stop)
    server.run_until_interrupted(listening, partial(print_link, hosted, link))
    stop.set()
    watching.join()
    if hosted.state == "finished":
        keep()
    else:
        console.print(f"Stopped. Your answers are stored; to go on: [bold]{again}[/bold]", soft_wrap=True)


def _print_chosen(hosted: Host, link: str, kept: Path, again: str) -> None:
    console.print(
        f"All {hosted.k} are chosen already: your picks and their contact sheet are in [bold]{kept}[/bold].",
        soft_wrap=True,
    )
    console.print(f"  open       {link}", soft_wrap=True)
    console.print(f"To choose anew, name another file for your answers: {again} --storage again.db", soft_wrap=True)
    console.print("\nThe page stays until you press Ctrl-C.", style="dim")
    sys.stdout.flush()


def seconds_per_answer(options: int) -> float:
    """Four pictures take one and a half times as long as two."""
    return _SECONDS_PER_PAIR * (1 + _MORE_PER_OPTION * (options - 2))


def print_link(hosted: Host, link: str) -> None:
    """Say how much there is to do, and where."""
    progress = hosted.progress()
    assert progress.budget is not None
    left = progress.budget - progress.answers
    minutes = max(1, round(left * seconds_per_answer(hosted.study.setup.problem.feedback.options) / 60))
    most = "" if hosted.study.setup.sure is None else "at most "
    questions = f"{most}{left:,} questions{' left' if progress.answers else ''}"
    about = f"{questions}, about {minutes} minute{'s' if minutes > 1 else ''}"
    console.print(f"\n[bold]{progress.k} of {len(hosted.collection)}[/bold], {about}:", end=" ")
    console.print(hosted.theme, markup=False, style="bold")
    console.print(f"  open       {link}", soft_wrap=True)
    console.print("\nStop with Ctrl-C; nothing is lost.", style="dim")
    sys.stdout.flush()


# Waiting


AGAIN_S = 0.2
OR_WAIT = "stop what serves it there, or add --wait to take over as soon as it lets go"


def once_free(act: Callable[[], T], wait: bool, say: Callable[[str], None]) -> T:
    """What `act` gives; with `wait`, once nobody else has what it needs, which is said."""
    said = False
    while True:
        try:
            return act()
        except HandfulError as error:
            if not wait and isinstance(error, StorageLocked):
                raise StorageLocked(str(error).replace(CLOSE_IT, OR_WAIT)) from error
            if not wait or not _is_taken(error):
                raise
            if not said:
                said = True
                say(f"waiting, since {error}")
        time.sleep(AGAIN_S)


def _is_taken(error: HandfulError) -> bool:
    """Whether another process has the study or the port."""
    return isinstance(error, StorageLocked) or getattr(error.__cause__, "errno", None) == errno.EADDRINUSE
