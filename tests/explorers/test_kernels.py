"""Compiled code is kept between processes, is never stale, and works where nothing can be written.

Each test runs a package of its own: the real `kernels.py`, a helper in one file and a kernel that calls it in another.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

import handful.kernels
from tests.forked import forking

RUN = "from box.core.user import answer; print(answer(1), sum(answer.stats.cache_hits.values()))"
HEAR = """
import logging
import box.core.kernels

box.core.kernels.MOMENT = 0.0
from box.core.user import answer

print(answer(1), answer(1.5) and 0)
"""
FRESH = "import sys, numba.core.config; sys.dont_write_bytecode = True; numba.core.config.reload_config()\n"
SILENCE = 'import logging; logging.getLogger("handful.compiling").setLevel("ERROR")' + HEAR
USER = """
from box.core.helper import add
from box.core.kernels import kernel

@kernel
def answer(x):
    return add(x)
"""
PROTOCOL = """
from box.core.kernels import contains, kernel, overload

OWN = {}

def explores(state, own):
    OWN[state] = own
    contains(state, {"own": own})

def _own(state): ...

@overload(_own)
def _own_of(state):
    own = OWN[state.instance_class]
    return lambda state: own(state)

@kernel
def ask(state):
    return _own(state)
"""
STATE = """
from typing import NamedTuple

class {name}State(NamedTuple):
    x: int
"""
EXPLORER = """
from box.core.{name}_state import {state} as State
from box.core.kernels import kernel
from box.core.protocol import explores

@kernel
def own(state):
    return {number}

explores(State, own)
"""
EXPLORED = """
from box.core.protocol import ask
from box.core.{name} import State
print(ask(State(1)), sum(ask.stats.cache_hits.values()))
"""


class Box:
    """A package in a folder that a fresh Python imports."""

    def __init__(self, folder: Path, python: list[str]) -> None:
        self.folder, self.python = folder, python
        self.home = folder / "home"
        self.core = folder / "box" / "core"
        self.core.mkdir(parents=True)
        self.home.mkdir()
        (folder / "box" / "__init__.py").touch()
        (self.core / "__init__.py").touch()
        for source in Path(handful.kernels.__file__).parent.glob("kernel*.py"):
            code = source.read_text(encoding="utf-8").replace("from handful import", "from box.core import")
            code = code.replace("handful.kernel", "box.core.kernel")
            (self.core / source.name).write_text(code, encoding="utf-8")
        (self.core / "user.py").write_text(USER)
        self.helper_adds(1)

    def helper_adds(self, n: int) -> None:
        """Write the helper anew."""
        code = f"from box.core.kernels import kernel\n\n@kernel\ndef add(x):\n    return x + {n}\n"
        (self.core / "helper.py").write_text(code)

    def helper_stands_on(self, how: str) -> None:
        """Let what the helper adds stand in a third file, imported in this way."""
        (self.core / "deep.py").write_text("one = 1\n")
        one = "one" if how.endswith("one") else "deep.one"
        code = f"from box.core.kernels import kernel\n{how}\n\n@kernel\ndef add(x):\n    return x + {one}\n"
        (self.core / "helper.py").write_text(code)

    def has_explorers(self, *names: str) -> None:
        """Write a protocol that knows explorers by their state, and explorers that keep it in another file."""
        (self.core / "protocol.py").write_text(PROTOCOL)
        for number, name in enumerate(names, 1):
            (self.core / f"{name}_state.py").write_text(STATE.format(name=name.title()))
            self.has_explorer(name, number)

    def has_explorer(self, name: str, number: int) -> None:
        """Write the kernels of an explorer anew."""
        (self.core / f"{name}.py").write_text(EXPLORER.format(name=name, state=f"{name.title()}State", number=number))

    def run(self, code: str = RUN, **environment: str) -> tuple[int, int]:
        """answer(1) in a new process, and how often it was taken from the cache."""
        environment |= {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONPATH": str(self.folder)}
        command = [*self.python, FRESH + code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        self.said = done.stderr
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


@pytest.fixture(scope="module")
def python() -> Iterator[list[str]]:
    """Processes of their own, each with a Numba that was imported before."""
    with forking("tests.numba_ready") as command:
        yield command


@pytest.fixture
def box(tmp_path: Path, python: list[str]) -> Box:
    return Box(tmp_path, python)


def test_waiting_for_the_compiler_is_said_once_on_standard_error_and_only_then(box: Box) -> None:
    box.run(HEAR)
    assert box.said.count("compiling for this task") == box.said.count("\n") == 1
    assert "once on this machine" in box.said
    box.run(HEAR)
    assert box.said == ""
    box.helper_adds(10)
    box.run(HEAR)
    assert box.said.count("once on this machine") == 1


def test_what_takes_but_a_moment_is_not_said(box: Box) -> None:
    box.run(HEAR.replace("MOMENT = 0.0", "MOMENT = 60.0"))
    assert box.said == ""


def test_that_it_compiles_each_time_is_said_where_nothing_can_be_kept(box: Box) -> None:
    box.let_nobody_write_beside_the_source()
    box.let_nobody_write_at_home()
    for _ in range(2):
        box.run(HEAR)
        assert "in each process anew" in box.said


def test_the_logger_silences_it(box: Box) -> None:
    box.run(SILENCE)
    assert box.said == ""


@pytest.mark.parametrize("way", ["enable", "disable"])
def test_garbage_is_looked_for_afterwards_as_before_and_not_meanwhile(box: Box, way: str) -> None:
    code = f"""
import gc
import numba.core.event as event
import box.core.user
gc.{way}()
meanwhile = []
class Seen(event.Listener):
    def on_start(self, one): meanwhile.append(gc.isenabled())
    def on_end(self, one): pass
event.register("numba:run_pass", Seen())
box.core.user.answer(1)
print(2 if meanwhile and not any(meanwhile) else 0, int(gc.isenabled()))
"""
    assert box.run(code) == (2, int(way == "enable"))


def test_the_next_process_finds_the_machine_code(box: Box) -> None:
    assert box.run() == (2, 0)
    assert box.run() == (2, 1)


def test_a_change_in_another_file_of_the_core_renews_it(box: Box) -> None:
    assert box.run() == (2, 0)
    box.helper_adds(10)
    assert box.run() == (11, 0)


def test_so_does_a_change_in_a_file_that_is_imported_by_what_is_imported(box: Box) -> None:
    box.helper_stands_on("from box.core.deep import one")
    assert box.run() == (2, 0)
    (box.core / "deep.py").write_text("one = 10\n")
    assert box.run() == (11, 0)


@pytest.mark.parametrize(
    "how", ["from box.core import deep", "from . import deep", "from .deep import one", "import box.core.deep as deep"]
)
def test_it_does_not_matter_how_it_is_imported(box: Box, how: str) -> None:
    box.helper_stands_on(how)
    assert box.run() == (2, 0)
    (box.core / "deep.py").write_text("one = 10\n")
    assert box.run() == (11, 0)


def test_a_change_in_a_file_that_is_not_imported_leaves_it_as_it_is(box: Box) -> None:
    other = "from box.core.kernels import kernel\n\n@kernel\ndef other(x):\n    return x\n"
    (box.core / "other.py").write_text(other)
    assert box.run() == (2, 0)
    (box.core / "other.py").write_text(other + "# changed\n")
    assert box.run() == (2, 1)


def test_a_change_in_one_explorer_leaves_the_code_of_the_others_as_it_is(box: Box) -> None:
    box.has_explorers("one", "two")
    assert [box.run(EXPLORED.format(name=name)) for name in ("one", "two")] == [(1, 0), (2, 0)]
    box.has_explorer("two", 3)
    assert [box.run(EXPLORED.format(name=name)) for name in ("one", "two")] == [(1, 1), (3, 0)]


def test_code_that_was_kept_for_a_state_in_a_file_that_is_gone_is_compiled_anew(box: Box) -> None:
    box.has_explorers("one")
    assert box.run(EXPLORED.format(name="one")) == (1, 0)
    (box.core / "one_state.py").rename(box.core / "moved.py")
    explorer = (box.core / "one.py").read_text().replace("box.core.one_state", "box.core.moved")
    (box.core / "one.py").write_text(explorer)
    assert box.run(EXPLORED.format(name="one")) == (1, 0)
    assert box.run(EXPLORED.format(name="one")) == (1, 1)


def test_a_folder_may_be_named_for_it(box: Box, tmp_path: Path) -> None:
    assert box.run(NUMBA_CACHE_DIR=str(tmp_path / "kept")) == (2, 0)
    assert list((tmp_path / "kept").rglob("user.answer*.nbi"))
    assert box.run(NUMBA_CACHE_DIR=str(tmp_path / "kept")) == (2, 1)
    assert not list(box.core.rglob("*.nbi"))


@pytest.mark.parametrize(
    "missing",
    [
        "import numba.core.caching as c; del c.UserProvidedCacheLocator",
        "import numba.core.codegen as c; del c.JITCodeLibrary",
        "import numba.core.caching as c, numba.core.codegen as d; del c.UserProvidedCacheLocator, d.JITCodeLibrary",
    ],
)
def test_another_numba_compiles_and_keeps_as_it_does_itself(box: Box, missing: str) -> None:
    for hits in (0, 1):
        assert box.run(f"import numba; {missing}; {RUN}") == (2, hits)


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

    compiled: Any = handful.kernels.kernel(swap)
    pair = Pair(np.zeros(3), np.ones(3))
    compiled(pair)
    assert pair.one.tolist() == [1.0] * 3
    (code,) = compiled.inspect_llvm().values()
    assert "NRT_" not in code
    with pytest.raises(TypingError, match="returning of array"):
        handful.kernels.kernel(allocate)(3)
