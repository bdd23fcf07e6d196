"""The hall where the studies of one database sit, each in its booth, over one collection."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from handful.crowd.booth import Booth
from handful.crowd.buckets import Buckets
from handful.crowd.items import Collection
from handful.crowd.live import Streams
from handful.crowd.messages import Public
from handful.crowd.seals import Secret
from handful.crowd.settings import Settings


@dataclass
class Hall:
    """Everything the routes need."""

    booths: dict[str, Booth]
    collection: Collection
    secret: Secret
    settings: Settings
    storage: str | Path | None = None
    clock: Callable[[], float] = time.time
    streams: Streams = field(init=False)
    worker_rate: Buckets = field(init=False)
    joining_rate: Buckets = field(init=False)
    login_rate: Buckets = field(init=False)

    def __post_init__(self) -> None:
        limits = self.settings.limits
        self.streams = Streams(limits.streams, limits.streams_per_address)
        self.worker_rate = Buckets(limits.worker)
        self.joining_rate = Buckets(limits.joining)
        self.login_rate = Buckets(limits.login)
        self.pictures = {
            path.name
            for item in self.collection
            if item.picture
            for path in (self.collection.large(item), self.collection.thumbnail(item))
        }

    def start(self) -> None:
        """Within the event loop that serves."""
        for booth in self.booths.values():
            booth.live.start()

    def stop_streams(self) -> None:
        """So that nobody who merely listens keeps the server from stopping."""
        for booth in self.booths.values():
            booth.live.stop()

    def close(self) -> None:
        """Store what is queued and free the storage, of all studies whatever becomes of one."""
        with ExitStack() as closing:
            for booth in self.booths.values():
                closing.callback(booth.close)

    def public(self) -> list[Public]:
        """The list of studies."""
        return [Public(study=name, theme=booth.theme, state=booth.state) for name, booth in self.booths.items()]


OUR_OWN = frozenset({"login", "logout", "backup"})
"""What a study cannot be called in links: the organizer's pages use these words."""


def address_of(theme: str, taken: Iterable[str] = ()) -> str:
    """A theme as part of a link: "Cathedrals in Venice" is at cathedrals-in-venice."""
    plain = unicodedata.normalize("NFKD", theme).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "study"
    address, number = stem, 2
    while address in OUR_OWN or address in set(taken):
        address, number = f"{stem}-{number}", number + 1
    return address
