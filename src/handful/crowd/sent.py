"""What comes from a client, whatever it is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Sent(BaseModel):
    """What comes from a client: nothing unknown is taken."""

    model_config = ConfigDict(extra="forbid", strict=True)
