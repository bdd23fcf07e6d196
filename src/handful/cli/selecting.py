"""From the options of `handful select` to items, feedback and an oracle."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from handful.errors import InvalidCollection, InvalidProblem

if TYPE_CHECKING:
    from handful.problem import Feedback
    from handful.study import Question

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
