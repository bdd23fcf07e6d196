"""Confidence sequences: intervals for a mean that hold at all times at once, whatever decides when to look.

Each is two-sided with total error α, and depends on an item's own answers only. `T` is their number.

| sequence           | assumption                        | source                                                     |
|--------------------|-----------------------------------|------------------------------------------------------------|
| `paper_radius`     | sub-Gaussian R; t counts samples  | Singla, Tschiatschek, Krause 2016, after Chen et al. 2014  |
| `normal_mixture`   | sub-Gaussian R                    | Robbins 1970; Howard, Ramdas, McAuliffe, Sekhon 2021 §3.2  |
| `stitched`         | sub-Gaussian R                    | Howard, Ramdas, McAuliffe, Sekhon 2021, eq. (1.2)          |
| `beta_binomial`    | answers 0 or 1                    | Robbins 1970; Kaufmann, Koolen 2021                        |
| `bernstein_*`      | answers in a known range          | Waudby-Smith, Ramdas 2024, Theorem 2 (predictable plug-in) |

Proof of the mixtures: for every λ, exp(λ Σ(X−v) − λ²R²T/2) is a supermartingale that starts at 1; so is its
average over λ ~ N(0, 1/(ρR²)), which is √(ρ/(T+ρ))·exp((Σ(X−v))²/(2R²(T+ρ))). By Ville's inequality it ever
exceeds 1/α with probability at most α. The beta-binomial averages likelihood ratios over a Beta(½, ½) instead.
"""

from __future__ import annotations

import math

from handful.core.kernels import kernel, small
from handful.core.objective import Floats


@small
def paper_radius(T: float, t: float, R: float, N: float, delta: float) -> float:
    """R·√(2 log(4Nt³/δ′)/T), as printed."""
    return R * math.sqrt(2.0 * (math.log(4.0 * N / delta) + 3.0 * math.log(t)) / T)


@small
def normal_mixture(T: float, R: float, alpha: float, rho: float) -> float:
    """(R/T)·√((T+ρ)(2 log(1/α) + log((T+ρ)/ρ))); sharpest near T ≈ ρ·(2 log(1/α) + 3)."""
    return mixture_width(T, R, 2.0 * math.log(1.0 / alpha), rho)


@small
def mixture_width(T: float, R: float, logs: float, rho: float) -> float:
    """The same, 2 log(1/α) being known already."""
    return R / T * math.sqrt((T + rho) * (logs + math.log((T + rho) / rho)))


@small
def stitched(T: float, R: float, alpha: float) -> float:
    """1.7·R·√((log log 2T + 0.72 log(10.4/α))/T): the best rate as T grows, the largest constant before."""
    return 1.7 * R * math.sqrt((math.log(math.log(2.0 * max(T, 1.36))) + 0.72 * math.log(10.4 / alpha)) / T)


@small
def beta_binomial(ones: float, T: float, alpha: float) -> tuple[float, float]:
    """The p for which the likelihood ratio of the Beta(½, ½) mixture to p stays below 1/α."""
    zeros = T - ones
    bar = (
        math.log(alpha) + math.lgamma(ones + 0.5) + math.lgamma(zeros + 0.5) - math.lgamma(T + 1.0) - math.log(math.pi)
    )
    peak = ones / T
    return _root(ones, zeros, bar, 0.0, peak), _root(ones, zeros, bar, 1.0, peak)


@small
def _log_likelihood(ones: float, zeros: float, p: float) -> float:
    a = ones * math.log(p) if ones > 0.0 else 0.0
    b = zeros * math.log1p(-p) if zeros > 0.0 else 0.0
    return a + b


@small
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


# Empirical Bernstein: an item keeps (Σλ, ΣλX, Σ(X−μ̂)²ψ(λ), mean, M₂) of its answers scaled to [0, 1].
BERNSTEIN = 5


@kernel
def bernstein_add(kept: Floats, T: float, x: float, alpha: float) -> None:
    """Take in answer number T = 1, 2, ..., scaled to [0, 1]. The bet λ is made before x is looked at."""
    variance = (0.25 + kept[4]) / T
    bet = min(0.5, math.sqrt(2.0 * math.log(2.0 / alpha) / (variance * T * math.log(1.0 + T))))
    centre = (0.5 + kept[3] * (T - 1.0)) / T
    kept[0] += bet
    kept[1] += bet * x
    kept[2] += (x - centre) ** 2 * (-math.log1p(-bet) - bet)
    away = x - kept[3]
    kept[3] += away / T
    kept[4] += away * (x - kept[3])


@small
def bernstein_interval(kept: Floats, alpha: float) -> tuple[float, float]:
    """Centre ± radius, scaled to [0, 1]."""
    radius = (math.log(2.0 / alpha) + kept[2]) / kept[0]
    return kept[1] / kept[0] - radius, kept[1] / kept[0] + radius
