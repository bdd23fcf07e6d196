"""Compiling the hot parts, once per machine.

Kernels allocate nothing: they work on arrays they are given. So they need not count references to these either, which
would take most of their time (`_nrt` is Numba's name for that).

`@kernel` is Numba's `njit` with a cache on disk that is renewed whenever *any* file with
kernels changes. (Numba's own cache looks only at the file a function stands in, although the compiled
code contains the functions it calls.) Where no folder can be written, kernels compile anew in each process.

That a process has to wait for compiling is said once, to the logger COMPILING.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba import extending
from numba.core import caching, options

P = ParamSpec("P")
T = TypeVar("T")

COMPILING = "handful.compiling"
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "forceinline": True}
if hasattr(options.DefaultOptions, "_nrt"):  # else it works all the same, if slower
    OPTIONS["_nrt"] = False


@cache
def _stamp() -> tuple[str, int]:
    """A digest over all sources that compiled code may stand in: those that use this module, and this one."""
    digest = hashlib.sha256(numba.__version__.encode())
    package = Path(__file__).parent.parent
    folders = [package / name for name in ("core", "objectives", "oracles")]
    sources = [source.read_bytes() for folder in folders for source in sorted(folder.rglob("*.py"))]
    compiled = [source for source in sources if b".kernels import" in source or b"_stamp" in source]
    for source in compiled:
        digest.update(source)
    return digest.hexdigest(), len(compiled)


class _Stamped:
    def get_source_stamp(self) -> tuple[str, int]:
        return _stamp()


class _BesideTheSource(_Stamped, caching.InTreeCacheLocator):
    pass


class _InTheUsersCache(_Stamped, caching.UserWideCacheLocator):
    pass


class _KernelCacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_BesideTheSource, _InTheUsersCache]  # noqa: RUF012  (as in the base class)


class _KernelCache(caching.FunctionCache):
    _impl_class = _KernelCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None:
            _say_compiling("once on this machine")
        return found


class _NoCache(caching.NullCache):
    def load_overload(self, sig: Any, target_context: Any) -> None:
        _say_compiling("and each time anew, for no folder can be written to keep it")


@cache
def _say_compiling(how_often: str) -> None:
    """Once in a process."""
    logging.getLogger(COMPILING).info("compiling for this task, %s: this may take half a minute", how_often)


def kernel(function: Callable[P, T]) -> Callable[P, T]:
    """Compile `function`, and keep the machine code for the next process."""
    dispatcher: Any = numba.njit(**OPTIONS)(function)
    try:
        dispatcher._cache = _KernelCache(function)  # type: ignore[no-untyped-call]
    except RuntimeError:  # no folder can be written
        dispatcher._cache = _NoCache()
    return cast(Callable[P, T], dispatcher)


def small(function: Callable[P, T]) -> Callable[P, T]:
    """Compile `function` into each of its callers; for helpers of a few lines."""
    return cast(Callable[P, T], numba.njit(**OPTIONS)(function))


def overload(stub: Callable[..., Any]) -> Callable[[Callable[..., Any]], None]:
    """Give compiled code an implementation of `stub` by the types of its arguments (`numba.extending.overload`)."""

    def register(choose: Callable[..., Any]) -> None:
        choose.__annotations__.clear()  # Numba wants the signatures of choice and implementation to be the same
        extending.overload(stub, jit_options=cast(Any, OPTIONS))(choose)

    return register
