"""Exact tail probabilities and simple goodness-of-fit measures: enough to put a test's power into numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def binomial_p(failures: int, trials: int, rate: float) -> float:
    """P(at least so many failures in so many trials) if each fails with probability `rate`: a one-sided test."""
    logs = [
        math.lgamma(trials + 1)
        - math.lgamma(x + 1)
        - math.lgamma(trials - x + 1)
        + x * math.log(rate)
        + (trials - x) * math.log1p(-rate)
        for x in range(failures, trials + 1)
    ]
    return min(1.0, math.fsum(math.exp(x) for x in logs))


def chi_square_z(counts: Sequence[int] | np.ndarray) -> float:
    """How many standard deviations the χ² statistic of equally likely cells lies above its mean."""
    observed = np.asarray(counts, float)
    expected = observed.sum() / len(observed)
    statistic = ((observed - expected) ** 2 / expected).sum()
    cells = len(observed) - 1
    return float((statistic - cells) / math.sqrt(2 * cells))


def correlation_z(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> float:
    """The sample correlation in standard deviations of independent draws."""
    return float(np.corrcoef(x, y)[0, 1] * math.sqrt(len(x)))
