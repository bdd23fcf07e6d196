"""The parent's side of the decoder: hand a picture over, take what comes back, and never wait for ever."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import IO

from handful.crowd.collection.decoder_process import LENGTH
from handful.errors import InvalidCollection

log = logging.getLogger("handful.crowd")

TIMEOUT_S = 30.0
PICTURES_PER_CHILD = 200
MAX_REPLY = 64_000_000


@dataclass(frozen=True, slots=True)
class Decoded:
    """A picture as it will be shown: WebP, at most 1600, 900 and 480 pixels wide or high.

    `medium` is empty where `large` is no larger than that.
    """

    width: int
    height: int
    large: bytes
    medium: bytes
    thumbnail: bytes


class Decoder:
    """One decoding child, started when needed and replaced when it has died, hung or grown old. For one thread."""

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self.timeout_s = timeout_s
        self._child: subprocess.Popen[bytes] | None = None
        self._served = 0

    def decode(self, data: bytes) -> Decoded:
        """The picture re-encoded; InvalidCollection says in a few words why it is not taken."""
        child = self._ready()
        out_of_time = threading.Event()

        def stop() -> None:
            out_of_time.set()
            child.kill()

        alarm = threading.Timer(self.timeout_s, stop)
        alarm.start()
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            if self._served == 1:
                _say_once(_greeting(child.stdout))
            child.stdin.write(len(data).to_bytes(LENGTH) + data)
            child.stdin.flush()
            said, large, medium, thumbnail = (_read(child.stdout) for _ in range(4))
        except (OSError, EOFError):
            self.close()
            why = f"took more than {self.timeout_s:g} seconds" if out_of_time.is_set() else "broke the decoder"
            raise InvalidCollection(f"{why} and was left out") from None
        finally:
            alarm.cancel()
        reply = json.loads(said)
        if "refused" in reply:
            raise InvalidCollection(str(reply["refused"]))
        return Decoded(int(reply["width"]), int(reply["height"]), large, medium, thumbnail)

    def close(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # what was still to be written is for nobody
                    pipe.close()
        child.wait()

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._child is not None and (self._served >= PICTURES_PER_CHILD or self._child.poll() is not None):
            self.close()
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-m", "handful.crowd.collection.decoder_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                close_fds=True,
            )
            self._served = 0
        self._served += 1
        return self._child


@cache
def open_to_the_decoder() -> tuple[str, ...]:
    """What the decoding process could do on this system besides decoding, of "files", "sockets" and "processes".

    It is tried out in such a process, once. Empty where the sandbox is complete.
    """
    decoder = Decoder()
    try:
        child = decoder._ready()
        assert child.stdout is not None
        return _greeting(child.stdout)
    finally:
        decoder.close()


def _greeting(stream: IO[bytes]) -> tuple[str, ...]:
    """What a new child says first: what it could still do."""
    return tuple(str(what) for what in json.loads(_read(stream)))


@cache
def _say_once(possible: tuple[str, ...]) -> None:
    if possible:
        log.warning("the process that decodes pictures could still reach %s on this system", " and ".join(possible))
    else:
        log.info("the process that decodes pictures can reach no files, sockets or processes")


def _read(stream: IO[bytes]) -> bytes:
    """One part of a reply, not trusted to be as long as it says."""
    head = stream.read(LENGTH)
    length = int.from_bytes(head)
    if len(head) < LENGTH or length > MAX_REPLY:
        raise EOFError
    part = stream.read(length)
    if len(part) < length:
        raise EOFError
    return part
