"""Decisions in a journal that would be others today."""

from __future__ import annotations


class Mismatches:
    """Decisions in the journal that would be others today: how many, and the first of them."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, what: str) -> None:
        """Count one more decision that differs; the first of them are kept as text."""
        self.count += 1
        if len(self.first) < 20:
            self.first.append(what)
