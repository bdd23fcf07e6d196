"""Facility location from features that are too many for a table: the same as with the table."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import handful
from handful.errors import InvalidProblem
from handful.objectives import FacilityLocation
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


def both(features: np.ndarray, name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[FacilityLocation, FacilityLocation]:
    """With the table kept, and without."""
    rows = {"first": features[:2], "last": features[-2:]}
    settings = {key: rows.get(x, x) if isinstance(x, str) else x for key, x in SETTINGS[name].items()}
    kept = FacilityLocation.from_features(features, **settings)
    monkeypatch.setattr("handful.objectives.facility.STORED", 0)
    streamed = FacilityLocation.from_features(features, **settings)
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


def test_rows_that_are_the_same_tie_to_the_bit_so_naive_equals_lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).random((150, 9)).astype(np.float32)
    _, streamed = both(np.concatenate([rows, rows, rows]), "cosine", monkeypatch)
    gains = streamed.start().gains()
    assert gains[:150].tolist() == gains[150:300].tolist() == gains[300:].tolist()
    assert gains[:3].tolist() == [streamed.start().gain(item) for item in range(3)]
    naive, lazy = (handful.maximize(streamed, 20, method=method) for method in ("naive", "lazy"))
    assert naive.chosen == lazy.chosen
    assert naive.gains == lazy.gains
    assert max(naive.chosen) < 150
    assert handful.maximize(pickle.loads(pickle.dumps(streamed)), 20).chosen == lazy.chosen


def test_negative_similarities_are_refused_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handful.objectives.facility.STORED", 0)
    features = np.random.default_rng(2).normal(size=(100, 3))
    with pytest.raises(InvalidProblem, match="negatives='clip'"):
        handful.maximize(FacilityLocation.from_features(features), 3)


@pytest.mark.parametrize(("rows", "columns", "threads"), [(3, 5, 64), (400, 799, 64), (3000, 799, 64)])
def test_there_may_be_more_cores_than_rows_to_look_at(
    rows: int, columns: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    features = np.random.default_rng(3).random((rows, columns), dtype=np.float32)
    monkeypatch.setattr("handful.objectives.streamed.cores", lambda: threads)
    monkeypatch.setattr("handful.objectives.facility.STORED", 0)
    streamed = FacilityLocation.from_features(features)
    assert streamed.start().gain(0) == streamed.start().gains(np.array([0, 1]))[0]
    assert len(handful.maximize(streamed, 3).chosen) == 3
