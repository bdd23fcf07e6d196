"""Servers that start in this process and end at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handful.crowd.app import Server


def end_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every server announce where it is, and end."""
    monkeypatch.setattr(Server, "run_until_interrupted", _announce_and_end)


def _announce_and_end(server: Server, listening: object, announce: Callable[[], None]) -> None:
    announce()
    server.registry.close()
