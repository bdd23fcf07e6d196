"""What matters more (`query`) and what is there already (`avoid`), for objectives made from features."""

from __future__ import annotations

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Real, blocks, numbers, real, weights_for
from handful.objectives.similarity import Alike, alike
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
    given = numbers(what, rows, 2, negative=True).astype(pairs.clients.dtype, copy=False)
    columns = pairs.clients.shape[1]
    if given.shape[1] != columns:
        raise InvalidProblem(f"{what} has {given.shape[1]} columns, features has {columns}: give as many")
    one = alike(given, pairs.metric, pairs.clients, what)
    return np.concatenate([one.rows(at) for at in blocks(*one.shape)])
