"""`handful.sklearn.RowSelector` as scikit-learn's users meet it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import handful
from handful.errors import InvalidProblem
from handful.objectives import FacilityLocation
from handful.sklearn import RowSelector


@parametrize_with_checks([RowSelector(k=2), RowSelector(k=2, by="log-det", metric="cosine")])
def test_it_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_it_picks_what_maximize_picks_and_selects_those_rows_of_anything() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    selector = RowSelector(k=5).fit(X)
    assert tuple(selector.indices_) == handful.maximize(FacilityLocation.from_features(X, metric="rbf"), 5).chosen
    assert selector.ratio_ == selector.ranking_.ratio
    assert (selector.select(X) == X[selector.indices_]).all()
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(40)])
    assert selector.select(frame).index.tolist() == [f"r{i}" for i in selector.indices_]
    assert selector.select([str(i) for i in range(40)]) == [str(i) for i in selector.indices_]


def test_it_can_be_cloned_and_has_no_transform() -> None:
    selector = RowSelector(k=3, by="graph-cut", metric="cosine", represent=None, random_state=4)
    assert clone(selector).get_params() == selector.get_params()
    assert not hasattr(selector, "transform")


@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array])
@pytest.mark.parametrize("by", ["facility-location", "feature-based", "graph-cut", "log-det"])
def test_sparse_rows_are_picked_as_dense_ones_are(by: str, kind: Any) -> None:
    X = np.random.default_rng(0).random((30, 6)) * (np.random.default_rng(1).random((30, 6)) < 0.4)
    dense, sparse = RowSelector(k=4, by=by).fit(X), RowSelector(k=4, by=by).fit(kind(X))
    assert dense.indices_.tolist() == sparse.indices_.tolist()
    assert (sparse.select(kind(X).tocsr()) != kind(X).tocsr()[sparse.indices_]).nnz == 0


def test_what_makes_no_sense_is_refused() -> None:
    X = np.random.default_rng(0).normal(size=(4, 3))
    with pytest.raises(InvalidProblem, match="n_samples=4"):
        RowSelector(k=5).fit(X)
    with pytest.raises(InvalidProblem, match="no objective 'magic'"):
        RowSelector(k=2, by="magic").fit(X)
    with pytest.raises(InvalidProblem, match="represent is for facility-location"):
        RowSelector(k=2, by="log-det", represent=2).fit(X)
    with pytest.raises(InvalidProblem, match="X has 3 rows, and 4 were fitted"):
        RowSelector(k=2).fit(X).select(X[:3])
    with pytest.raises(NotFittedError):
        RowSelector().select(X)
