"""Between which numbers each setting of a study lies: for the page, for the command line and for what is sent."""

from __future__ import annotations

from typing import NamedTuple


class SettingBounds(NamedTuple):
    """The least and the most that something may be; both may be had."""

    least: float
    most: float


BOUNDS = {
    "k": SettingBounds(1, 1_000),
    "options": SettingBounds(2, 9),
    "people": SettingBounds(1, 100_000),
    "goal": SettingBounds(0, 100_000),
    "budget": SettingBounds(1, 100_000_000),
    "per_hour": SettingBounds(1, 100_000),
    "epsilon": SettingBounds(0.000_001, 1),
    "delta": SettingBounds(0.000_001, 0.999_999),
    "sure": SettingBounds(0.5, 0.999),
    "in_flight": SettingBounds(1, 100_000),
    "lease": SettingBounds(1, 86_400),
    "seed": SettingBounds(0, 2**53),
    "retention_days": SettingBounds(0, 3_650),
}
"""By the names of the settings; `per_hour` is in cents, `lease` in seconds."""
