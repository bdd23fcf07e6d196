"""The end of a journal, kept outside the database: a database that lost its end is then not taken for whole.

One small file per study, rewritten after each commit and not flushed by itself. It is never ahead of what the database
has made durable, so a database that does not hold this record has lost something.

A backup brings the ends of its studies in files of another name. They are read only where there is no file of the
place itself: an older backup unpacked over a newer database is still seen to be older.
"""

from __future__ import annotations

import json
import logging
import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from handful.storage.chain import Tip

log = logging.getLogger("handful.storage")


def short_name(*parts: str | None) -> str:
    """A few letters and digits for a study, safe in a file's name."""
    return blake2b("\x00".join(map(str, parts)).encode(), digest_size=8).hexdigest()


class TipFile:
    """Where the tip of one study is kept. Used by one thread at a time."""

    def __init__(self, path: Path, study: str) -> None:
        self.path = path
        self.copied = path.with_suffix(".copied.tip")  # what came with a backup
        self._study = study
        self._file: int | None = None
        self._identity: str | None = None
        self._failed = False

    def read(self, identity: str | None = None) -> Tip | None:
        """The tip; None if there is none, if it cannot be read, or if it is of another database than `identity`."""
        for _ in range(3):  # it may be written at this moment
            try:
                line, _, about = self._content().partition(b"\n")
            except OSError:
                return None
            with suppress(ValueError):
                tip, of = _parsed(line), _database_in(about)
                if identity is None or of in (None, identity):
                    return tip
                self._tell_of_another()
                return None
        return None

    def belongs_to(self, identity: str) -> None:
        """Let the file belong to this database; a tip of another one is deleted."""
        self._identity = identity
        if _database_in(self._about()) != identity:
            self.forget()

    def write(self, tip: Tip) -> None:
        """Note the tip. That it fails is told once and is no reason to stop: an older tip proves less, but no lie."""
        try:
            first = self._file is None
            if self._file is None:
                self._file = self._created()
            # In place, with the same length: whatever happens, the old line or the new one is there.
            os.pwrite(self._file, _line(tip), 0)
            if first:
                self.copied.unlink(missing_ok=True)
        except OSError as error:
            if not self._failed:
                self._failed = True
                log.warning(
                    "the end of study %r cannot be noted in %s (%s): the study goes on, but if its database loses its "
                    "last answers, nobody will see it",
                    self._study,
                    self.path,
                    error.strerror,
                )

    def forget(self) -> None:
        """Delete the file, and what came with a backup."""
        self.close()
        self.path.unlink(missing_ok=True)
        self.copied.unlink(missing_ok=True)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _content(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return self.copied.read_bytes()

    def _about(self) -> bytes:
        try:
            return self.path.read_bytes().partition(b"\n")[2]
        except OSError:
            return b""

    def _tell_of_another(self) -> None:
        log.warning(
            "%s tells of study %r in another database that was at this place before; the one that is there now is new",
            self.path,
            self._study,
        )

    def _created(self) -> int:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if os.fstat(file).st_size == 0:
            # For people who wonder what this file is.
            about = {
                "study": self._study,
                "database": self._identity,
                "what": "the last record of the study, to notice if the database loses it",
            }
            os.pwrite(file, b"\n" + json.dumps(about).encode() + b"\n", len(_line(Tip(0, b""))) - 1)
        return file


def _database_in(about: bytes) -> str | None:
    """The identity of the database that a tip is of; None where it is not told."""
    try:
        told = json.loads(about or b"{}")
    except ValueError:
        return None
    found = told.get("database") if isinstance(told, dict) else None
    return found if isinstance(found, str) else None


def _line(tip: Tip) -> bytes:
    told = b"%020d %-32s" % (tip.seq, tip.hash.hex().encode())
    return b"%s %s\n" % (told, blake2b(told, digest_size=4).hexdigest().encode())


def _parsed(line: bytes) -> Tip:
    seq, hash_, check = line.split()
    tip = Tip(int(seq), bytes.fromhex(hash_.decode()))
    if _line(tip).split()[2] != check:
        raise ValueError("half written")
    return tip
