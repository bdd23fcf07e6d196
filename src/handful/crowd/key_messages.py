"""Keys and links to a result, as the organizer's page asks for them. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from handful.crowd.sent import Sent


class SharedLink(BaseModel):
    """A link to the result. `link` is told only when it is made."""

    id: str
    made: float
    link: str | None = None


class NewKey(Sent):
    """Which role a new key has, and whether it opens all studies or this one."""

    role: Literal["own", "watch", "result"]
    all_studies: bool = False


class KeyLine(BaseModel):
    """A key as it is listed. `link` is told only when it is made; `here` is the one this session was opened with."""

    id: str
    role: Literal["own", "watch", "result"]
    all_studies: bool
    made: float
    here: bool = False
    link: str | None = None
