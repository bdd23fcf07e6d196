"""`handful select` and `handful price`: pick by asking an oracle, or rows of a table by a known function."""

from __future__ import annotations

import csv
import json
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from handful.cli import app, say, this_command
from handful.cli.parameters import STORAGE, ExplorerName, Json, Storage
from handful.cli.printing import console_for, print_json
from handful.errors import HandfulError, InvalidAnswer, InvalidCollection, InvalidProblem, MissingExtra, StudyExists
from handful.wording import counted

if TYPE_CHECKING:
    from handful.problem import Feedback
    from handful.questions import Question
    from handful.results import Result
    from handful.study import Study


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
        limits: dict[str, Any] = {"cost": cost, "budget": budget, "group": group, "limit": limit}
        named: dict[str, Any] = {"name_column": id_, "columns": columns}
        pick(items, k, by, metric, **limits, **named, represent=represent, seed=seed, as_json=as_json)
        return
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
    from handful.journal import differences, spelled_out
    from handful.study import Study

    described = Study(ids, k, **settings)
    study = Study.open(storage, name, items=ids)
    differing = differences(described.setup, study.state)
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


# What is asked, and how


DEFAULT_BETA = 5.0  # of the people that an objective pretends to be


def read_ids(path: Path) -> tuple[str, ...]:
    """The items' names: the column id, or else the first."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidCollection(f"{path} cannot be read ({error}): give a CSV file in UTF-8") from error
    if len(rows) < 2:
        raise InvalidCollection(f"{path} has no items: below a line that names the columns, give one line per item")
    header = [cell.strip().lower() for cell in rows[0]]
    at = header.index("id") if "id" in header else 0
    return tuple(row[at].strip() if at < len(row) else "" for row in rows[1:])


def feedback_from(
    noise: float | None,
    range_: tuple[float, float] | None,
    preferences: bool,
    beta: float | None,
    options: int = 2,
) -> Feedback:
    """What an answer is."""
    from handful.problem import Preferences, Values

    if preferences:
        if noise is not None or range_ is not None:
            raise InvalidProblem("--noise and --range are about numbers: leave them out with --preferences")
        return Preferences(beta=beta, options=options)
    if options != 2:
        raise InvalidProblem("--options is how many items a choice is among: give --preferences too")
    if beta is not None:
        raise InvalidProblem("--beta is about comparisons: give --preferences too")
    return Values(noise=noise, range=range_)


def in_flight_from(given: int | None, n_jobs: int | None, dask: str | None) -> int | str:
    """How many questions may be unanswered at once: what is given, or what fits the place where the oracle runs."""
    if given is not None:
        return given
    return "processes" if n_jobs is not None else "cluster" if dask is not None else 1


def answers_from(
    oracle: str | None, objective: str | None, items: Path, feedback: Feedback
) -> Callable[[Question], object]:
    """The function that answers."""
    if (oracle is None) == (objective is None):
        raise InvalidProblem("say who answers: --oracle module:function, or --objective coverage")
    return _function_named(oracle) if oracle is not None else _simulated(items, feedback)


def _function_named(name: str) -> Callable[[Question], object]:
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise InvalidProblem(f"--oracle must be module:function, such as judge:better, got {name!r}")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found = getattr(import_module(module), function, None)
    except ModuleNotFoundError as error:
        raise InvalidProblem(f"there is no module {error.name!r} in {folder}: --oracle {name} needs it") from error
    except SyntaxError as error:
        raise InvalidProblem(f"{error.filename}, line {error.lineno}: {error.msg}; --oracle {name} needs it") from error
    if not callable(found):
        raise InvalidProblem(f"module {module!r} has no function {function!r}: --oracle {name} needs it")
    answer: Callable[[Question], object] = found
    return answer


def let_own_files_travel() -> None:
    """Send what was imported from files of this folder as a whole: machines of a cluster do not have these files."""
    import cloudpickle

    folder = Path.cwd()
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) in {str(folder / f"{name}.py"), str(folder / name / "__init__.py")}:
            cloudpickle.register_pickle_by_value(module)


def _simulated(items: Path, feedback: Feedback) -> Callable[[Question], object]:
    from handful.images import load_csv
    from handful.oracles import btl, chooses, compares, noisy, uniform
    from handful.problem import Preferences

    collection = load_csv(items)
    if isinstance(feedback, Preferences):
        people = compares if feedback.options == 2 else chooses
        return people(collection.objective, btl(feedback.beta or DEFAULT_BETA), collection.ids)
    if feedback.range is not None:
        raise InvalidProblem("--objective makes its own noise of half-width --noise: give that instead of --range")
    return noisy(collection.objective, uniform(feedback.noise or 0.0), collection.ids)


# Rows of a table, by a known function


@dataclass(frozen=True)
class _Read:
    """A file: names of the rows, its columns as text, or the numbers themselves where columns have no names."""

    ids: tuple[Any, ...]
    columns: dict[str, list[Any]]
    numbers: Any = None


def pick(
    file: Path,
    k: int,
    by: str,
    metric: str,
    *,
    cost: str | None,
    budget: float | None,
    group: str | None,
    limit: int | None,
    represent: int | None,
    name_column: str | None,
    columns: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Read the file, maximize, and print the ranking."""
    from handful.exact.maximize import maximize, objective_named

    read = _read(file, name_column)
    costs = None if cost is None else [_number(file, cost, i, x) for i, x in enumerate(_column(file, read, cost))]
    groups = None if group is None else _column(file, read, group)
    features = _features(file, read, {cost, group} - {None}, columns)
    if by in ("facility-location", "graph-cut") and metric in ("cosine", "dot") and (features < 0).any():
        say(f"some numbers are negative: where the {metric} of two rows is below 0 it counts as 0")
    objective = objective_named(by, features, metric=metric, represent=represent, seed=seed)
    show = console_for(err=True).is_terminal
    found = maximize(
        objective, min(k, objective.size) if cost else k, ids=read.ids, costs=costs, budget=budget if cost else None,
        groups=groups, limit=limit, progress=show, seed=seed,
    )  # fmt: skip
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, default=str))
    else:
        for rank, (item, gain) in enumerate(zip(found.chosen, found.gains, strict=True), start=1):
            typer.echo(f"{rank:4}  {item}  +{gain:.6g}")
        typer.echo(str(found))
    if not found.complete:
        raise typer.Exit(130)


def _read(file: Path, name_column: str | None) -> _Read:
    kind = file.suffix.lower()
    try:
        if kind == ".npy":
            if name_column is not None:
                raise InvalidCollection(f"{file} has no named columns: --id is for CSV and Parquet")
            import numpy as np

            numbers = np.load(file, mmap_mode="r", allow_pickle=False)
            return _Read(tuple(range(len(numbers))), {}, numbers)
        if kind in (".parquet", ".pq"):
            return _named(file, _parquet(file), name_column)
        return _named(file, _csv(file), name_column)
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        if isinstance(error, InvalidCollection):
            raise
        raise InvalidCollection(f"{file} cannot be read ({error}): give a CSV, .npy or Parquet file") from error


def _csv(file: Path) -> dict[str, list[Any]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = [row for row in csv.reader(lines) if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise InvalidCollection(f"{file} has no items: below a line that names the columns, give one line per item")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise InvalidCollection(f"{file}, line {number} has {len(row)} cells, the first line {len(rows[0])}")
    return {name.strip(): [row[at].strip() for row in rows[1:]] for at, name in enumerate(rows[0])}


def _parquet(file: Path) -> dict[str, list[Any]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("reading a Parquet file", "parquet") from None
    table = parquet.read_table(file)
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _named(file: Path, columns: dict[str, list[Any]], name_column: str | None) -> _Read:
    """Rows are named by the column that --id says; else by the column id; else by the first, if it is not a number
    throughout; else by their positions.
    """
    count = len(next(iter(columns.values()), []))
    if not count:
        raise InvalidCollection(f"{file} has no items")
    first = next(iter(columns))
    if name_column is not None and name_column not in columns:
        raise InvalidCollection(f"{file} has no column {name_column!r}; it has: {', '.join(columns)}")
    named = name_column or next((name for name in columns if name.lower() == "id"), None)
    if named is None and not all(_is_number(x) for x in columns[first]):
        named = first
    if named is None:
        return _Read(tuple(range(count)), columns)
    return _Read(tuple(columns[named]), {name: x for name, x in columns.items() if name != named})


def _features(file: Path, read: _Read, apart: set[str | None], columns: str | None) -> Any:
    if read.numbers is not None:
        if columns is not None:
            raise InvalidCollection(f"{file} has no named columns: --columns is for CSV and Parquet")
        return read.numbers
    if columns is None:
        kept = {name: x for name, x in read.columns.items() if name not in apart}
    else:
        kept = {name: _column(file, read, name) for name in map(str.strip, columns.split(","))}
    if not kept:
        raise InvalidCollection(f"{file} has no columns of numbers: give one column per feature")
    import numpy as np

    return np.array([[_number(file, name, i, x) for i, x in enumerate(column)] for name, column in kept.items()]).T


def _column(file: Path, read: _Read, name: str) -> list[Any]:
    if name not in read.columns:
        raise InvalidProblem(f"{file} has no column {name!r}; it has: {', '.join(read.columns) or 'numbers alone'}")
    return read.columns[name]


def _is_number(x: object) -> bool:
    try:
        float(x)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _number(file: Path, column: str, row: int, x: object) -> float:
    if not _is_number(x):
        raise InvalidCollection(
            f"{file}: {x!r} in column {column!r} of item {row + 1} is not a number: say which columns "
            "are (--columns A,B), or which one names the rows (--id COLUMN)"
        )
    return float(x)  # type: ignore[arg-type]


# Price


@app.command()
def price(
    items: Annotated[int, typer.Option("--items", "-n", help="How many items there are to pick from.")],
    k: Annotated[int, typer.Option("--k", "-k", help="How many to pick.")],
    noise: Annotated[float | None, typer.Option(help="Answers are numbers with sub-Gaussian noise R.")] = None,
    range_: Annotated[
        tuple[float, float] | None,
        typer.Option("--range", help="Answers are numbers between these two, as in --range 1 5."),
    ] = None,
    preferences: Annotated[bool, typer.Option("--preferences", help="Answers are comparisons of two items.")] = False,
    beta: Annotated[float, typer.Option(help="How sharp comparisons are, for one unit of f.")] = 2.0,
    options: Annotated[int, typer.Option(help="With --preferences: how many items a question shows, 2 to 9.")] = 2,
    epsilon: Annotated[float | None, typer.Option(help="For the guarantee f(S) ≥ (1 − 1/e)·f(OPT) − ε.")] = None,
    ratio: Annotated[float | None, typer.Option(help="For a certified share of the optimum.")] = None,
    quality: Annotated[float | None, typer.Option(help="For a result this good, as a share of exact greedy.")] = None,
    delta: Annotated[float, typer.Option(help="Probability that a guarantee fails.")] = 0.05,
    best_gain: Annotated[float, typer.Option(help="What the best item is worth, in the units of the answers.")] = 1.0,
    explorer: ExplorerName = None,
    runs: Annotated[int, typer.Option(help="Simulated runs.")] = 60,
    as_json: Annotated[bool, typer.Option("--json", help="For a program.")] = False,
) -> None:
    """How many answers will it take? Simulated on collections like yours in size, with a range.

    [bold]Examples[/bold]

      handful price -n 60 -k 6 --preferences --beta 2 --quality 0.95

      handful price -n 60 -k 6 --preferences --options 4 --quality 0.95

      handful price -n 60 -k 6 --noise 0.5 --epsilon 0.1

      handful price -n 60 -k 6 --range 0 5 --best-gain 4 --ratio 0.6
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from handful.errors import InvalidProblem
    from handful.pricing import price as simulated_price

    if not preferences and noise is None and range_ is None:
        raise InvalidProblem(
            "say what an answer is: --noise R or --range LO HI for numbers, --preferences for comparisons"
        )
    known = beta if preferences and epsilon is not None else None
    feedback = feedback_from(noise, range_, preferences, known, options)
    columns = (TextColumn("simulating"), BarColumn(), TextColumn("{task.completed}/{task.total}"), TimeElapsedColumn())
    console = Console(stderr=True)
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task("", total=None)

    def tell(done: int, total: int) -> None:
        """The first call comes once nothing is left to be refused."""
        if done == 0:
            bar.start()
            if not console.is_terminal:
                say(f"simulating {counted(runs, 'run')}, which takes minutes where a guarantee takes many answers")
        bar.update(task, completed=done, total=total)

    try:
        made = simulated_price(
            items,
            k,
            feedback=feedback,
            epsilon=epsilon,
            ratio=ratio,
            quality=quality,
            delta=delta,
            beta=beta,
            best_gain=best_gain,
            explorer=explorer,
            runs=runs,
            progress=tell,
        )
    finally:
        bar.stop()
    said = str(made)
    typer.echo(json.dumps(made.to_dict()) if as_json else f"{said[0].upper()}{said[1:]}.")
