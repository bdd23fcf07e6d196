"""TopX, the paper's Algorithm 2: its settings, its sets of items, and a round of it."""

from handful.core.explorers.topx.settings import TopX

__all__ = ["TopX"]
