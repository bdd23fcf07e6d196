"""Studies that are being set up in the browser: their files, their settings, and how they become studies.

A draft is a folder beside the database: `uploads/` holds the files as they came, the processed collection lies beside
them, and `draft.json` has the settings. It stays where it is when the study is opened, and is then the study's own
collection. Before the study is created the file says under which name; so after a crash in between the study is either
there, with this collection and these words, or the draft is still a draft.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handful.crowd.collection.intake import ingest
from handful.crowd.collection.items import MANIFEST, Collection, has_collection, load_collection
from handful.crowd.collection.uploads import Uploads
from handful.crowd.setup_messages import DraftSettings, DraftState
from handful.errors import HandfulError, InvalidCollection, StorageError

DRAFT = "draft.json"
UPLOADS = "uploads"
ID_BYTES = 9
MOST_DRAFTS = 100


@dataclass
class Preparing:
    """How far the files have been processed."""

    done: int = 0
    total: int = 0
    fault: str | None = None


class Draft:
    """One study in the making. Its methods may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uploads = Uploads(folder / UPLOADS)
        self.lock = threading.RLock()
        self.preparing: Preparing | None = None
        self._processing = False
        self._collection: Collection | None = None
        self._read()

    def _read(self) -> None:
        try:
            told = json.loads((self.folder / DRAFT).read_text(encoding="utf-8"))
            self.settings = DraftSettings.model_validate(told["settings"])
            self.opened: str | None = told["opened"]
            self.made: float = told["made"]
        except (OSError, ValueError, KeyError) as error:
            raise StorageError(f"{self.folder / DRAFT} cannot be read: restore it, or delete it") from error

    @property
    def id(self) -> str:
        """What the draft is called in addresses."""
        return self.folder.name

    @property
    def state(self) -> DraftState:
        """Whether files are awaited, being processed, or ready."""
        if self.opened is not None:
            return "opened"
        if self._processing:
            return "preparing"
        return "ready" if has_collection(self.folder) else "collecting"

    @property
    def collection(self) -> Collection | None:
        """The processed items; None before that."""
        with self.lock:
            if self._collection is None and has_collection(self.folder):
                self._collection = load_collection(self.folder)
            return self._collection

    def change(self, settings: DraftSettings) -> None:
        """Keep other settings."""
        with self.lock:
            self._only_a_draft()
            self.settings = settings
            self.save()

    def save(self) -> None:
        """Write the draft's file, whole or not at all."""
        _put(self.folder, {"settings": self.settings.model_dump(), "opened": self.opened, "made": self.made})

    def files_change(self) -> None:
        """Called before files come or go: what was processed no longer holds."""
        with self.lock:
            self._only_a_draft()
            if self.state == "preparing":
                raise InvalidCollection("the files are being processed: wait until that is done")
            (self.folder / MANIFEST).unlink(missing_ok=True)
            self._collection, self.preparing = None, None

    def prepare(self, done: Callable[[], None] = lambda: None) -> None:
        """Process the files in the background; `done` is called after that, whatever came of it."""
        with self.lock:
            self._only_a_draft()
            if self.state != "collecting":
                return
            source = self.uploads.source()
            self.preparing = Preparing(total=len(self.uploads.files))
            work = threading.Thread(target=self._process, args=(source, done), name="handful-intake", daemon=True)
            self._processing = True
            work.start()

    def _process(self, source: Path, done: Callable[[], None]) -> None:
        preparing = self.preparing
        assert preparing is not None

        def progress(so_far: int, total: int) -> None:
            preparing.done, preparing.total = so_far, total

        try:
            ingest(source, self.folder, progress)
        except HandfulError as error:
            # Paths of this machine are no business of a page.
            preparing.fault = str(error).replace(f"{self.folder / UPLOADS}", "your files")
        except OSError as error:
            preparing.fault = f"the items cannot be stored: {error.strerror or error}"
        finally:
            self._processing = False
        done()

    def discard(self) -> None:
        """Delete the draft and everything in it. The file goes last, so that what is left half-way is found again."""
        with self.lock:
            self._only_a_draft()
            if self.state == "preparing":
                raise InvalidCollection("the files are being processed: wait until that is done")
            for path in self.folder.iterdir():
                if path.name != DRAFT:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            shutil.rmtree(self.folder)

    def _only_a_draft(self) -> None:
        if self.opened is not None:
            raise InvalidCollection("this study has been opened: it keeps the items and settings it began with")


class Drafts:
    """All drafts beside one database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._drafts: dict[str, Draft] = {}
        self._lock = threading.Lock()
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if (path / DRAFT).is_file():
                self._drafts[path.name] = Draft(path)

    def __iter__(self) -> Iterator[Draft]:
        return iter(sorted(self._drafts.values(), key=lambda draft: draft.made))

    def get(self, id_: str) -> Draft | None:
        """The draft of this name, which may have been opened since."""
        return self._drafts.get(id_)

    def of_study(self, name: str) -> Draft | None:
        """The draft from which a study was opened."""
        return next((draft for draft in self._drafts.values() if draft.opened == name), None)

    def new(self, settings: DraftSettings, now: float) -> Draft:
        """Begin an empty draft."""
        with self._lock:
            if sum(draft.opened is None for draft in self._drafts.values()) >= MOST_DRAFTS:
                raise InvalidCollection(f"there are {MOST_DRAFTS} drafts already: open or delete one of them first")
            folder = self.folder / secrets.token_hex(ID_BYTES)
            try:
                (folder / UPLOADS).mkdir(parents=True)
                _put(folder, {"settings": settings.model_dump(), "opened": None, "made": now})
            except OSError as error:
                raise StorageError(f"{self.folder} cannot be written: {error.strerror or error}") from error
            draft = self._drafts[folder.name] = Draft(folder)
            return draft

    def discard(self, draft: Draft) -> None:
        """Delete a draft."""
        draft.discard()
        self._drafts.pop(draft.id, None)

    def forget_unfinished(self) -> None:
        """At a start: delete what arrived only in part."""
        for draft in self._drafts.values():
            draft.uploads.forget_unfinished()

    def settle(self, stored: Callable[[str], bool]) -> None:
        """After a start: whatever was about to be opened and is not stored is a draft again."""
        for draft in self._drafts.values():
            if draft.opened is not None and not stored(draft.opened):
                draft.opened = None
                draft.save()


def set_up_in_browser(folder: Path) -> bool:
    """Whether a database's folder holds studies that were set up in the browser, or drafts of them."""
    return folder.is_dir() and any((path / DRAFT).is_file() for path in folder.iterdir())


def _put(folder: Path, told: dict[str, Any]) -> None:
    unfinished = folder / f"{DRAFT}.unfinished"
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            json.dump({"version": 1, **told}, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(folder / DRAFT)
    except OSError as error:
        raise StorageError(f"the draft cannot be stored: {error.strerror or error}") from error
