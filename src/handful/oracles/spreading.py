"""Compiled cascades: who is reached, on one drawn world.

A seed is a world: whether an edge carries is a function of (seed, edge) alone, or of (seed, where it ends) for linear
thresholds. So nothing depends on the order in which a cascade is followed, and two sets with the same seed are
compared in the same world.

Draws are SplitMix64 (Steele, Lea and Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014) at a place
of its own in the seed's sequence for each edge: 63 bits, compared with probabilities scaled to 2⁶³.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from handful.kernels import kernel
from handful.oracles.graphs import Int32s
from handful.problem import Ints

Bits = npt.NDArray[np.uint64]

ONE = 2.0**63  # certain
NOBODY, OURS, THEIRS = 0, 1, 2

_GAP = np.uint64(0x9E3779B97F4A7C15)
_A = np.uint64(0xBF58476D1CE4E5B9)
_B = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _1 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(1)


@kernel
def mixed(z: np.uint64) -> np.uint64:
    """SplitMix64's finalizer."""
    z = (z ^ (z >> _30)) * _A
    z = (z ^ (z >> _27)) * _B
    return z ^ (z >> _31)


@kernel
def draw(world: np.uint64, place: int) -> np.uint64:
    """63 random bits of a world at a place."""
    return mixed(world + np.uint64(place) * _GAP) >> _1


@kernel
def world_of(seed: int, run: int) -> np.uint64:
    """The world of a seed, or of run n of it."""
    return mixed(mixed(np.uint64(seed)) + np.uint64(run) * _A)


@kernel
def reach_independent(
    starts: Ints, targets: Int32s, below: Bits, world: np.uint64, mark: int, marks: Int32s, queue: Int32s, size: int
) -> int:
    """Follow the edges that carry from the first `size` nodes of the queue; gives how many are in it at the end."""
    at = 0
    while at < size:
        node = queue[at]
        at += 1
        for edge in range(starts[node], starts[node + 1]):
            if draw(world, edge) < below[edge]:
                target = targets[edge]
                if marks[target] != mark:
                    marks[target] = mark
                    queue[size] = target
                    size += 1
    return size


@kernel
def reach_threshold(
    starts: Ints,
    targets: Int32s,
    above: Bits,
    below: Bits,
    world: np.uint64,
    mark: int,
    marks: Int32s,
    queue: Int32s,
    size: int,
) -> int:
    """The same where each node hears at most one of those before it: an edge carries if the node's draw is its."""
    at = 0
    while at < size:
        node = queue[at]
        at += 1
        for edge in range(starts[node], starts[node + 1]):
            target = targets[edge]
            if marks[target] != mark:
                drawn = draw(world, target)
                if above[edge] <= drawn < below[edge]:
                    marks[target] = mark
                    queue[size] = target
                    size += 1
    return size


@kernel
def placed(seeds: Int32s, mark: int, marks: Int32s, queue: Int32s, size: int) -> int:
    """Put those of `seeds` that are not marked at the end of the queue."""
    for i in range(len(seeds)):
        node = seeds[i]
        if marks[node] != mark:
            marks[node] = mark
            queue[size] = node
            size += 1
    return size


@kernel
def spread(
    starts: Ints,
    targets: Int32s,
    above: Bits,
    below: Bits,
    by_node: bool,
    first: Int32s,
    then: Int32s,
    seed: int,
    marks: Int32s,
    queue: Int32s,
    sizes: Ints,
) -> None:
    """For run n = 0, 1, … how many nodes `then` reaches that `first` does not, with `marks` not above zero at first.

    `by_node`: linear thresholds; else an independent cascade, and `above` is not looked at.
    """
    for run in range(len(sizes)):
        mark = run + 1
        world = world_of(seed, run)
        size = 0
        for seeds in (first, then):
            # What is reached needs no second look: the queue goes on with the rest.
            queue_left = queue[size:]
            new = placed(seeds, mark, marks, queue_left, 0)
            if by_node:
                new = reach_threshold(starts, targets, above, below, world, mark, marks, queue_left, new)
            else:
                new = reach_independent(starts, targets, below, world, mark, marks, queue_left, new)
            size += new
            sizes[run] = new


@kernel
def compete(
    starts: Ints,
    targets: Int32s,
    ours: Bits,
    theirs: Bits,
    mine: Int32s,
    rivals: Int32s,
    deadline: int,
    capacity: int,
    seed: int,
    owners: npt.NDArray[np.int8],
    queue: Int32s,
    sizes: Ints,
) -> None:
    """For run n = 0, 1, … how many nodes are ours when two cascades have run in step until the deadline.

    Who is in both sets at the start is theirs. In each step whoever was won in the last one tries those after it that
    nobody has won, from a drawn place on, and wins at most `capacity` of them; where both try, the one in the queue
    first, and theirs stand before ours at the start.
    """
    for run in range(len(sizes)):
        world = world_of(seed, run)
        owners[:] = NOBODY
        size = 0
        won = 0
        for i in range(len(rivals)):
            if owners[rivals[i]] == NOBODY:
                owners[rivals[i]] = THEIRS
                queue[size] = rivals[i]
                size += 1
        for i in range(len(mine)):
            if owners[mine[i]] == NOBODY:
                owners[mine[i]] = OURS
                queue[size] = mine[i]
                size += 1
                won += 1
        at, step, end = 0, 0, size
        while at < size and step < deadline:
            node = queue[at]
            owner = owners[node]
            below = ours if owner == OURS else theirs
            first, degree = starts[node], starts[node + 1] - starts[node]
            left = capacity
            turn = int(draw(world, len(targets) + node) % np.uint64(max(degree, 1)))
            for i in range(degree):
                edge = first + (i + turn) % degree
                target = targets[edge]
                if owners[target] == NOBODY and draw(world, edge) < below[edge]:
                    owners[target] = owner
                    queue[size] = target
                    size += 1
                    won += owner == OURS
                    left -= 1
                    if left == 0:
                        break
            at += 1
            if at == end:
                step += 1
                end = size
        sizes[run] = won
