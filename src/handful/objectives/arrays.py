"""Numbers as users hold them (NumPy, SciPy sparse, pandas, DLPack), read as tables of finite numbers without a copy."""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import InvalidProblem
from handful.problem import Floats, Ints

Real = npt.NDArray[np.floating[Any]]
RowIndex = slice | Ints

SHARE = 0.25  # of the free memory may be taken for what only saves time
UNKNOWN = 4_000_000_000  # bytes, where the system does not tell
CONTAINER = Path("/sys/fs/cgroup")
CELLS_AT_ONCE = 2**16  # numbers worked on together: they stay in the processor's cache


@dataclass(frozen=True)
class Sparse:
    """A table by its entries that are not zero, row by row, as in SciPy's CSR."""

    data: Real
    indices: Ints
    indptr: Ints
    shape: tuple[int, int]

    def row(self, item: int) -> tuple[Real, Ints]:
        """The entries of one row, and their columns."""
        at = slice(self.indptr[item], self.indptr[item + 1])
        return self.data[at], self.indices[at]

    def rows(self, rows: RowIndex) -> tuple[Real, Ints, Ints]:
        """The entries of these rows, their columns, and how many there are in each row."""
        starts, ends = self.indptr[:-1][rows], self.indptr[1:][rows]
        counts = ends - starts
        if isinstance(rows, slice):
            at: Any = slice(starts[0], ends[-1]) if len(starts) else slice(0, 0)
        else:
            before = np.cumsum(counts) - counts
            at = np.arange(counts.sum()) + np.repeat(starts - before, counts)
        return self.data[at], self.indices[at], counts

    def dense(self) -> Floats:
        """The same table with its zeros."""
        full = np.zeros(self.shape)
        np.add.at(full, (np.repeat(np.arange(self.shape[0]), np.diff(self.indptr)), self.indices), self.data)
        return full


Table2D = Real | Sparse


def ids_of(given: object) -> tuple[Hashable, ...] | None:
    """The names of the rows, where the table has names (pandas)."""
    index = getattr(given, "index", None)
    if index is None or callable(index) or not hasattr(given, "to_numpy"):
        return None
    return tuple(index.tolist()) if hasattr(index, "tolist") else tuple(index)


def real(what: str, given: object) -> Real:
    """An array of 32- or 64-bit numbers; float32 stays what it is, and nothing is copied that need not be."""
    try:
        array = _as_array(given)
        if array.dtype == np.float16:
            array = array.astype(np.float32)
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise InvalidProblem(f"{what} must be an array of numbers, all rows equally long: {error}") from None
    view: Real = np.ascontiguousarray(array).view() if array.ndim else array
    view.flags.writeable = False
    return view


def numbers(
    what: str, given: object, dimensions: int, *, negative: bool = False, sums: list[Floats] | None = None
) -> Real:
    """A read-only, contiguous array of finite numbers (≥ 0 unless `negative`) with so many dimensions, none empty.

    Reading a large table takes longer than adding its numbers up: `sums` gets the sum of each row on the way.
    """
    array = real(what, given)
    if array.ndim != dimensions or array.size == 0:
        shape = "a non-empty list" if dimensions == 1 else "a non-empty table (one row per item)"
        raise InvalidProblem(f"{what} must be {shape} of numbers, got an array of shape {array.shape}")
    found = np.empty(len(array))
    for at in blocks(len(array), array[0].size):
        block = array[at]
        found[at] = block.sum(axis=-1, dtype=np.float64) if dimensions == 2 else block
        if not (np.isfinite(found[at]).all() and (negative or block.min() >= 0)):
            _refuse(what, block, at.start, dimensions, negative)
    if sums is not None:
        sums.append(found)
    return array


def table(what: str, given: object, *, negative: bool = False, sums: list[Floats] | None = None) -> Table2D:
    """A table, one row per item: dense, or sparse where SciPy's is given (matrix or array, any layout)."""
    if not hasattr(given, "tocsr"):
        return numbers(what, given, 2, negative=negative, sums=sums)
    rows = given.tocsr()
    if rows.ndim != 2 or 0 in rows.shape:
        raise InvalidProblem(f"{what} must be a non-empty table (one row per item), got one of shape {rows.shape}")
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    data = real(what, rows.data)
    if data.size:
        numbers(f"{what}.data", data, 1, negative=negative)
    return Sparse(data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64), rows.shape)


def refuse_zeros(features: Real) -> None:
    """Features that are zero everywhere tell nothing apart."""
    if not features.any():
        raise InvalidProblem("features are zero everywhere: give rows that say how the items differ")


def weights_for(what: str, given: object, count: int, of: str) -> Floats:
    """One weight ≥ 0 for each of `count` things; ones where none are given."""
    if given is None:
        return np.ones(count)
    weights = numbers(what, given, 1).astype(np.float64)
    if len(weights) != count:
        plural = of + ("es" if of.endswith("s") else "s")
        raise InvalidProblem(f"{len(weights)} {what} for {count} {plural}: give one weight per {of}")
    return weights


def blocks(count: int, width: int) -> Iterator[slice]:
    """Rows in portions that fit the processor's cache."""
    step = max(1, CELLS_AT_ONCE // max(width, 1))
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def segment_sums(values: Floats, counts: Ints) -> Floats:
    """The sum of each run of `counts[i]` values."""
    sums = np.zeros(len(counts))
    some = counts > 0
    if some.any():
        ends = np.cumsum(counts[some])
        sums[some] = np.add.reduceat(values, ends - counts[some], dtype=np.float64)
    return sums


def _as_array(given: object) -> npt.NDArray[Any]:
    if isinstance(given, np.ndarray):
        return given
    if hasattr(given, "tocsr"):
        raise TypeError("a sparse table is not taken here; give a dense one")
    if hasattr(given, "to_numpy"):
        return np.asarray(given.to_numpy())
    if hasattr(given, "__array__") or not hasattr(given, "__dlpack__"):
        return np.asarray(given)
    return np.from_dlpack(given)


def _refuse(what: str, block: Real, offset: int, dimensions: int, negative: bool) -> None:
    """Name the first number that is not allowed; all may be, where only their sum is too large."""
    for wrong, problem in ((~np.isfinite(block), "not a finite number"), (block < 0, "negative")):
        if wrong.any() and not (negative and problem == "negative"):
            where = tuple(int(i) for i in np.argwhere(wrong)[0])
            value = block[where]
            place = (where[0] + offset, *where[1:])
            allowed = "finite numbers" if negative else "finite numbers ≥ 0"
            raise InvalidProblem(
                f"{what}[{place[0] if dimensions == 1 else place}] is {value}, {problem}: give {allowed}"
            )


def free_memory() -> int:
    """Bytes that can still be had: of the machine, and of the container where there is one."""
    return min(_of_machine(), _of_container())


def _of_machine() -> int:
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return UNKNOWN


def _of_container() -> int:
    """What the limit of the control group leaves, files in memory not counted."""
    try:
        limit, used = (int((CONTAINER / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        told = (CONTAINER / "memory.stat").read_text(encoding="ascii").splitlines()
        files = sum(int(line.split()[1]) for line in told if line.startswith("inactive_file "))
    except (OSError, ValueError):  # no limit is written as "max"
        return sys.maxsize
    return max(limit - used + files, 0)
