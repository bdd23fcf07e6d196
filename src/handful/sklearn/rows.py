"""Pick representative rows of a table, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from handful.errors import InvalidProblem
from handful.exact.by_name import objective_named
from handful.exact.maximize import maximize


class RowSelector(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Pick k rows that stand for all of them.

    Parameters: k, how many; by, "facility-location", "feature-based", "graph-cut" or "log-det"; metric, "rbf",
    "cosine", "dot" or "euclidean"; method, as in `handful.maximize`; represent, how many rows are drawn to be
    represented (facility location; None: all); random_state, a number that draws them.

    After fit: indices_, the rows in the order picked; gains_, what each added; value_, f of them; ratio_, the share of
    the best possible that this is at least (None if not known); ranking_, all that `handful.maximize` says.

    X may be sparse: feature-based looks at its entries alone; the others compare rows of it that are made dense.
    Cosines and dot products below zero count as 0 (facility location, graph cut).

    There is no `transform`: a transformer returns as many rows as it is given. `select(X)` returns the picked rows of
    any table with the rows of X, for instance of the labels: `selector.select(y)`.
    """

    def __init__(
        self,
        k: int = 10,
        *,
        by: str = "facility-location",
        metric: str = "rbf",
        method: str = "auto",
        represent: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.k = k
        self.by = by
        self.metric = metric
        self.method = method
        self.represent = represent
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RowSelector:
        """Pick; y is not looked at."""
        rows = validate_data(self, X, dtype=[np.float64, np.float32], accept_sparse="csr")
        count = rows.shape[0]
        if self.k > count:
            raise InvalidProblem(f"k = {self.k} rows cannot be picked of n_samples={count}: lower k")
        objective = objective_named(self.by, rows, metric=self.metric, represent=self.represent, seed=self.random_state)
        self.ranking_ = maximize(objective, self.k, method=self.method, seed=self.random_state)
        self.indices_ = np.array(self.ranking_.indices, dtype=np.int64)
        self.gains_ = np.array(self.ranking_.gains)
        self.value_ = self.ranking_.value
        self.ratio_ = self.ranking_.ratio
        self.n_rows_ = count
        return self

    def select(self, X: Any) -> Any:
        """The picked rows of X, in the order picked; X may be any table or list with the rows that were fitted."""
        check_is_fitted(self)
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        if count != self.n_rows_:
            raise InvalidProblem(f"X has {count} rows, and {self.n_rows_} were fitted: give the same rows")
        return _safe_indexing(X, self.indices_)

    def __sklearn_tags__(self) -> Any:
        """Sparse tables are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
