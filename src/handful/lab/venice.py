"""The drawn Venice collection as a demo: its pictures, and what a simulated person sees in them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from handful.core.objective import GrowingSet
from handful.lab.collections import ImageCollection, themes
from handful.objectives import Coverage


class VeniceCrowd:
    """How much more one picture adds to a theme's summary than another: what the people of the demo compare by.

    Studies are known by the names the app gives them, items by their file names.
    """

    def __init__(self, collection: ImageCollection, studies: dict[str, str]) -> None:
        by_theme = themes(collection)
        self._objectives: dict[str, Coverage] = {name: by_theme[theme] for name, theme in studies.items()}
        self._index = {image: i for i, image in enumerate(collection.ids)}
        self._given = lru_cache(maxsize=64)(self._start)

    def __call__(self, study: str, chosen: tuple[str, ...], left: str, right: str) -> float:
        progress = self._given(study, chosen)
        return progress.gain(self._at(left)) - progress.gain(self._at(right))

    def value(self, study: str, chosen: tuple[str, ...]) -> float:
        """f(chosen)."""
        return self._given(study, chosen).value

    def _start(self, study: str, chosen: tuple[str, ...]) -> GrowingSet:
        progress = self._objectives[study].start()
        for item in chosen:
            progress.add(self._at(item))
        return progress

    def _at(self, item: str) -> int:
        return self._index[Path(item).stem]
