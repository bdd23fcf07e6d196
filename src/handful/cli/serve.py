"""`handful serve` and `handful backup`: the crowd app from the command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar
from urllib.parse import urlsplit

import typer

from handful.cli import app, needs
from handful.cli.crowd_console import console, note
from handful.cli.parameters import bounded
from handful.cli.serve_words import (
    HERE,
    named_again,
    place_of,
    print_consents,
    print_links,
    print_plan,
    print_plans,
    say_stopping,
    saying_what_finishes,
    typed_again,
)
from handful.cli.served_address import name_of, show_page
from handful.cli.served_items import (
    check_claimed,
    collection_of,
    database_of,
    leaving_nothing_if_refused,
    look_ahead,
    say_theme,
    theme_of,
)
from handful.cli.solo import choose_alone
from handful.cli.waiting import once_free
from handful.cli.who_counts import DoorOption, RuleOption, expected_of, who_counts
from handful.cli.words_file import WordsOption, practice_files, words_said
from handful.errors import InvalidProblem

if TYPE_CHECKING:
    from handful.crowd.settings import Settings

T = TypeVar("T")
PROXIES = ("127.0.0.0/8", "::1")
"""Whose word about addresses is taken with --public-url: a proxy on this machine."""


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
    from handful.crowd.hosting.practice import check_can_be_practised
    from handful.crowd.hosting.requested_changes import RequestedChanges
    from handful.crowd.hosting.solo import solo_study
    from handful.crowd.hosting.startup import check_first, open_registry, stored_studies
    from handful.crowd.hosting.study_plan import StudyPlan
    from handful.crowd.hosting.study_words import check_lessons, settings_with
    from handful.crowd.web.links import links_of
    from handful.crowd.web.logs import log_to
    from handful.crowd.web.server import Server, listen, port_of
    from handful.crowd.web.starting import not_ready_on

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
    from handful.crowd.hosting.startup import items_folder
    from handful.crowd.outputs import backup_file

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
