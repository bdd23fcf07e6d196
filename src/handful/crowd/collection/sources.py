"""Where items come from: a folder, a zip, or a CSV. Each gives one raw item after another, or why it does not."""

from __future__ import annotations

import csv
import os
import re
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from handful.crowd.collection.decoder_process import heif_is_known
from handful.crowd.collection.hidden_files import is_hidden, passed_over
from handful.crowd.collection.items import LeftOut
from handful.errors import InvalidCollection

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


def raw_of(name: str, data: bytes) -> Raw | LeftOut:
    """A file's bytes as an item, whatever it came from."""
    refusal = _why_not(name, data)
    if refusal:
        return LeftOut(safe_name(name), refusal)
    if PurePosixPath(name).suffix.lower() in PICTURES:
        return Raw(safe_name(name), data=data, file=name)
    text = clean_text(data.decode("utf-8-sig", "replace"), MAX_TEXT + 1)
    return Raw(safe_name(name), data, text, file=name) if text else LeftOut(safe_name(name), "is empty")


def _too_large(name: str) -> LeftOut:
    return LeftOut(safe_name(name), f"is larger than {MAX_PICTURE_BYTES // 1_000_000} MB")


def _in_order(name: str) -> list[tuple[int, int | str]]:
    """A key to sort names by, in which IMG_9 comes before IMG_10."""
    parts = [part for part in re.split(r"(\d+)", name) if part]
    # A number of very many digits is no number that anybody counts by, and Python refuses to read it.
    return [(0, int(part)) if part.isdecimal() and len(part) < 100 else (1, part.lower()) for part in parts]


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


COLUMNS = {
    "id": ("id", "name", "key"),
    "text": ("text", "abstract", "sentence"),
    "image": ("image", "picture", "photo", "path", "file", "filename"),
    "caption": ("caption", "title"),
    "alt": ("alt", "alt text", "alternative text", "description"),
}
UNNAMED = r"row \d+"
"""How items of a table are called that have no name of their own."""


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
