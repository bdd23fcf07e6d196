"""What somebody who takes part may ask about themselves, as types. `docs/http.md` describes each field."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from handful.crowd.sent import Sent


class Myself(BaseModel):
    """Somebody's own code, with which they can have themselves forgotten."""

    code: str


class ForgetMe(Sent):
    """Whose code it is, and whether their answers leave the open round too."""

    code: Annotated[str, Field(min_length=1, max_length=64)]
    withdraw: bool = False


class Forgotten(BaseModel):
    """What became of it: `done` is false where a panel's ids stay until the pay is settled."""

    done: bool
