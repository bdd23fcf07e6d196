"""Promises of every explorer at every moment, whatever is asked, answered, late or void."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from handful.certificates import per_round
from handful.draws import question_seed
from handful.errors import HandfulError
from handful.explorers.board import NOBODY, NOW
from handful.explorers.protocol import ExplorerState, drop, open_round, propose, tell, void
from handful.explorers.registry import EXPLORERS, Certified, Explorer, Pivot, Sharp, TopX, Uniform
from handful.objectives import Coverage, Modular
from handful.problem import BUDGET, OPEN, RULE, Feedback, Preferences, Problem, Values
from handful.responses import btl, respond, uniform
from handful.simulation import simulate
from tests.explorers.playing import live

Asked = tuple[int, int, int]  # item, rival, given
OTHERS = [
    *(kind() for kind in EXPLORERS.values() if kind not in (TopX, Uniform)),
    Certified(rule="plain"),
    Certified(rule="chain"),
    Certified(rule="bank"),
    Sharp(variant="O"),
]


@dataclass(frozen=True)
class Case:
    """An explorer and all it is built from."""

    explorer: Explorer
    problem: Problem
    values: tuple[float, ...]

    @property
    def compares(self) -> bool:
        return isinstance(self.problem.feedback, Preferences)

    def build(self) -> ExplorerState:
        try:
            return self.explorer.build(self.problem)
        except HandfulError:
            assume(False)
            raise


@st.composite
def topx_settings(draw: st.DrawFn, k: int) -> Explorer:
    return draw(
        st.one_of(
            st.builds(
                TopX,
                variant=st.sampled_from(["full", "O", "G"]),
                l=st.one_of(st.none(), st.integers(1, k)),
                radius=st.sampled_from(["counted", "literal"]),
                out_of_budget=st.sampled_from(["best-mean", "smallest-gap"]),
            ),
            st.builds(Uniform, variant=st.sampled_from(["full", "O", "G"])),
            st.just(Uniform(stop="fixed")),
        )
    )


@st.composite
def cases(draw: st.DrawFn, others: bool = True) -> Case:
    size = draw(st.integers(1, 9))
    k = draw(st.integers(1, min(size, 4)))
    feedback: Feedback = draw(
        st.one_of(
            st.builds(Values, noise=st.sampled_from([0.0, 0.1, 2.0])),
            st.just(Values(range=(-1.0, 2.0))),
            st.builds(Preferences, tau=st.integers(1, 3), beta=st.sampled_from([None, 0.5, 5.0, math.inf])),
        )
    )
    # Small budgets, none at all and less than one answer per candidate among them; never unlimited, so that ties end.
    budget = draw(st.integers(1, 300))
    problem = Problem(
        size,
        k,
        feedback,
        epsilon=draw(st.sampled_from([None, 0.01, 1.0])),
        delta=draw(st.sampled_from([0.01, 0.5])),
        budget=budget,
        in_flight=draw(st.integers(1, 12)),
        seed=draw(st.integers(0, 2**64 - 1)),
    )
    explorers = topx_settings(k)
    explorer = draw(st.one_of(explorers, st.sampled_from(OTHERS)) if others and OTHERS else explorers)
    return Case(
        explorer, problem, tuple(draw(st.lists(st.sampled_from([0.0, 0.5, 0.51, 1.0]), min_size=size, max_size=size)))
    )


def check_books(
    state: ExplorerState, waiting: list[Asked], told: list[tuple[int, int, int]], limit: int, m: int
) -> None:
    """asked = told + waiting, for the round and for each item; nothing beyond the limits.

    A question about an earlier round counts for the round, and not for its item.
    """
    board = state.board
    r = board.round[0]

    def per_item(questions: list[Asked]) -> list[int]:
        return np.bincount([i for i, _, given in questions if given == NOW], minlength=len(board.items)).tolist()

    assert r["asked"] == len(told) + len(waiting)
    assert r["counted"] == len(told)
    assert board.items["count"].tolist() == per_item(told)
    assert board.items["waiting"].tolist() == per_item(waiting)
    assert len(waiting) <= m
    assert limit < 0 or r["asked"] <= limit


def check_ending(state: ExplorerState, candidates: list[int], most: int) -> None:
    """A is a non-empty set of at most k′ candidates, and the pick one of them."""
    r = state.board.round[0]
    A = state.board.best[: int(r["size"])].tolist()
    assert 1 <= len(A) <= most
    assert len(set(A)) == len(A)
    assert set(A) <= set(candidates)
    assert int(r["pick"]) in A


def most_of(case: Case) -> int:
    """k′ where the explorer has one."""
    match case.explorer:
        case TopX():
            return case.explorer.per_round(case.problem).most
        case Uniform():
            return 1 if case.explorer.stop == "fixed" else per_round(case.explorer.variant, case.problem.k, 1, 0.5).most
    return case.problem.k


def answers(case: Case) -> Iterator[float]:
    """Answers without end, from the problem's seed."""
    n = 0
    while True:
        seed = question_seed(np.uint64(case.problem.seed), 999, n)
        yield respond(btl(1.0) if case.compares else uniform(1.0), case.values[n % len(case.values)], 0.3, seed)
        n += 1


@settings(max_examples=150, deadline=None)
@given(cases(), st.data())
def test_the_books_balance_and_sets_are_small_whatever_order_answers_come_in(case: Case, data: st.DataObject) -> None:
    state = case.build()
    chance = data.draw(st.randoms(use_true_random=False))
    reply = answers(case)
    chosen: list[int] = []
    for j in range(1, case.problem.k + 1):
        candidates = [i for i in range(case.problem.size) if i not in chosen]
        limit = data.draw(st.integers(0, 40))
        open_round(state, j, limit, 1)
        r = state.board.round[0]
        waiting: list[Asked] = []
        told: list[Asked] = []
        number = 0
        while r["ended"] == OPEN:
            item, rival, given = propose(state, number)
            if item >= 0:
                number += 1
                waiting.append((int(item), int(rival), int(given)))
                if given == NOW:  # else it is about an earlier round
                    assert item in candidates
                assert (rival in candidates and rival != item) if case.compares else rival < 0
            assert waiting, "nothing to ask and nothing to wait for: this round would never end"
            check_books(state, waiting, told, limit, case.problem.in_flight)
            # Any question may be answered now; those about one item count in the order asked.
            while waiting and r["ended"] == OPEN and (item < 0 or chance.random() < 0.5):
                item = 0
                asked = waiting[chance.randrange(len(waiting))]
                first = next(q for q in waiting if (q[0], q[2]) == (asked[0], asked[2]))
                waiting.remove(first)
                if chance.random() < 0.2:
                    void(state, *first)
                else:
                    told.append(first)
                    tell(state, *first, next(reply))
                check_books(state, waiting, told, limit, case.problem.in_flight)
        check_ending(state, candidates, most_of(case))
        chosen.append(int(r["pick"]))
        drop(state, chosen[-1])


@settings(max_examples=100, deadline=None)
@given(cases())
def test_a_simulation_never_exceeds_its_budget_and_picks_k_different_items(case: Case) -> None:
    total = case.problem.total
    response = btl(2.0) if case.compares else uniform(1.0)
    result = simulate(case.build(), Modular(case.values), response, case.problem.k, budget=total, cap=10**6)
    assert total is not None
    assert result.answers <= total.answers
    assert len(set(result.chosen)) == case.problem.k
    assert result.answers == sum(r.answers for r in result.rounds)
    for j, r in enumerate(result.rounds):
        assert not set(r.candidates) & set(result.chosen[:j])
        assert r.per_item[list(result.chosen[:j])].sum() == 0
        assert r.per_item.sum() <= r.answers
        if not (isinstance(case.explorer, Certified) and case.explorer.rule == "audit"):  # an audit asks about the past
            assert r.answers <= r.per_item.sum() + case.problem.in_flight - 1
        assert r.pick in r.candidates


LATE = Case(
    Pivot(), Problem(3, 2, Preferences(beta=5.0), epsilon=1.0, delta=0.5, budget=80, in_flight=2, seed=399), (0.0,) * 3
)


@settings(max_examples=60, deadline=None)
@example(LATE)  # a late answer decides whom round 2 asks about
@given(cases())
def test_the_live_path_and_the_simulator_decide_alike_on_the_same_noise(case: Case) -> None:
    """`live` asks whenever it may: so the simulator decides question n from answers up to n − in_flight, no more."""
    response = btl(2.0) if case.compares else uniform(1.0)
    objective, k, budget = Modular(case.values), case.problem.k, case.problem.total
    simulated = simulate(case.build(), objective, response, k, budget=budget)
    traced = live(case.build(), objective, response, k, budget)
    assert [(r.pick, tuple(r.A), len(r.queries), r.ended) for r in traced] == [
        (r.pick, r.candidates, r.answers, r.ended) for r in simulated.rounds
    ]


@pytest.mark.parametrize("m", [1, 2, 7, 50])
def test_question_n_is_asked_once_answer_n_minus_m_is_told_and_not_before(m: int) -> None:
    problem = Problem(10, 1, Values(noise=1.0), epsilon=0.1, budget=400, in_flight=m, seed=4)
    state = TopX().build(problem)
    open_round(state, 1, 400, 1)
    r = state.board.round[0]
    waiting: list[Asked] = []
    asked = told = 0
    while asked < 400 and r["ended"] == OPEN:
        item, rival, given = propose(state, asked)
        if item >= 0:
            assert told > asked - m  # answers 0 .. n − m
            waiting.append((item, rival, given))
            asked += 1
        else:
            assert len(waiting) == m or (m == 1 and len(waiting) == 1)  # it waits for nothing else
            tell(state, *waiting.pop(0), 0.5)
            told += 1
    assert asked == 400


def test_more_in_flight_costs_adaptivity_but_decides_as_well() -> None:
    values = Modular(np.linspace(0.0, 2.0, 12))
    costs = {}
    for m in (1, 10, 100):
        problem = Problem(12, 3, Values(noise=0.5), epsilon=0.6, delta=0.05, in_flight=m, seed=1)
        result = simulate(TopX(variant="O").build(problem), values, uniform(0.5), 3)
        assert [r.ended for r in result.rounds] == ["rule"] * 3
        assert set(result.chosen) == {11, 10, 9}
        costs[m] = result.answers
    assert costs[10] < 1.5 * costs[1]
    assert costs[100] < 2.5 * costs[1]


@pytest.mark.parametrize("in_flight", [1, 5])
def test_with_no_budget_something_is_picked_unasked(in_flight: int) -> None:
    problem = Problem(5, 2, Values(noise=1.0), epsilon=0.1, in_flight=in_flight)
    state = TopX().build(problem)
    open_round(state, 1, 0, 1)
    r = state.board.round[0]
    assert (int(r["ended"]), int(r["asked"]), float(r["reached"])) == (BUDGET, 0, math.inf)
    assert 0 <= r["pick"] < 5


def test_a_budget_below_one_answer_per_candidate_asks_a_random_part_of_them() -> None:
    seen = set()
    for seed in range(30):
        problem = Problem(8, 1, Values(noise=1.0), epsilon=0.1, budget=3, seed=seed)
        r = simulate(TopX().build(problem), Modular(np.ones(8)), uniform(1.0), 1, budget=problem.total).rounds[0]
        asked = np.flatnonzero(r.per_item)
        assert r.per_item.sum() == len(asked) == 3
        assert r.pick in asked
        assert (r.ended, r.reached) == ("budget", math.inf)
        seen.update(asked.tolist())
    assert seen == set(range(8))


def test_an_item_whose_only_question_was_void_is_asked_again_before_anything_is_decided() -> None:
    state = TopX(variant="O").build(Problem(3, 1, Values(noise=0.01), epsilon=1.0))
    open_round(state, 1, -1, 1)
    for n in range(3):
        item, rival, given = propose(state, n)
        if item == 1:
            void(state, item, rival, given)
        else:
            tell(state, item, rival, given, 0.0)
    assert state.board.round[0]["ended"] == OPEN
    assert propose(state, 3) == (1, NOBODY, NOW)
    tell(state, 1, NOBODY, NOW, 5.0)
    assert (int(state.board.round[0]["ended"]), int(state.board.round[0]["pick"])) == (RULE, 1)


def test_uniform_asks_every_candidate_equally_often() -> None:
    problem = Problem(7, 2, Values(noise=0.5), epsilon=0.5, seed=3)
    for explorer in (Uniform(), Uniform(stop="fixed")):
        result = simulate(explorer.build(problem), Modular(np.linspace(0, 1, 7)), uniform(0.5), 2)
        for j, r in enumerate(result.rounds):
            counts = np.delete(r.per_item, result.chosen[:j])
            assert counts.min() == counts.max() > 1
            assert r.ended == "rule"


def test_the_fixed_sample_form_takes_hoeffdings_number_and_finds_the_best() -> None:
    # ε′ = 0.25, δ′ = 0.025, R = 0.5: 8·0.25·log(2·7/0.025)/0.0625 = 202.5
    problem = Problem(7, 2, Values(noise=0.5), epsilon=0.5, seed=3)
    result = simulate(Uniform(stop="fixed").build(problem), Modular(np.linspace(0, 2.4, 7)), uniform(0.5), 2)
    assert [r.answers for r in result.rounds] == [203 * 7, 203 * 6]
    assert result.chosen == (6, 5)


def test_topx_asks_less_than_uniform_where_it_is_easy_to_tell_most_items_apart() -> None:
    objective = Modular([2.0, 1.8, *[0.0] * 18])
    problem = Problem(20, 1, Values(noise=0.5), epsilon=0.1, seed=0)
    adaptive = simulate(TopX(variant="O").build(problem), objective, uniform(0.5), 1)
    uniformly = simulate(Uniform(variant="O").build(problem), objective, uniform(0.5), 1)
    assert adaptive.answers < uniformly.answers / 5


def test_the_epsilon_reached_falls_as_the_budget_grows_and_holds() -> None:
    objective = Coverage(np.ones(4), np.random.default_rng(0).random((12, 4)))
    reached = []
    for budget in (200, 2000, 20_000):
        problem = Problem(12, 1, Values(noise=1.0), epsilon=1e-6, budget=budget, seed=2)
        r = simulate(TopX(variant="O").build(problem), objective, uniform(1.0), 1, budget=problem.total).rounds[0]
        assert r.ended == "budget"
        assert r.gain >= objective.start().gains().max() - r.reached
        reached.append(r.reached)
    assert reached[0] > 2 * reached[1] > 4 * reached[2] > 0


@pytest.mark.parametrize("feedback", [Values(noise=0.3), Preferences(tau=2, beta=2.0)])
def test_the_same_seed_gives_the_same_run_and_another_seed_another(feedback: Feedback) -> None:
    problem = Problem(8, 3, feedback, epsilon=0.3, budget=3000, seed=5)
    response = btl(2.0) if isinstance(feedback, Preferences) else uniform(0.3)

    def counts(problem: Problem) -> list[list[int]]:
        run = simulate(TopX().build(problem), Modular(np.linspace(0, 1, 8)), response, 3, budget=problem.total)
        return [r.per_item.tolist() for r in run.rounds]

    assert counts(problem) == counts(problem) != counts(replace(problem, seed=6))


@pytest.mark.parametrize(("in_flight", "radius"), [(1, "literal"), (1, "counted"), (3, "literal"), (3, "counted")])
def test_the_epsilon_reached_is_worked_out_with_the_papers_radius(in_flight: int, radius: str) -> None:
    size, delta, R = 4, 0.1, 0.7
    problem = Problem(size, 2, Values(noise=R), epsilon=1e-9, delta=delta, budget=60, in_flight=in_flight, seed=1)
    state = TopX(l=2, radius=radius).build(problem)  # type: ignore[arg-type]
    open_round(state, 1, 30, 1)
    r = state.board.round[0]
    waiting: list[Asked] = []
    while r["ended"] == OPEN:
        item, rival, given = propose(state, int(r["asked"]))
        if item >= 0:
            waiting.append((int(item), int(rival), int(given)))
        else:
            item, rival, given = waiting.pop(0)
            tell(state, item, rival, given, float(size - item))  # means 4, 3, 2, 1
    # One question a step, after one for each item: 27 steps for 30 answers. In flight, t is the number of answers.
    logs = math.log(4 * size * 30**3 / (delta / 2)) if in_flight > 1 else math.log(4 * size * 27**3 / (delta / 2))
    if radius == "counted" and in_flight == 1:
        logs += math.log(2)  # k′
    T = state.board.items["count"]
    bound = [R * math.sqrt(2 * logs / T[i]) for i in range(size)]
    inside = sorted([4 - bound[0], 3 - bound[1]])
    outside = sorted([2 + bound[2], 1 + bound[3]], reverse=True)
    gap = sum(max(o - i, 0.0) for i, o in zip(inside, outside, strict=True))
    assert r["ended"] == BUDGET
    assert float(r["reached"]) == pytest.approx(gap / 2)
    assert gap > 0
