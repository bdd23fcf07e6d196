"""Reach, as market researchers count it (TURF): how many respondents find something they would take."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.errors import InvalidProblem
from handful.objectives.arrays import Sparse, Table2D, ids_of, table, weights_for
from handful.objectives.coverage import CoverageProgress
from handful.problem import Floats


class Reach:
    """f(S) = Σ_r w_r·[respondent r would take some item of S]: the weighted number of respondents reached.

    `responses` has one row per respondent and one column per item, as surveys come: 1 where the respondent would take
    the item, else 0 (a number between is a probability). `weights` are case weights. With pandas the items are the
    names of the columns. Monotone and submodular.
    """

    monotone = True
    submodular = True

    def __init__(self, responses: object, weights: object = None) -> None:
        names = getattr(responses, "columns", None)
        turned = ids_of(responses) is not None and names is not None
        self.ids = tuple(names.tolist()) if turned and names is not None else None
        self.responses: Table2D = _by_item(responses)
        self.weights: Floats = weights_for("case weights", weights, self.responses.shape[1], "respondent")

    @property
    def size(self) -> int:
        """The number of items."""
        return self.responses.shape[0]

    @property
    def total(self) -> float:
        """The weight of all respondents: f(S)/total is the share reached."""
        return float(self.weights.sum())

    def start(self) -> CoverageProgress:
        """Progress at the empty set."""
        return CoverageProgress(self.weights, self.responses)


def _by_item(responses: Any) -> Table2D:
    """The table with one row per item."""
    if hasattr(responses, "tocsr"):
        turned = table("responses", responses.T)
    else:
        given = table("responses", responses)
        assert not isinstance(given, Sparse)
        turned = np.ascontiguousarray(given.T)
    entries = turned.data if isinstance(turned, Sparse) else turned
    if entries.size and entries.max() > 1.0:
        raise InvalidProblem(
            f"responses hold {entries.max():g}: give 1 where a respondent would take the item and 0 elsewhere, "
            "for instance `ratings >= 4`"
        )
    return turned
