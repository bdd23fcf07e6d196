"""The command line: parse, call, print. Each group of commands has a file; commands import what they need when run."""

from __future__ import annotations

import logging
import os
import pkgutil
import re
import shlex
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, TextIO
from urllib.parse import unquote

import typer

from handful.errors import HandfulError, InvalidProblem, MissingExtra, StorageError, StorageMissing

app = typer.Typer(
    name="handful",
    help="Pick the best few of many when quality can only be asked for, and every answer is noisy.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

MODULES = {
    "crowd": ("fastapi", "uvicorn", "httptools", "httpx", "jinja2", "PIL", "segno"),
    "plots": ("matplotlib",),
}
"""What is imported from each extra."""


def _version(wanted: bool) -> None:
    if wanted:
        from handful import __version__

        typer.echo(f"handful {__version__}")
        raise typer.Exit


@app.callback()
def _handful(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Which version this is.")
    ] = False,
) -> None:
    """Pick the best few of many when quality can only be asked for, and every answer is noisy."""


def _note(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    typer.secho(f"handful: note: {_told(as_options(str(message)))}", fg="yellow", err=True)


def this_command() -> str:
    """The command line as it was typed, to be typed again."""
    return shlex.join(["handful", *sys.argv[1:]])


def needs(extra: str, what: str) -> None:
    """Refuse before the work, not after it, where an extra that a command needs is not installed."""
    if any(find_spec(module) is None for module in MODULES[extra]):
        raise MissingExtra(what, extra)


def say(text: str) -> None:
    """Print a message on standard error, where it does not mix with the output."""
    typer.secho(f"handful: {_told(text)}", err=True)


def _told(text: str) -> str:
    """The text without the passwords of databases."""
    from handful.storage import without_password

    return without_password(text) if "://" in text else text


class _Said(logging.Handler):
    """Prints what the library logs on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def _tell_what_is_logged() -> None:
    # By name: to import them would take as long as all the rest.
    for name in ("handful.compiling", "handful.storage", "handful.study"):
        log = logging.getLogger(name)
        log.setLevel(logging.INFO)
        log.handlers = [_Said()]
        log.propagate = False


# What an error of the library calls by the names of Python, and what the same is on the command line.
_OPTIONS = {
    r"Values\(noise=R\)": "--noise R",
    r"Values\(range=\(lo, hi\)\)": "--range LO HI",
    r"Preferences\(beta=\.\.\.\)": "--beta",
    r"\bin_flight=(?=\d)": "--in-flight ",
    r"\bbest_gain=(?=[\s,;.:)]|$)": "--best-gain",
    r"\b(budget|epsilon|ratio|quality|explorer|storage|name)=(?=[\s,;.:)]|$)": r"--\1",
}


def as_options(message: str) -> str:
    """An error's advice, as somebody at the command line would follow it."""
    for python, option in _OPTIONS.items():
        message = re.sub(python, option, message)
    return message


def main() -> None:
    """The `handful` command. Exit codes: 0 well, 1 the answer is no, 2 bad input, 3 storage, 130 interrupted."""
    warnings.showwarning = _note
    _tell_what_is_logged()
    try:
        for group in pkgutil.iter_modules(__path__):
            import_module(f"{__name__}.{group.name}")  # registers its commands
        from typer.main import get_command

        hide_typed_password()
        retiring(get_command(app))()
    except HandfulError as error:
        typer.secho(f"handful: {_told(as_options(str(error)))}", fg="red", err=True)
        sys.exit(3 if isinstance(error, StorageError) and not isinstance(error, StorageMissing) else 2)
    except KeyboardInterrupt as interrupt:
        _say_interrupted(interrupt)
        sys.exit(130)
    except SystemExit as end:
        # Typer makes an interrupt an exit without a word; a command that said what it stopped at has no such cause.
        cause = getattr(end.__context__, "__cause__", None)
        if isinstance(cause, KeyboardInterrupt):
            _say_interrupted(cause)
        raise


def _say_interrupted(interrupt: KeyboardInterrupt) -> None:
    typer.secho(f"handful: {str(interrupt) or 'interrupted'}", fg="yellow", err=True)


ADVICE = "give the URL in the environment variable HANDFUL_DATABASE, or the password in PGPASSWORD or ~/.pgpass"


def hide_typed_password() -> None:
    """If a URL among the arguments has a password: start again without it, and with it in the environment."""
    from handful.storage import passwords_in, without_password

    typed = " ".join(sys.argv[1:])
    if "://" not in typed:
        return
    found = passwords_in(typed)
    if not found:
        return
    if len(found) > 1:
        raise InvalidProblem(f"two URLs with passwords of their own on one command line: {ADVICE}")
    if sys.orig_argv[-len(sys.argv) + 1 :] != sys.argv[1:]:
        return  # not started as a command, so there are no arguments to hide
    print(f"handful: note: everybody on this machine could read the password that was typed; {ADVICE}", file=sys.stderr)
    sys.stderr.flush()
    arguments = [without_password(argument) for argument in sys.orig_argv]
    os.execve(sys.executable, arguments, {**os.environ, "PGPASSWORD": unquote(found.pop())})


READS = frozenset(
    {
        "backup",
        "export",
        "invite list",
        "keys show",
        "list",
        "plot",
        "recruit pay-list",
        "recruit plan",
        "recruit status",
        "recruit steps",
        "replay",
        "status",
    }
)
"""Commands with a storage that only look at it."""

ITSELF = frozenset({"people erase", "people list", "serve"})
"""Commands that see to it themselves, and say so or go on seeing to it."""


def retiring(group: Any, before: str = "") -> Any:
    """The commands of a group, each of which first forgets who is due if it writes to a storage."""
    for name, command in group.commands.items():
        whole = f"{before}{name}"
        if hasattr(command, "commands"):
            retiring(command, f"{whole} ")
        elif writes(whole, command):
            command.callback = _after_retiring(command.callback)
    return group


def writes(name: str, command: Any) -> bool:
    """Whether a command writes to a storage and leaves it to others to forget who is due."""
    return name not in READS | ITSELF and any(parameter.name == "storage" for parameter in command.params)


def _after_retiring(callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    def act(**typed: Any) -> Any:
        storage = typed.get("storage")
        if storage is not None and ("://" in storage or Path(storage).is_file()):
            from handful.crowd.people import retire

            with suppress(StorageError):  # the command meets the same storage, and says what is wrong with it
                retire(storage, time.time())
        return callback(**typed)

    return act
