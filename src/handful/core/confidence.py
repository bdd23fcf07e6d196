"""Confidence sequences: intervals for a mean that hold at all times at once, whatever decides when to look.

Each is two-sided with total error α (`bernstein`: on one side), and depends on an item's own answers only. `T` is their
number.

| sequence           | assumption                        | source                                                     |
|--------------------|-----------------------------------|------------------------------------------------------------|
| `paper_radius`     | sub-Gaussian R; t counts samples  | Singla, Tschiatschek, Krause 2016, after Chen et al. 2014  |
| `normal_mixture`   | sub-Gaussian R                    | Robbins 1970; Howard, Ramdas, McAuliffe, Sekhon 2021 §3.2  |
| `stitched`         | sub-Gaussian R                    | Howard, Ramdas, McAuliffe, Sekhon 2021, eq. (1.2)          |
| `beta_binomial`    | answers 0 or 1                    | Robbins 1970; Kaufmann, Koolen 2021                        |
| `bernstein`        | answers in a known range          | Howard, Ramdas, McAuliffe, Sekhon 2021, §4.2; see below    |

Proof of the mixtures: for every λ, exp(λ Σ(X−v) − λ²R²T/2) is a supermartingale that starts at 1; so is its
average over λ ~ N(0, 1/(ρR²)), which is √(ρ/(T+ρ))·exp((Σ(X−v))²/(2R²(T+ρ))). By Ville's inequality it ever
exceeds 1/α with probability at most α. The beta-binomial averages likelihood ratios over a Beta(½, ½) instead.

One side of a mixture. Averaged over λ > 0 alone it is 2·√(ρ/(T+ρ))·exp(x²/2)·Φ(x), where the two-sided one is
√(ρ/(T+ρ))·exp(x²/2). Where that is 1/(1.96·α) or more on this side and α ≤ 0.05, x ≥ 2.15 and Φ(x) > 0.98: the
one-sided average is more than 1/α. So one side of the interval for 1.96·α fails with probability at most α
(`one_sided_saves`).

Empirical Bernstein: let answers lie in [0, 1] and μ̂ be any guess in [0, 1] made before an answer X. For 0 ≤ λ < 1,
exp(λ(X−μ̂) − ψ(λ)(X−μ̂)²) ≤ 1 + λ(X−μ̂) (Fan, Grama, Liu 2015), so exp(λ Σ(X−v) − ψ(λ)V) with V = Σ(X−μ̂)² is a
supermartingale, and so it is with v−X. Here μ̂ is ½ for the first answer, then the mean so far. Of its average over λ it
is enough to know a lower bound (Donsker, Varadhan): for every λ̄ at once, log of the average ≥ λ̄ Σ(X−v) − price(λ̄).
"""

from __future__ import annotations

import math

from handful.core.kernels import kernel

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
