"""What the crowd commands print to."""

from __future__ import annotations

from rich.console import Console

from handful.storage import without_password

console = Console(highlight=False)


def note(text: str) -> None:
    """Print something that was not asked for but should be known."""
    console.print(f"Note: {without_password(text)}", style="yellow", markup=False, soft_wrap=True)
