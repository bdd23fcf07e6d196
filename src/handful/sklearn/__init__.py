"""Estimators for scikit-learn. Each is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from handful.errors import MissingExtra

if TYPE_CHECKING:
    from handful.sklearn.columns import SequentialSelector
    from handful.sklearn.rows import RowSelector

_HOMES = {"RowSelector": "handful.sklearn.rows", "SequentialSelector": "handful.sklearn.columns"}

__all__ = ["RowSelector", "SequentialSelector"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'handful.sklearn' has no attribute {name!r}")
    if find_spec("sklearn") is None:
        raise MissingExtra(f"handful.sklearn.{name}", "sklearn")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
