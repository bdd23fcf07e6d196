"""A process that decodes pictures of strangers can reach nothing else."""

from __future__ import annotations

import logging
import platform
import struct
import subprocess
import sys

import pytest

from handful.crowd.collection import sandbox
from handful.crowd.collection.decoder import Decoder, open_to_the_decoder
from tests.crowd.pictures import drawn, encoded

COMPLETE = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
needs_linux = pytest.mark.skipif(not COMPLETE, reason="this system has no seccomp filter of ours")


def printed(script: str) -> list[str]:
    """What a process of its own prints."""
    start = "from handful.crowd.collection import sandbox\nfrom handful.crowd.collection.sandbox import *\n"
    done = subprocess.run([sys.executable, "-c", start + script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_before_it_is_locked_a_process_can_open_files_sockets_and_processes() -> None:
    assert printed("print(*still_possible())") == ["files sockets processes"]


@needs_linux
def test_locked_in_it_can_do_none_of_that() -> None:
    assert printed("lock_this_process()\nprint(still_possible())") == ["()"]


def test_the_limits_alone_leave_little_memory_and_no_byte_to_be_written_to_a_file() -> None:
    script = """
import signal, tempfile
file = tempfile.TemporaryFile()
sandbox._limit()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    bytearray(3_000_000_000)
except MemoryError:
    print("little memory")
try:
    file.write(b"x" * 100_000)
except OSError:
    print("no files")
"""
    assert printed(script)[:2] == ["little memory", "no files"]


@needs_linux
@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/hostname')",
        "open('/tmp/x', 'w')",
        "os.listdir('/')",
        "os.execv('/bin/true', ['true'])",
        "os.kill(os.getppid(), 0)",
        "os.symlink('/etc', '/tmp/y')",
        "os.memfd_create('z')",
        "socket.socket(socket.AF_UNIX)",
        "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
        "os.nice(1)",
    ],
)
def test_what_decoding_does_not_need_fails(attempt: str) -> None:
    script = f"""
import mmap, os, socket
lock_this_process()
try:
    {attempt}
except OSError as error:
    print(error.errno)
"""
    assert printed(script) == ["1"]


@needs_linux
def test_threads_can_still_be_started() -> None:
    script = (
        "import threading\nlock_this_process()\nt = threading.Thread(target=print, args=('here',))\nt.start()\nt.join()"
    )
    assert printed(script) == ["here"]


@needs_linux
def test_the_decoder_says_what_it_can_reach_and_decodes_every_format(caplog: pytest.LogCaptureFixture) -> None:
    open_to_the_decoder.cache_clear()
    assert open_to_the_decoder() == ()
    from handful.crowd.collection import decoder as module

    module._say_once.cache_clear()
    decoder = Decoder()
    with caplog.at_level(logging.INFO, "handful.crowd"):
        try:
            sizes = [decoder.decode(encoded(drawn(1), kind)).width for kind in ("JPEG", "PNG", "WEBP", "GIF")]
        finally:
            decoder.close()
    assert sizes == [320] * 4
    assert [r.message for r in caplog.records] == [
        "the process that decodes pictures can reach no files, sockets or processes"
    ]


def verdict(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would make of a system call: the program, run by hand."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at, loaded = 0, 0
    while True:
        code, if_so, if_not, value = steps[at]
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        else:
            holds = loaded == value if code == 0x15 else bool(loaded & value)
            at += if_so if holds else if_not


@pytest.mark.parametrize(
    ("machine", "read", "openat", "mmap", "clone"), [("x86_64", 0, 257, 9, 56), ("aarch64", 63, 56, 222, 220)]
)
def test_the_filter_of_each_machine_knows_its_own_numbers(
    machine: str, read: int, openat: int, mmap: int, clone: int
) -> None:
    column, architecture = sandbox._ARCHITECTURES[machine]
    program = sandbox._filter(column, architecture)
    allow, fail, kill = 0x7FFF0000, 0x00050001, 0x80000000
    assert verdict(program, architecture, read) == allow
    assert verdict(program, architecture, openat) == fail
    assert verdict(program, architecture, mmap, 0, 4096, 3) == allow
    assert verdict(program, architecture, mmap, 0, 4096, 5) == fail
    assert verdict(program, architecture, clone, 0x10000 | 0x100) == allow
    assert verdict(program, architecture, clone, 17) == fail
    assert verdict(program, architecture, 435) == 0x00050000 | 38
    assert verdict(program, architecture ^ 1, read) == kill
    assert verdict(program, architecture, 0x40000000 | read) == fail
