"""`query=` and `avoid=` of graph cut and log det, against their definitions written out."""

from __future__ import annotations

import numpy as np
import pytest

from handful.errors import InvalidProblem
from handful.objectives import GraphCut, LogDet
from tests.objectives.every import value_of

RNG = np.random.default_rng(5)
X, THERE, QUERIES = RNG.random((8, 4)), RNG.random((3, 4)), RNG.random((2, 4))
S = [1, 4, 6]


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray((a / np.linalg.norm(a, axis=1)[:, None]) @ (b / np.linalg.norm(b, axis=1)[:, None]).T)


def log_det(table: np.ndarray, alpha: float) -> float:
    return float(np.linalg.slogdet(np.eye(len(table)) + alpha * table)[1])


@pytest.mark.parametrize("from_features", [True, False])
def test_log_det_is_what_the_set_adds_to_what_is_there_each_item_by_its_relevance(from_features: bool) -> None:
    q = cosines(QUERIES, X).max(axis=0)
    if from_features:
        f = LogDet.from_features(X, 1.5, query=QUERIES, avoid=THERE)
    else:
        avoid = np.hstack([cosines(THERE, X), cosines(THERE, THERE)])
        f = LogDet(cosines(X, X), 1.5, query=q, avoid=avoid)
    both = np.vstack([X[S], THERE])
    weights = np.concatenate([q[S], np.ones(3)])
    whole = cosines(both, both) * np.outer(weights, weights)
    assert value_of(f, S) == pytest.approx(log_det(whole, 1.5) - log_det(cosines(THERE, THERE), 1.5))


@pytest.mark.parametrize("from_features", [True, False])
def test_graph_cut_is_what_the_set_adds_to_what_is_there(from_features: bool) -> None:
    q = cosines(QUERIES, X).max(axis=0)
    if from_features:
        f = GraphCut.from_features(X, 0.3, query=QUERIES, avoid=THERE)
    else:
        f = GraphCut(cosines(X, X), 0.3, query=q, avoid=cosines(THERE, X))
    alike = cosines(X, X)
    said_twice = alike[np.ix_(S, S)].sum() + 2.0 * cosines(THERE, X)[:, S].sum()
    assert value_of(f, S) == pytest.approx((alike[S] * q).sum() - 0.3 * said_twice)
    assert not f.monotone


def test_rows_to_avoid_of_another_width_are_refused() -> None:
    with pytest.raises(InvalidProblem, match="give one per item"):
        GraphCut(cosines(X, X), avoid=np.ones((2, 3)))
    with pytest.raises(InvalidProblem, match="give rows of 10 similarities"):
        LogDet(cosines(X, X), avoid=np.ones((2, 8)))
    with pytest.raises(InvalidProblem, match="avoid has 3 columns"):
        LogDet.from_features(X, avoid=np.ones((2, 3)))
