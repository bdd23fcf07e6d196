"""Confidence sequences: intervals for a mean that hold at all times at once, whatever decides when to look."""

from __future__ import annotations

import math

import numpy as np

from handful.kernels import kernel

_LOG_196, _LOG_20 = math.log(1.96), math.log(20.0)


@kernel
def paper_radius(T: float, t: float, R: float, N: float, delta: float) -> float:
    """R·√(2 log(4Nt³/δ′)/T), as printed."""
    return R * math.sqrt(2.0 * (math.log(4.0 * N / delta) + 3.0 * math.log(t)) / T)


@kernel
def normal_mixture(T: float, R: float, alpha: float, rho: float) -> float:
    """(R/T)·√((T+ρ)(2 log(1/α) + log((T+ρ)/ρ))); sharpest near T ≈ ρ·(2 log(1/α) + 3)."""
    return mixture_width(T, R, 2.0 * math.log(1.0 / alpha), rho)


@kernel
def mixture_width(T: float, R: float, logs: float, rho: float) -> float:
    """The same, 2 log(1/α) being known already."""
    return R / T * math.sqrt((T + rho) * (logs + math.log((T + rho) / rho)))


@kernel
def one_sided_saves(log: float) -> float:
    """What may be taken off log(1/α) of a two-sided mixture if one side is to fail with probability α at most."""
    return _LOG_196 if log >= _LOG_20 else 0.0


@kernel
def stitched(T: float, R: float, alpha: float) -> float:
    """1.7·R·√((log log 2T + 0.72 log(10.4/α))/T): the best rate as T grows, the largest constant before."""
    return 1.7 * R * math.sqrt((math.log(math.log(2.0 * max(T, 1.36))) + 0.72 * math.log(10.4 / alpha)) / T)


@kernel
def beta_binomial(ones: float, T: float, alpha: float) -> tuple[float, float]:
    """The p for which the likelihood ratio of the Beta(½, ½) mixture to p stays below 1/α."""
    zeros = T - ones
    bar = (
        math.log(alpha) + math.lgamma(ones + 0.5) + math.lgamma(zeros + 0.5) - math.lgamma(T + 1.0) - math.log(math.pi)
    )
    peak = ones / T
    return _root(ones, zeros, bar, 0.0, peak), _root(ones, zeros, bar, 1.0, peak)


@kernel
def _log_likelihood(ones: float, zeros: float, p: float) -> float:
    a = ones * math.log(p) if ones > 0.0 else 0.0
    b = zeros * math.log1p(-p) if zeros > 0.0 else 0.0
    return a + b


@kernel
def _root(ones: float, zeros: float, bar: float, far: float, near: float) -> float:
    """Where the likelihood, which falls from `near` to `far`, crosses the bar, or `far`. Errs outwards."""
    if (far == 0.0 and ones == 0.0) or (far == 1.0 and zeros == 0.0):
        return far
    out, inside = far, near
    for _ in range(50):
        p = 0.5 * (out + inside)
        if _log_likelihood(ones, zeros, p) >= bar:
            inside = p
        else:
            out = p
    return out


# Empirical Bernstein, for answers in a range that is scaled to length 1.
FIRST = 0.25  # what the first answer adds to V: no answer is farther than ½ from the middle
WIDEST = 0.95  # bets λ are below this


@kernel
def bernstein_price(bet: float, V: float, widest: float) -> float:
    """What betting about `bet`, 0 < bet < widest, costs: V·ψ on average over an interval around it, and finding it.

    A mixture of bets with density 1/(2√(widest·λ)) on (0, widest) is worth at least what a uniform one on the
    interval [bet ± half] is worth, less the divergence of the two, log(√(widest·bet)/half) or less.
    """
    half = min(bet, widest - bet, (1.0 - bet) * math.sqrt(3.0 / V))
    return V * (_lost(bet + half) - _lost(bet - half)) / (2.0 * half) + math.log(math.sqrt(widest * bet) / half)


@kernel
def _lost(bet: float) -> float:
    """The integral of ψ(λ) = −log(1 − λ) − λ from 0 to `bet`."""
    return (1.0 - bet) * math.log1p(-bet) + bet - 0.5 * bet * bet


@kernel
def bernstein(T: float, V: float, log: float) -> float:
    """The width on one side, for log(1/α); sharpest where answers vary much less than their range allows."""
    about = log + 0.5 + 0.25 * math.log1p(V)
    bet = min(0.85 * WIDEST, 1.0 / (1.0 + math.sqrt(0.5 * V / about)))
    return (log + bernstein_price(bet, V, WIDEST)) / (bet * T)


_LOG2 = math.log(2.0)
_ROOT = math.sqrt(2.0 * math.pi)
TOP = 0.8 * WIDEST  # no bet is larger
LEAST, LARGEST, ENTRIES = 1e-4, 6.0, 1500  # the table's first and last η
_FAR = -30.0  # where Φ is taken by its expansion


def _tail(x: float) -> float:
    """−x²/2 − log Φ(x), or a little more."""
    if x > _FAR:
        return -0.5 * x * x - math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))
    return math.log(-x * _ROOT) - math.log1p(-1.0 / (x * x))


def _slope(x: float) -> float:
    """x + φ(x)/Φ(x), which grows with x."""
    return x + math.exp(_tail(x)) / _ROOT if x > _FAR else -1.0 / x + 2.0 / (x * x * x)


def _conjugate(eta: float) -> float:
    """The largest ηx + tail(x), which is where the slope is η."""
    before, between = (0.0, 0.0), (-2.0 / eta - 1.0, eta)
    while between != before:
        low, high = before = between
        x = 0.5 * (low + high)
        between = (x, high) if _slope(x) < eta else (low, x)
    low = between[0]
    return eta * low + _tail(low) - _LOG2 + 1e-9  # no search ends just where it should


tail = kernel(_tail)
_RATIO = (LARGEST / LEAST) ** (1.0 / (ENTRIES - 1))
LOG_RATIO, LOG_LEAST = math.log(_RATIO), math.log(LEAST)
_ETAS = LEAST * _RATIO ** np.arange(ENTRIES)
TABLE = np.array([_conjugate(float(eta)) for eta in _ETAS])


@kernel
def conjugate(eta: float) -> float:
    """C(η), or a little more."""
    if eta >= LARGEST:  # from here on Φ is 1 but for less than 10⁻⁸
        return 0.5 * eta * eta - _LOG2 + 1e-8
    if eta <= LEAST:  # C(η) + log η grows with η
        return TABLE[0] + LOG_LEAST - math.log(eta)
    p = min(int((math.log(eta) - LOG_LEAST) / LOG_RATIO), ENTRIES - 2)
    part = (eta - _ETAS[p]) / (_ETAS[p + 1] - _ETAS[p])
    return TABLE[p] + part * (TABLE[p + 1] - TABLE[p])


@kernel
def _slope_of(x: float) -> float:
    """As `_slope`, compiled."""
    return x + math.exp(tail(x)) / _ROOT if x > _FAR else -1.0 / x + 2.0 / (x * x * x)


@kernel
def normal_cost(slope: float, T: float, Q: float, rho: float, cap: float) -> float:
    """The cost of a half-normal mixture; z, slope and cap in units of R."""
    wide = math.sqrt(Q + rho)
    mixed = 0.5 * math.log((Q + rho) / rho)
    eta = slope * wide / T
    if cap < np.inf:
        x = T * cap / wide
        if x < eta and _slope_of(x) < eta:  # else the best x is below the cap
            return slope * cap + tail(x) - _LOG2 + mixed
    return conjugate(eta) + mixed


@kernel
def bet_cost(slope: float, T: float, V: float, cap: float) -> float:
    """The cost of a bet in a known range; z, slope and cap in units of its length."""
    bet = min(slope / T, TOP)
    rest = (slope - bet * T) * cap if bet == TOP else 0.0
    return bernstein_price(bet, V, WIDEST) + rest
