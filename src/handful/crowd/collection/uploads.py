"""Files that an organizer sends from the browser: kept whole or not at all, within limits, until they are processed."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

from handful.crowd.collection.items import Item
from handful.crowd.collection.pasted_texts import parts_of, rows_of, table_of, with_more
from handful.crowd.collection.sources import MAX_ENTRIES, MAX_PICTURE_BYTES, MAX_TEXT, safe_name
from handful.errors import InvalidCollection, StorageError

MAX_UPLOAD_BYTES = 8_000_000_000
"""Of all files of one study together; a zip may be as large."""
SPARE_BYTES = 500_000_000
"""What an upload leaves free on the disk, for answers and everybody else."""
PASTED = "pasted texts.csv"
UNFINISHED = ".unfinished-"
Adds = Literal["anything", "files", "texts", "nothing"]
"""What can be put in beside what is there: a zip or a table is a collection of its own."""
WHOLE = (".zip", ".csv", ".tsv")
T = TypeVar("T")

_threads = ThreadPoolExecutor(8, thread_name_prefix="handful-uploads")
"""Where files are written and get their names. A disk may take a minute for that, and a study that is opened makes its
files wait: neither the event loop nor anybody's answers wait behind them."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that arrived whole."""

    name: str
    size: int


class _Arriving:
    """A file that arrives, under a name that says so. Its calls block as long as the disk does."""

    def __init__(self, final: Path, most: int, too_much: str) -> None:
        """More than `most` bytes are refused, in the words `too_much`."""
        self.final, self.most, self.too_much = final, most, too_much
        self.unfinished = final.with_name(f"{UNFINISHED}{uuid.uuid4().hex}")
        self.size = 0
        self._file: BinaryIO | None = None

    def add(self, chunk: bytes) -> None:
        """Write what came."""
        self.size += len(chunk)
        if self.size > self.most:
            raise InvalidCollection(self.too_much)
        _check_space(self.final.parent, len(chunk))
        self._opened().write(chunk)

    def make_durable(self) -> None:
        """Write all of it to the disk."""
        with self._opened() as file:
            file.flush()
            os.fsync(file.fileno())

    def give_up(self) -> None:
        """Delete what came, unless it has its name already."""
        with suppress(OSError):
            if self._file is not None:
                self._file.close()
        with suppress(OSError):
            self.unfinished.unlink(missing_ok=True)

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._file = self.unfinished.open("xb")
        return self._file


async def _in_thread(function: Callable[..., T], *args: object) -> T:
    """Run it in a thread of the uploads. Whoever is cancelled leaves when it is over: nothing goes on behind them."""
    done = asyncio.get_running_loop().run_in_executor(_threads, partial(function, *args))
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        raise


class Uploads:
    """The files of one draft, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.RLock()
        """Held while files come or go."""
        self._sizes = {self._name(path): path.stat().st_size for path in self._files()}

    @property
    def files(self) -> list[Upload]:
        """All that arrived whole, by name."""
        return [Upload(name, size) for name, size in sorted(self._sizes.copy().items())]

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

    @property
    def adds(self) -> Adds:
        """What can be put in beside what is there, such that all of it is taken."""
        names = list(self._sizes)  # as they are now: others may come meanwhile
        if not names:
            return "anything"
        if names == [PASTED]:
            return "texts"
        return "nothing" if any(name.lower().endswith(WHOLE) for name in names) else "files"

    async def take(self, name: str, chunks: AsyncIterator[bytes], still: Callable[[], None]) -> Upload:
        """Store one file as it comes; a file of the same name is replaced once the new one is whole.

        `still` is called before that, and raises if the files may no longer change.
        """
        try:
            arriving = await _in_thread(self._expect, name)
            try:
                async for chunk in chunks:
                    await _in_thread(arriving.add, chunk)
                await _in_thread(self._keep, arriving, still)
            except BaseException:
                await _in_thread(arriving.give_up)
                raise
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"{safe_name(name)} cannot be stored: {error.strerror or error}") from error
        return Upload(self._name(arriving.final), arriving.size)

    def _expect(self, name: str) -> _Arriving:
        """A file that may come: it has a place, and there is a limit to its size."""
        final = self._place(name)
        if len(self._sizes) >= MAX_ENTRIES and self._name(final) not in self._sizes:
            raise InvalidCollection(f"a study takes at most {MAX_ENTRIES:,} files")
        sizes = self._sizes.copy()
        left = MAX_UPLOAD_BYTES - sum(sizes.values()) + sizes.get(self._name(final), 0)
        most = left if final.suffix.lower() == ".zip" else min(left, MAX_PICTURE_BYTES)
        return _Arriving(final, most, _too_much(name, most < left))

    def _keep(self, arriving: _Arriving, still: Callable[[], None]) -> None:
        """Give a file that arrived whole its name, once it is durable; what is refused now is deleted."""
        arriving.make_durable()
        with self.lock:
            self._check_goes_beside(arriving.final)  # again: texts may have been pasted meanwhile
            still()
            arriving.unfinished.rename(arriving.final)
            self._sizes[self._name(arriving.final)] = arriving.size

    def _place(self, name: str) -> Path:
        """Where a file of this name goes; its folders are made."""
        parts = safe_name(name).split("/")
        if any(len(part.encode()) > 200 or part.startswith(UNFINISHED) for part in parts):
            raise InvalidCollection(f"{safe_name(name)!r} is no name that can be stored: give the file a shorter one")
        final = self.folder.joinpath(*parts)
        self._check_goes_beside(final)
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._check_goes_beside(final)  # again: others may have come meanwhile
            raise StorageError(f"{safe_name(name)} cannot be stored: {error.strerror or error}") from error
        return final

    def _check_goes_beside(self, final: Path) -> None:
        """Refuse a file whose place is taken, or that would not be, as the study is made of texts that were pasted."""
        name = self._name(final)
        if final.is_dir():
            raise InvalidCollection(f"{name!r} is a folder already: give the file another name")
        above = next((path for path in final.parents if path.is_relative_to(self.folder) and path.is_file()), None)
        if above is not None:
            raise InvalidCollection(f"{self._name(above)!r} is a file already: give {name!r} another folder")
        if name == PASTED:
            raise InvalidCollection(f"pasted texts are kept under the name {name!r}: give the file another one")
        if PASTED in self._sizes:
            raise InvalidCollection("files cannot be added to pasted texts: start over to use them")

    def paste(self, texts: str, more: bool = True, still: Callable[[], None] = lambda: None) -> None:
        """Keep texts as a table, one for each paragraph, or for each line where no line is empty.

        They come after those that were pasted before; without `more` they replace them. `still` is called before they
        are stored, and raises if the files may no longer change.
        """
        parts = parts_of(texts)
        with self.lock:
            if self.adds not in ("anything", "texts"):
                raise InvalidCollection("texts cannot be added to files: start over to use them")
            before = self._texts()
            rows = with_more(before if more else {}, parts)
            if rows != before:
                self._keep_texts(rows, still)

    def _texts(self) -> dict[str, str]:
        """The texts that were pasted, by the names of their rows."""
        return rows_of((self.folder / PASTED).read_text(encoding="utf-8")) if PASTED in self._sizes else {}

    def _keep_texts(self, rows: dict[str, str], still: Callable[[], None] = lambda: None) -> None:
        if not rows:
            still()
            self.remove(PASTED)
            return
        if len(rows) > MAX_ENTRIES:
            raise InvalidCollection(f"a study takes at most {MAX_ENTRIES:,} texts, and these would make {len(rows):,}")
        written = table_of(rows).encode()
        if len(written) > MAX_PICTURE_BYTES:
            raise InvalidCollection(f"the texts of a study may have {MAX_PICTURE_BYTES // 1_000_000} MB together")
        target, unfinished = self.folder / PASTED, self.folder / f"{UNFINISHED}{uuid.uuid4().hex}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _check_space(self.folder, len(written))
            with unfinished.open("xb") as file:
                file.write(written)
                file.flush()
                os.fsync(file.fileno())
            still()
            unfinished.rename(target)
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"the texts cannot be stored: {error.strerror or error}") from error
        finally:
            unfinished.unlink(missing_ok=True)
        self._sizes[PASTED] = len(written)

    def take_out(self, item: Item, same: Iterable[str] = (), *, carried: bool = False) -> None:
        """Delete what an item was made from, and the files that are the same; what is in a zip or a table stays.

        `carried`: it was made from nothing here, but comes from an earlier study.
        """
        if self.adds == "texts":
            shown = {name: Item("", "text", text[:MAX_TEXT]) for name, text in self._texts().items()}
            rows = self._texts().items()
            self._keep_texts({name: text for name, text in rows if shown[name].content != item.content})
        elif self.adds == "files":
            for name in (*(() if carried else (item.file or item.id,)), *same):
                self.remove(name)

    def remove(self, name: str, still: Callable[[], None] = lambda: None) -> bool:
        """Whether there was a file of this name; it is gone now. `still` is called before."""
        with self.lock:
            if name not in self._sizes:
                return False
            still()
            (self.folder / name).unlink(missing_ok=True)
            del self._sizes[name]
            return True

    def forget_unfinished(self) -> None:
        """Delete what arrived only in part; nobody was told that it was taken."""
        for path in self.folder.rglob(f"{UNFINISHED}*") if self.folder.is_dir() else ():
            path.unlink(missing_ok=True)


def _check_space(folder: Path, size: int) -> None:
    if shutil.disk_usage(folder).free < SPARE_BYTES + size:
        raise StorageError("the server's disk is nearly full: free some space and send the rest again")


def _too_much(name: str, one_file: bool) -> str:
    if one_file:
        return f"{safe_name(name)} is larger than {MAX_PICTURE_BYTES // 1_000_000} MB, which one file may have"
    return f"the files of a study may have {MAX_UPLOAD_BYTES // 10**9} GB together, and {safe_name(name)} is too much"
