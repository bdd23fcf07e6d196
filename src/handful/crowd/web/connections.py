"""Connections: how many there may be, from where, and for how long each may keep the server waiting.

uvicorn answers whoever connects, however many they are and however slowly they speak. Here each address has a share of
the connections; when it is used up, one from there that has only waited makes room for the next.
"""

from __future__ import annotations

import math
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, ClassVar

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from handful.crowd.settings import ServerLimits
from handful.crowd.web.addresses import Proxies, network_of

MOST_FILES = 65_536
FILES_KEPT_FREE = 200  # of all that may be open: for the database, pictures, logs
MOST_HEAD = 32_768  # bytes of a request before its body
GRACE_S = 2.0  # so long a connection may do nothing before it makes room for another
CROWDED = 4  # so many times its share an address may have for a moment, when all come at once
MOST_PIPELINED = 8  # requests sent before the first is answered; browsers send none
SLOWEST_BODY = 20_000  # bytes a second, beyond what the time for a body allows anyway


class Connections:
    """All open connections. For the event loop's thread alone."""

    def __init__(
        self,
        limits: ServerLimits,
        proxies: Proxies | None = None,
        clock: Callable[[], float] = time.monotonic,
        one_room: Callable[[], bool] = lambda: False,
    ) -> None:
        self.limits = limits
        self.most = min(limits.connections, _files_that_may_be_open() - FILES_KEPT_FREE)
        self.clock = clock
        self._proxies = proxies or Proxies()
        self._one_room = one_room
        # In the order in which they came.
        self._from: defaultdict[str, dict[LimitedProtocol, None]] = defaultdict(dict)
        self._number = 0

    def __len__(self) -> int:
        return self._number

    def enter(self, connection: LimitedProtocol) -> bool:
        """Count one more connection, and make room for it; False if there is none."""
        address = connection.address
        share = math.inf if connection.host in self._proxies else self.limits.connections_per_address
        here = self._from[address]
        full = len(here) >= share and not self._one_room()
        if full and not self._make_room(address, GRACE_S) and len(here) >= CROWDED * share:
            return False
        if self._number >= self.most and not self._make_room(self._busiest(), 0.0):
            return False
        self._from[address][connection] = None  # not `here`: that went with the last one in it
        self._number += 1
        return True

    def leave(self, connection: LimitedProtocol) -> None:
        """Count one less; a second time nothing happens."""
        here = self._from.get(connection.address, {})
        if connection in here:
            del here[connection]
            self._number -= 1
            if not here:
                del self._from[connection.address]

    def sweep(self) -> None:
        """End whatever has kept the server waiting for too long. Called once a second."""
        now = self.clock()
        late = [one for here in self._from.values() for one in here if one.is_late(now)]
        for connection in late:
            connection.end()

    def _make_room(self, address: str, seconds: float) -> bool:
        """End the oldest connection from there that has done nothing but wait for so long, if there is one."""
        before = self.clock() - seconds
        waiting = next((one for one in self._from[address] if one.only_waits and one.since <= before), None)
        if waiting is not None:
            waiting.end()
        return waiting is not None

    def _busiest(self) -> str:
        return max(self._from, key=lambda address: len(self._from[address]), default="")


def _files_that_may_be_open() -> int:
    """Every connection is a file to the system: allow as many as it lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


class LimitedProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, within limits: a head and a body come within seconds, and a reply is read."""

    room: ClassVar[Connections]
    host = address = ""
    come_by = math.inf  # when what is being received must be here
    read_by = math.inf  # when what is being sent must have been read
    since = 0.0  # when it began to wait, if it does
    _head = 0
    _receiving = False
    _refused = False

    @property
    def only_waits(self) -> bool:
        """Whether nobody is served by it now: it is idle, or its request has not come as a whole."""
        return self._receiving or self.cycle is None or self.cycle.response_complete

    def is_late(self, now: float) -> bool:
        """Whether it keeps the server waiting for too long; what a closing one still sends must be read in time too."""
        if self.read_by == math.inf and self.transport.is_closing():
            self.read_by = now + self.room.limits.read_s
        return min(self.come_by, self.read_by) <= now

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.host = self.client[0] if self.client else ""
        self.address = network_of(self.host)
        self.since = self.room.clock()
        self._wait(self.room.limits.head_s)
        if not self.room.enter(self):
            self._refused = True
            self.end()

    def connection_lost(self, exc: Exception | None) -> None:
        self.room.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused or self.parser is None:
            return
        if self._head == 0 and not self._receiving and (self.cycle is None or self.cycle.response_complete):
            self._wait(self.room.limits.head_s)
        self._head += len(data)
        super().data_received(data)
        # What belongs to a head that has come as a whole, or to a body, is no longer counted.
        if self._receiving:
            self._head = 0
        elif self._head > MOST_HEAD and not self.transport.is_closing():
            self._refused = True
            self.send_400_response("The head of the request is too long.")

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= MOST_PIPELINED:
            raise HttpParserError("too many requests before a reply")
        super().on_headers_complete()
        self._head, self._receiving = 0, True
        self._wait(self.room.limits.body_s)

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self.come_by += len(body) / SLOWEST_BODY  # an upload may take long, as long as it goes on

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._head, self._receiving = 0, False
        self._wait(math.inf)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.since = self.room.clock()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.read_by = self.room.clock() + self.room.limits.read_s

    def resume_writing(self) -> None:
        super().resume_writing()
        self.read_by = math.inf

    def end(self) -> None:
        """Close it, whatever is still to be sent or read."""
        self.room.leave(self)
        self.come_by = self.read_by = math.inf
        self.transport.abort()

    def _wait(self, seconds: float) -> None:
        self.come_by = math.inf if seconds == math.inf else self.room.clock() + seconds


def protocol_in(room: Connections) -> type[LimitedProtocol]:
    """The protocol for one server: uvicorn makes one object of it for each connection."""
    return type("ServerProtocol", (LimitedProtocol,), {"room": room})
