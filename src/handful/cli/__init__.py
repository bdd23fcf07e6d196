"""The command line: parse, call, print. Each group of commands has a file; commands import what they need when run."""

from __future__ import annotations

import logging
import pkgutil
import re
import shlex
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, TextIO

import typer

from handful.errors import HandfulError, MissingExtra, StorageError, StorageMissing

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

        from handful.cli.passwords import hide_typed_password
        from handful.cli.retiring import retiring

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
