"""Choosing columns as scikit-learn's own selectors do: its checks pass, and noise is dealt with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from handful.errors import InvalidProblem
from handful.sklearn import SequentialSelector


@parametrize_with_checks([SequentialSelector(LogisticRegression(max_iter=100), k=1, random_state=0, budget=10)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_the_columns_that_tell_are_picked_and_the_rest_left_out() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 10))
    y = X[:, 0] + X[:, 1] + X[:, 2] + rng.normal(size=400) / 4 > 0
    selector = SequentialSelector(GaussianNB(), k=3, random_state=0).fit(X, y)
    assert set(selector.ranking_) == set(selector.get_support(indices=True)) == {0, 1, 2}
    assert selector.transform(X).shape == (400, 3)
    assert 30 <= selector.n_fits_ < 60


def test_the_number_of_processes_changes_nothing() -> None:
    X, y = load_digits(return_X_y=True)
    X = X[:, X.std(axis=0) > 0.5]
    alone, together = (SequentialSelector(GaussianNB(), k=2, random_state=0, n_jobs=n).fit(X, y) for n in (None, 2))
    assert alone.ranking_.tolist() == together.ranking_.tolist()
    assert alone.result_ == together.result_


def test_no_more_processes_are_started_than_fits_may_be_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handful.sklearn.IN_FLIGHT", 1)
    X = np.random.default_rng(1).normal(size=(60, 3))
    SequentialSelector(GaussianNB(), k=1, budget=9, n_jobs=3).fit(X, X[:, 0] > 0)  # a warning would be an error


def test_it_stands_in_a_pipeline_and_names_its_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = 3 * X[:, 4] - 2 * X[:, 1] + rng.normal(size=200) / 10
    pipeline = make_pipeline(SequentialSelector(Ridge(), k=2, scoring="r2", random_state=0), Ridge()).fit(X, y)
    assert pipeline.score(X, y) > 0.99
    assert list(pipeline[0].get_feature_names_out()) == ["x1", "x4"]


@pytest.mark.parametrize("k", [0, 4, True, "all"])
def test_a_number_of_columns_that_makes_no_sense_is_refused(k: Any) -> None:
    with pytest.raises(InvalidProblem, match="k must be a number of columns from 1 to 3"):
        SequentialSelector(GaussianNB(), k=k).fit(np.eye(4), [0, 1, 0, 1])
