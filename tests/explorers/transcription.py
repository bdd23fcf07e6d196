"""Algorithms 1 and 2 of the paper, slowly and to the letter: what the compiled core is compared with.

Written from the paper alone. Comments give its line numbers. It differs from the letter only where the letter cannot be
run, and each time a comment beginning with "reading:" says how it is understood. Draws come in from outside, so
that it can be run on the compiled simulator's noise or on any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, Protocol

Number = float | Fraction
Query = tuple[int, int]  # item and rival; the rival of a value query is -1


class Nature(Protocol):
    """Everything random: answers, rivals and the draw from A. `n` counts the questions of round `j` from 0."""

    def value(self, j: int, n: int, item: int, S: Sequence[int]) -> float:
        """X_{item|S}."""

    def preference(self, j: int, n: int, item: int, rival: int, S: Sequence[int]) -> int:
        """X_{item > rival|S}, 0 or 1."""

    def rival(self, j: int, n: int, others: Sequence[int]) -> int:
        """One of the others, uniformly at random."""

    def pick(self, j: int, A: Sequence[int]) -> int:
        """One of A, uniformly at random."""


@dataclass(frozen=True)
class Reading:
    """What Algorithm 2 is called with beside S, and how it is read."""

    epsilon: float  # ε′
    delta: float  # δ′
    most: int  # k′
    R: float = 0.5  # of one value query; a preference query has 1/(2√τ)
    only: int | None = None  # the special cases l = 1 and l = k that the paper names
    radius: Literal["literal", "counted"] = "literal"
    tau: int | None = None  # comparisons per query; None for value queries
    beta: float | None = None
    out_of_budget: Literal["best-mean", "smallest-gap"] = "best-mean"


@dataclass
class Round:
    """What happened in one call of TopX."""

    A: list[int] = field(default_factory=list)
    pick: int = -1
    queries: list[Query] = field(default_factory=list)
    ended: str = "rule"


class BudgetSpent(Exception):
    """The paper does not say what happens then; reading: the round ends with what is known."""


def expgreedy(
    V: Iterable[int],
    k: int,
    reading: Reading,
    nature: Nature,
    limit: Callable[[int, int], int] = lambda spent, left: -1,
) -> list[Round]:
    """Algorithm 1. `limit` says what a round may cost, given what was spent and the rounds left; -1 is no limit."""
    # line 1: input V, k; ε and δ have become ε′ and δ′ by Theorem 1 or 2
    V = list(V)
    rounds: list[Round] = []
    S: list[int] = []  # line 3
    for j in range(1, k + 1):
        spent = sum(len(round_.queries) for round_ in rounds)
        this = Round()
        if len(V) - len(S) <= k - j + 1:  # reading: where all will be picked, no question is needed
            this.A, this.ended = [i for i in V if i not in S][:1], "alone"
        else:
            topx(V, S, reading, nature, j, this, limit(spent, k - j + 1))  # line 4
        s = nature.pick(j, this.A)  # line 5
        S = [*S, s]  # line 6
        this.pick = s
        rounds.append(this)
    return rounds  # lines 2 and 7


def topx(V: list[int], S: list[int], reading: Reading, nature: Nature, j: int, log: Round, limit: int) -> None:
    """Algorithm 2; sets A and the queries of `log`."""
    # line 1: input V, S, k′, ε′, δ′.  line 2: output A
    N = len(V)
    C = [i for i in V if i not in S]  # reading: items of S have v = 0 and radius 0 and are never asked
    k_ = min(reading.most, len(C))  # reading: there are no larger sets to return
    sizes = range(1, k_ + 1) if reading.only is None else [min(reading.only, k_)]
    R = reading.R if reading.tau is None else 1.0 / (2.0 * math.sqrt(reading.tau))

    def observe(i: int) -> Number:
        if reading.tau is None:
            if len(log.queries) == limit:
                raise BudgetSpent
            log.queries.append((i, -1))
            return nature.value(j, len(log.queries) - 1, i, S)
        X = []  # Z_i: τ rivals, with replacement; reading: from C∖{i}, not V∖{i}
        for _ in range(reading.tau):
            if len(log.queries) == limit:
                raise BudgetSpent
            n = len(log.queries)
            rival = nature.rival(j, n, [c for c in C if c != i])
            log.queries.append((i, rival))
            X.append(nature.preference(j, n, i, rival, S))
        return Fraction(sum(X), reading.tau)  # exact, so that equal scores are equal

    def rad(t: int, i: int) -> float:
        samples = (
            reading.most if reading.radius == "counted" else 1
        )  # reading: an item is sampled up to k′ times a step
        return R * math.sqrt(2.0 * math.log(4 * N * samples * t**3 / reading.delta) / T[i])

    total: dict[int, Number] = {}
    T: dict[int, int] = {}
    for i in C:  # line 3
        total[i] = observe(i)
        T[i] = 1
    t = 0
    while True:
        t += 1  # for t = 1, ...
        v = {i: float(total[i] / T[i]) for i in C}
        radius = {i: rad(t, i) for i in C}  # line 4
        Q: list[int] = []  # line 5; reading: a list, in which an item may stand several times
        for l in sizes:
            M, M_tilde, gap = sets(C, v, radius, l)  # lines 6 to 9
            if gap <= allowed(reading, l, len(C)):  # line 10
                log.A = M  # line 11
                return
            differ = [i for i in C if (i in M) != (i in M_tilde)]
            q = max(differ, key=lambda i: radius[i])  # line 12; `max` keeps the first of V
            Q.append(q)  # line 13
        try:
            for q in Q:
                X = observe(q)  # line 14
                total[q] += X  # line 15
                T[q] += 1  # line 16
        except BudgetSpent:
            v = {i: float(total[i] / T[i]) for i in C}
            radius = {i: rad(t, i) for i in C}
            log.A, log.ended = give_up(C, v, radius, reading, list(sizes)), "budget"
            return


def sets(C: list[int], v: dict[int, float], radius: dict[int, float], l: int) -> tuple[list[int], list[int], float]:
    """Lines 6 to 9: M_t, M̃_t and what line 10 compares."""
    M = largest(C, v, l)  # line 6
    v_tilde = {}
    for i in C:  # line 7
        v_tilde[i] = v[i] - radius[i] if i in M else v[i] + radius[i]  # line 8; reading: v̄_i is v_i
    M_tilde = largest(C, v_tilde, l)  # line 9
    return M, M_tilde, sum(v_tilde[i] for i in sorted(M_tilde)) - sum(v_tilde[i] for i in sorted(M))


def largest(C: list[int], v: dict[int, float], l: int) -> list[int]:
    """argmax over B ⊆ C with |B| = l of Σ_{i∈B} v_i, which is the l largest; ties to the first of V."""
    return sorted(C, key=lambda i: -v[i])[:l]


def allowed(reading: Reading, l: int, candidates: int) -> float:
    """The right-hand side of line 10; for preferences its counterpart in Borda scores."""
    if reading.tau is None:
        return l * reading.epsilon
    if reading.beta is None:
        return 0.0
    return math.tanh(reading.beta * l * reading.epsilon / 2) / (candidates - 1)


def give_up(
    C: list[int], v: dict[int, float], radius: dict[int, float], reading: Reading, sizes: list[int]
) -> list[int]:
    """What to return when the budget is spent: the best by their means, or the l whose gap means the smallest ε′."""
    if reading.out_of_budget == "best-mean":
        return largest(C, v, 1 if reading.only is None else sizes[0])

    def reached(l: int) -> float:
        gap = sets(C, v, radius, l)[2]
        if reading.tau is None:
            return gap / l
        if gap <= 0:
            return 0.0
        if reading.beta is None or gap * (len(C) - 1) >= 1:
            return math.inf
        return 2 * math.atanh(gap * (len(C) - 1)) / (reading.beta * l)

    return largest(C, v, min(sizes, key=reached))
