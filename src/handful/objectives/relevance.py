"""What matters more (`query`) and what is there already (`avoid`), for objectives made from features."""

from __future__ import annotations

import numpy as np

from handful.objectives.arrays import Real, blocks, real, weights_for
from handful.objectives.similarity import Alike, alike_to
from handful.problem import Floats


def relevance(query: object, pairs: Alike) -> Floats:
    """A weight for each client: those given, or how much it resembles the query most like it, at least 0."""
    clients = pairs.shape[1]
    if query is None:
        return np.ones(clients)
    if real("query", query).ndim == 1:
        return weights_for("query weights", query, clients, "client")
    return np.maximum(against(query, pairs, "query").max(axis=0), 0.0).astype(np.float64)


def against(rows: object, pairs: Alike, what: str) -> Real:
    """The similarities of these rows to the clients."""
    one = alike_to(rows, pairs, what)
    return np.concatenate([one.rows(at) for at in blocks(*one.shape)])
