"""Counter-based randomness: a draw is a pure function of (seed, round, stream, n).

Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
The seed is the key; (n, round, stream) is the counter. Nothing is consumed and nothing is kept, so a
replay draws the same numbers, to the bit, in any order and on any number of machines.
"""

from __future__ import annotations

import math

import numpy as np

from handful.kernels import kernel

# Streams: what a draw is for. A new use gets a new number; numbers are never used again.
PICK = 1  # the uniform draw from A (Algorithm 1, line 5)
RIVAL = 2  # the rival of a Borda comparison
QUESTION = 3  # the seed handed to whoever answers a question
ANSWER = 4  # the noise of a simulated answer
BELIEF = 5  # posterior draws
ORDER = 6  # random order of a partial initialisation
# 7 was for tossing a coin between two draws.
TIE = 8  # who wins where everything else is equal
PLACES = 9  # the order of the options of a question
PERSON = 10  # who of a simulated crowd answers a question

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_11 = np.uint64(11)
_UNIT = 2.0**-53
_HALF = 2.0**-54


@kernel
def philox(
    c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Ten rounds of Philox4x32; all words are 32 bits in 64-bit registers."""
    for _ in range(10):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0 = (p1 >> _32) ^ c1 ^ k0
        c1 = p1 & _LOW
        c2 = (p0 >> _32) ^ c3 ^ k1
        c3 = p0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@kernel
def words(seed: int, round_: int, stream: int, n: int) -> tuple[np.uint64, np.uint64]:
    """128 random bits as two words of 64."""
    s = np.uint64(seed)
    m = np.uint64(n)
    a, b, c, d = philox(m & _LOW, m >> _32, np.uint64(round_), np.uint64(stream), s & _LOW, s >> _32)
    return (a << _32) | b, (c << _32) | d


@kernel
def uniforms(seed: int, round_: int, stream: int, n: int) -> tuple[float, float]:
    """Two independent draws, uniform on the open interval (0, 1)."""
    a, b = words(seed, round_, stream, n)
    return np.float64(a >> _11) * _UNIT + _HALF, np.float64(b >> _11) * _UNIT + _HALF


@kernel
def normals(seed: int, round_: int, stream: int, n: int) -> tuple[float, float]:
    """Two independent standard normal draws (Box and Muller)."""
    u, v = uniforms(seed, round_, stream, n)
    return normals_of(u, v)


@kernel
def normals_of(u: float, v: float) -> tuple[float, float]:
    """The standard normal draws that two uniform ones stand for; neither is larger than √(−2 log u)."""
    r = math.sqrt(-2.0 * math.log(u))
    return r * math.cos(2.0 * math.pi * v), r * math.sin(2.0 * math.pi * v)


@kernel
def below(limit: int, seed: int, round_: int, stream: int, n: int) -> int:
    """An integer uniform on 0..limit-1."""
    u, _ = uniforms(seed, round_, stream, n)
    return min(int(u * limit), limit - 1)


@kernel
def question_seed(seed: int, round_: int, number: int) -> int:
    """The 63-bit seed that travels with question `number` of `round_`."""
    a, _ = words(seed, round_, QUESTION, number)
    return int(np.int64(a >> np.uint64(1)))
