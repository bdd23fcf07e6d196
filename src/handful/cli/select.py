"""`handful select`: pick items of a file, by asking a function or by a known objective."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from handful.cli import app, say, this_command
from handful.cli.parameters import STORAGE, ExplorerName, Json, Storage
from handful.cli.printing import console_for, print_json
from handful.errors import HandfulError, InvalidAnswer, InvalidProblem, StudyExists
from handful.wording import counted

if TYPE_CHECKING:
    from handful.study import Result, Study

# Options of `select` that go with --by alone, and those that go with it as well as without.
_ONLY_BY = ("metric", "cost", "group", "limit", "represent", "id_", "columns")
_WITH_BY = (*_ONLY_BY, "items", "k", "by", "budget", "seed", "as_json")

_InFlight = Annotated[
    int | None, typer.Option(help="Questions unanswered at once: 1 if left out, 64 with --n-jobs, 256 with --dask.")
]


@app.command(
    epilog="""
[bold]Examples[/bold]

 handful select photos.csv -k 6 --oracle judge:better --preferences --budget 1500

 handful select nodes.csv -k 10 --oracle spread:gain --noise 1 --epsilon 0.5

 handful select nodes.csv -k 10 --oracle spread:gain --noise 1 --budget 100000 --n-jobs -1

 handful select photos.csv -k 6 --objective coverage --noise 0.5 --budget 3000

 handful select embeddings.npy -k 20 --by facility-location

 handful select passages.csv -k 50 --by facility-location --metric cosine --cost tokens --budget 4000

With --by nothing is asked: the rows of numbers in ITEMS (CSV, .npy or Parquet) are picked by a known function.
The oracle is a function of a question q, in a Python file of this folder: q.item (the text in the first column of
ITEMS, or in its column id), q.rival (with --preferences), q.chosen and q.seed. It returns a number, or True if the item
is the better addition; with --options 3 or more, the best addition itself, one of q.options. Every answer is kept:
after Ctrl-C the same command goes on where it stopped, or for longer with a larger --budget; a study that is finished
stays as it is.
""",
)
def select(
    context: typer.Context,
    items: Annotated[Path, typer.Argument(metavar="ITEMS", help="A CSV file with a header; one line per item.")],
    k: Annotated[int, typer.Option("-k", help="How many to pick.")],
    oracle: Annotated[
        str | None, typer.Option(metavar="MODULE:FUNCTION", help="Your own function that answers questions.")
    ] = None,
    objective: Annotated[
        Literal["coverage"] | None,
        typer.Option(help="Answer from a known objective: coverage of the columns id, tags and views."),
    ] = None,
    by: Annotated[
        Literal["facility-location", "feature-based", "graph-cut", "log-det"] | None,
        typer.Option(help="Ask nobody: pick rows by this function of their numbers."),
    ] = None,
    metric: Annotated[
        Literal["rbf", "cosine", "dot", "euclidean"], typer.Option(help="With --by: how alike two rows are.")
    ] = "rbf",
    cost: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="With --by: what an item costs; --budget is for all.")
    ] = None,
    group: Annotated[str | None, typer.Option(metavar="COLUMN", help="With --by: groups, for --limit.")] = None,
    limit: Annotated[int | None, typer.Option(help="With --by: how many of each group may be picked.")] = None,
    represent: Annotated[
        int | None, typer.Option(help="With --by facility-location: so many rows, drawn, are to be represented.")
    ] = None,
    id_: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="With --by: the column that names the rows.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="With --by: the columns of numbers to look at; else all others.")
    ] = None,
    noise: Annotated[
        float | None, typer.Option(help="Answers are numbers; their noise is sub-Gaussian with this R.")
    ] = None,
    range_: Annotated[
        tuple[float, float] | None,
        typer.Option("--range", help="Answers are numbers between these two, as in --range 1 5."),
    ] = None,
    preferences: Annotated[bool, typer.Option("--preferences", help="Answers say which of two is better.")] = False,
    beta: Annotated[
        float | None, typer.Option(help="How sharp comparisons are (Bradley-Terry-Luce), if known.")
    ] = None,
    options: Annotated[int, typer.Option(help="With --preferences: how many items a question shows, 2 to 9.")] = 2,
    epsilon: Annotated[float | None, typer.Option(help="How far from the best is near enough, in units of f.")] = None,
    ratio: Annotated[float | None, typer.Option(help="Or: the share of the optimum to certify, such as 0.7.")] = None,
    delta: Annotated[float, typer.Option(help="Probability of being wrong.")] = 0.05,
    budget: Annotated[int | None, typer.Option(help="Answers that may be spent in all.")] = None,
    per_item: Annotated[
        float | None, typer.Option("--per-item", help="Or: answers that may be spent per item and round.")
    ] = None,
    explorer: ExplorerName = None,
    in_flight: _InFlight = None,
    n_jobs: Annotated[int | None, typer.Option(help="Ask the oracle in so many processes; -1: one per core.")] = None,
    dask: Annotated[
        str | None, typer.Option("--dask", metavar="ADDRESS", help="Or on a Dask cluster, such as tcp://10.0.0.5:8786.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    storage: Storage = STORAGE,
    name: Annotated[str | None, typer.Option("--name", help="The study's name; else that of the file ITEMS.")] = None,
    as_json: Json = False,
) -> None:
    """Pick the best few of the items in a CSV file, by asking a function of yours or a known objective."""
    _refuse_what_does_not_fit(context, by, cost)
    if by is not None:
        from handful.cli.known import pick

        limits: dict[str, Any] = {"cost": cost, "budget": budget, "group": group, "limit": limit}
        named: dict[str, Any] = {"name_column": id_, "columns": columns}
        pick(items, k, by, metric, **limits, **named, represent=represent, seed=seed, as_json=as_json)
        return
    from handful.cli.selecting import answers_from, feedback_from, in_flight_from, let_own_files_travel, read_ids
    from handful.problem import PerItem
    from handful.running import bar
    from handful.study import Study

    if budget is not None and per_item is not None:
        raise InvalidProblem("give --budget or --per-item, not both")
    ids = read_ids(items)
    settings: dict[str, Any] = {
        "feedback": feedback_from(noise, range_, preferences, beta, options),
        "explorer": explorer,
        "epsilon": epsilon,
        "ratio": ratio,
        "delta": delta,
        "budget": budget if per_item is None else PerItem(per_item),
        "in_flight": in_flight_from(in_flight, n_jobs, dask),
        "seed": seed,
    }
    answer = answers_from(oracle, objective, items, settings["feedback"])
    if dask is not None:
        let_own_files_travel()
    name = name or items.stem
    try:
        study = Study(ids, k, storage=storage, name=name, **settings)
    except StudyExists:
        study = _same_study(ids, k, storage, name, settings)
    with study:
        if study.finished:
            say(f"nothing is asked any more: {study.finished}")
            _print_result(study.result(), as_json)
            return
        try:
            with bar(console_for(err=True)) as show:
                result = study.run(answer, progress=show, n_jobs=n_jobs, dask=dask)
        except KeyboardInterrupt:
            say(f"stopped with {counted(study.status().answers, 'answer')}, all kept; to go on: {this_command()}")
            raise typer.Exit(130) from None
        except InvalidAnswer as error:
            _stopped(study, f"the oracle's answer cannot be taken: {error}")
        except HandfulError:
            raise
        except Exception as error:
            _stopped(study, f"the oracle failed: {type(error).__name__}: {error}{_where(error)}")
    _print_result(result, as_json)


def _same_study(ids: tuple[str, ...], k: int, storage: str, name: str, settings: dict[str, Any]) -> Study:
    """The study that is there, if it is the one that these options describe."""
    from handful.study import Study
    from handful.study.opening import differences, spelled_out

    described = Study(ids, k, **settings)
    study = Study.open(storage, name, items=ids)
    differing = differences(described.setup, study.fold)
    if differing.keys() == {"budget"} and _extended(study, described.status().budget):
        return study
    if differing:
        over, empty = study.finished, study.status().answers == 0
        study.close()
        raise InvalidProblem(
            f"there is a study {name!r} in {storage}{' that is finished' if over else ''}, and it is another one "
            f"({spelled_out(differing)}): give the same options to {'see' if over else 'go on with'} it, "
            f"or another --name{_or_delete(storage) if empty else ''}"
        )
    return study


def _or_delete(storage: str) -> str:
    """How to be rid of a study without answers: where it is alone in a file, that file can go."""
    from handful.storage import list_studies

    file = Path(storage.removeprefix("sqlite:///"))
    if file.is_file() and len(list_studies(storage)) == 1:
        return f"; it has no answers yet, so nothing is lost if you delete {file}, which holds nothing else"
    return "; it has no answers yet, so nothing is lost if you leave it"


def _extended(study: Study, budget: int | None) -> bool:
    """Whether the study could be given the larger budget that is wished for."""
    now = study.status()
    if budget is None or now.budget is None:
        return False
    if budget < now.budget or now.finished:
        return False
    study.extend(budget - now.budget)
    say(f"{budget - now.budget:,} more answers may be spent")
    return True


def _stopped(study: Study, why: str) -> NoReturn:
    """The oracle is at fault: say so, and that nothing is lost."""
    say(why)
    say(f"{counted(study.status().answers, 'answer')} kept; to go on: {this_command()}")
    raise typer.Exit(1)


def _where(error: BaseException) -> str:
    """The line of the user's own code that failed."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f" ({Path(last.filename).name}, line {last.lineno}, in {last.name})"


def _print_result(result: Result, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
    else:
        print(result)


def _refuse_what_does_not_fit(context: typer.Context, by: str | None, cost: str | None) -> None:
    """An option that would change nothing is refused: whoever gives it expects something of it."""
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        called = option.opts[0]
        if by is None and option.name in _ONLY_BY:
            raise InvalidProblem(f"{called} goes with --by, which picks rows by a known function: give --by too")
        if by is not None and option.name not in _WITH_BY:
            raise InvalidProblem(f"{called} is about asking, and with --by nothing is asked: leave out one of them")
        if by is not None and option.name == "budget" and cost is None:
            raise InvalidProblem("with --by a budget is what all items may cost: name the column with --cost COLUMN")
        if by == "feature-based" and option.name == "metric":
            raise InvalidProblem("--metric says how alike two rows are; feature-based compares none: leave it out")
