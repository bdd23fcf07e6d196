"""Retention acts before every command that writes."""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer.main

import handful.cli
from handful import Preferences, Study
from handful.cli import ITSELF, READS, retiring, writes
from handful.crowd.people import DAY_S, People, Person, keep_for


def commands() -> Any:
    for group in pkgutil.iter_modules(handful.cli.__path__):
        import_module(f"handful.cli.{group.name}")
    return typer.main.get_command(handful.cli.app)


def leaves(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def test_every_command_with_a_storage_is_known_to_read_or_retires_first() -> None:
    there = dict(leaves(commands()))
    assert set(there) >= READS | ITSELF
    writing = {name for name, command in there.items() if writes(name, command)}
    assert {"select", "preregister", "keys renew", "invite new", "organize close", "recruit bonus"} <= writing
    assert not any("storage" in {p.name for p in there[name].params} for name in set(there) - writing - READS - ITSELF)


@pytest.mark.parametrize("order", [("organize", "pause", "t"), ("invite", "new", "t", "1")])
def test_a_command_that_writes_first_forgets_who_is_due(tmp_path: Path, order: tuple[str, ...]) -> None:
    storage = tmp_path / "s.db"
    for name in ("s", "t"):
        with Study(["a", "b", "c"], 1, feedback=Preferences(), explorer="duels", budget=9, storage=storage, name=name):
            pass
        people = People(name, storage)
        people.add(Person("w1", link=b"x" * 16, panel="prolific", participant=f"p-of-{name}-123456"))
        keep_for(storage, name, 1)
    People("s", storage).closed(time.time() - 2 * DAY_S)
    with pytest.raises(SystemExit) as ended:
        retiring(commands())([*order, "--storage", str(storage)])
    assert ended.value.code == 0
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"p-of-s-123456" not in kept
    assert b"p-of-t-123456" in kept, "a study that is not over keeps its people"
