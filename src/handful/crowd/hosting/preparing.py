"""The files of a study that is being set up become its items: how far that is, and why it failed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from handful.crowd.collection import Collection
from handful.crowd.intake import ingest
from handful.errors import HandfulError

UPLOADS = "uploads"


@dataclass
class Preparing:
    """How far the files have been processed."""

    done: int = 0
    total: int = 0
    fault: str | None = None

    def process(self, source: Path | None, folder: Path, carried: Collection) -> bool:
        """Whether these items, and those made from `source` if there is any, are in the folder; else `fault` is why."""
        try:
            if source is None:
                carried.save()
            else:
                ingest(source, folder, self._progress, carried=carried.items)
        except HandfulError as error:
            # Paths of this machine are no business of a page.
            self.fault = str(error).replace(f"{folder / UPLOADS}", "your files").replace(f" in {folder}", "")
        except OSError as error:
            self.fault = f"the items cannot be stored: {error.strerror or error}"
        return self.fault is None

    def _progress(self, so_far: int, total: int) -> None:
        self.done, self.total = so_far, total
