"""What runs in a worker process: it gets an oracle once, then questions, and sends back an answer for each.

Frames travel through its standard input and output: eight bytes of length, then so many bytes. What the oracle prints
goes to standard error.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import time
import traceback
from typing import IO

import cloudpickle

from handful.study.parcels import Parcel, travelling, unpacked

HEADER = struct.Struct("<Q")
COMMAND = "from handful.study.process_worker import main; main()"


def send(stream: IO[bytes], content: bytes) -> None:
    """Write one frame: its length, then its bytes."""
    stream.write(HEADER.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read the next frame; None if the other side is gone."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    content = stream.read(length)
    return content if len(content) == length else None


def main() -> None:
    """Answer until the other side is gone."""
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    content = receive(source)
    if content is None:
        return
    try:
        oracle, items = Parcel(content).opened()
    except BaseException as error:
        send(sink, cloudpickle.dumps((False, travelling(error), 0.0)))
        return
    send(sink, pickle.dumps((True, None, 0.0)))
    while (content := receive(source)) is not None:
        for question in unpacked(content, items):
            began = time.monotonic()
            try:
                reply = cloudpickle.dumps((True, oracle(question), time.monotonic() - began))
            except Exception as error:
                error.add_note("in a worker process:\n" + "".join(traceback.format_exception(error)))
                reply = cloudpickle.dumps((False, travelling(error), time.monotonic() - began))
            try:
                send(sink, reply)
            except BrokenPipeError:
                return
