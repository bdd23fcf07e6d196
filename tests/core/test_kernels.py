"""Compiled code is kept between processes, is never stale, and works where nothing can be written.

Each test runs a package of its own: the real `kernels.py`, a helper in one file and a kernel that calls it in another.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

import handful.core.kernels

RUN = "from box.core.user import answer; print(answer(1), sum(answer.stats.cache_hits.values()))"
HEAR = """
import logging

heard, log = [], logging.getLogger("handful.compiling")
log.addHandler(type("", (logging.Handler,), {"emit": lambda self, record: heard.append(record)})())
log.setLevel(logging.INFO)
from box.core.user import answer

print(answer(1), answer(1.5) and len(heard))
"""
USER = """
from box.core.helper import add
from box.core.kernels import kernel

@kernel
def answer(x):
    return add(x)
"""


class Box:
    """A package in a folder that a fresh Python imports."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.core = folder / "box" / "core"
        self.core.mkdir(parents=True)
        self.home.mkdir()
        (folder / "box" / "__init__.py").touch()
        (self.core / "__init__.py").touch()
        shutil.copy(handful.core.kernels.__file__, self.core / "kernels.py")
        (self.core / "user.py").write_text(USER)
        self.helper_adds(1)

    def helper_adds(self, n: int) -> None:
        """Write the helper anew."""
        code = f"from box.core.kernels import small\n\n@small\ndef add(x):\n    return x + {n}\n"
        (self.core / "helper.py").write_text(code)

    def run(self, code: str = RUN) -> tuple[int, int]:
        """answer(1) in a new process, and how often it was taken from the cache."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": str(self.folder)}
        command = [sys.executable, "-B", "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        answer, hits = done.stdout.split()
        return int(answer), int(hits)

    def let_nobody_write_beside_the_source(self) -> None:
        """A file where the folder would be stops even the superuser."""
        shutil.rmtree(self.core / "__pycache__", ignore_errors=True)
        (self.core / "__pycache__").touch()

    def let_nobody_write_at_home(self) -> None:
        """As above."""
        shutil.rmtree(self.home)
        self.home.touch()


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_that_it_compiles_is_said_once_and_only_when_it_does(tmp_path: Path) -> None:
    box = Box(tmp_path)
    assert box.run(HEAR) == (2, 1)
    assert box.run(HEAR) == (2, 0)
    box.helper_adds(10)
    assert box.run(HEAR) == (11, 1)


def test_the_next_process_finds_the_machine_code(box: Box) -> None:
    assert box.run() == (2, 0)
    assert box.run() == (2, 1)


def test_a_change_in_another_file_of_the_core_renews_it(box: Box) -> None:
    assert box.run() == (2, 0)
    box.helper_adds(10)
    assert box.run() == (11, 0)


def test_numbas_own_cache_would_be_stale_then(box: Box) -> None:
    (box.core / "user.py").write_text(USER.replace("@kernel", "import numba\n@numba.njit(cache=True)"))
    assert box.run() == (2, 0)
    box.helper_adds(10)
    assert box.run() == (2, 1)


def test_where_the_package_cannot_be_written_to_the_users_cache_serves(box: Box) -> None:
    box.let_nobody_write_beside_the_source()
    assert box.run() == (2, 0)
    assert list(box.home.rglob("user.answer*.nbi"))
    assert box.run() == (2, 1)
    box.helper_adds(10)
    assert box.run() == (11, 0)


def test_where_nothing_can_be_written_kernels_compile_in_each_process(box: Box) -> None:
    box.let_nobody_write_beside_the_source()
    box.let_nobody_write_at_home()
    assert box.run() == (2, 0)
    assert box.run() == (2, 0)


class Pair(NamedTuple):
    """As the state of an explorer: arrays in a tuple."""

    one: np.ndarray
    other: np.ndarray


def test_kernels_count_no_references_and_refuse_to_allocate() -> None:
    def swap(pair):  # type: ignore[no-untyped-def]
        one, other = pair.one, pair.other
        for i in range(len(one)):
            one[i], other[i] = other[i], one[i]

    def allocate(size):  # type: ignore[no-untyped-def]
        return np.zeros(size).sum()

    compiled: Any = handful.core.kernels.small(swap)
    pair = Pair(np.zeros(3), np.ones(3))
    compiled(pair)
    assert pair.one.tolist() == [1.0] * 3
    (code,) = compiled.inspect_llvm().values()
    assert "NRT_" not in code
    with pytest.raises(TypingError, match="returning of array"):
        handful.core.kernels.small(allocate)(3)
