"""Promises of every kind of objective: gains, monotone, submodular, pickling, dense and sparse, float32."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from handful.errors import InvalidProblem
from handful.objectives import (
    Coverage,
    FacilityLocation,
    FeatureBased,
    Function,
    GraphCut,
    LogDet,
    MarginalRelevance,
    Mixture,
    Modular,
    Reach,
    SampleAverage,
    SaturatedCoverage,
)
from handful.objectives.arrays import Sparse
from handful.problem import Objective
from tests.objectives.every import ALL_KINDS, make, value_of

ORDERLY = [kind for kind in ALL_KINDS if kind != "mmr"]


@st.composite
def instances(draw: st.DrawFn) -> tuple[str, Objective]:
    kind = draw(st.sampled_from(ALL_KINDS))
    sizes = draw(st.integers(1, 7)), draw(st.integers(1, 25))
    return kind, make(kind, draw(st.integers(0, 2**32)), *sizes, tied=draw(st.booleans()))


@settings(deadline=None)
@given(instances(), st.randoms(use_true_random=False))
def test_gains_are_the_differences_of_values(case: tuple[str, Objective], random: object) -> None:
    kind, objective = case
    progress = objective.start()
    order = random.sample(range(objective.size), objective.size)  # type: ignore[attr-defined]
    for item in order:
        gains = progress.gains()
        for other in range(objective.size):
            whole = value_of(objective, [*progress.chosen, other]) - value_of(objective, progress.chosen)
            assert gains[other] == pytest.approx(whole, abs=1e-9), kind
        progress.add(item)


@settings(deadline=None)
@given(instances())
def test_a_gain_is_the_same_number_to_the_bit_alone_in_a_list_and_among_all(case: tuple[str, Objective]) -> None:
    kind, objective = case
    progress = objective.start()
    for item in range(objective.size):
        every = progress.gains().tolist()
        assert every == [progress.gain(a) for a in range(objective.size)], kind
        some = np.arange(objective.size)[::-2].copy()
        assert progress.gains(some).tolist() == [every[a] for a in some], kind
        progress.add(item)


@settings(deadline=None)
@given(instances())
def test_functions_are_monotone_and_submodular_where_they_say_so(case: tuple[str, Objective]) -> None:
    kind, objective = case
    progress = objective.start()
    before = progress.gains()
    for item in range(objective.size):
        if objective.monotone:  # type: ignore[attr-defined]
            assert (before >= 0.0).all(), kind
        progress.add(item)
        after = progress.gains()
        left = np.setdiff1d(np.arange(objective.size), progress.chosen)
        if objective.submodular:  # type: ignore[attr-defined]
            assert (after[left] <= before[left]).all(), kind
        before = after


def test_a_cut_beyond_one_half_says_that_it_is_not_monotone_and_is_not() -> None:
    cut = make("cut beyond", 0, 8, 5)
    assert not cut.monotone  # type: ignore[attr-defined]
    progress = cut.start()
    for item in range(7):
        progress.add(item)
    assert progress.gains()[7] < 0.0


@pytest.mark.parametrize("kind", ORDERLY)
def test_the_order_of_adding_does_not_matter(kind: str) -> None:
    objective = make(kind, 1, 8, 6)
    order = np.random.default_rng(0).permutation(8)
    assert value_of(objective, order) == pytest.approx(value_of(objective, range(8)))


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_an_objective_and_its_progress_are_the_same_after_pickling(kind: str) -> None:
    objective = make(kind, 2, 9, 6)
    progress = objective.start()
    progress.add(3)
    again = pickle.loads(pickle.dumps(objective)).start()
    again.add(3)
    halfway = pickle.loads(pickle.dumps(progress))
    assert again.gains().tolist() == progress.gains().tolist() == halfway.gains().tolist()


@pytest.mark.parametrize("kind", [k for k in ALL_KINDS if k not in ("function", "reach")])
def test_float32_gives_the_same_as_float64_up_to_its_precision(kind: str) -> None:
    exact, short = make(kind, 3, 9, 6), make(kind, 3, 9, 6, dtype=np.float32)
    assert value_of(short, range(9)) == pytest.approx(value_of(exact, range(9)), rel=1e-4)


def test_float32_is_kept_and_nothing_is_copied() -> None:
    table = np.random.default_rng(0).random((50, 20), dtype=np.float32)
    assert np.shares_memory(FacilityLocation(table).similarity, table)
    assert np.shares_memory(FeatureBased(table).features, table)
    assert FeatureBased(table).features.dtype == np.float32  # type: ignore[union-attr]


SPARSE: dict[str, Callable[[object], Objective]] = {
    "facility": lambda x: FacilityLocation(x),
    "facility with query": lambda x: FacilityLocation(x, query=np.arange(12.0)),
    "feature": lambda x: FeatureBased(x),
    "feature log": lambda x: FeatureBased(x, np.arange(12.0), "log"),
    "coverage": lambda x: Coverage(np.ones(12), x),
    "saturated": lambda x: SaturatedCoverage(x, 0.3),
    "cut": lambda x: GraphCut(x @ x.T),  # type: ignore[operator, attr-defined]
    "logdet": lambda x: LogDet(x @ x.T),  # type: ignore[operator, attr-defined]
    "reach": lambda x: Reach(x),
}


@pytest.mark.parametrize("layout", ["csr_matrix", "csr_array", "csc_matrix", "coo_array"])
@pytest.mark.parametrize("kind", SPARSE)
def test_dense_and_sparse_tables_give_the_same(kind: str, layout: str) -> None:
    rng = np.random.default_rng(4)
    table = rng.random((15, 12)) * (rng.random((15, 12)) < 0.4)
    table[3] = 0.0  # a row with nothing in it
    dense, sparse = SPARSE[kind](table), SPARSE[kind](getattr(scipy.sparse, layout)(table))
    a, b = dense.start(), sparse.start()
    for item in (3, 7, 0, 11):
        assert a.gains() == pytest.approx(b.gains())
        assert [b.gain(i) for i in range(b.gains().size)] == b.gains().tolist()
        a.add(item)
        b.add(item)
    assert a.value == pytest.approx(b.value)


def test_a_sparse_table_is_not_made_dense() -> None:
    assert isinstance(FacilityLocation(scipy.sparse.random_array((20, 30), density=0.1)).similarity, Sparse)


def test_metrics_mean_what_they_say() -> None:
    in_double = partial(FacilityLocation.from_features, dtype=np.float64)
    rng = np.random.default_rng(5)
    x = rng.normal(size=(30, 4))
    distances = np.sqrt(((x[:, np.newaxis] - x) ** 2).sum(axis=2))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    clipped = in_double(x, negatives="clip").similarity
    assert clipped == pytest.approx(np.maximum(unit @ unit.T, 0.0))
    assert in_double(x, negatives="shift").similarity == pytest.approx(1 + unit @ unit.T)
    assert in_double(x, metric="rbf").similarity == pytest.approx(np.exp(-(distances**2) / 4))
    near = np.asarray(in_double(x, metric="euclidean").similarity)
    assert near.min() >= 0.0
    assert near.max() - near == pytest.approx(distances, abs=1e-6)
    dots = np.abs(x) @ np.abs(x).T
    assert in_double(np.abs(x), metric="dot").similarity == pytest.approx(dots)


def test_log_det_is_the_log_of_the_determinant() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(12, 5))
    picks = [3, 1, 7, 9]
    expected = np.linalg.slogdet(np.eye(4) + 1.5 * (x @ x.T)[np.ix_(picks, picks)])[1]
    assert value_of(LogDet(x @ x.T, 1.5), picks) == pytest.approx(expected)
    assert value_of(LogDet.from_features(x, 1.5, metric="dot"), picks) == pytest.approx(expected)


def test_graph_cut_reach_saturation_and_average_are_the_textbook_ones() -> None:
    alike = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
    assert value_of(GraphCut(alike, 0.5), [0, 1]) == pytest.approx(1.5 + 1.7 - 0.5 * 3.0)
    survey = [[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert value_of(Reach(survey, weights=[1, 2, 4, 8]), [0, 1]) == 3.0
    assert Reach(survey, weights=[1, 2, 4, 8]).total == 15.0
    assert value_of(SaturatedCoverage(alike, 0.5), [0, 1]) == pytest.approx(0.75 + 0.85 + 0.2)
    average = SampleAverage.of(lambda items, scenario: float(len(items) * scenario), [1.0, 3.0], 3)
    assert value_of(average, [0, 1]) == 4.0
    assert average.values([0, 1]).tolist() == [2.0, 6.0]


def test_a_query_makes_what_is_near_it_count_more_and_avoid_makes_what_is_there_count_nothing() -> None:
    x = np.eye(3)
    plain = FacilityLocation.from_features(x)
    asked = FacilityLocation.from_features(x, query=[[0.0, 1.0, 0.1]])
    had = FacilityLocation.from_features(x, avoid=[[0.0, 2.0, 0.0]])
    assert plain.start().gains().tolist() == [1.0, 1.0, 1.0]
    assert int(asked.start().gains().argmax()) == 1
    assert had.start().gains().tolist() == [1.0, 0.0, 1.0]


def test_a_drawn_sample_of_clients_estimates_the_whole_within_the_error_it_states() -> None:
    x = np.random.default_rng(7).random((400, 3))
    whole = FacilityLocation.from_features(x)
    misses = 0
    for seed in range(20):
        part = FacilityLocation.from_features(x, represent=100, seed=seed)
        gap = abs(value_of(part, [1, 2, 3]) - value_of(whole, [1, 2, 3]))
        misses += gap > part.error(3)
        assert gap > 0.0
    assert misses == 0
    assert 0.0 < part.error(3) < part.error(30)
    assert whole.error(3) == 0.0
    assert FacilityLocation.from_features(x, metric="dot", represent=100).error(3) == math.inf


SYMMETRIC = [[1.0, 0.5], [0.5, 1.0]]


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: FacilityLocation.from_features([[1.0, 0.0], [-1.0, 0.0]]), "fall to -1.*negatives='clip'.*'shift'"),
        (lambda: FacilityLocation.from_features([[1.0], [2.0]], metric="manhattan"), "give one of cosine"),
        (lambda: FacilityLocation.from_features([[1.0]], metric="dot", negatives="shift"), "for cosines"),
        (lambda: FacilityLocation.from_features([[1.0]], represent=0), "at least one"),
        (lambda: FacilityLocation.from_features([[1.0]], represent=[[1.0, 2.0]]), "has 2 columns, features has 1"),
        (lambda: FacilityLocation([[1.0]], avoid=[[1.0, 2.0]]), "avoid has 2 columns, similarity has 1"),
        (lambda: FacilityLocation([[1.0]], query=[1.0, 2.0]), "2 query weights for 1 clients"),
        (lambda: FeatureBased([[1.0]], concave="cube"), "give one of sqrt, log, ratio"),
        (lambda: FeatureBased(scipy.sparse.csr_array([[0.0, -1.0]])), "is -1.0, negative"),
        (lambda: SaturatedCoverage([[1.0]], 0.0), "0 < saturation"),
        (lambda: GraphCut([[1.0, 0.0]]), "give a square one"),
        (lambda: GraphCut([[1.0, 0.0], [0.5, 1.0]]), "give a symmetric table"),
        (lambda: GraphCut(SYMMETRIC, -1.0), "give a number ≥ 0"),
        (lambda: GraphCut.from_features([[1.0, 0.0], [-1.0, 0.0]]), "graph cut needs them ≥ 0"),
        (lambda: LogDet(SYMMETRIC, 0.0), "alpha is 0.0"),
        (lambda: LogDet.from_features([[1.0]], metric="euclidean"), "not positive semidefinite"),
        (lambda: value_of(LogDet([[1.0, 3.0], [3.0, 1.0]]), [0]), "not positive semidefinite"),
        (lambda: MarginalRelevance([[1.0]], [1.0], 2.0), "diversity is 2.0"),
        (lambda: MarginalRelevance([[1.0]], [1.0, 2.0]), "2 relevances for 1 items"),
        (lambda: Mixture([]), "nothing to mix"),
        (lambda: Mixture([Modular([1.0])], [-1.0]), "a weight is -1.0"),
        (lambda: Mixture([Modular([1.0]), Modular([1.0, 2.0])]), "about the same items"),
        (lambda: SampleAverage([]), "no scenarios"),
        (lambda: Function(lambda s: 0.0), "say what the items are"),
        (lambda: Function(lambda s: math.nan, 2).start(), "return a finite number"),
        (lambda: Function(lambda s: "many", 2).start(), "return a number"),
        (lambda: Reach([[5, 1]]), "give 1 where a respondent"),
        (lambda: Reach([[1, 1]], weights=[1.0, 2.0]), "2 case weights for 1 respondents"),
    ],
)
def test_numbers_that_make_no_objective_are_refused_with_what_to_do(
    make_it: Callable[[], object], message: str
) -> None:
    with pytest.raises(InvalidProblem, match=message):
        make_it()
