"""Facility location from features that are too many for a table: the same as with the table."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import handful
from handful.errors import InvalidProblem
from handful.objectives import FacilityLocation, FeatureBased, GraphCut, LogDet, arrays
from handful.objectives.similarity import Alike

SETTINGS = {
    "cosine": {"negatives": "clip"},
    "shifted": {"negatives": "shift"},
    "rbf": {"metric": "rbf", "gamma": 0.3},
    "euclidean": {"metric": "euclidean"},
    "dot": {"metric": "dot", "negatives": "clip"},
    "represented": {"metric": "rbf", "represent": 333, "seed": 4},
    "query and avoid": {"negatives": "clip", "query": "first", "avoid": "last"},
}


def pretend(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    """So many bytes of memory are free."""
    monkeypatch.setattr("handful.objectives.facility.free_memory", lambda: free)


def both(features: np.ndarray, name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[FacilityLocation, FacilityLocation]:
    """With the table kept, and without."""
    rows = {"first": features[:2], "last": features[-2:]}
    how = {key: rows.get(x, x) if isinstance(x, str) else x for key, x in SETTINGS[name].items()}
    kept = FacilityLocation.from_features(features, dtype=np.float64, **how)
    pretend(monkeypatch, 0)
    streamed = FacilityLocation.from_features(features, dtype=np.float64, **how)
    assert not isinstance(kept.similarity, Alike)
    assert isinstance(streamed.similarity, Alike)
    return kept, streamed


@pytest.mark.parametrize("name", SETTINGS)
def test_gains_and_picks_are_those_of_the_table(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    features = np.random.default_rng(0).normal(size=(700, 7))
    kept, streamed = both(features, name, monkeypatch)
    a, b = kept.start(), streamed.start()
    for item in (5, 600, 33):
        assert b.gains() == pytest.approx(a.gains(), rel=1e-9, abs=1e-6)  # roots of nearly 0
        a.add(item)
        b.add(item)
    assert b.value == pytest.approx(a.value)
    assert handful.maximize(streamed, 12).chosen == handful.maximize(kept, 12).chosen


def test_rows_that_are_the_same_tie_whatever_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).random((150, 9)).astype(np.float32)
    _, streamed = both(np.concatenate([rows, rows, rows]), "cosine", monkeypatch)
    gains = streamed.start().gains()
    assert gains[:150] == pytest.approx(gains[150:300])
    assert gains[:3] == pytest.approx([streamed.start().gain(item) for item in range(3)])
    naive, lazy = (handful.maximize(streamed, 20, method=method) for method in ("naive", "lazy"))
    assert [item % 150 for item in naive.indices] == [item % 150 for item in lazy.indices]
    assert naive.gains == pytest.approx(lazy.gains)
    assert handful.maximize(pickle.loads(pickle.dumps(streamed)), 20).chosen == lazy.chosen


def is_greedy(features: np.ndarray, picks: tuple[int, ...], *, clip: bool) -> bool:
    """Whether each pick adds as much as any item could, but for rounding in single precision."""
    unit = features.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    table = np.maximum(unit @ unit.T, 0.0) if clip else unit @ unit.T
    served = np.zeros(len(table))
    for pick in picks:
        gains = np.maximum(table - served, 0.0).sum(axis=1)
        if gains[pick] < gains.max() * (1.0 - 1e-5) - 1e-6 * len(table):
            return False
        served = np.maximum(served, table[pick])
    return len(set(picks)) == len(picks)


@settings(deadline=None, max_examples=12)
@example(rows=1100, columns=900, threads=4, memory=0.0, clip=False, dtype=np.float64)
@example(rows=3000, columns=799, threads=1, memory=0.05, clip=True, dtype=np.float32)
@example(rows=700, columns=1, threads=2, memory=9.0, clip=True, dtype=np.float64)
@example(rows=1, columns=1, threads=4, memory=0.0, clip=True, dtype=np.float64)
@given(
    rows=st.integers(1, 500), columns=st.integers(1, 900), threads=st.sampled_from([1, 2, 4]),
    memory=st.sampled_from([0.0, 0.1, 9.0]), clip=st.booleans(), dtype=st.sampled_from([np.float32, np.float64]),
)  # fmt: skip
def test_picks_of_every_shape_are_greedys_whatever_memory_and_cores(
    rows: int, columns: int, threads: int, memory: float, clip: bool, dtype: type
) -> None:
    draws = np.random.default_rng(rows * 1000 + columns)
    features = (draws.normal(size=(rows, columns)) if clip else draws.random((rows, columns))).astype(dtype)
    table = 4 * 4 * rows * rows  # so many bytes have to be free for the table to be kept
    with pytest.MonkeyPatch.context() as monkeypatch, threadpool_limits(threads):
        pretend(monkeypatch, int(memory * table))
        f = FacilityLocation.from_features(features, negatives="clip" if clip else "refuse")
        assert isinstance(f.similarity, Alike) == (memory < 1.0)
        found = handful.maximize(f, min(6, rows))
    assert is_greedy(features, found.indices, clip=clip)


@pytest.mark.parametrize("free", [0, 10**12])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused_when_features_are_given(
    free: int, wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, free)
    features = np.ones((100, 3))
    features[70, 1] = wrong
    for metric in ("cosine", "dot", "rbf", "euclidean"):
        with pytest.raises(InvalidProblem, match=r"features\[\(70, 1\)\] is -?(nan|inf), not a finite number"):
            FacilityLocation.from_features(features, metric=metric)


@pytest.mark.parametrize("free", [0, 10**12])
def test_negative_similarities_and_zeros_alone_are_refused_when_features_are_given(
    free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, free)
    features = np.random.default_rng(2).normal(size=(100, 3))
    for avoid in (None, features[:1]):
        with pytest.raises(InvalidProblem, match="negatives='clip'"):
            FacilityLocation.from_features(features, avoid=avoid)
    for f in (FacilityLocation, GraphCut, LogDet):
        with pytest.raises(InvalidProblem, match="features are zero everywhere"):
            f.from_features(np.zeros((5, 3)))  # type: ignore[attr-defined]
    with pytest.raises(InvalidProblem, match="features are zero everywhere"):
        FeatureBased(np.zeros((5, 3)))


def test_numbers_near_the_limits_of_their_type_are_compared_all_the_same() -> None:
    features = np.random.default_rng(4).random((40, 5))
    expected = handful.maximize(FacilityLocation.from_features(features), 5).indices
    for scale in (1e-200, 1e200):
        assert handful.maximize(FacilityLocation.from_features(features * scale), 5).indices == expected
    far = FacilityLocation.from_features(features + 1e5, metric="rbf")  # a distance does not depend on the origin
    assert far.similarity == pytest.approx(FacilityLocation.from_features(features, metric="rbf").similarity, abs=1e-5)
    with pytest.raises(InvalidProblem, match="too large for float32"):
        FacilityLocation.from_features(features * 1e30, metric="dot")


def test_float64_is_computed_in_float32_unless_it_is_asked_for() -> None:
    features = np.random.default_rng(4).random((40, 5))
    assert FacilityLocation.from_features(features).similarity.dtype == np.float32  # type: ignore[union-attr]
    asked = FacilityLocation.from_features(features, dtype=np.float64)
    assert asked.similarity.dtype == np.float64  # type: ignore[union-attr]
    with pytest.raises(InvalidProblem, match="numpy.float32 or numpy.float64"):
        FacilityLocation.from_features(features, dtype=np.int64)


def test_of_memory_what_the_container_leaves_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "CONTAINER", tmp_path)
    without = arrays.free_memory()
    for name, said in (("max", "5000"), ("current", "4000"), ("stat", "anon 1\ninactive_file 700\n")):
        (tmp_path / f"memory.{name}").write_text(said)
    assert arrays.free_memory() == 1700 < without
