"""Postcards of Venice, drawn from an image's tags: pictures for a collection that has none."""

from __future__ import annotations

from handful.errors import MissingExtra

try:
    import PIL  # noqa: F401
except ImportError as error:
    raise MissingExtra("Drawing postcards", "lab") from error

from handful.lab.postcards.card import draw, write_folder
from handful.lab.postcards.sheet import postcard_sheet

__all__ = ["draw", "postcard_sheet", "write_folder"]
