"""`handful recruit`: people from Prolific or any other panel, from the plan to the end of recruiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.cli import app
from handful.cli.parameters import STORAGE, Json, Name, Storage
from handful.cli.printing import console_for, print_json
from handful.cli.studies import only_study, opened_study
from handful.errors import InvalidProblem
from handful.wording import counted

if TYPE_CHECKING:
    from handful.recruit.plan import Plan
    from handful.recruit.prolific.recruiter import Recruiter
    from handful.study.rules import Rule

group = typer.Typer(
    no_args_is_help=True,
    help="Recruit people from Prolific or another panel, and pay each of them once.",
)
app.add_typer(group, name="recruit")

_People = Annotated[int, typer.Option(min=1, help="How many people take part.")]
_Each = Annotated[int, typer.Option("--answers-each", min=1, help="Answers that count, from each of them.")]
_Checks = Annotated[
    int | None, typer.Option(min=0, help="Checks that each is asked and paid for (default: as the study's rule says).")
]
_Seconds = Annotated[float, typer.Option(min=0.1, help="How long one question takes.")]
_PerHour = Annotated[str, typer.Option("--per-hour", help="What an hour is paid, such as 9.50.")]
_Currency = Annotated[str, typer.Option(help="GBP or USD, as the account has it.")]
_First = Annotated[int | None, typer.Option("--first-places", min=1, help="Places to open first (default: a tenth).")]


def plan_from(
    rule: Rule | None,
    people: int,
    each: int,
    checks: int | None,
    seconds: float,
    per_hour: str,
    currency: str,
    first: int | None,
) -> Plan:
    """The plan that the options describe, with the checks of a study's rule unless their number is given."""
    from handful.recruit.money import cents_of
    from handful.recruit.plan import Plan

    made = Plan(people, each, checks or 0, seconds, per_hour=cents_of(per_hour), currency=currency, first_places=first)
    return made if checks is not None else made.by_rule(rule)


def rule_of(study: str | None, storage: str) -> Rule | None:
    """The rule of who counts in a stored study."""
    with opened_study(study, storage) as found:
        return found.setup.rule


def _say_what_is_not_fixed(rule: Rule | None) -> None:
    """Say so where nothing in the study's first event says what becomes of those who cannot be verified."""
    if rule is None or rule.unverified is None:
        typer.echo(
            "Who cannot be verified by the end is left out. This study's beginning does not say so: it is noted in the "
            "journal before anybody comes. Made with `handful serve --door panel`, a study says it in its first event.",
            err=True,
        )


def recruiter_for(study: str | None, storage: str) -> Recruiter:
    """The recruiter of a study; the token comes from the environment."""
    from handful.recruit.prolific.client import ProlificClient
    from handful.recruit.prolific.recruiter import Recruiter
    from handful.recruit.store import Store

    return Recruiter(Store(storage), study or only_study(storage), ProlificClient.from_environment())


@group.command(
    epilog="""
[bold]Examples[/bold]

 handful recruit plan --people 100 --answers-each 30 --per-hour 9

 handful recruit plan --budget 3000 --answers-each 20      how many people 3,000 answers need

 handful recruit plan --minutes 3 --people 100             the same answers in shorter visits of more people

 handful recruit plan --rewards 200                        how many people 200.00 pay

 handful recruit plan --study venice -s photos.db          with the checks of this study's rule
"""
)
def plan(
    people: _People = 100,
    answers_each: _Each = 30,
    checks: _Checks = None,
    seconds: _Seconds = 6.0,
    per_hour: _PerHour = "9",
    currency: _Currency = "GBP",
    study: Annotated[
        str | None, typer.Option(help="Take the checks from this study's rule (default: from the standard one).")
    ] = None,
    storage: Storage = STORAGE,
    budget: Annotated[int | None, typer.Option(min=1, help="Answers that count in all: gives the people.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Length of a visit: gives answers each and people.")] = None,
    rewards: Annotated[str | None, typer.Option(help="What all rewards may come to: gives the people.")] = None,
    as_json: Json = False,
) -> None:
    """Show how people, answers, minutes, reward and budget hang together. Nothing is sent anywhere."""
    from handful.recruit.money import cents_of
    from handful.study.rules import Rule

    rule = Rule() if study is None else rule_of(study, storage)
    made = plan_from(rule, people, answers_each, checks, seconds, per_hour, currency, None)
    if sum(given is not None for given in (budget, minutes, rewards)) > 1:
        raise InvalidProblem("give one of --budget, --minutes and --rewards: the others follow from it")
    if budget is not None:
        made = made.for_budget(budget)
    elif minutes is not None:
        made = made.for_minutes(minutes)
    elif rewards is not None:
        made = made.for_rewards(cents_of(rewards))
    if as_json:
        numbers = ("people", "answers_each", "checks_each", "budget", "minutes", "reward", "rewards", "start_with")
        print_json({**{name: getattr(made, name) for name in numbers}, "currency": made.currency})
        return
    typer.echo(f"{made}.")
    longest = counted(made.longest_minutes, "minute")
    typer.echo(f"Places open with {made.start_with} and grow; a visit may take {longest} at most.")


@group.command(
    epilog="""
[bold]Example[/bold]

 export PROLIFIC_TOKEN=…

 handful recruit create venice -s photos.db --address https://photos.example.org/s/venice --people 100

The address is that of the study's page, where `handful serve` runs for everybody to reach. Next: `handful recruit
cost`, then `handful recruit publish`.
"""
)
def create(
    address: Annotated[str, typer.Option(help="The public https:// address of the study's page.")],
    study: Name = None,
    storage: Storage = STORAGE,
    name: Annotated[str, typer.Option(help="The title people see.")] = "Choose the better picture",
    description: Annotated[
        str, typer.Option(help="What people read before they decide to come.")
    ] = "You see a few things at a time and say which one would improve a small selection most.",
    people: _People = 100,
    answers_each: _Each = 30,
    checks: _Checks = None,
    seconds: _Seconds = 6.0,
    per_hour: _PerHour = "9",
    currency: _Currency = "GBP",
    first_places: _First = None,
    screen_out: Annotated[
        str | None,
        typer.Option(help="What those get who are not admitted, where the workspace can; else they are paid in full."),
    ] = None,
) -> None:
    """Make a draft on Prolific for a study. Nobody sees it and it costs nothing.

    Run again after an interruption: it finds the draft that was made.
    """
    from handful.recruit.money import cents_of

    rule = rule_of(study, storage)
    made = plan_from(rule, people, answers_each, checks, seconds, per_hour, currency, first_places)
    fixed = None if screen_out is None else cents_of(screen_out)
    kept = recruiter_for(study, storage).create(address, made, name=name, description=description, screen_out=fixed)
    typer.echo(f"Made a draft for study {kept.study}: {made}.")
    here = "from here" if "here" in kept.codes else "by their browser, which carries a code back"
    typer.echo(f"Who finishes is completed {here}.")
    if fixed is not None and kept.screen_out is None:
        typer.echo("This workspace has no screen-out payments: who is not admitted is paid in full.")
    typer.echo("Next: handful recruit cost, then handful recruit publish.")
    _say_what_is_not_fixed(rule)


@group.command("panel")
def panel_(
    study: Name = None,
    storage: Storage = STORAGE,
    preset: Annotated[str | None, typer.Option(help="connect or sona, whose parameters are known.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="The parameter with the person's id.")] = None,
    session: Annotated[str | None, typer.Option(help="The parameter with the id of the visit.")] = None,
    project: Annotated[str | None, typer.Option(help="The parameter with the panel's id of the study.")] = None,
    done: Annotated[str | None, typer.Option(help="Where those go who finished.")] = None,
    refused: Annotated[str | None, typer.Option(help="Where those go who do not agree.")] = None,
    not_admitted: Annotated[str | None, typer.Option(help="Where those go who are not admitted.")] = None,
    full: Annotated[str | None, typer.Option(help="Where those go who find no place.")] = None,
    timed_out: Annotated[str | None, typer.Option(help="Where those go whose time is over.")] = None,
    code: Annotated[str | None, typer.Option(help="Shown at the end: one for all, or each for one per person.")] = None,
    call: Annotated[str | None, typer.Option(help="An address that our server calls when somebody finished.")] = None,
    post: Annotated[str | None, typer.Option(help="An address that the browser posts a form to at the end.")] = None,
    preview: Annotated[list[str] | None, typer.Option(help="An id that means: only looking.")] = None,
    places: Annotated[int | None, typer.Option(min=1, help="How many may be inside or finished.")] = None,
    minutes: Annotated[float | None, typer.Option(min=0.1, help="Silence after which a place is free again.")] = None,
    answers_each: _Each = 30,
) -> None:
    """Let people come from any panel that sends them with an id in the address.

    Addresses may hold {participant}, {session}, {study} and {code}; docs: any other panel.

    [bold]Examples[/bold]

      handful recruit panel venice -s photos.db --preset connect --places 120

      handful recruit panel venice -s photos.db --id pid --done 'https://panel.example/ok?pid={participant}'

      handful recruit panel venice -s photos.db --id worker --code each
    """
    from handful.recruit.panel import panel as own_panel
    from handful.recruit.panel import preset as known_panel
    from handful.recruit.plan import Plan
    from handful.recruit.records import Recruitment
    from handful.recruit.store import Store

    told: dict[str, Any] = {
        "session": session,
        "study": project,
        "done": done,
        "refused": refused,
        "not_admitted": not_admitted,
        "full": full,
        "timed_out": timed_out,
        "code": code,
        "call": call,
        "post": post,
        "preview": tuple(preview) if preview else None,
        "places": places,
        "minutes": minutes,
    }
    given = {name: value for name, value in told.items() if value is not None}
    if id_ is None and preset is None:
        raise InvalidProblem("give --preset connect or sona, or --id, the parameter that the panel puts the id in")
    made = own_panel(id=id_, **given) if id_ is not None else known_panel(str(preset), **given)
    store, name = Store(storage), study or only_study(storage)
    before = store.recruitment(name)
    if before is not None and before.on_prolific:
        raise InvalidProblem(f"study {name!r} is recruited for on Prolific: one study has one panel")
    rule = rule_of(name, storage)
    plan = Plan(people=places or 100, answers_each=answers_each).by_rule(rule)
    store.keep(Recruitment(name, made, plan, wanted="active"))
    ids = "&".join(f"{parameter}=…" for parameter in made.parameters)
    typer.echo(f"Give the panel the study's address with its ids: https://…/s/{name}?{ids}")
    _say_what_is_not_fixed(rule)


@group.command(epilog="[bold]Example[/bold]  handful recruit cost venice -s photos.db")
def cost(study: Name = None, storage: Storage = STORAGE) -> None:
    """Say what publishing costs, by Prolific's own calculator, with its fees."""
    typer.echo(f"{recruiter_for(study, storage).cost()}.")


@group.command(
    epilog="[bold]Example[/bold]  handful recruit publish venice -s photos.db   (asks before it spends anything)"
)
def publish(
    study: Name = None,
    storage: Storage = STORAGE,
    yes_to: Annotated[
        str | None, typer.Option("--yes-to", help="Agree to this cost without being asked, such as 94.50.")
    ] = None,
) -> None:
    """Publish the draft after a clear yes to what it costs. People come within minutes."""
    from handful.recruit.money import cents_of

    recruiter = recruiter_for(study, storage)
    found = recruiter.cost()
    typer.echo(f"Publishing locks {found}. Places grow as people finish, and stop growing when you pause or stop.")
    if yes_to is None:
        if typer.prompt("Type yes to publish", default="no") != "yes":
            typer.echo("Nothing was published.")
            raise typer.Exit(1)
        agreed = found.first
    else:
        agreed = cents_of(yes_to)
    kept = recruiter.publish(agreed)
    typer.echo(f"Published: Prolific says {kept.status}.")


@group.command(epilog="[bold]Example[/bold]  handful recruit pause venice -s photos.db")
def pause(study: Name = None, storage: Storage = STORAGE) -> None:
    """Let nobody new in on Prolific; those inside may finish."""
    typer.echo(f"Prolific says {recruiter_for(study, storage).pause().status}.")


@group.command(epilog="[bold]Example[/bold]  handful recruit start venice -s photos.db")
def start(study: Name = None, storage: Storage = STORAGE) -> None:
    """End a pause."""
    typer.echo(f"Prolific says {recruiter_for(study, storage).start().status}.")


@group.command(epilog="[bold]Example[/bold]  handful recruit stop venice -s photos.db")
def stop(study: Name = None, storage: Storage = STORAGE) -> None:
    """End recruiting for good. Those inside may finish, and all who finish are paid.

    A study that has its picks is stopped by itself while `handful serve` runs.
    """
    typer.echo(f"Prolific says {recruiter_for(study, storage).stop().status}.")


def print_ledger(recruiter_study: str, storage: str) -> None:
    """The ledger as a table, with what was paid and what is open."""
    from rich.table import Table

    from handful.recruit.money import money
    from handful.recruit.store import Store

    store = Store(storage)
    recruitment = store.recruitment(recruiter_study)
    currency = "GBP" if recruitment is None else recruitment.plan.currency
    table = Table("line", "what", "who", "amount", "outcome", "")
    for entry in store.entries(recruiter_study):
        outcome = entry.outcome or ("unknown" if entry.sent is not None else "promised")
        amount = money(entry.cents, currency)
        table.add_row(str(entry.number), entry.kind, entry.who or "", amount, outcome.replace("_", " "), entry.words)
    console_for().print(table)
