"""Codes that belong to one person each, for panels where somebody compares codes by hand."""

from __future__ import annotations

import hmac
from base64 import b32encode
from hashlib import sha256

CODE_LETTERS = 10


def personal_code(key: bytes, participant: str, session: str | None = None) -> str:
    """The code of one person: letters and digits that only who has the key can make."""
    parts = (b"code", participant.encode(), (session or "").encode())
    told = b"".join(len(part).to_bytes(4) + part for part in parts)
    return b32encode(hmac.digest(key, told, sha256)).decode()[:CODE_LETTERS]


def is_code_of(key: bytes, code: str, participant: str, session: str | None = None) -> bool:
    """Whether this is that person's code; spaces, hyphens and capitals do not matter."""
    typed = code.replace(" ", "").replace("-", "").upper().encode()
    return hmac.compare_digest(typed, personal_code(key, participant, session).encode())
