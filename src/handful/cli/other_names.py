"""What people type for a command that has another name: they are told which."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

RENAMED = {"estimate": "price"}
"""Old names, which still work."""

MEANT = {"solo": "to choose alone, type `handful serve FOLDER --solo`"}
"""What is no command, and what to type instead."""


class Commands(TyperGroup):
    """The commands, which know what else they may be called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is meant; of an old name, and of one that is no command, what to type instead is said."""
        from handful.cli import say

        typed = args[0] if args else ""
        if typed in RENAMED:
            say(f"`handful {typed}` is called `handful {RENAMED[typed]}` now")
            args = [RENAMED[typed], *args[1:]]
        elif typed in MEANT and typed not in self.commands:
            ctx.fail(f"No such command '{typed}': {MEANT[typed]}.")
        return super().resolve_command(ctx, args)
