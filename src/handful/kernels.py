"""Compiling the hot parts, once per machine.

Kernels allocate nothing: they work on arrays they are given. So they need not count references to these either, which
would take most of their time (`_nrt` is Numba's name for that).

`@kernel` is Numba's `njit` with machine code kept on disk (`kernel_cache.py`), put together from parts
(`kernel_linking.py`). Where a version of Numba does not have the classes that these two stand on, kernels are
compiled as Numba does it, and kept in Numba's own cache: then it takes longer, and after an edit the cache has to be
deleted.

That a process waits for compiling for longer than a moment is said once, as a warning of the logger COMPILING. Where
logging is not set up, Python prints that on standard error. `logging.getLogger("handful.compiling").setLevel("ERROR")`
silences it. Python does not look for garbage meanwhile: Numba makes millions of objects that are all still in use, and
going through them again and again took a seventh of the time.
"""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba import extending
from numba.core import event, options

from handful import kernel_linking

kernel_cache: Any
try:
    kernel_cache = import_module("handful.kernel_cache")
except (ImportError, AttributeError):  # this Numba has other classes
    kernel_cache = None

P = ParamSpec("P")
T = TypeVar("T")

_TOP = __name__.partition(".")[0]
INTERRUPTED = "interrupted while compiling: the next run compiles what is missing, and nothing else is lost"
COMPILING = "handful.compiling"
MOMENT = 1.0  # seconds that nobody needs to be told about
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "forceinline": True}
if hasattr(options.DefaultOptions, "_nrt"):  # else it works all the same, if slower
    OPTIONS["_nrt"] = False


def kernel(function: Callable[P, T]) -> Callable[P, T]:
    """Compile `function` into whatever compiled code calls it, and for Python; keep the latter for the next process."""
    return _compiled(function, OPTIONS)


def rare(function: Callable[P, T]) -> Callable[P, T]:
    """Compile `function` beside what calls it instead; for what is long and runs seldom, as it compiles faster so."""
    return _compiled(function, OPTIONS | {"forceinline": False})


def _compiled(function: Callable[P, T], how: dict[str, Any]) -> Callable[P, T]:
    dispatcher: Any
    if kernel_linking.AVAILABLE:
        dispatcher = kernel_linking.whole_and_part(function, how)
    else:
        dispatcher = numba.njit(**how)(function)
    if kernel_cache is not None:
        dispatcher._cache = kernel_cache.KernelCache(function)
    else:
        with suppress(RuntimeError):  # no folder can be written
            dispatcher.enable_caching()
    dispatcher.compile = _interrupted_shortly(dispatcher.compile)
    return cast(Callable[P, T], dispatcher)


def _interrupted_shortly(compile_: Callable[..., T]) -> Callable[..., T]:
    """Ctrl-C while it compiles says so, without the hundred lines of where in Numba that was."""

    def compiled(*arguments: Any, **named: Any) -> T:
        try:
            return compile_(*arguments, **named)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(INTERRUPTED) from None

    return compiled


def overload(stub: Callable[..., Any]) -> Callable[[Callable[..., Any]], None]:
    """Give compiled code an implementation of `stub` by the types of its arguments (`numba.extending.overload`)."""
    how = kernel_linking.part_options(OPTIONS) if kernel_linking.AVAILABLE else OPTIONS

    def register(choose: Callable[..., Any]) -> None:
        choose.__annotations__.clear()  # Numba wants the signatures of choice and implementation to be the same
        extending.overload(stub, jit_options=cast(Any, how))(choose)

    return register


def contains(state: type, kernels: dict[str, Callable[..., Any]]) -> None:
    """Note that code compiled for a `state` contains these kernels, though no import says so."""
    if kernel_cache is not None:
        kernel_cache.contains(state, kernels.values())


def seconds_compiling() -> float:
    """How long this process has waited for kernels to be compiled."""
    return _waiting.spent


def can_keep() -> bool:
    """Whether there is a folder for machine code that can be written, as far as was seen."""
    return kernel_cache is None or bool(kernel_cache.KernelCache.keeps)


class _Waiting(event.Listener):
    """How long this process has compiled kernels, and whether that was said."""

    def __init__(self) -> None:
        self._depth = 0
        self._began = 0.0
        self.spent = 0.0
        self._said = False
        self._collects = False  # whether Python looked for garbage before

    def on_start(self, event: Any) -> None:
        if _is_ours(event):
            if self._depth == 0:
                self._began = time.perf_counter()
                self._collects = gc.isenabled()
                gc.disable()
            self._depth += 1
            self._say_if_it_takes_long()

    def on_end(self, event: Any) -> None:
        if _is_ours(event):
            self._say_if_it_takes_long()
            self._depth -= 1
            if self._depth == 0:
                self.spent += time.perf_counter() - self._began
                if self._collects:
                    gc.enable()

    def _say_if_it_takes_long(self) -> None:
        if self._said or self.spent + time.perf_counter() - self._began < MOMENT:
            return
        self._said = True
        if can_keep():
            how_often = "once on this machine (`handful warm` does it for all tasks beforehand)"
        else:
            how_often = (
                "and in each process anew, for no folder can be written to keep it: NUMBA_CACHE_DIR may name one"
            )
        logging.getLogger(COMPILING).warning("compiling for this task, some seconds: %s", how_often)


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith(f"{_TOP}.")


_waiting = _Waiting()
event.register("numba:compile", _waiting)  # type: ignore[no-untyped-call]
