"""How a simulated world answers: a number around the true gain, or which of two gains, or of several, is the largest.

A `Response` is a kind and its parameters, so that the compiled simulator and a live oracle share one function.
Probabilities of a comparison depend on the difference of gains x = f(a|S) − f(b|S) only:

| kind       | P(a is preferred)                                   |
|------------|-----------------------------------------------------|
| btl        | 1 / (1 + exp(−β x)); β = 0 is a coin, β = ∞ exact   |
| linear     | clip(½ + β x / 4, 0, 1), the tangent of btl at 0    |
| saturating | ½ + ⅖ · (2/π) · atan(π β x / 3.2), never beyond 0.9 |

(`saturating` has the slope of btl at 0.) Among several options O, btl is Luce's model: P(i is named) =
exp(β·f(i|S)) / Σ_{j∈O} exp(β·f(j|S)); the other two are of pairs alone. `tastes` is btl of people who differ: each
question is answered by one of them, drawn by its seed, by the gains of that person's own function. With probability
`careless` an answer is a fair coin, or a fair die, instead.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from handful.draws import ANSWER, normals, uniforms
from handful.errors import InvalidProblem
from handful.kernels import kernel
from handful.numbers import is_finite, is_number
from handful.problem import Floats, Ints

UNIFORM, GAUSSIAN, BERNOULLI, STUDENT, RATINGS, BTL, LINEAR, SATURATING, TASTES = range(9)


class Response(NamedTuple):
    """What the compiled code needs to answer. Build one with the functions below."""

    kind: int
    scale: float
    careless: float
    low: float = 0.0

    @property
    def compares(self) -> bool:
        """Whether answers are comparisons (True) or values (False)."""
        return self.kind >= BTL

    @property
    def chooses(self) -> bool:
        """Whether it can answer a question with more than two options."""
        return self.kind in (BTL, TASTES)

    @property
    def differs(self) -> bool:
        """Whether people differ: then the objective must be a mixture with a part for each of them."""
        return self.kind == TASTES


def uniform(half_width: float) -> Response:
    """Values uniform on [gain − half_width, gain + half_width]; the paper calls the half-width σ²."""
    return Response(UNIFORM, _scale("the half-width", half_width), 0.0)


def gaussian(sd: float) -> Response:
    """Values with normal noise of standard deviation `sd`."""
    return Response(GAUSSIAN, _scale("the standard deviation", sd), 0.0)


def bernoulli(low: float = 0.0, high: float = 1.0) -> Response:
    """Values `low` or `high` whose mean is the gain, which must lie between them: as noisy as it can be."""
    if not (is_finite(low) and is_finite(high) and low < high):
        raise InvalidProblem(f"values are one of two finite numbers, low < high, got {low!r} and {high!r}")
    return Response(BERNOULLI, float(high), 0.0, float(low))


def student(scale: float) -> Response:
    """Values with the noise of Student's t with three degrees of freedom, times `scale`: now and then far off."""
    return Response(STUDENT, _scale("the scale", scale), 0.0)


def ratings(best: float) -> Response:
    """Ratings from 1 to 5 whose mean is 1 + 4·gain/best; a gain lies between 0 and `best`. Half of them are 1 or 5."""
    if not (is_finite(best) and best > 0):
        raise InvalidProblem(f"the gain that is rated 5 must be a positive number, got {best!r}")
    return Response(RATINGS, float(best), 0.0)


def btl(beta: float, careless: float = 0.0) -> Response:
    """Comparisons by Bradley, Terry and Luce with sharpness β; 0 and ∞ are allowed."""
    return _link(BTL, beta, careless)


def linear(beta: float, careless: float = 0.0) -> Response:
    """Comparisons whose probability is linear in the difference, until it is certain."""
    return _link(LINEAR, beta, careless)


def saturating(beta: float, careless: float = 0.0) -> Response:
    """Comparisons that are wrong at least one time in ten, however large the difference."""
    return _link(SATURATING, beta, careless)


def tastes(beta: float = math.inf, careless: float = 0.0) -> Response:
    """Choices by people who each want something else and are sure of it: sharpness β, by a function of their own."""
    return _link(TASTES, beta, careless)


def _link(kind: int, beta: float, careless: float) -> Response:
    if not (is_number(beta) and beta >= 0):
        raise InvalidProblem(f"β must be 0 or more (∞ allowed), got {beta}: it says how sharp comparisons are")
    if not (is_number(careless) and 0 <= careless <= 1):
        raise InvalidProblem(f"the careless rate must lie in [0, 1], got {careless}")
    return Response(kind, float(beta), float(careless))


def _scale(what: str, x: float) -> float:
    if not (is_finite(x) and x >= 0):
        raise InvalidProblem(f"{what} of the noise must be a finite number, 0 or more, got {x}")
    return float(x)


@kernel
def preference(response: Response, x: float) -> float:
    """P(the first is preferred) when its gain is larger by x, before carelessness."""
    if x == 0.0 or response.scale == 0.0:
        return 0.5
    if response.scale == math.inf:
        z = math.inf if x > 0 else -math.inf
    else:
        z = response.scale * x
    if response.kind == BTL or response.kind == TASTES:
        return 1.0 / (1.0 + math.exp(-z))
    if response.kind == LINEAR:
        return min(1.0, max(0.0, 0.5 + z / 4.0))
    return 0.5 + 0.4 * (2.0 / math.pi) * math.atan(math.pi * z / 3.2)


@kernel
def respond(response: Response, gain: float, rival_gain: float, seed: int) -> float:
    """One answer, from the seed that travels with the question: a value, or 1.0 / 0.0 for a comparison."""
    u, v = uniforms(seed, 0, ANSWER, 0)
    if response.kind == UNIFORM:
        return gain + response.scale * (2.0 * u - 1.0)
    if response.kind == GAUSSIAN:
        z, _ = normals(seed, 0, ANSWER, 0)
        return gain + response.scale * z
    if response.kind == BERNOULLI:
        return response.scale if u * (response.scale - response.low) < gain - response.low else response.low
    if response.kind == STUDENT:
        z, a = normals(seed, 0, ANSWER, 0)
        b, c = normals(seed, 0, ANSWER, 1)
        return gain + response.scale * z / math.sqrt((a * a + b * b + c * c) / 3.0)
    if response.kind == RATINGS:
        share = gain / response.scale
        if v < 0.5:
            return 5.0 if u < share else 1.0
        rating = 1.0
        for step in range(2):
            u, v = uniforms(seed, 0, ANSWER, step + 1)
            rating += (1.0 if u < share else 0.0) + (1.0 if v < share else 0.0)
        return rating
    if v < response.careless:
        return 1.0 if u < 0.5 else 0.0
    return 1.0 if u < preference(response, gain - rival_gain) else 0.0


@kernel
def choose(response: Response, gains: Floats, options: Ints, seed: int) -> int:
    """The option that is named among several (those ≥ 0), by Luce's model; from the seed of the question."""
    u, v = uniforms(seed, 0, ANSWER, 0)
    beta = 0.0 if v < response.careless else response.scale
    top = -math.inf
    for q in range(len(options)):
        if options[q] >= 0:
            top = max(top, gains[options[q]])
    total = 0.0
    for q in range(len(options)):
        if options[q] >= 0:
            total += _weight(beta, gains[options[q]] - top)
    left, named = u * total, -1
    for q in range(len(options)):
        if options[q] >= 0:
            weight = _weight(beta, gains[options[q]] - top)
            if weight > 0.0 and left >= 0.0:
                named = options[q]
            left -= weight
    return named


@kernel
def _weight(beta: float, x: float) -> float:
    """exp(β·x) for x ≤ 0, also where β is ∞."""
    if x == 0.0 or beta == 0.0:
        return 1.0
    return 0.0 if beta == math.inf else math.exp(beta * x)
