"""One-sided mixtures: what it costs to bet that a mean is not as far on one side as it might be.

Let X₁, X₂, ... have mean v and be sub-Gaussian with R, Q = T after T of them (or nq after n weighted sums), and
z = v − v̂. For every λ ≥ 0, exp(λTz/R − λ²Q/2) is a supermartingale that starts at 1; so is its average over the
half-normal λ with density ∝ exp(−ρλ²/2):
    M(z) = 2·√(ρ/(Q+ρ))·exp(x²/2)·Φ(x),   x = Tz/(R·√(Q+ρ)).
It grows with z, and log M is convex. A two-sided mixture of the same ρ has about half of it where it matters.

To bound a sum of means, products of such mixtures are compared with 1/δ (`claim.py`); what is needed of each is
its *cost*: the largest slope·z − log M(z) over z ≤ cap, where a cap says what v cannot exceed in any case. Without one
that is C(slope·√(Q+ρ)/T) + ½·log((Q+ρ)/ρ), where C(η) is the largest ηx − x²/2 − log Φ(x) − log 2 over x. C is convex,
so straight lines between entries of a table lie above it, which is the safe side.

With answers in a known range of length H there are bets instead (`confidence.bernstein_price`): for every bet b at
once log M(z) ≥ b·Tz/H − price(b, V). Bets larger than TOP are not made: then the cap must do the rest.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.confidence import WIDEST, bernstein_price
from handful.core.kernels import kernel

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
