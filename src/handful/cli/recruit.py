"""`handful recruit`: people from Prolific or any other panel, from the plan to the last payment."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from handful.cli import app, needs
from handful.cli.parameters import STORAGE, Json, Name, Storage
from handful.cli.printing import console_for, print_json
from handful.cli.studies import only_study, opened_study
from handful.errors import InvalidProblem, StudyNotFound

if TYPE_CHECKING:
    from handful.recruit import Identity, Panel, Plan
    from handful.recruit.ledger import Store
    from handful.recruit.payroll import Payroll, Report
    from handful.recruit.recruitment import Recruitment
    from handful.rules import Rule

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


def plan_from(
    rule: Rule | None, people: int, each: int, checks: int | None, seconds: float, per_hour: str, currency: str
) -> Plan:
    """The plan that the options describe, with the checks of a study's rule unless their number is given."""
    from handful.recruit.plan import Plan, cents_of

    made = Plan(people, each, checks or 0, seconds, per_hour=cents_of(per_hour), currency=currency)
    return made if checks is not None else made.by_rule(rule)


def rule_of(study: str | None, storage: str) -> Rule | None:
    """The rule of who counts in a stored study."""
    with opened_study(study, storage) as found:
        return found.setup.rule


def payroll_of(study: str | None, storage: str) -> Payroll:
    """The payroll of a study's people from Prolific; the token comes from the environment."""
    needs("crowd", "Prolific")
    from handful.recruit.ledger import Store
    from handful.recruit.payroll import Payroll
    from handful.recruit.prolific import ProlificClient

    return Payroll(Store(storage), study or only_study(storage), ProlificClient.from_environment())


@group.command(
    epilog="""
[bold]Examples[/bold]

 handful recruit plan --people 100 --answers-each 30 --per-hour 9

 handful recruit plan --budget 3000 --answers-each 20      how many people 3,000 answers need

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
    as_json: Json = False,
) -> None:
    """Show how people, answers, minutes, reward and budget hang together. Nothing is sent anywhere."""
    from handful.rules import Rule

    rule = Rule() if study is None else rule_of(study, storage)
    made = plan_from(rule, people, answers_each, checks, seconds, per_hour, currency)
    if budget is not None:
        made = made.for_budget(budget)
    if as_json:
        numbers = ("people", "answers_each", "checks_each", "budget", "minutes", "longest_minutes", "reward", "rewards")
        print_json({**{name: getattr(made, name) for name in numbers}, "currency": made.currency})
        return
    typer.echo(f"{made}.")


@group.command(
    epilog="""
[bold]Example[/bold]

 handful recruit prolific venice -s photos.db --address https://photos.example.org/s/venice --people 100

The address is that of the study's page, where `handful serve` runs for everybody to reach.
"""
)
def prolific(
    address: Annotated[str, typer.Option(help="The public https:// address of the study's page.")],
    study: Name = None,
    storage: Storage = STORAGE,
    people: _People = 100,
    answers_each: _Each = 30,
    checks: _Checks = None,
    seconds: _Seconds = 6.0,
    per_hour: _PerHour = "9",
    currency: _Currency = "GBP",
) -> None:
    """Let people come from Prolific, and say step by step what to paste where on its page.

    You make, publish and pause the study there. `handful serve` knows who arrives, sends them back with a code,
    and approves everybody who finished, once.
    """
    needs("crowd", "Prolific")
    from handful.recruit.ledger import Store
    from handful.recruit.payroll import begin_on_prolific

    rule = rule_of(study, storage)
    made = plan_from(rule, people, answers_each, checks, seconds, per_hour, currency)
    kept = begin_on_prolific(Store(storage), study or only_study(storage), address, made)
    typer.echo(f"{made}.")
    _print_steps(kept)
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
    address: Annotated[str | None, typer.Option(help="The address of the study's page, to be told below.")] = None,
) -> None:
    """Let people come from any panel that sends them with an id in the address, and say what to paste where.

    Addresses may hold {participant}, {session}, {study} and {code}; docs: any other panel.

    [bold]Examples[/bold]

      handful recruit panel venice -s photos.db --preset connect --places 120

      handful recruit panel venice -s photos.db --id pid --done 'https://panel.example/ok?pid={participant}'

      handful recruit panel venice -s photos.db --id worker --code each
    """
    from handful.recruit.ledger import Store
    from handful.recruit.panel import panel as own_panel
    from handful.recruit.panel import preset as known_panel
    from handful.recruit.plan import Plan
    from handful.recruit.recruitment import Recruitment

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
    kept = store.keep(Recruitment(name, made, plan, address=address))
    _print_steps(kept)
    _say_what_is_not_fixed(rule)


@group.command(epilog="[bold]Example[/bold]  handful recruit steps venice -s photos.db")
def steps(study: Name = None, storage: Storage = STORAGE) -> None:
    """Say once more, step by step, what to paste where on the panel's own page."""
    from handful.recruit.ledger import Store

    _print_steps(_recruitment(Store(storage), study or only_study(storage)))


def _print_steps(recruitment: Recruitment) -> None:
    for number, step in enumerate(recruitment.steps(), start=1):
        typer.echo(f"{number:2}. {step.words}")
        if step.paste is not None:
            typer.echo(f"      {step.paste}")


def _say_what_is_not_fixed(rule: Rule | None) -> None:
    """Say so where nothing in the study's first event says what becomes of those who cannot be verified."""
    if rule is None or rule.unverified is None:
        typer.echo(
            "Who cannot be verified by the end is left out. This study's beginning does not say so: it is noted in the "
            "journal before anybody comes. Made with `handful serve --door panel`, a study says it in its first event.",
            err=True,
        )


def _recruitment(store: Store, study: str) -> Recruitment:
    found = store.recruitment(study)
    if found is None:
        raise StudyNotFound(
            f"nobody is recruited for study {study!r}: `handful recruit prolific` or `handful recruit panel`"
        )
    return found


@group.command(
    epilog="""
[bold]Examples[/bold]

 handful recruit status venice -s photos.db             people by state and money, as known here

 handful recruit status venice -s photos.db --ledger    and every call that moved money
"""
)
def status(
    study: Name = None,
    storage: Storage = STORAGE,
    ledger: Annotated[bool, typer.Option("--ledger", help="Print the whole ledger.")] = False,
    as_json: Json = False,
) -> None:
    """Say where recruiting stands, and every difference, as it is known here; Prolific is not asked."""
    needs("crowd", "recruiting")
    from handful.recruit.ledger import Store
    from handful.recruit.payroll import counts_of, known_here
    from handful.recruit.plan import money

    store, name = Store(storage), study or only_study(storage)
    recruitment = _recruitment(store, name)
    people, entries, known = counts_of(store.people(name)), store.entries(name), known_here(store, name)
    paid = sum(entry.cents for entry in entries if entry.outcome == "done")
    unknown = sum(entry.cents for entry in entries if entry.unknown)
    promised = sum(entry.cents for entry in entries if entry.promised)
    if as_json:
        found = {"study": name, "panel": recruitment.panel.name, "status": recruitment.status, "people": people}
        sums = {"places": recruitment.places, "paid": paid, "unknown": unknown, "promised": promised}
        print_json({**found, **sums, "differences": known.differences, "waiting": _waiting(known)})
        return
    currency = recruitment.plan.currency
    console = console_for()
    said = "" if recruitment.status is None else f", {recruitment.status} there with {recruitment.places} places"
    console.print(f"[bold]{name}[/bold] by {recruitment.panel.name}{said}: {recruitment.plan}", highlight=False)
    console.print("People: " + (", ".join(f"{count} {state}" for state, count in people.items()) or "nobody yet"))
    if recruitment.on_prolific:
        console.print(
            f"Money: {money(paid, currency)} paid to people; {money(promised, currency)} promised; "
            f"{money(unknown, currency)} sent, outcome not yet known",
            highlight=False,
        )
    _print_open(known)
    if ledger:
        _print_ledger(store, recruitment)


def _print_ledger(store: Store, recruitment: Recruitment) -> None:
    """The ledger as a table, with what was paid and what is open."""
    from rich.table import Table

    from handful.recruit.plan import money

    table = Table("line", "what", "who", "amount", "outcome", "")
    for entry in store.entries(recruitment.study):
        outcome = entry.outcome or ("unknown" if entry.sent is not None else "promised")
        amount = money(entry.cents, recruitment.plan.currency)
        table.add_row(str(entry.number), entry.kind, entry.who, amount, outcome.replace("_", " "), entry.words)
    console_for().print(table)


@group.command(
    epilog="""
[bold]Example[/bold]

 handful recruit reconcile venice -s photos.db

`handful serve` does the same every half minute while it runs. Exit code 1: something differs or waits for you.
"""
)
def reconcile(study: Name = None, storage: Storage = STORAGE, as_json: Json = False) -> None:
    """Ask Prolific how everything stands, settle what is open, pay who is due, and say every difference in words."""
    payroll = payroll_of(study, storage)
    from handful.crowd.people import forget_settled
    from handful.study import Study

    with Study.open(storage, payroll.study, read_only=True) as opened:
        decided = opened.finished is not None
    report = payroll.reconcile(decided=decided)
    forget_settled(payroll.store, payroll.study)
    if as_json:
        told = {"status": report.status, "done": report.done, "differences": report.differences}
        print_json({"study": payroll.study, "reached": report.reached, **told, "waiting": _waiting(report)})
    else:
        _print(report)
    if report.differences or report.waiting:
        raise typer.Exit(1)


def _print(report: Report) -> None:
    for said in report.done:
        typer.echo(f"done: {said}")
    _print_open(report)
    if report.agrees and not report.waiting:
        typer.echo("Both sides agree, and nothing waits for you.")


def _print_open(report: Report) -> None:
    for said in report.differences:
        typer.echo(f"differs: {said}")
    for one in report.waiting:
        typer.echo(f"waits for you: {one.words}")


def _waiting(report: Report) -> list[dict[str, object]]:
    return [{"words": one.words, "who": one.who, "line": one.line} for one in report.waiting]


@group.command(
    epilog="""
[bold]Examples[/bold]

 handful recruit decide venice --who w1f00ac --pay         pay somebody who asks for it

 handful recruit decide venice --who w1f00ac --leave       leave them as they are

 handful recruit decide venice --line 14 --paid            a bonus of unknown outcome was paid; or --unpaid
"""
)
def decide(
    study: Name = None,
    storage: Storage = STORAGE,
    who: Annotated[str | None, typer.Option(help="A person, by the name that reconcile tells.")] = None,
    line: Annotated[int | None, typer.Option(help="A line of the ledger.")] = None,
    yes: Annotated[
        bool | None, typer.Option("--pay/--leave", "--paid/--unpaid", help="What you decide.", show_default=False)
    ] = None,
) -> None:
    """Settle what only you can decide. Nobody is ever rejected."""
    if (who is None) == (line is None) or yes is None:
        raise InvalidProblem("give --who with --pay or --leave, or --line with --paid or --unpaid")
    payroll = payroll_of(study, storage)
    if who is not None:
        payroll.decide(_told_whole(payroll, who), yes)
    else:
        payroll.decide_bonus(int(line or 0), yes)
    typer.echo("Settled; the next reconciliation does the rest.")


@group.command(epilog="[bold]Example[/bold]  handful recruit bonus venice w1f00ac 1.50 --reason 'a long visit'")
def bonus(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="Its name.")],
    who: Annotated[str, typer.Argument(help="A person: the pseudonym, or six letters of its beginning.")],
    amount: Annotated[str, typer.Argument(help="Such as 1.50.")],
    storage: Storage = STORAGE,
    reason: Annotated[str, typer.Option(help="For the ledger.")] = "",
) -> None:
    """Promise somebody a bonus: it is written down now and paid by the next reconciliation, once."""
    from handful.recruit.plan import cents_of

    payroll, cents = payroll_of(study, storage), cents_of(amount)
    number = payroll.promise_bonus(_told_whole(payroll, who), cents, reason)
    typer.echo(f"Line {number} of the ledger: promised.")


def _told_whole(payroll: Payroll, beginning: str) -> str:
    """The whole pseudonym of somebody, which is printed before anything is done."""
    name = payroll.whole_name(beginning)
    typer.echo(f"This is about {name}.")
    return name


@group.command("pay-list", epilog="[bold]Example[/bold]  handful recruit pay-list venice -s photos.db -o pay.csv")
def pay_list(
    study: Name = None,
    storage: Storage = STORAGE,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file instead of the terminal.")] = None,
) -> None:
    """Write who is to be paid, with the panel's ids, for panels where you pay by hand. Keep it safe and delete it."""
    from handful.recruit.ledger import Store

    store, name = Store(storage), study or only_study(storage)
    recruitment, rows = _recruitment(store, name), []
    for person in store.people(name):
        if person.who.participant == person.pseudonym:  # forgotten
            continue
        code = _code(recruitment.panel, person.who, storage, name) if person.outcome == "finished" else None
        outcome = person.outcome or "inside"
        rows.append((person.who.participant, person.who.session or "", outcome, person.status or "", code or ""))
    if output is None:
        _write_rows(sys.stdout, rows)
        return
    output.touch(0o600)  # for its owner only: it joins ids to what people did
    with output.open("w", encoding="utf-8", newline="") as file:
        _write_rows(file, rows)


def _code(panel: Panel, who: Identity, storage: str, study: str) -> str | None:
    """The code of one person, to be compared with what they typed in."""
    if panel.code is None:
        return None
    needs("crowd", "a list with codes")
    from handful.crowd.registry import items_folder
    from handful.crowd.tokens import panel_key, secret_in

    return panel.code_of(who, panel_key(secret_in(items_folder(storage)), study))


def _write_rows(file: TextIO, rows: Sequence[tuple[str, ...]]) -> None:
    writer = csv.writer(file)
    writer.writerow(("participant", "session", "outcome", "status", "code"))
    writer.writerows(rows)
