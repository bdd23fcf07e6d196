"""People who each want their own topics: drawn from an album's coverage function, so that their mean is a crowd's f."""

from __future__ import annotations

import numpy as np

from handful.numbers import whole
from handful.objectives import Coverage, SampleAverage

PEOPLE = 25
SHAPE = 0.3  # of the gamma distribution of how much a topic matters to a person: few matter much, most hardly


def people_with_tastes(album: Coverage, people: int = PEOPLE, seed: int = 0) -> SampleAverage:
    """A part per person: the album's topics with weights of that person's own, which add up to the album's."""
    whole("people", people, 1)
    rng = np.random.Generator(np.random.Philox(key=whole("seed", seed, 0)))
    parts = []
    for _ in range(people):
        weights = album.weights * rng.gamma(SHAPE, 1.0 / SHAPE, len(album.weights))
        parts.append(Coverage(weights * album.weights.sum() / weights.sum(), album.matrix))
    return SampleAverage(parts)
