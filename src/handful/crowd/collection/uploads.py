"""Files that an organizer sends from the browser: kept whole or not at all, within limits, until they are processed."""

from __future__ import annotations

import csv
import io
import os
import shutil
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from handful.crowd.collection.sources import MAX_ENTRIES, MAX_PICTURE_BYTES, MAX_TEXT, clean_text, safe_name
from handful.errors import InvalidCollection, StorageError

MAX_UPLOAD_BYTES = 8_000_000_000
"""Of all files of one study together; a zip may be as large."""
SPARE_BYTES = 500_000_000
"""What an upload leaves free on the disk, for answers and everybody else."""
PASTED = "pasted texts.csv"
UNFINISHED = ".unfinished-"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that arrived whole."""

    name: str
    size: int


class Uploads:
    """The files of one draft, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sizes = {self._name(path): path.stat().st_size for path in self._files()}

    @property
    def files(self) -> list[Upload]:
        """All that arrived whole, by name."""
        return [Upload(name, size) for name, size in sorted(self._sizes.items())]

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self.folder).as_posix())

    def _files(self) -> Iterator[Path]:
        if not self.folder.is_dir():
            return
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and not path.name.startswith(UNFINISHED):
                yield path

    def source(self) -> Path:
        """What to process: a single table or archive, or else the folder with all files."""
        files = list(self._files())
        tables = [path for path in files if path.suffix.lower() in (".csv", ".tsv")]
        if len(tables) > 1:
            names = ", ".join(path.name for path in tables[:3])
            raise InvalidCollection(f"there are {len(tables)} tables ({names}): keep the one that names the items")
        if tables:
            return tables[0]
        return files[0] if len(files) == 1 and files[0].suffix.lower() == ".zip" else self.folder

    async def take(self, name: str, chunks: AsyncIterator[bytes], still: Callable[[], None]) -> Upload:
        """Store one file as it comes; a file of the same name is replaced once the new one is whole.

        `still` is called before that, and raises if the files may no longer change.
        """
        final = self._place(name)
        if len(self._sizes) >= MAX_ENTRIES and self._name(final) not in self._sizes:
            raise InvalidCollection(f"a study takes at most {MAX_ENTRIES:,} files")
        left = MAX_UPLOAD_BYTES - sum(self._sizes.values()) + self._sizes.get(self._name(final), 0)
        most = left if final.suffix.lower() == ".zip" else min(left, MAX_PICTURE_BYTES)
        unfinished = final.with_name(f"{UNFINISHED}{uuid.uuid4().hex}")
        size = 0
        try:
            with unfinished.open("xb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > most:
                        raise InvalidCollection(_too_much(name, most < left))
                    if shutil.disk_usage(self.folder).free < SPARE_BYTES + len(chunk):
                        raise StorageError("the server's disk is nearly full: free some space and send the rest again")
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            still()
            unfinished.rename(final)
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"{safe_name(name)} cannot be stored: {error.strerror or error}") from error
        finally:
            unfinished.unlink(missing_ok=True)
        self._sizes[self._name(final)] = size
        return Upload(self._name(final), size)

    def _place(self, name: str) -> Path:
        """Where a file of this name goes; its folders are made."""
        parts = safe_name(name).split("/")
        if any(len(part.encode()) > 200 or part.startswith(UNFINISHED) for part in parts):
            raise InvalidCollection(f"{safe_name(name)!r} is no name that can be stored: give the file a shorter one")
        final = self.folder.joinpath(*parts)
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{safe_name(name)} cannot be stored: {error.strerror or error}") from error
        return final

    def paste(self, texts: str) -> int:
        """Keep texts as a table, one for each paragraph, or for each line where no line is empty; say how many."""
        whole = clean_text(texts, MAX_TEXT * MAX_ENTRIES)
        parts = [part.strip() for part in whole.split("\n\n" if "\n\n" in whole else "\n")]
        rows = [part[:MAX_TEXT] for part in parts if part]
        target = self.folder / PASTED
        if not rows:
            self.remove(PASTED)
            return 0
        written = io.StringIO()
        table = csv.writer(written)
        table.writerow(["text"])
        table.writerows([row] for row in rows)
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = self.folder / f"{UNFINISHED}{uuid.uuid4().hex}"
        try:
            unfinished.write_text(written.getvalue(), encoding="utf-8", newline="")
            unfinished.rename(target)
        except OSError as error:
            raise StorageError(f"the texts cannot be stored: {error.strerror or error}") from error
        self._sizes[PASTED] = target.stat().st_size
        return len(rows)

    def remove(self, name: str) -> bool:
        """Whether there was a file of this name; it is gone now."""
        if self._sizes.pop(name, None) is None:
            return False
        (self.folder / name).unlink(missing_ok=True)
        return True

    def forget_unfinished(self) -> None:
        """Delete what arrived only in part; nobody was told that it was taken."""
        for path in self.folder.rglob(f"{UNFINISHED}*") if self.folder.is_dir() else ():
            path.unlink(missing_ok=True)


def _too_much(name: str, one_file: bool) -> str:
    if one_file:
        return f"{safe_name(name)} is larger than {MAX_PICTURE_BYTES // 1_000_000} MB, which one file may have"
    return f"the files of a study may have {MAX_UPLOAD_BYTES // 10**9} GB together, and {safe_name(name)} is too much"
