"""Every figure of the paper with one command: seeds × settings → tidy CSV → picture → report."""

from __future__ import annotations

from handful.lab.reproduce.reproducing import FIGURES, reproduce

__all__ = ["FIGURES", "reproduce"]
