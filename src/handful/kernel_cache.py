"""Machine code on disk, valid for as long as no source changes that it is made of.

Numba's own cache looks only at the file that a function stands in, although the compiled code contains the functions it
calls. Here code is valid for a *stamp*: a digest over the function's file and all files of this package that it
imports, directly or not; and, where an argument is an explorer's state, over the files of that explorer's
kernels. So an edit of one explorer leaves the code of all others as it is.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, types

_TOP = __name__.partition(".")[0]
_ROOT = Path(__file__).parents[len(__name__.split(".")) - 2]  # the folder of the package
_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([^\n]+))", re.MULTILINE)
_CONTAINED: dict[type, list[str]] = {}


def contains(state: type, kernels: Iterable[Callable[..., Any]]) -> None:
    """Note that code compiled for a `state` contains these kernels, though no import says so."""
    _CONTAINED[state] = [function.__module__ for function in kernels]


def _file_of(module: str) -> Path | None:
    """The source of a module of this package; None for any other name."""
    top, *parts = module.split(".")
    if top != _TOP:
        return None
    place = _ROOT.joinpath(*parts)
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


@cache
def _read(module: str) -> tuple[bytes, tuple[str, ...]]:
    """The source of a module, and the modules of this package that it imports."""
    file = _file_of(module)
    if file is None:
        return b"", ()
    source = file.read_bytes()
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    found = []
    for origin, names, plain in _IMPORT.findall(source.decode()):
        if plain:
            found += re.findall(r"[\w.]+", plain)
            continue
        dots = len(origin) - len(origin.lstrip("."))
        base = origin if dots == 0 else ".".join([*package[: len(package) - dots + 1], *filter(None, [origin[dots:]])])
        found += [base, *(f"{base}.{name}" for name in re.findall(r"\w+", names))]
    return source, tuple(name for name in found if _file_of(name))


@cache
def _stamp(modules: frozenset[str]) -> tuple[str, int]:
    """A digest over these modules and all they import, and how many they are."""
    seen: set[str] = set()
    ahead = [*modules, __name__, f"{__package__}.kernels"]
    while ahead:
        module = ahead.pop()
        if module not in seen:
            seen.add(module)
            ahead += _read(module)[1]
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]}".encode())
    for module in sorted(seen):
        digest.update(module.encode() + b"\0" + _read(module)[0])
    return digest.hexdigest(), len(seen)


class _Implementation(caching.CompileResultCacheImpl):
    """Where NUMBA_CACHE_DIR says, else beside the source, else in the user's cache."""

    _locator_classes = [  # noqa: RUF012  (as in the base class)
        caching.UserProvidedCacheLocator,
        caching.InTreeCacheLocator,
        caching.UserWideCacheLocator,
    ]


class _Store(caching.FunctionCache):
    """The code of one function for one class of states."""

    _impl_class = _Implementation

    def __init__(self, function: Callable[..., Any], states: tuple[type, ...]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        modules = {function.__module__}.union(*([state.__module__, *_CONTAINED.get(state, [])] for state in states))
        self._cache_file = caching.IndexDataCacheFile(  # type: ignore[no-untyped-call]
            cache_path=self._cache_path,
            filename_base="-".join([self._impl.filename_base, *(state.__name__ for state in states)]),
            source_stamp=_stamp(frozenset(modules)),
        )


def _states(kinds: Iterable[Any]) -> Iterator[type]:
    """The classes of the tuples among some types."""
    return (kind.instance_class for kind in kinds if isinstance(kind, types.NamedTuple | types.NamedUniTuple))


class KernelCache(caching.NullCache):
    """What a dispatcher asks for code and gives it to; without a folder that can be written it has none and keeps none.

    Nothing is looked at before the first call.
    """

    keeps = True  # of all of them: whether there is a folder to keep code in, as far as was seen

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._stores: dict[tuple[type, ...], _Store | None] = {}

    def _store(self, sig: Any) -> _Store | None:
        states = tuple(_states(getattr(sig, "args", sig)))
        if any(_file_of(of.__module__) is None for of in (self._function, *states)):
            return None  # not kept: no stamp knows the sources of a function or an explorer from elsewhere
        if states not in self._stores:
            try:
                self._stores[states] = _Store(self._function, states)
            except RuntimeError:  # no folder can be written
                self._stores[states] = None
                KernelCache.keeps = False
        return self._stores[states]

    @property
    def cache_path(self) -> str | None:
        return next((store.cache_path for store in self._stores.values() if store), None)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        store = self._store(sig)
        try:
            return store and store.load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except (ImportError, AttributeError):  # kept for a class that stood elsewhere then
            assert store is not None
            store.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        store = self._store(sig)
        if store:
            store.save_overload(sig, data)  # type: ignore[no-untyped-call]
