"""95% intervals, without more than NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from handful.problem import Floats

Z = NormalDist().inv_cdf(0.975)
RESAMPLES = 2000


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95% interval."""

    mid: float
    low: float
    high: float

    def say(self, digits: int = 2) -> str:
        """The estimate and its interval as text: `5.47 [5.41, 5.53]`."""
        return f"{number(self.mid, digits)} [{number(self.low, digits)}, {number(self.high, digits)}]"


def number(x: float, digits: int = 2) -> str:
    """As a person would write it: large numbers as powers of ten."""
    if not math.isfinite(x):
        return "∞" if x > 0 else "–"
    if abs(x) < 1e4:
        return f"{x:.{digits}f}".replace("-", "−")
    power = math.floor(math.log10(abs(x)))
    return f"{x / 10**power:.1f}·10{str(power).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def student_quantile(freedom: int) -> float:
    """The 97.5% point of Student's t, by Cornish and Fisher's expansion: within 1% from 3 degrees of freedom on."""
    z, n = Z, float(freedom)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )


def mean(values: npt.ArrayLike) -> Interval:
    """The mean of independent values. A single value has no interval: it stands alone."""
    x = np.asarray(values, dtype=float)
    mid = float(x.mean())
    if len(x) < 2:
        return Interval(mid, mid, mid)
    half = student_quantile(len(x) - 1) * float(x.std(ddof=1)) / math.sqrt(len(x))
    return Interval(mid, mid - half, mid + half)


def geometric(values: npt.ArrayLike) -> Interval:
    """The geometric mean, for costs and ratios."""
    logs = mean(np.log(np.asarray(values, dtype=float)))
    return Interval(math.exp(logs.mid), math.exp(logs.low), math.exp(logs.high))


def share(hits: int, n: int) -> Interval:
    """A proportion, with Wilson's interval: it says something even for 0 of n."""
    p = hits / n
    centre = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    return Interval(p, 0.0 if hits == 0 else centre - half, 1.0 if hits == n else centre + half)


def slope(x: npt.ArrayLike, y: npt.ArrayLike) -> Interval:
    """The slope of a straight line through points, by least squares."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    centred = a - a.mean()
    steep = float(centred @ b / (centred @ centred))
    left = b - b.mean() - steep * centred
    if len(a) < 3:
        return Interval(steep, steep, steep)
    half = student_quantile(len(a) - 2) * math.sqrt(float(left @ left) / (len(a) - 2) / float(centred @ centred))
    return Interval(steep, steep - half, steep + half)


def bootstrap(samples: Sequence[Floats], statistic: Callable[[list[float]], float]) -> Interval:
    """A statistic of several means, each resampled over its runs; resamples without a value are left out."""
    rng = np.random.Generator(np.random.Philox(0))
    drawn = [x[rng.integers(0, len(x), (RESAMPLES, len(x)))].mean(axis=1) for x in samples]
    values = np.array([statistic([float(d[i]) for d in drawn]) for i in range(RESAMPLES)])
    values = values[~np.isnan(values)]
    mid = statistic([float(x.mean()) for x in samples])
    if len(values) < RESAMPLES // 2:
        return Interval(mid, math.nan, math.nan)
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(mid, float(low), float(high))


def budget_for(target: float, budgets: Sequence[float], utilities: Sequence[float]) -> float:
    """The budget at which a curve first reaches `target`, on straight lines over log budget; nan if it does not."""
    for i, utility in enumerate(utilities):
        if utility < target:
            continue
        if i == 0:
            return budgets[0]
        before = utilities[i - 1]
        along = (target - before) / (utility - before)
        return float(np.exp(np.log(budgets[i - 1]) + along * np.log(budgets[i] / budgets[i - 1])))
    return math.nan
