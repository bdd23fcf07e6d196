"""Where items come from: folders, archives, tables, pasted texts and uploads; and the originals, to be given back."""

from __future__ import annotations

import asyncio
import csv
import io
import os
import re
import shutil
import stat
import threading
import uuid
import zipfile
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal, TypeVar

from handful.crowd.collection import UNFINISHED, Item, LeftOut
from handful.crowd.decoding import heif_is_known
from handful.errors import InvalidCollection, StorageError
from handful.wording import counted

MAX_PICTURE_BYTES = 64_000_000
MAX_TEXT = 5_000
MAX_CAPTION = 300
MAX_ENTRIES = 20_000
MAX_ZIP_BYTES = 8_000_000_000
MAX_RATIO = 100
RATIO_COUNTS_FROM = 1_000_000
"""A text or a tiny drawing may shrink a lot in a zip; a picture of some size does not."""
PICTURES = {".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".heic", ".heif"}
HEIC = (b"ftypheic", b"ftypheix", b"ftypmif1", b"ftyphevc", b"ftypmsf1")
TEXTS = {".txt"}
ARCHIVES = {".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"}
ON_SVG = "is SVG, which can carry scripts, and is not taken: export it as PNG"
ON_HEIC = "is HEIC, which takes another package: install handful[heic], or export it as JPEG"
ON_ARCHIVE = "is an archive inside the collection and is not opened: unpack it first"
AMONG_PICTURES = "(a text among pictures; to mix them give a CSV)"
ON_OTHERS = "is not taken: JPEG, PNG, WebP, GIF and HEIC pictures are, and .txt texts"
COLUMNS = {
    "id": ("id", "name", "key"),
    "text": ("text", "abstract", "sentence"),
    "image": ("image", "picture", "photo", "path", "file", "filename"),
    "caption": ("caption", "title"),
    "alt": ("alt", "alt text", "alternative text", "description"),
}
UNNAMED = r"row \d+"
"""How items of a table are called that have no name of their own."""


@dataclass(frozen=True, slots=True)
class Raw:
    """What a source gives for one item: the bytes of a picture or a text's file, the text, and the file's name.

    Of a text longer than MAX_TEXT it gives a character more, so that it is known that it was cut.
    """

    name: str
    data: bytes = b""
    text: str = ""
    caption: str = ""
    alt: str = ""
    file: str = ""


@dataclass(frozen=True)
class Source:
    """What the things are called, which are not taken whatever is in them, and a way to go through all of them once.

    `passed_over` is said of the files that are hidden, which are not among the things.
    """

    names: tuple[str, ...]
    refused: dict[str, str]
    read: Callable[[], Iterator[Raw | LeftOut]]
    passed_over: Sequence[LeftOut] = ()

    @property
    def total(self) -> int:
        """How many there are, for the progress bar."""
        return len(self.names)


def open_source(path: Path) -> AbstractContextManager[Source]:
    """A folder, a .zip or a .csv; InvalidCollection when it is none of them."""
    if path.is_dir():
        return nullcontext(_folder(path))
    if not path.exists():
        raise InvalidCollection(f"there is no {path}: give a folder of pictures, a .zip or a .csv")
    ending = path.suffix.lower()
    if ending == ".zip":
        return _ZipSource(path)
    if ending in (".csv", ".tsv"):
        return nullcontext(_table(path))
    raise InvalidCollection(f"{path.name} is not a collection: give a folder of pictures, a .zip or a .csv")


def raw_of(name: str, data: bytes) -> Raw | LeftOut:
    """A file's bytes as an item, whatever it came from."""
    refusal = _why_not(name, data)
    if refusal:
        return LeftOut(safe_name(name), refusal)
    if PurePosixPath(name).suffix.lower() in PICTURES:
        return Raw(safe_name(name), data=data, file=name)
    text = clean_text(data.decode("utf-8-sig", "replace"), MAX_TEXT + 1)
    return Raw(safe_name(name), data, text, file=name) if text else LeftOut(safe_name(name), "is empty")


def safe_name(name: str) -> str:
    """A name that is safe to show and to store: printable, no way out of the collection, not endless."""
    text = name.encode("utf-8", "replace").decode("utf-8", "replace").replace("\\", "/")
    parts = [part for part in text.split("/") if part not in ("", ".", "..")]
    cleaned = "".join(c if c.isprintable() else "\ufffd" for c in "/".join(parts))
    return cleaned[-200:] or "unnamed"


def clean_text(text: str, most: int) -> str:
    """Text for people: no control characters but line breaks, no half surrogates, no blank ends, of bounded length."""
    whole = text.encode("utf-8", "replace").decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in whole if c == "\n" or c == "\t" or c.isprintable()).strip()[:most]


def _why_not(name: str, head: bytes) -> str | None:
    """Why a file is not taken, from its name and its first bytes; None if it may be."""
    ending = PurePosixPath(name).suffix.lower()
    start = head[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if ending in (".svg", ".svgz") or b"<svg" in head[:512].lower():
        return ON_SVG
    if (ending in (".heic", ".heif") or head[4:12] in HEIC) and not heif_is_known():
        return ON_HEIC
    if ending in ARCHIVES or start.startswith(b"pk\x03\x04"):
        return ON_ARCHIVE
    if ending not in PICTURES | TEXTS:
        return ON_OTHERS
    return None


def _refused(names: Sequence[str]) -> dict[str, str]:
    """The files that are not taken, whatever is in them, and why: a note among pictures is hardly one of them."""
    endings = {name: PurePosixPath(name).suffix.lower() for name in names}
    pictures = not PICTURES.isdisjoint(endings.values())
    refused = {}
    for name, ending in endings.items():
        why = AMONG_PICTURES if pictures and ending in TEXTS else _why_not(name, b"")
        if why is not None:
            refused[safe_name(name)] = why
    return refused


def _too_large(name: str) -> LeftOut:
    return LeftOut(safe_name(name), f"is larger than {MAX_PICTURE_BYTES // 1_000_000} MB")


# Folders


def _folder(folder: Path) -> Source:
    found = []
    for where, _, files in os.walk(folder):
        found += [str((Path(where) / file).relative_to(folder).as_posix()) for file in files]
    found.sort(key=_in_order)
    names = [name for name in found if not is_hidden(name)]
    refused = _refused(names)

    def read() -> Iterator[Raw | LeftOut]:
        for name in names:
            why = refused.get(safe_name(name))
            yield LeftOut(safe_name(name), why) if why else _from_file(folder, name)

    return Source(tuple(map(safe_name, names)), refused, read, passed_over(found))


def _in_order(name: str) -> list[tuple[int, int | str]]:
    """A key to sort names by, in which IMG_9 comes before IMG_10."""
    parts = [part for part in re.split(r"(\d+)", name) if part]
    # A number of very many digits is no number that anybody counts by, and Python refuses to read it.
    return [(0, int(part)) if part.isdecimal() and len(part) < 100 else (1, part.lower()) for part in parts]


def _from_file(folder: Path, name: str) -> Raw | LeftOut:
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            return LeftOut(safe_name(name), "is a link to something outside the folder")
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            return LeftOut(safe_name(name), "is not a file")
        refusal = _why_not(name, b"")
        if refusal:
            return LeftOut(safe_name(name), refusal)
        if about.st_size > MAX_PICTURE_BYTES:
            return _too_large(name)
        return raw_of(name, path.read_bytes())
    except (OSError, RuntimeError) as error:  # the latter for links that lead in a circle
        return LeftOut(safe_name(name), f"cannot be read: {getattr(error, 'strerror', None) or error}")


# Files that are not shown


HIDDEN = re.compile(r"(^|/)(\.(?!\.?/)|__MACOSX/|Thumbs\.db$|desktop\.ini$|[^/]+\.items/)", re.IGNORECASE)
MOST_NAMED = 1_000


def is_hidden(name: str) -> bool:
    """Whether a file of this name, with its folders, is passed over."""
    return HIDDEN.search(name) is not None


def passed_over(names: Iterable[str]) -> list[LeftOut]:
    """One line that names the first hidden files among these, a hidden folder instead of what is in it, and counts all.

    Without any there is no line. No more is remembered than is said: there may be any number of them.
    """
    named: dict[str, int] = {}
    more = 0
    for name in map(_outermost, (name for name in names if is_hidden(name) and not _is_ours(name))):
        if name in named or len(named) < MOST_NAMED:
            named[name] = named.get(name, 0) + 1
        else:
            more += 1
    if not named:
        return []
    files = sum(named.values()) + more
    said = ", ".join(f"{name} ({counted(n, 'file')})" if name.endswith("/") else name for name, n in named.items())
    kind, were = ("hidden or system file", "was") if files == 1 else ("hidden or system files", "were")
    rest = f" and {more:,} more" if more else ""
    return [LeftOut(f"{files:,} {kind}", f"{were} passed over: {said}{rest}", files)]


def _outermost(name: str) -> str:
    """The hidden file, or the outermost hidden folder with a slash after it; printable."""
    found = HIDDEN.search(name)
    assert found is not None
    end = name.find("/", found.start(2))
    whole = name if end < 0 else name[: end + 1]
    return "".join(c if c.isprintable() else "\ufffd" for c in whole[-200:])


def _is_ours(name: str) -> bool:
    """Whether it is what arrived so far of a file that is being sent."""
    return PurePosixPath(name).name.startswith(UNFINISHED)


# Archives


class _ZipSource(AbstractContextManager[Source]):
    """An archive, read entry by entry into memory and never unpacked: no name in it can lead anywhere.

    What an entry says of its size is not believed; the bytes are counted as they come.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Source:
        try:
            self.archive = zipfile.ZipFile(self.path)
        except (zipfile.BadZipFile, OSError) as error:
            raise InvalidCollection(f"{self.path.name} cannot be opened as a zip: {error}") from error
        infos = self.archive.infolist()
        entries = [entry for entry in infos if not entry.is_dir() and not is_hidden(entry.filename)]
        if len(entries) > MAX_ENTRIES:
            self.archive.close()
            raise InvalidCollection(f"{self.path.name} has {len(entries)} files, at most {MAX_ENTRIES} are taken")
        self.entries = sorted(entries, key=lambda entry: _in_order(entry.filename))
        self.refused = _refused([entry.filename for entry in self.entries])
        names = tuple(safe_name(entry.filename) for entry in self.entries)
        hidden = passed_over(entry.filename for entry in infos if not entry.is_dir())
        return Source(names, self.refused, self._read, hidden)

    def __exit__(self, *exception: object) -> None:
        self.archive.close()

    def _read(self) -> Iterator[Raw | LeftOut]:
        left = MAX_ZIP_BYTES
        for entry in self.entries:
            name = safe_name(entry.filename)
            if name in self.refused:
                yield LeftOut(name, self.refused[name])
                continue
            taken = self._bytes_of(entry, left)
            if isinstance(taken, LeftOut):
                yield taken
                continue
            left -= len(taken)
            yield raw_of(entry.filename, taken)

    def _bytes_of(self, entry: zipfile.ZipInfo, left: int) -> bytes | LeftOut:
        name = safe_name(entry.filename)
        if entry.flag_bits & 0x1:
            return LeftOut(name, "is encrypted")
        parts: list[bytes] = []
        size = 0
        try:
            with self.archive.open(entry) as stream:
                while part := stream.read(65_536):
                    parts.append(part)
                    size += len(part)
                    if size > left:
                        whole = f"{self.path.name} holds more than {MAX_ZIP_BYTES // 10**9} GB when unpacked"
                        raise InvalidCollection(f"{whole}: split it")
                    if size > MAX_PICTURE_BYTES:
                        return _too_large(name)
                    if size > RATIO_COUNTS_FROM and size > MAX_RATIO * max(1, entry.compress_size):
                        return LeftOut(name, f"unpacks to more than {MAX_RATIO} times its size, like a bomb")
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError):
            return LeftOut(name, "is damaged inside the zip")
        return b"".join(parts)


# Tables


def _table(path: Path) -> Source:
    rows = _rows(path)
    header = {name.strip().lower(): name for name in rows[0]} if rows else {}
    columns = {
        meaning: header[name] for meaning, names in COLUMNS.items() for name in reversed(names) if name in header
    }
    if rows and "text" not in columns and "image" not in columns:
        raise InvalidCollection(
            f"{path.name} has the columns {', '.join(map(repr, rows[0]))}; it needs `text`, or `image` "
            "(and if you like `caption`, `alt`, `id`)"
        )

    cells = [{meaning: row.get(column) or "" for meaning, column in columns.items()} for row in rows]

    def read() -> Iterator[Raw | LeftOut]:
        for number, row in enumerate(cells, start=2):
            yield _from_row(path, row, f"row {number}")

    names = tuple(_name_of(row, f"row {number}") for number, row in enumerate(cells, start=2))
    return Source(names, _missing(path, cells, names), read)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        first_line = text.split("\n", 1)[0]
        delimiter = max("\t;,", key=first_line.count)
        rows = [
            {str(key): value if isinstance(value, str) else "" for key, value in row.items() if key is not None}
            for row in csv.DictReader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
        ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidCollection(f"{path.name} cannot be read as a CSV in UTF-8: {error}") from error
    if not rows:
        raise InvalidCollection(f"{path.name} has no rows: give a header with `text` or `image`, and a row per item")
    if len(rows) > MAX_ENTRIES:
        raise InvalidCollection(f"{path.name} has {len(rows)} rows, at most {MAX_ENTRIES} are taken")
    return rows


def _missing(table: Path, rows: Sequence[dict[str, str]], names: Sequence[str]) -> dict[str, str]:
    """The rows whose image is not there. A name that several rows have is told of none: one of them may be there."""
    times, images = Counter(names), [row.get("image", "").strip() for row in rows]
    return {
        name: _not_there(image, f"row {number}")
        for number, (name, image) in enumerate(zip(names, images, strict=True), start=2)
        if image and times[name] == 1 and not _is_there(table.parent / image)
    }


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # such as a name that is too long: what is wrong with it is said when it is read
        return True


def _not_there(image: str, where: str) -> str:
    return f"names the image {safe_name(image)}, which is not beside the table ({where})"


def _name_of(cells: dict[str, str], where: str) -> str:
    return safe_name(cells.get("id", "").strip() or cells.get("image", "").strip() or where)


def _from_row(table: Path, cells: dict[str, str], where: str) -> Raw | LeftOut:
    caption = clean_text(cells.get("caption", ""), MAX_CAPTION).replace("\n", " ")
    alt = clean_text(cells.get("alt", ""), MAX_CAPTION).replace("\n", " ")
    image = cells.get("image", "").strip()
    name = _name_of(cells, where)
    if not image:
        text = clean_text(cells.get("text", ""), MAX_TEXT + 1)
        return Raw(name, text=text, caption=caption) if text else LeftOut(name, f"has neither text nor image ({where})")
    folder = table.parent.resolve()
    try:
        target = (folder / image).resolve()
    except (ValueError, OSError, RuntimeError):  # a NUL in it, or links that lead in a circle
        return LeftOut(name, f"names an image by what is no file's name ({where})")
    if not target.is_relative_to(folder):
        return LeftOut(name, f"names an image outside the CSV's folder ({where})")
    if not _is_there(target):
        return LeftOut(name, _not_there(image, where))
    taken = _from_file(folder, str(target.relative_to(folder)))
    if isinstance(taken, LeftOut):
        return LeftOut(name, taken.why)
    return Raw(name, taken.data, taken.text, caption, alt, taken.file)


# Texts that are pasted


FIRST = 2
"""The number of the first row under the header, as in a table without names."""


def parts_of(pasted: str) -> list[str]:
    """The texts in what was pasted: one for each paragraph, or for each line where no line is empty.

    Of each a character more is kept than people will see, so that whoever prepares the items can say that it was cut.
    """
    whole = clean_text(pasted, len(pasted))
    parts = (part.strip() for part in whole.split("\n\n" if "\n\n" in whole else "\n"))
    return [part[: MAX_TEXT + 1] for part in parts if part]


def with_more(rows: dict[str, str], texts: Sequence[str]) -> dict[str, str]:
    """The rows, followed by these texts under names of their own.

    If all of them are there already nothing is added: they may be sent twice, where the first reply was lost. If only
    some are, these have rows all the same, so that whoever prepares the items can say which are left out as the same.
    """
    if set(texts) <= set(rows.values()):
        return rows
    first = 1 + max((int(name.removeprefix("row ")) for name in rows), default=FIRST - 1)
    return rows | {f"row {number}": text for number, text in enumerate(texts, start=first)}


def table_of(rows: dict[str, str]) -> str:
    """The rows as a CSV. All cells are quoted, as a text may hold whatever parts them."""
    written = io.StringIO()
    table = csv.writer(written, quoting=csv.QUOTE_ALL)
    table.writerow(["id", "text"])
    table.writerows(rows.items())
    return written.getvalue()


def rows_of(table: str) -> dict[str, str]:
    """The rows of such a CSV; those of earlier versions have no names, and are called by their numbers."""
    rows = csv.DictReader(io.StringIO(table, newline=""))
    return {row.get("id") or f"row {number}": row["text"] for number, row in enumerate(rows, start=FIRST)}


# Uploads


MAX_UPLOAD_BYTES = 8_000_000_000
"""Of all files of one study together; a zip may be as large."""
SPARE_BYTES = 500_000_000
"""What an upload leaves free on the disk, for answers and everybody else."""
PASTED = "pasted texts.csv"
UNFINISHED_UPLOAD = ".unfinished-"
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
            if path.is_file() and not path.name.startswith(UNFINISHED_UPLOAD):
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
        if any(len(part.encode()) > 200 or part.startswith(UNFINISHED_UPLOAD) for part in parts):
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
        target, unfinished = self.folder / PASTED, self.folder / f"{UNFINISHED_UPLOAD}{uuid.uuid4().hex}"
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
        for path in self.folder.rglob(f"{UNFINISHED_UPLOAD}*") if self.folder.is_dir() else ():
            path.unlink(missing_ok=True)


class _Arriving:
    """A file that arrives, under a name that says so. Its calls block as long as the disk does."""

    def __init__(self, final: Path, most: int, too_much: str) -> None:
        """More than `most` bytes are refused, in the words `too_much`."""
        self.final, self.most, self.too_much = final, most, too_much
        self.unfinished = final.with_name(f"{UNFINISHED_UPLOAD}{uuid.uuid4().hex}")
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


def _check_space(folder: Path, size: int) -> None:
    if shutil.disk_usage(folder).free < SPARE_BYTES + size:
        raise StorageError("the server's disk is nearly full: free some space and send the rest again")


def _too_much(name: str, one_file: bool) -> str:
    if one_file:
        return f"{safe_name(name)} is larger than {MAX_PICTURE_BYTES // 1_000_000} MB, which one file may have"
    return f"the files of a study may have {MAX_UPLOAD_BYTES // 10**9} GB together, and {safe_name(name)} is too much"


# Originals: nobody is shown them, but the picks are given back so


ORIGINALS = "originals"
"""The folder in which a collection keeps the originals of items that come from an earlier study."""


def copy_original(item: Item, sources: Sequence[Path], target: Path, *, link: bool = False) -> bool:
    """Whether the file that an item was made from is still in one of the sources, and was copied.

    It is told by its bytes, where their digest was noted: two files may have had one name. `link`: where the disk
    allows it, both are then one file, which nobody must change.
    """
    return any(_copy(item, source, target, link) for source in sources)


def keep_originals(items: Iterable[Item], sources: Sequence[Path], folder: Path) -> None:
    """Keep the originals of these pictures in a collection's folder, under the names of the items."""
    for item in items:
        target = folder / ORIGINALS / item.id
        if item.picture and target.resolve().is_relative_to((folder / ORIGINALS).resolve()):
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_original(item, sources, target, link=True)


def _copy(item: Item, source: Path, target: Path, link: bool) -> bool:
    if source.suffix.lower() == ".zip" and source.is_file():
        return _unzip(item, source, target)
    beside = source if source.is_dir() else source.parent
    for name in _names(item) if source.suffix.lower() != ".db" else ():
        original = (beside / name).resolve()
        if not original.is_relative_to(beside.resolve()) or not original.is_file():
            continue
        if original.stat().st_size > MAX_PICTURE_BYTES or not _is_of(item, original.read_bytes()):
            continue
        if link:
            with suppress(OSError):  # another disk, or one that knows no links
                os.link(original, target)
                return True
        shutil.copy2(original, target)
        return True
    return False


def _unzip(item: Item, source: Path, target: Path) -> bool:
    with zipfile.ZipFile(source) as archive:
        names = set(_names(item))
        for entry in archive.infolist():
            if not names & {entry.filename, safe_name(entry.filename)} or entry.file_size > MAX_PICTURE_BYTES:
                continue
            with archive.open(entry) as stream:
                data = stream.read(MAX_PICTURE_BYTES)
            if _is_of(item, data):
                target.write_bytes(data)
                return True
    return False


def _names(item: Item) -> Iterator[str]:
    """What the file may be called: as it was given, or as it was kept for an item of an earlier study."""
    yield from dict.fromkeys(name for name in (item.file, item.id) if name)


def _is_of(item: Item, data: bytes) -> bool:
    return not item.uploaded or item.uploaded == sha256(data).hexdigest()
