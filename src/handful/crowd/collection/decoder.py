"""The parent's side of the decoder: hand a picture over, take what comes back, and never wait for ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from PIL import Image

from handful.crowd.collection.decoder_process import LENGTH, REENCODE, Fit
from handful.errors import InvalidCollection

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
        (width, height), large, medium, thumbnail = self._ordered(REENCODE, data, 3)
        return Decoded(width, height, large, medium, thumbnail)

    def pixels(self, data: bytes, size: tuple[int, int], fit: Fit) -> Image.Image:
        """The picture in this size, by `decoder_process.pixels`; InvalidCollection says why it cannot be had."""
        shape, plain = self._ordered({"what": "pixels", "size": size, "fit": fit}, data, 1)
        return Image.frombytes("RGB", shape, plain)

    def _ordered(self, order: dict[str, object], data: bytes, number: int) -> tuple[Any, ...]:
        """The size that the child says, and so many parts that it made: taken for no more than they are."""
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
            for part in (json.dumps(order).encode(), data):
                child.stdin.write(len(part).to_bytes(LENGTH) + part)
            child.stdin.flush()
            said = json.loads(_read(child.stdout))
            parts = [] if "refused" in said else [_read(child.stdout) for _ in range(number)]
            size = () if "refused" in said else (int(said["width"]), int(said["height"]))
        except (OSError, EOFError, ValueError, TypeError, KeyError):
            self.close()
            why = f"took more than {self.timeout_s:g} seconds" if out_of_time.is_set() else "broke the decoder"
            raise InvalidCollection(f"{why} and was left out") from None
        finally:
            alarm.cancel()
        if "refused" in said:
            raise InvalidCollection(str(said["refused"]))
        return size, *parts

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
                [sys.executable, "-P", "-m", "handful.crowd.collection.decoder_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            self._served = 0
        self._served += 1
        return self._child


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
