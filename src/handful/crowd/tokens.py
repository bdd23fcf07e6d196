"""Secrets of a server, and what is made from them: cookies, tokens of questions, names of cards."""

from __future__ import annotations

import hmac
import os
import secrets
import tempfile
from base64 import b32encode, urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from handful.errors import StorageError

if TYPE_CHECKING:
    from hashlib import _Hash as Hash


SECRET = "secret"
SECRET_BYTES = 32
BLOCK = 64  # bytes that SHA-256 takes at once
RANDOM_BYTES = 18
SEAL_BYTES = 15
NUMBER_BYTES = 6
CARD_BYTES = 3


@dataclass(frozen=True)
class Secret:
    """The one secret of a database. Everything else is derived from it, each for its own purpose."""

    key: bytes

    def derive(self, purpose: str, *parts: str | bytes) -> bytes:
        """32 bytes for one purpose; parts are told apart by their lengths."""
        return _keyed(self.key, purpose.encode(), *(part.encode() if isinstance(part, str) else part for part in parts))

    def organizer_key(self, number: int = 1) -> str:
        """What the organizer types: 24 letters and digits, the same after a restart; `number`: once others are
        revoked.
        """
        more = () if number == 1 else (str(number),)
        return b32encode(self.derive("organizer", *more))[:24].decode().lower()


def _keyed(key: bytes, *parts: bytes) -> bytes:
    """HMAC-SHA-256 over parts that cannot run into each other.

    Not by `hmac.digest`: for every call that gives up Python's lock, and with many threads waits to have it back.
    """
    inner, outer = _halves(key)
    within, around = inner.copy(), outer.copy()
    within.update(b"".join([len(part).to_bytes(4) + part for part in parts]))
    around.update(within.digest())
    return around.digest()


@lru_cache(maxsize=4096)
def _halves(key: bytes) -> tuple[Hash, Hash]:
    """SHA-256 of the key as HMAC begins with it, for the inner and for the outer hash."""
    block = (sha256(key).digest() if len(key) > BLOCK else key).ljust(BLOCK, b"\0")
    return sha256(bytes(byte ^ 0x36 for byte in block)), sha256(bytes(byte ^ 0x5C for byte in block))


def secret_in(folder: Path) -> Secret:
    """The secret kept in this folder, made when there is none yet; only its owner may read it."""
    path = folder / SECRET
    try:
        kept = path.read_bytes()
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        _put_whole(path, secrets.token_bytes(SECRET_BYTES))
        kept = path.read_bytes()  # another process may have been first
    if len(kept) != SECRET_BYTES:
        raise StorageError(
            f"{path} has {len(kept)} bytes, expected {SECRET_BYTES}: with a damaged secret anybody could guess the "
            "organizer's key. Restore it from a backup, or delete it to make a new one, which logs everybody out"
        )
    path.chmod(0o600)
    return Secret(kept)


def _put_whole(path: Path, content: bytes) -> None:
    """Make the file with all of its content, or not at all; one that is there already is left alone."""
    file, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # readable by its owner only
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        Path(draft).unlink()


@dataclass(frozen=True)
class Worker:
    """Somebody who answers in one study: a name for the journal, and the key of the tokens that are theirs."""

    id: str
    key: bytes

    def token(self, question: str) -> str:
        """The question's number under a seal: looks random, cannot be made by others, is the same every time."""
        return self._sealed(b"seal", int(question[1:]).to_bytes(NUMBER_BYTES))

    def question(self, token: str) -> str | None:
        """The question that one of this worker's tokens means; None for any other text."""
        said = self._unsealed(b"seal", token, NUMBER_BYTES)
        return None if said is None else f"q{int.from_bytes(said)}"

    def card_name(self, number: int, question: str | None = None) -> str:
        """A card's number under a seal, another one in each question: nobody learns from another person, nor from how
        often they have seen it, which card this is. Without a question: as one that is chosen.
        """
        return self._sealed(b"card", _shown_in(question) + number.to_bytes(CARD_BYTES))

    def card_number(self, name: str, question: str | None = None) -> int | None:
        """The number of the card that this worker knows by this name, in this question if one is given; else None."""
        said = self._unsealed(b"card", name, NUMBER_BYTES + CARD_BYTES)
        if said is None or (question is not None and said[:NUMBER_BYTES] != _shown_in(question)):
            return None
        return int.from_bytes(said[NUMBER_BYTES:])

    def draw(self, purpose: str, number: int, below: int) -> int:
        """A number from 0 on, below a small one; the same every time for one purpose and number."""
        return int.from_bytes(_keyed(self.key, b"draw", purpose.encode(), number.to_bytes(NUMBER_BYTES))[:8]) % below

    def _sealed(self, purpose: bytes, said: bytes) -> str:
        seal = _keyed(self.key, purpose, said)[:SEAL_BYTES]
        return _text(seal + _hide(self.key, seal, said))

    def _unsealed(self, purpose: bytes, text: str, length: int) -> bytes | None:
        raw = _bytes(text, SEAL_BYTES + length)
        if raw is None:
            return None
        seal, hidden = raw[:SEAL_BYTES], raw[SEAL_BYTES:]
        said = _hide(self.key, seal, hidden)
        return said if hmac.compare_digest(_keyed(self.key, purpose, said)[:SEAL_BYTES], seal) else None

    def item_is_left(self, question: str) -> bool:
        """On which side this worker sees the question's item: a fair coin per worker and question."""
        return bool(_keyed(self.key, b"side", question.encode())[0] & 1)

    def places(self, question: str, options: int) -> list[int]:
        """In which order this worker sees a question's options: any order is as likely, per worker and question."""
        drawn = [_keyed(self.key, b"place", question.encode(), bytes([at])) for at in range(options)]
        return sorted(range(options), key=drawn.__getitem__)


def new_cookie(secret: Secret, study: str) -> str:
    """A cookie for one more worker of this study."""
    return cookie_from(secret, study, new_chance())


def panel_key(secret: Secret, study: str) -> bytes:
    """The key of the codes that people from a panel get, one each."""
    return secret.derive("panel codes", study)


def new_chance() -> bytes:
    """What a cookie is made from."""
    return secrets.token_bytes(RANDOM_BYTES)


def cookie_from(secret: Secret, study: str, chance: bytes, purpose: str = "cookie") -> str:
    """The cookie made from this: the same on every device of one person."""
    return _text(chance + secret.derive(purpose, study, chance)[:SEAL_BYTES])


def chance_of(secret: Secret, study: str, cookie: str | None, purpose: str = "cookie") -> bytes | None:
    """What a cookie of ours was made from; None if this study gave out no such cookie."""
    raw = _bytes(cookie or "", RANDOM_BYTES + SEAL_BYTES)
    if raw is None:
        return None
    chance, seal = raw[:RANDOM_BYTES], raw[RANDOM_BYTES:]
    return chance if hmac.compare_digest(secret.derive(purpose, study, chance)[:SEAL_BYTES], seal) else None


def tokens_key(secret: Secret, study: str, cookie: str | None) -> bytes | None:
    """The key of the tokens of whoever has this cookie; None if this study gave out no such cookie."""
    chance = chance_of(secret, study, cookie)
    return None if chance is None else secret.derive("tokens", study, chance)


def cookie_hash(secret: Secret, study: str, cookie: str) -> bytes:
    """What is kept of a cookie, to know it again: nobody can make the cookie from it."""
    return secret.derive("link", study, cookie)[:16]


def new_session(secret: Secret, key: str, until: float) -> str:
    """A cookie that names the key it was opened with, valid until then."""
    told = int(until).to_bytes(8) + secrets.token_bytes(10) + key.encode()
    return _text(told + secret.derive("session", told)[:SEAL_BYTES])


def key_in_session(secret: Secret, cookie: str | None, now: float) -> str | None:
    """The id of the key that a cookie was made with; None if it is none of ours, or no longer valid."""
    raw = _bytes(cookie or "")
    if raw is None or len(raw) <= 18 + SEAL_BYTES:
        return None
    told, seal = raw[:-SEAL_BYTES], raw[-SEAL_BYTES:]
    if not hmac.compare_digest(secret.derive("session", told)[:SEAL_BYTES], seal):
        return None
    return told[18:].decode() if now < int.from_bytes(told[:8]) else None


def _shown_in(question: str | None) -> bytes:
    return (0 if question is None else 1 + int(question[1:])).to_bytes(NUMBER_BYTES)


def _hide(key: bytes, seal: bytes, number: bytes) -> bytes:
    pad = int.from_bytes(_keyed(key, b"hide", seal)[: len(number)])
    return (int.from_bytes(number) ^ pad).to_bytes(len(number))


def _text(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode()


def _bytes(text: str, length: int | None = None) -> bytes | None:
    """The bytes behind a token, so many of them; None unless it is exactly what `_text` would have written."""
    try:
        raw = urlsafe_b64decode(text.encode("ascii"))
    except (NotBase64, ValueError):
        return None
    return raw if len(raw) == (length or len(raw)) and _text(raw) == text else None
