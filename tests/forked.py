"""Processes that begin where importing ends: one Python imports what takes long, and forks for each that is wanted.

`forking` gives a command that does what `python -c` does. What it runs has a process of its own, with its own
arguments, environment, folder, input, output, signals and exit code; only what was named has been imported already.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

FORWARDED = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def forking(*imports: str, python: str | Path = sys.executable) -> Iterator[list[str]]:
    """The command, until the block ends; follow it with the code and its arguments."""
    import subprocess  # here, because what is run does not wait for it
    import tempfile

    with tempfile.TemporaryDirectory(prefix="forking-") as folder:
        at = f"{folder}/socket"
        listening, heard = os.pipe()
        command = [python, __file__, "fork", at, str(heard), *imports]
        begun = subprocess.Popen(command, pass_fds=[heard], stdin=subprocess.PIPE, cwd=Path(__file__).parents[1])
        os.close(heard)
        try:
            with os.fdopen(listening) as ready:
                assert ready.readline() == "ready\n", "what is to be imported cannot be"
            yield [sys.executable, "-S", "-E", __file__, "run", at]
        finally:
            begun.communicate()


@cache
def handful() -> list[str]:
    """The command `handful`, with all imported that a server needs, for as long as this process lasts."""
    lasting = ExitStack()
    atexit.register(lasting.close)
    command = lasting.enter_context(forking("tests.numba_ready", "handful.crowd.app", "typer.main"))
    return [*command, "from handful.cli import main; main()"]


def _run(at: str, code: str, arguments: list[str]) -> None:
    """Let the code run in a fork, with the files of this process, and end as it does."""
    with socket.socket(socket.AF_UNIX) as told:
        told.connect(at)
        socket.send_fds(told, [b"+"], [0, 1, 2])
        asked = {"code": code, "arguments": arguments, "cwd": str(Path.cwd()), "env": dict(os.environ)}
        told.sendall(json.dumps(asked).encode() + b"\n")
        heard = told.makefile()
        child = int(heard.readline())
        for number in FORWARDED:
            signal.signal(number, lambda number, _: os.kill(child, number))
        ended = int(heard.readline() or 1)
    if ended < 0:
        with suppress(OSError):  # SIGKILL is as it was
            signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    sys.exit(ended)


def _fork(at: str, ready: int, imports: list[str]) -> dict[str, Any]:
    """Fork for each that asks, until standard input ends; only the forks return, with what they were asked for."""
    sys.path[0] = ""  # as for `python -c`: the folder of this file has names of other packages
    for name in imports:
        import_module(name)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(at)
        listening.listen()
        os.write(ready, b"ready\n")
        os.close(ready)
        while True:
            if 0 in select.select([0, listening], [], [])[0]:
                os._exit(0)
            told, _ = listening.accept()
            if os.fork() == 0:
                break
            told.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    _, files, _, _ = socket.recv_fds(told, 1, 3)
    asked: dict[str, Any] = json.loads(told.makefile().readline())
    child = os.fork()
    if child:
        for number in (0, 1, 2, *files):
            os.close(number)
        _watch(told, child)
    told.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    return asked


def _watch(told: socket.socket, child: int) -> None:
    """Say how the child ends; it is killed when the process that asked for it is."""
    told.sendall(b"%d\n" % child)
    ended = os.pidfd_open(child)
    if ended not in select.select([told, ended], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        told.sendall(b"%d\n" % code)
    os._exit(0)


def _begun_as(asked: dict[str, Any]) -> dict[str, Any]:
    """Make this process the one that was asked for; gives the names of its main module."""
    for number in FORWARDED:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = ["-c", *asked["arguments"]]
    paths = [path for path in asked["env"].get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[1:1] = [path for path in paths if path not in sys.path]
    sys.modules["__main__"] = main = ModuleType("__main__")
    return vars(main)


if __name__ == "__main__":
    if sys.argv[1] == "run":
        _run(sys.argv[2], sys.argv[3], sys.argv[4:])
    asked = _fork(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
    exec(compile(asked["code"], "<string>", "exec"), _begun_as(asked))
