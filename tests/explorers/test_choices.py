"""Choices among several options: the belief's step, what is shown, and what a simulated crowd names."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from handful.errors import HandfulError, InvalidProblem
from handful.explorers.choices import ChoicesState
from handful.explorers.protocol import conclude, drop, late, open_round, propose, put_options, tell, void
from handful.explorers.registry import EXPLORERS, Duels, default_explorer
from handful.explorers.strengths import Strengths
from handful.objectives import Coverage, Modular, SampleAverage
from handful.problem import BUDGET, Preferences, Problem
from handful.responses import Response, btl, choose, linear, tastes
from handful.simulation import simulate
from tests.study.worlds import coverage


def problem(options: int, **how: object) -> Problem:
    return Problem(**{"size": 8, "k": 2, "budget": 400, "seed": 3} | how, feedback=Preferences(options=options))  # type: ignore[arg-type]


def state_of(options: int, **how: object) -> ChoicesState:
    state = Duels(careless=0.0).build(problem(options, **how))
    assert isinstance(state, ChoicesState)
    open_round(state, 1, 400, 1)
    return state


def named(state: ChoicesState, options: list[int], item: int) -> None:
    """Tell that `item` was named among these options, as if they had been proposed."""
    propose(state, 0)
    row = np.full(len(state.options), -1)
    row[: len(options)] = options
    for shown in state.options[state.options >= 0]:
        state.board.items["waiting"][shown] -= 1
    state.board.items["waiting"][options] += 1
    put_options(state, row)
    tell(state, item, next(o for o in options if o != item), -1, 1.0)


def test_the_belief_moves_by_one_step_of_the_whole_softmax() -> None:
    state = state_of(4)
    named(state, [5, 0, 7, 2], 7)
    v, p = 1.5, 0.25
    kappa = 1 / math.sqrt(1 + math.pi * 2 * v / 8)
    own = state.belief.own[0]
    assert own["mean"][7] == pytest.approx(v * kappa * (1 - p))
    assert own["mean"][[5, 0, 2]] == pytest.approx(-v * kappa * p)
    alone, together = v * v * kappa**2 * p * (1 - p), v * v * kappa**2 * p * p
    assert own["variance"][[5, 0, 7, 2]] == pytest.approx(v - alone - 0.3 * together)
    assert set(own["mean"][[1, 3, 4, 6]]) == {0.0}
    assert set(own["variance"][[1, 3, 4, 6]]) == {v}


def test_one_answer_among_four_says_less_of_the_one_named_than_three_comparisons_won() -> None:
    choice, pairs = state_of(4), Duels(careless=0.0).build(problem(2))
    named(choice, [0, 1, 2, 3], 0)
    open_round(pairs, 1, 400, 1)
    for rival in (1, 2, 3):
        propose(pairs, rival)
        tell(pairs, 0, rival, -1, 1.0)
    one, three = choice.belief.own[0], pairs.belief.own[0]  # type: ignore[attr-defined]
    assert 0.0 < one["mean"][0] < three["mean"][0]
    assert one["variance"][0] > three["variance"][0]


def test_a_question_shows_as_many_different_candidates_as_it_may_in_an_order_that_says_nothing() -> None:
    state = state_of(4)
    for _ in range(30):  # the leader is clear
        named(state, [6, 1, 2, 3], 6)
    places = Counter()
    for n in range(100, 400):
        item, rival, _ = propose(state, n)
        shown = state.options.tolist()
        assert len(set(shown)) == 4
        assert shown[:2] == [item, rival]
        if 6 in shown:
            places[shown.index(6)] += 1
        void(state, item, rival, -1)
    assert sum(places.values()) > 250
    assert min(places[q] for q in range(4)) > 40
    assert state.board.items["waiting"].tolist() == [0] * 8


def test_a_crowd_that_taps_a_place_teaches_nothing() -> None:
    def spread(taps: bool) -> float:
        """How far the strengths lie apart in the end, and how far the best item leads."""
        state = state_of(4, seed=8)
        for n in range(300):
            _, rival, given = propose(state, n)
            tell(state, int(state.options[0]) if taps else int(state.options.max()), rival, given, 1.0)
        strengths = state.belief.items["mean"]
        return float(strengths.max() - np.median(strengths))

    assert spread(taps=False) > 3 * spread(taps=True)


def test_with_fewer_candidates_than_options_all_of_them_are_shown() -> None:
    state = state_of(9, size=3)
    item, rival, given = propose(state, 0)
    assert sorted(state.options.tolist()) == [-1] * 6 + [0, 1, 2]
    tell(state, item, rival, given, 1.0)
    conclude(state, BUDGET)
    assert state.board.round["pick"][0] == item


def test_a_late_answer_teaches_as_one_among_the_candidates_that_are_left() -> None:
    """The answer 2 among (2, 0, 5, 7), after 7 was picked, is the answer 2 among (2, 0, 5)."""
    one, other = state_of(4), state_of(4)
    for state, options in ((one, [2, 0, 5, 7]), (other, [2, 0, 5, -1])):
        drop(state, 7)
        put_options(state, np.array(options))
        late(state, 2, 0, -1, 1.0)
    assert one.belief.items.tobytes() == other.belief.items.tobytes()
    assert one.belief.items["mean"][2] > 0.0
    put_options(one, np.array([7, 0, 1, 2]))
    late(one, 7, 0, -1, 1.0)  # it names what is a candidate no more
    assert one.belief.items.tobytes() == other.belief.items.tobytes()


def test_the_scale_of_strengths_is_learnt_from_the_answers() -> None:
    def scale(beta: float) -> float:
        state = Duels().build(problem(4, size=40, k=1))
        simulate(state, Modular(np.linspace(0, 1, 40)), btl(beta), 1, budget=problem(4).total)
        belief: Strengths = state.belief  # type: ignore[attr-defined]
        return float(belief.hypotheses["variance"][belief.rules["best"][0]])

    assert scale(0.3) < 1.5 < scale(30.0)


def test_a_prior_is_trusted_when_it_is_right_and_not_when_it_is_wrong() -> None:
    world = Modular(np.linspace(0, 1, 20))

    def trust(scores: np.ndarray) -> float:
        state = Duels().build(problem(4, size=20, prior=tuple(scores.tolist())))
        simulate(state, world, btl(6.0), 2, budget=problem(4).total)
        belief: Strengths = state.belief  # type: ignore[attr-defined]
        return float(belief.hypotheses["trust"][belief.rules["best"][0]])

    assert trust(np.linspace(0, 1, 20)) > 0.5 > -0.2 > trust(np.linspace(1, 0, 20))


@pytest.mark.parametrize("name", sorted(EXPLORERS))
def test_explorers_of_pairs_refuse_more_options_in_a_sentence(name: str) -> None:
    if name == "duels":
        return
    with pytest.raises(HandfulError, match=r"two items at a time|asks for values"):
        EXPLORERS[name]().build(problem(3, epsilon=0.5))


def test_choices_are_explored_by_duels_unless_somebody_says_otherwise() -> None:
    known = Problem(8, 2, Preferences(beta=2.0, options=3), epsilon=0.5, budget=50)
    assert default_explorer(known) == Duels()


@pytest.mark.parametrize("options", [0, 1, 10, 2.5, True])
def test_a_question_shows_two_to_nine(options: int) -> None:
    with pytest.raises(InvalidProblem, match="options"):
        Preferences(options=options)


def shares(response: Response, gains: list[float], options: list[int], draws: int = 4000) -> list[float]:
    found = Counter(choose(response, np.array(gains), np.array(options), seed) for seed in range(draws))
    return [found[i] / draws for i in range(len(gains))]


def test_a_crowd_names_options_by_luces_model() -> None:
    gains = [0.0, 0.5, 1.0, 9.0]
    weights = np.exp(2.0 * np.array(gains[:3]))
    expected = [*(weights / weights.sum()), 0.0]
    assert shares(btl(2.0), gains, [2, 0, -1, 1]) == pytest.approx(expected, abs=0.03)
    careless = [0.7 * share + 0.1 * (i < 3) for i, share in enumerate(expected)]
    assert shares(btl(2.0, careless=0.3), gains, [2, 0, 1]) == pytest.approx(careless, abs=0.03)
    assert shares(btl(math.inf), [1.0, 1.0, 0.0], [2, 1, 0]) == pytest.approx([0.5, 0.5, 0.0], abs=0.03)


def test_people_with_tastes_of_their_own_are_each_consistent_and_differ() -> None:
    """Two camps, of which the larger wants item 0: a choice between 0 and 1 splits as the camps do."""
    camps = [Coverage([1.0, 0.0], [[1, 0], [0, 1], [0, 0]])] * 3 + [Coverage([0.0, 1.0], [[1, 0], [0, 1], [0, 0]])]
    crowd = SampleAverage(camps)
    made = simulate(Duels().build(problem(3, size=3, k=2)), crowd, tastes(), 2, budget=problem(3).total)
    assert made.chosen == (0, 1)
    assert made.rounds[0].per_item.tolist() == [200, 200, 200]


def test_people_who_differ_need_a_mixture_and_links_of_pairs_refuse_more_options() -> None:
    with pytest.raises(InvalidProblem, match="a part for each"):
        simulate(Duels().build(problem(3)), coverage(8), tastes(), 2, budget=problem(3).total)
    with pytest.raises(InvalidProblem, match="compares two items, not 3"):
        simulate(Duels().build(problem(3)), coverage(8), linear(2.0), 2, budget=problem(3).total)


def test_four_at_a_time_need_fewer_screens_than_two() -> None:
    """Mean f of 12 runs with 40 screens a round; it fails when a choice is told as if a coin had been tossed."""
    world = coverage(30, seed=4)

    def reached(options: int) -> float:
        runs = []
        for seed in range(12):
            p = Problem(30, 3, Preferences(options=options), budget=120, seed=seed)
            runs.append(simulate(Duels().build(p), world, btl(4.0), 3, budget=p.total).value)
        return float(np.mean(runs))

    assert reached(4) > reached(2)


def test_what_a_contender_does_among_random_rivals_is_told_apart_from_close_contests() -> None:
    """Question 40 shows a contender among random rivals, at a place that its number tells; question 41 does not."""
    for number, is_random in ((40, True), (41, False)):
        state = state_of(4)
        propose(state, number)
        lead = int(state.options[number // 6 % 4])
        state.number[0] = number
        tell(state, lead, int(state.options[0]), -1, 1.0)
        off = state.belief.off["mean"][-1]
        assert np.flatnonzero(off).tolist() == ([lead] if is_random else [])
