"""Estimators for scikit-learn: representative rows of a table, and columns chosen by noisy scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import InvalidProblem, MissingExtra
from handful.exact.maximize import maximize, objective_named
from handful.executors import count_of
from handful.oracles.simulators import SimulatedSet
from handful.problem import Values
from handful.study import Study

try:
    from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.feature_selection import SelectorMixin
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
    from sklearn.utils import _safe_indexing, check_random_state, get_tags
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data
except ImportError:
    raise MissingExtra("handful.sklearn", "sklearn") from None


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


IN_FLIGHT = 8  # always, so that the number of processes changes nothing


class SplitScore:
    """The score of a model that is fitted on some columns and one part of the data, on the other part."""

    def __init__(
        self, estimator: Any, X: Any, y: Any, scorer: Callable[..., float], test_size: float, stratify: bool
    ) -> None:
        self._estimator = estimator
        self._X = X
        self._y = y
        self._scorer = scorer
        self._test_size = test_size
        self._split: Any = StratifiedShuffleSplit if stratify else ShuffleSplit

    def __call__(self, columns: tuple[int, ...], seed: int) -> float:
        if not columns and self._y is None:
            return 0.0
        splitter = self._split(n_splits=1, test_size=self._test_size, random_state=seed % 2**32)
        train, test = next(splitter.split(self._X, self._y))
        X = self._X[:, list(columns)] if columns else np.zeros((self._X.shape[0], 1))
        y_train, y_test = (None, None) if self._y is None else (_safe_indexing(self._y, rows) for rows in (train, test))
        model = (clone(self._estimator) if columns else self._blind()).fit(X[train], y_train)
        return float(self._scorer(model, X[test]) if y_test is None else self._scorer(model, X[test], y_test))

    def _blind(self) -> Any:
        """What can be told without any column, so that the first column's gain is what it adds, like all others'."""
        return DummyClassifier(strategy="prior") if is_classifier(self._estimator) else DummyRegressor()


class SequentialSelector(SelectorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Pick `k` columns for `estimator`, one after the other, each by as many fits as it takes to tell.

    `budget` is how many fits of candidates may be spent (default: one per column and pick; one more for each split
    comes on top). `test_size` is the share of rows that a score is taken on. `n_jobs` processes fit at once, eight at
    most, with the same result as one. After `fit`: `support_`, `ranking_` (the columns in the order picked), `n_fits_`
    and `result_`.
    """

    def __init__(
        self,
        estimator: Any,
        k: int | None = None,
        *,
        scoring: Any = None,
        budget: int | None = None,
        test_size: float = 0.33,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.k = k
        self.scoring = scoring
        self.budget = budget
        self.test_size = test_size
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> SequentialSelector:
        """Pick the columns of X that tell y."""
        tags = self.__sklearn_tags__().input_tags
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            ensure_min_features=2,
            ensure_min_samples=2,
            ensure_all_finite=not tags.allow_nan,
        )
        if y is not None:
            y = check_array(y, ensure_2d=False, dtype=None)
            if is_classifier(self.estimator):
                check_classification_targets(y)
        size = X.shape[1]
        k = max(1, size // 2) if self.k is None else self.k
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k < size:
            raise InvalidProblem(f"k must be a number of columns from 1 to {size - 1}, one fewer than X has, got {k!r}")
        budget = k * size if self.budget is None else self.budget
        scorer = check_scoring(self.estimator, scoring=self.scoring)
        stratify = y is not None and is_classifier(self.estimator) and _can_stratify(y, self.test_size)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        study = Study(
            range(size),
            int(k),
            feedback=Values(),
            budget=budget,
            in_flight=IN_FLIGHT,
            scenarios="paired",
            seed=seed,
        )
        score = SplitScore(self.estimator, X, y, scorer, self.test_size, stratify)
        jobs = None if self.n_jobs is None else min(count_of(self.n_jobs), IN_FLIGHT)
        self.result_ = study.run(SimulatedSet(score), n_jobs=jobs)
        self.ranking_ = np.array(self.result_.chosen, dtype=np.int64)
        self.support_ = np.zeros(size, dtype=bool)
        self.support_[self.ranking_] = True
        self.n_fits_ = self.result_.answers + _splits(study)
        return self

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        support: npt.NDArray[np.bool_] = self.support_
        return support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.target_tags.required = inner.target_tags.required
        return tags


def _can_stratify(y: Any, test_size: float) -> bool:
    """Whether each class has rows for both parts."""
    _, counts = np.unique(np.asarray(y), return_counts=True)
    rows = int(counts.sum())
    return bool(counts.min() >= 2 and min(rows * test_size, rows * (1 - test_size)) >= len(counts))


def _splits(study: Study[int]) -> int:
    """The fits on what was chosen already, one for each split of a round but the first."""
    first = study.state.rounds[0].questions.stop
    nth, round_ = study.state.questions.nth, study.state.questions.round
    assert nth is not None
    return len({(round_[q], nth[q]) for q in range(first, len(nth))})
