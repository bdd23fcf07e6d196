"""What `handful.maximize` promises, for every objective and every optimizer."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import handful
from handful.errors import InvalidProblem
from handful.objectives import Coverage, FacilityLocation, FeatureBased, Function, Modular, SampleAverage
from handful.problem import Objective
from handful.simulation import greedy
from tests.objectives.every import ALL_KINDS, KINDS, best_value, make, subsets, value_of

ROUNDING = 1e-9


@st.composite
def instances(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS) -> tuple[Objective, int]:
    kind, size = draw(st.sampled_from(kinds)), draw(st.integers(1, 8))
    objective = make(kind, draw(st.integers(0, 2**32)), size, draw(st.integers(1, 6)), tied=draw(st.booleans()))
    return objective, draw(st.integers(1, size))


@settings(deadline=None, max_examples=200)
@given(instances(ALL_KINDS))
def test_naive_equals_lazy_ties_included_and_nothing_is_picked_twice(case: tuple[Objective, int]) -> None:
    objective, k = case
    naive, lazy = (handful.maximize(objective, k, method=method) for method in ("naive", "lazy"))
    assert lazy.chosen == naive.chosen
    assert lazy.gains == naive.gains
    assert len(set(naive.chosen)) == len(naive.chosen) == k
    assert naive.value == pytest.approx(value_of(objective, naive.indices))
    assert sum(naive.gains) == pytest.approx(naive.value)


@settings(deadline=None)
@given(instances(("coverage", "modular", "facility", "feature")))
def test_greedy_is_the_greedy_that_noise_is_measured_against(case: tuple[Objective, int]) -> None:
    objective, k = case
    assert handful.maximize(objective, k).chosen == greedy(objective, k).chosen


@settings(deadline=None)
@given(instances())
def test_greedy_reaches_its_ratio_and_the_bound_is_never_below_the_optimum(case: tuple[Objective, int]) -> None:
    objective, k = case
    optimum = best_value(objective, combinations(range(objective.size), k))
    found = handful.maximize(objective, k)
    assert found.guarantee == pytest.approx(1 - 1 / math.e)
    assert found.value >= (1 - 1 / math.e) * optimum - ROUNDING
    assert found.bound is not None
    assert found.bound >= optimum - ROUNDING
    assert found.ratio is not None
    assert found.value >= found.ratio * optimum - ROUNDING


@settings(deadline=None)
@given(instances(), st.data())
def test_under_a_budget_at_least_half_of_the_optimum_is_reached(
    case: tuple[Objective, int], data: st.DataObject
) -> None:
    objective, _ = case
    costs = data.draw(st.lists(st.sampled_from([1.0, 2.0, 3.5, 9.0]), min_size=objective.size, max_size=objective.size))
    budget = data.draw(st.sampled_from([9.0, 10.0, 12.5]))
    allowed = [s for s in subsets(objective.size) if sum(costs[i] for i in s) <= budget]
    optimum = best_value(objective, allowed)
    for method in ("naive", "lazy"):
        found = handful.maximize(objective, costs=costs, budget=budget, method=method)
        assert found.guarantee == 0.5
        assert found.value >= 0.5 * optimum - ROUNDING
        assert found.value == pytest.approx(value_of(objective, found.indices), abs=ROUNDING)
        assert found.cost is not None
        assert found.cost <= budget + ROUNDING
        assert found.bound is not None
        assert found.bound >= optimum - ROUNDING


def test_greedy_plus_max_does_not_fall_for_a_cheap_crumb() -> None:
    crumb_and_cake = Modular([1.0, 9.9])  # the crumb has more per cost, and then the cake no longer fits
    found = handful.maximize(crumb_and_cake, costs=[1.0, 10.0], budget=10.0)
    assert found.chosen == (1,)
    assert found.ratio is not None
    assert found.ratio > 0.9


@settings(deadline=None)
@given(instances(), st.data())
def test_under_limits_of_groups_at_least_half_of_the_optimum_is_reached(
    case: tuple[Objective, int], data: st.DataObject
) -> None:
    objective, k = case
    groups = data.draw(st.lists(st.sampled_from("abc"), min_size=objective.size, max_size=objective.size))
    limit = data.draw(st.sampled_from([1, 2]))
    few = [s for s in subsets(objective.size) if len(s) <= k]
    allowed = [s for s in few if max(Counter(groups[i] for i in s).values(), default=0) <= limit]
    optimum = best_value(objective, allowed)
    naive = handful.maximize(objective, k, groups=groups, limit=limit, method="naive")
    found = handful.maximize(objective, k, groups=groups, limit=limit)
    assert found.chosen == naive.chosen
    assert max(Counter(groups[i] for i in found.indices).values()) <= limit
    assert found.guarantee == 0.5
    assert found.value >= 0.5 * optimum - ROUNDING
    assert found.bound is not None
    assert found.bound >= optimum - ROUNDING


@settings(deadline=None)
@given(instances(), st.data())
def test_the_bound_holds_for_a_budget_and_groups_and_a_number_together(
    case: tuple[Objective, int], data: st.DataObject
) -> None:
    objective, k = case
    size = objective.size
    costs = data.draw(st.lists(st.sampled_from([1.0, 2.0, 3.5]), min_size=size, max_size=size))
    groups = data.draw(st.lists(st.sampled_from("ab"), min_size=size, max_size=size))
    found = handful.maximize(objective, k, costs=costs, budget=5.0, groups=groups, limit={"a": 1})
    allowed = [
        s for s in subsets(size)
        if len(s) <= k and sum(costs[i] for i in s) <= 5.0 and sum(groups[i] == "a" for i in s) <= 1
    ]  # fmt: skip
    assert tuple(sorted(found.indices)) in allowed
    assert found.bound is not None
    assert found.bound >= best_value(objective, allowed) - ROUNDING
    assert found.guarantee is None


def test_stochastic_greedy_reaches_its_ratio_in_expectation_and_draws_by_its_seed() -> None:
    objective = make("facility", 3, 60, 40)
    best = handful.maximize(objective, 5)
    assert best.bound is not None
    runs = [handful.maximize(objective, 5, method="stochastic", epsilon=0.2, seed=seed) for seed in range(20)]
    assert np.mean([run.value for run in runs]) >= (1 - 1 / math.e - 0.2) * best.bound
    assert len({run.chosen for run in runs}) > 1
    assert runs[0] == handful.maximize(objective, 5, method="stochastic", epsilon=0.2, seed=0)
    assert all(len(set(run.chosen)) == 5 for run in runs)
    assert all(run.bound is not None and run.bound >= best.value for run in runs)


def test_lazy_computes_far_fewer_gains() -> None:
    objective = FacilityLocation.from_features(np.random.default_rng(0).random((600, 6)))
    lazy, naive = (handful.maximize(objective, 20, method=method) for method in ("lazy", "naive"))
    assert lazy.chosen == naive.chosen
    assert lazy.evaluations < naive.evaluations / 3


def test_a_thousand_times_a_thousand_gives_800_distinct_picks_with_falling_gains() -> None:
    similarity = np.random.default_rng(0).random((1000, 1000))
    similarity = (similarity + similarity.T) / 2
    found = handful.maximize(FacilityLocation(similarity), 800)
    assert len(set(found.chosen)) == 800
    assert list(found.gains) == sorted(found.gains, reverse=True)


def test_dense_sparse_and_pickled_objectives_give_the_same_ranking() -> None:
    rng = np.random.default_rng(1)
    table = rng.random((60, 40)) * (rng.random((60, 40)) < 0.2)
    for kind in (FacilityLocation, FeatureBased):
        dense = handful.maximize(kind(table), 15)
        for other in (kind(scipy.sparse.csr_matrix(table)), kind(scipy.sparse.csr_array(table))):
            assert handful.maximize(other, 15).chosen == dense.chosen
        assert handful.maximize(pickle.loads(pickle.dumps(kind(table))), 15) == dense


class OnlyDLPack:
    """An array of another library."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **how: Any) -> Any:
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class OnlyArray:
    """Another one."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._array


def test_tables_of_other_libraries_are_read_and_a_pandas_index_names_the_items() -> None:
    table = np.random.default_rng(2).random((20, 5))
    plain = handful.maximize(FeatureBased(table), 4)
    for other in (OnlyDLPack(table), OnlyArray(table), table.tolist(), np.asfortranarray(table)):
        assert handful.maximize(FeatureBased(other), 4) == plain
    frame = pd.DataFrame(table, index=[f"row {i}" for i in range(20)])
    named = handful.maximize(FeatureBased(frame), 4)
    assert named.indices == plain.indices
    assert named.chosen == tuple(f"row {i}" for i in plain.indices)
    survey = pd.DataFrame({"tea": [1, 0, 0], "milk": [0, 1, 1]})
    assert handful.maximize(handful.objectives.Reach(survey), 1).chosen == ("milk",)


def test_ids_costs_and_groups_may_be_the_users_own_names() -> None:
    names = ["ann", "bob", "cat", "dan"]
    objective = Modular([4.0, 3.0, 2.0, 1.0])
    by_photographer = {"ann": "x", "bob": "x", "cat": "x", "dan": "y"}
    found = handful.maximize(objective, 3, ids=names, groups=by_photographer, limit=2)
    assert found.chosen == ("ann", "bob", "dan")
    found = handful.maximize(objective, 3, ids=names, chosen=["cat"])
    assert found.chosen == ("cat", "ann", "bob")
    assert list(found) == list(found.chosen)
    found = handful.maximize(objective, ids=names, costs=dict.fromkeys(names, 1.0), budget=2)
    assert found.chosen == ("ann", "bob")
    assert found.cost == 2.0


def test_items_chosen_already_count_and_what_they_cover_is_not_covered_twice() -> None:
    objective = Coverage([1.0, 1.0, 1.0], [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    found = handful.maximize(objective, 2, chosen=[1])
    assert found.chosen == (1, 2)
    assert found.gains == (2.0, 1.0)
    assert found.ratio == 1.0


def test_a_sample_average_is_maximized_like_any_other() -> None:
    scores = np.random.default_rng(3).random((12, 30))
    average = SampleAverage([FacilityLocation(scores[:, [j]]) for j in range(30)])
    whole = FacilityLocation(scores)
    assert handful.maximize(average, 4).chosen == handful.maximize(whole, 4).chosen
    assert handful.maximize(average, 4).value == pytest.approx(handful.maximize(whole, 4).value / 30)


def test_ctrl_c_keeps_the_ranking_so_far() -> None:
    def interrupt(picked: int, of: int) -> None:
        assert of == 10
        if picked == 4:
            raise KeyboardInterrupt

    objective = make("facility", 0, 30, 20)
    found = handful.maximize(objective, 10, progress=interrupt)
    assert not found.complete
    assert found.chosen == handful.maximize(objective, 4).chosen
    assert found.bound is not None
    assert found.guarantee is None
    assert "Interrupted" in str(found)


def test_a_bar_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert handful.maximize(Modular(np.ones(5)), 3, progress=True).complete


def test_a_noisy_function_is_refused_with_a_pointer_to_study() -> None:
    draws = np.random.default_rng(0)
    for size in (1, 5):
        with pytest.raises(InvalidProblem, match=r"noisy.*handful\.Study"):
            handful.maximize(Function(lambda items: len(items) + draws.normal(), size), 1)
    late = iter([0.0] * 5 + [float(x) for x in draws.normal(size=100)])  # quiet at first
    with pytest.raises(InvalidProblem, match=r"noisy.*handful\.Study"):
        handful.maximize(Function(lambda items: next(late), 3), 3)
    with pytest.raises(InvalidProblem, match=r"objectives\.Function.*handful\.Study"):
        handful.maximize(lambda items: 0.0, 3)  # type: ignore[arg-type]


def test_a_function_that_is_not_submodular_is_maximized_naively_and_nothing_is_claimed() -> None:
    pairs = Function(lambda items: float(len(items) ** 2), 5, submodular=False)
    found = handful.maximize(pairs, 3)
    assert (found.method, found.value, found.bound, found.ratio, found.guarantee) == ("greedy", 9.0, None, None, None)
    assert "no share of the best" in str(found)


def test_a_ranking_says_what_was_found() -> None:
    found = handful.maximize(make("facility", 0, 30, 20), 5)
    assert "5 of 30 items picked by lazy greedy" in str(found)
    assert "On every instance this method reaches at least 63.2% of the best." in str(found)
    assert found.to_dict()["ratio"] == found.ratio
    sampled = FacilityLocation.from_features(np.random.default_rng(0).random((50, 3)), represent=20)
    assert "estimated from a sample" in str(handful.maximize(sampled, 3))


def test_more_memory_than_there_is_is_refused_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handful.exact.maximize.free_memory", lambda: 100)
    monkeypatch.setattr("handful.exact.maximize.NOT_WORTH_ASKING", 0)
    with pytest.raises(InvalidProblem, match=r"would take about .* GB"):
        handful.maximize(Modular(np.ones(50)), 3)


FOUR = Modular([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: handful.maximize(FOUR), "say how many"),
        (lambda: handful.maximize(FOUR, 0), "k must be a whole number, 1 or more"),
        (lambda: handful.maximize(FOUR, 5), "between 1 and the 4 items"),
        (lambda: handful.maximize(FOUR, True), "k must be a whole number"),
        (lambda: handful.maximize(FOUR, 2, method="quick"), "give one of auto, naive"),
        (lambda: handful.maximize(FOUR, 2, epsilon=2.0), "epsilon is 2.0"),
        (lambda: handful.maximize(FOUR, 2, chosen=[7]), "names 7, which is not among"),
        (lambda: handful.maximize(FOUR, 2, chosen=[1, 1]), "twice"),
        (lambda: handful.maximize(FOUR, 2, chosen=[1, 2]), "nothing is left"),
        (lambda: handful.maximize(FOUR, 2, ids=["a"]), "1 ids for 4 items"),
        (lambda: handful.maximize(FOUR, 2, ids=["a", "a", "b", "c"]), "'a' is there more than once"),
        (lambda: handful.maximize(FOUR, 2, costs=[1, 1, 1, 1]), "costs and budget go together"),
        (lambda: handful.maximize(FOUR, costs=[1, 1], budget=2), "2 costs for 4 items"),
        (lambda: handful.maximize(FOUR, costs=[1, 1, 0, 1], budget=2), "item 2 costs nothing"),
        (lambda: handful.maximize(FOUR, costs=[5, 5, 5, 5], budget=2), "no item fits a budget of 2"),
        (lambda: handful.maximize(FOUR, costs=[5, 5, 5, 5], budget=-2), "budget is -2"),
        (lambda: handful.maximize(FOUR, costs={0: 1.0}, budget=2), "nothing for item 1"),
        (lambda: handful.maximize(FOUR, 2, groups=["a"] * 4), "groups and limit go together"),
        (lambda: handful.maximize(FOUR, 2, groups=["a"] * 3, limit=1), "3 groups for 4 items"),
        (lambda: handful.maximize(FOUR, 2, groups=["a"] * 4, limit=-1), "limit must be a whole number"),
        (lambda: handful.maximize(FOUR, 2, method="stochastic", groups=["a"] * 4, limit=1), "for a number of items"),
        (lambda: handful.maximize(Function(len, 3, submodular=False), 2, method="lazy"), "right only for submodular"),
        (lambda: handful.maximize(3, 2), "needs an objective such as"),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_do(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        call()


def test_a_sample_that_never_saw_some_items_still_gives_a_finite_bound() -> None:
    values = np.random.default_rng(0).random(5000)
    found = handful.maximize(Modular(values), 5, method="stochastic", seed=1)
    assert found.bound is not None
    assert np.sort(values)[-5:].sum() <= found.bound + 1e-9 < np.inf
