"""The command line: parse, call, print. Each group of commands has a file; commands import what they need when run."""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module

import typer

from handful.errors import HandfulError, StorageError

app = typer.Typer(
    name="handful",
    help="Pick the best few of many when quality can only be asked for, and every answer is noisy.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def main() -> None:
    """The `handful` command. Exit codes: 0 well, 1 the answer is no, 2 bad input, 3 storage, 130 interrupted."""
    for group in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{group.name}")  # registers its commands
    try:
        app()
    except HandfulError as error:
        typer.secho(f"handful: {error}", fg="red", err=True)
        sys.exit(3 if isinstance(error, StorageError) else 2)
    except KeyboardInterrupt:
        typer.secho("handful: interrupted", fg="yellow", err=True)
        sys.exit(130)
