"""The page of the documentation that says what the command line says: `python -m tests.cli.help_pages` writes it."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer.main

import handful.cli

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
HEAD = """# Command line

Every command explains itself with `--help`; this page is the same text.

| exit code | meaning |
|---|---|
| 0 | all went well |
| 1 | the answer is no: a replay differs, an oracle failed |
| 2 | bad input: an option, a file or a name that makes no sense |
| 3 | the storage cannot be read or written |
| 130 | interrupted with Ctrl-C (`serve` is meant to end so: 0) |

Where a program may read the output, `--json` prints one JSON value. Progress and messages go to standard error.
"""


def render() -> str:
    """The whole page."""
    for group in pkgutil.iter_modules(handful.cli.__path__):
        import_module(f"handful.cli.{group.name}")
    root = typer.main.get_command(handful.cli.app)
    return "\n".join([HEAD, *(section(name, command) for name, command in commands(root, ""))])


def commands(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    """All commands under their full names, those of groups too."""
    for name, command in sorted(group.commands.items()):
        if command.hidden:
            continue
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, command


def section(name: str, command: typer.core.TyperCommand) -> str:
    """A command: what it does, its arguments and options, and examples."""
    lines = [f"## handful {name}", "", *paragraphs(command.help or ""), "| | |", "|---|---|"]
    for parameter in command.params:
        if parameter.name == "help":
            continue
        names = (parameter.metavar or parameter.name,) if parameter.param_type_name == "argument" else parameter.opts
        unsaid = parameter.default in (None, False, []) or parameter.required
        default = "" if unsaid else f" Default: {parameter.default}."
        required = " Required." if parameter.required else ""
        told = plain(getattr(parameter, "help", "") or "")
        told += "" if told.endswith((".", "!", "?")) or not told else "."
        lines.append(f"| {', '.join(f'`{n}`' for n in names)} | {told}{default}{required} |")
    if command.epilog:
        lines += ["", *paragraphs(command.epilog)]
    return "\n".join([*lines, ""])


def paragraphs(text: str) -> list[str]:
    """Command lines as code, the rest as text."""
    lines = []
    for paragraph in re.split(r"\n\s*\n|(?<=\])  ", text.replace("\b", "").strip()):
        if plain(paragraph).startswith("handful "):
            lines += ["```", unmarked(inspect.cleandoc(paragraph)), "```", ""]
        else:
            heading = re.fullmatch(r"\[bold\][^\[]*\[/bold\]", paragraph.strip())
            lines += [f"**{plain(paragraph)}**" if heading else plain(paragraph), ""]
    return lines


def plain(text: str) -> str:
    """Without markup, on one line, and harmless in a table."""
    return " ".join(unmarked(text).split()).replace("|", "\\|")


def unmarked(text: str) -> str:
    """Without Rich's markup."""
    return re.sub(r"\[/?bold\]", "", text)


if __name__ == "__main__":
    PAGE.write_text(render())
