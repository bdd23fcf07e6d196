"""Promises of the explorers beyond the paper that simulation of their claims does not show."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from handful.confidence import FIRST, bernstein, normal_mixture
from handful.errors import InvalidProblem
from handful.explorers.audit import AUDITING, SCOUTING, _credit
from handful.explorers.board import NOW, clear, new_board, note_asked, note_counted
from handful.explorers.bounds import BOUNDED, close_round, item_bounds, narrow, new_bounds, new_round
from handful.explorers.claim import BELOW, best_score
from handful.explorers.protocol import ExplorerState, drop, open_round, propose, put_number, tell, void
from handful.explorers.registry import Certified, Duels, Explorer, Sharp, Worth, default_explorer
from handful.objectives import Coverage, FacilityLocation, Modular
from handful.problem import OPEN, Feedback, Objective, Preferences, Problem, Total, Values
from handful.responses import bernoulli, btl, gaussian, uniform
from handful.simulation import lazy_greedy, simulate
from handful.venice import venice

VALUES = [2.0, 1.5, 1.0, 0.5, 0.4, 0.3]
RULES: tuple[Literal["audit", "bank", "chain", "plain"], ...] = ("audit", "bank", "chain", "plain")


def at_the_audit(in_flight: int, **claim: float) -> tuple[ExplorerState, int]:
    """A certified run that has just begun its audit, and the number of its next question."""
    state = Certified().build(Problem(6, 2, Values(noise=0.2), in_flight=in_flight, seed=3, **claim))  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    most = 0
    for j in (1, 2):
        open_round(state, j, -1, 1)
        waiting: list[tuple[int, int, int]] = []
        asked = 0
        while state.board.round["ended"][0] == OPEN and state.rules["phase"][0] == SCOUTING:  # type: ignore[attr-defined]
            item, rival, given = propose(state, asked)
            if item >= 0:
                asked += 1
                waiting.append((int(item), int(rival), int(given)))
                most = max(most, len(waiting))
            else:
                item, rival, given = waiting.pop(0)
                tell(state, item, rival, given, VALUES[item] + 0.2 * rng.standard_normal())
        assert not waiting  # else what was counted might depend on who answers fast
        if j == 1:
            drop(state, int(state.board.round["pick"][0]))
    assert most == in_flight
    assert state.board.round["ended"][0] == OPEN
    return state, asked


@pytest.mark.parametrize("is_void", [False, True])
def test_an_audit_begins_and_goes_on_only_when_nothing_is_in_flight(is_void: bool) -> None:
    state, number = at_the_audit(in_flight=3, epsilon=0.1)
    asked: list[tuple[int, int, int]] = []
    while (question := propose(state, number + len(asked)))[0] >= 0:
        asked.append(question)
    assert len(asked) > 1
    for n, (item, rival, given) in enumerate(asked[1:], number + 1):
        put_number(state, n)
        tell(state, item, rival, given, VALUES[item])
    r, rules = state.board.round[0], state.claim.rules  # type: ignore[attr-defined]
    assert r["ended"] == OPEN
    assert rules["cycles"][0] == 0  # one of them is missing
    assert propose(state, number + len(asked))[0] < 0
    if is_void:
        void(state, *asked[0])
    else:
        put_number(state, number)
        tell(state, *asked[0], VALUES[asked[0][0]])
    assert (rules["cycles"][0] == 0) == is_void
    assert propose(state, number + len(asked))[0] >= 0


def test_many_in_flight_cost_the_guarantee_little() -> None:
    objective = venice(seed=0).objective
    costs = {}
    for in_flight in (1, 100):
        costs[in_flight] = 0
        for seed in range(4):
            problem = Problem(60, 6, Values(noise=0.5), epsilon=0.1, in_flight=in_flight, seed=seed)
            costs[in_flight] += simulate(Certified().build(problem), objective, uniform(0.5), 6).answers
    assert costs[100] < 1.5 * costs[1]


def test_answers_given_nothing_chosen_stand_for_an_item_as_one() -> None:
    """Two ways to represent an item would be a choice that the union bound has not paid for."""
    state, _ = at_the_audit(in_flight=1, ratio=0.95)
    items = state.claim.items  # type: ignore[attr-defined]
    assert state.claim.rules["anchor"][0] == 0  # type: ignore[attr-defined]
    before = items["old"].sum()
    n = 0
    while state.board.round["ended"][0] == OPEN and n < 500:
        item, rival, given = propose(state, n)
        tell(state, int(item), int(rival), int(given), VALUES[item])
        n += 1
    assert n > 0
    assert items["now"].sum() == 0
    assert items["old"].sum() > before  # the audit's answers are among them


@pytest.mark.parametrize(
    ("explorer", "feedback"),
    [
        (Certified(), Values(noise=0.5)),
        (Certified(rule="plain"), Values(noise=0.5)),
        (Sharp(), Values(range=(-1.0, 2.0))),
        (Worth(), Values()),
        (Duels(), Preferences()),
    ],
)
def test_an_item_that_left_is_never_asked_about_again(explorer: Explorer, feedback: Feedback) -> None:
    problem = Problem(8, 3, feedback, epsilon=0.2, budget=400, chosen=(2,), seed=1)
    state = explorer.build(problem)
    drop(state, 2)
    rng = np.random.default_rng(5)
    gone = {2}
    for j in (1, 2):
        open_round(state, j, 60, 1)
        n = 0
        while state.board.round["ended"][0] == OPEN:
            item, rival, given = (int(x) for x in propose(state, n))
            if given == NOW:
                assert item not in gone
                assert rival not in gone
            tell(state, item, rival, given, float(rng.random() < 0.5) if feedback.compares else rng.uniform(-1.0, 1.0))
            n += 1
        pick = int(state.board.round["pick"][0])
        assert pick not in gone
        drop(state, pick)
        gone.add(pick)


@pytest.mark.slow
@pytest.mark.parametrize("explorer", [Sharp(), *(Certified(rule=rule) for rule in RULES)])
def test_a_known_range_helps_where_answers_hardly_vary(explorer: Explorer) -> None:
    """The range says R = 2 only; the empirical Bernstein sequence sees that the noise is a hundredth of it."""
    objective = Modular([1.0, 0.9, 0.5, 0.4, 0.3, 0.2])
    costs = []
    for feedback in (Values(range=(-1.0, 3.0)), Values(noise=2.0)):
        problem = Problem(6, 2, feedback, epsilon=0.2, seed=2)
        result = simulate(explorer.build(problem), objective, uniform(0.02), 2)
        assert [r.ended for r in result.rounds] == ["rule", "rule"]
        costs.append(result.answers)
    assert costs[0] < costs[1] / 2


def test_a_known_range_costs_hardly_more_than_half_of_it_as_noise_where_answers_vary_as_much_as_they_can() -> None:
    objective = Modular([0.6, 0.55, 0.5, 0.45, 0.4, 0.4])
    costs = []
    for feedback in (Values(range=(0.0, 1.0)), Values(noise=0.5)):
        problems = [Problem(6, 2, feedback, epsilon=0.1, seed=seed) for seed in range(60)]
        costs.append(sum(simulate(Certified().build(p), objective, bernoulli(), 2).answers for p in problems))
    assert costs[0] < 1.25 * costs[1]


def test_certified_picks_nothing_at_random() -> None:
    for rule in RULES:
        problem = Problem(6, 2, Values(noise=0.3), epsilon=0.3, seed=2)
        state = Certified(rule=rule).build(problem)
        result = simulate(state, Modular(VALUES), gaussian(0.3), 2)
        assert all(len(r.candidates) == 1 for r in result.rounds)


NOTHING_LEFT: dict[str, tuple[Objective, int]] = {
    "more picks than families": (FacilityLocation(np.repeat(np.diag([3.0, 2.0, 1.0]), 4, axis=0)), 5),
    "equal items beside a large one": (Modular([0.2] * 11 + [3.0]), 3),
    "next to nothing beside two large ones": (Modular([0.01] * 20 + [3.0, 2.0]), 5),
    "nothing at all": (Modular([0.0] * 10), 3),
}


@pytest.mark.parametrize("name", NOTHING_LEFT)
def test_certified_does_not_scout_for_ever_where_nothing_is_left_to_gain(name: str) -> None:
    objective, k = NOTHING_LEFT[name]
    for seed in range(5):
        problem = Problem(objective.size, k, Values(noise=0.5), epsilon=0.3, seed=seed)
        result = simulate(Certified().build(problem), objective, gaussian(0.5), k, cap=100_000)
        assert result.rounds[-1].ended == "rule"


def test_a_smaller_near_asks_more_and_picks_better_however_large_epsilon_is() -> None:
    answers, f = {}, {}
    for near in (0.03, 0.005, 0.0005):
        runs = []
        for seed in range(10):
            problem = Problem(60, 6, Values(noise=0.1), epsilon=1.0, seed=seed)
            runs.append(simulate(Certified(near=near).build(problem), venice(seed).objective, uniform(0.1), 6))
        answers[near] = sum(r.answers for r in runs)
        f[near] = sum(r.value for r in runs)
    assert answers[0.03] < answers[0.005] < answers[0.0005]
    assert f[0.0005] > f[0.03] > 0.97 * f[0.0005]


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e6, 1e12])
def test_worth_asks_the_same_whatever_the_unit(unit: float) -> None:
    """Not to the bit: rounding differs."""
    objective = venice(0).objective
    f = []
    for scale in (1.0, unit):
        scaled = Coverage(objective.weights * scale, objective.matrix)
        runs = [
            simulate(
                Worth().build(Problem(60, 6, Values(), budget=1080, seed=seed)),
                scaled,
                uniform(scale),
                6,
                budget=Total(1080),
            ).value
            for seed in range(20)
        ]
        f.append(sum(runs) / scale)
    assert f[1] == pytest.approx(f[0], rel=0.02)


@pytest.mark.parametrize("prior", [(0.1,) * 10, (1e308,) * 5 + (0.0,) * 5, (1e-320,) + (0.0,) * 9])
@pytest.mark.parametrize("explorer", [Duels(), Worth()])
def test_extreme_priors_do_no_harm(explorer: Explorer, prior: tuple[float, ...]) -> None:
    known = Preferences() if isinstance(explorer, Duels) else Values()
    problem = Problem(10, 2, known, budget=60, prior=prior)
    response = btl(5.0) if known.compares else uniform(0.1)
    state = explorer.build(problem)
    result = simulate(state, Modular(np.arange(10.0).tolist()), response, 2, budget=problem.total)
    assert len(set(result.chosen)) == 2
    assert np.isfinite(explorer.view(problem, state).mean).all()


@pytest.mark.slow
def test_certified_finds_the_better_items_also_where_the_noise_is_very_large() -> None:
    for seed in range(3):
        objective = venice(seed).objective
        problem = Problem(60, 6, Values(noise=10.0), epsilon=0.1, seed=seed)
        result = simulate(Certified().build(problem), objective, uniform(10.0), 6, cap=10_000_000)
        assert result.rounds[-1].ended == "rule"
        assert result.value > 0.9 * lazy_greedy(objective, 6).value


def quality(explorer: Explorer, problem: Problem, objective: Coverage, beta: float) -> float:
    return simulate(explorer.build(problem), objective, btl(beta), problem.k, budget=problem.total).value


def test_duels_learns_whether_to_trust_a_prior() -> None:
    chance = np.random.default_rng(0)
    f = dict.fromkeys(("none", "right", "opposite", "random"), 0.0)
    for seed in range(40):
        objective = venice(seed % 10).objective
        gains = objective.start().gains()
        scores = {"none": None, "right": gains, "opposite": -gains, "random": chance.random(60)}
        for name, prior in scores.items():
            given = None if prior is None else tuple(prior.tolist())
            problem = Problem(60, 6, Preferences(), budget=180, prior=given, seed=seed)
            f[name] += quality(Duels(), problem, objective, 2.0)
    assert f["right"] > 1.02 * f["none"]
    assert f["opposite"] > 0.99 * f["none"]
    assert f["random"] > 0.95 * f["none"]


@pytest.mark.parametrize(
    ("feedback", "given", "advice"),
    [
        (Values(), {"epsilon": 0.1}, "a guarantee needs to know the noise"),
        (Values(), {"ratio": 0.5}, "a guarantee needs to know the noise"),
        (Values(noise=1.0), {}, "say when to stop: epsilon="),
        (Preferences(), {"epsilon": 0.1}, "how sharp the crowd is"),
        (Preferences(beta=1.0), {}, "say when to stop: epsilon="),
    ],
)
def test_who_names_no_explorer_is_told_what_is_missing(
    feedback: Feedback, given: dict[str, float], advice: str
) -> None:
    with pytest.raises(InvalidProblem, match=advice):
        default_explorer(Problem(10, 2, feedback, **given))  # type: ignore[arg-type]


def test_the_default_explorer_is_the_one_for_what_is_known() -> None:
    def named(feedback: Feedback, **given: float) -> str:
        return default_explorer(Problem(10, 2, feedback, **given)).name  # type: ignore[arg-type]

    assert named(Values(noise=1.0), epsilon=0.1) == named(Values(range=(0.0, 1.0)), ratio=0.5) == "certified"
    assert named(Values(noise=1.0), budget=10) == named(Values(), epsilon=0.1, budget=10) == "worth"
    assert named(Preferences(beta=1.0), epsilon=0.1) == "pivot"
    assert named(Preferences(), budget=10) == named(Preferences(beta=1.0), budget=10) == "duels"


def test_a_bound_over_all_rounds_counts_how_answers_varied_in_each() -> None:
    """An upper bound by the answers of two rounds together, reckoned from the answers themselves."""
    span, alpha, rng = 4.0, 0.01, np.random.default_rng(1)
    logs = {"lower": 20.0, "upper": 20.0, "pooled": -np.log(alpha)}
    rounds = [gain + rng.uniform(-0.5, 0.5, 40) for gain in (1.2, 0.2)]  # alone each has half as many answers
    limits = new_bounds(2, 1, kind=BOUNDED, noise=2.0, span=span, rho=30.0, **logs)
    board, V = new_board(2, 1, 0, 1), 0.0
    for j, answers in enumerate(rounds, 1):
        clear(board, j, -1, 1)
        new_round(limits)
        for x in answers:
            note_asked(board, 0, NOW)
            note_counted(board, 0, NOW, float(x))
            narrow(limits, board, 0)
        close_round(limits, board)
        means = np.cumsum(answers)[:-1] / np.arange(1, len(answers))
        V += ((answers[1:] - means) ** 2).sum() / span**2 + FIRST
    together = np.concatenate(rounds)
    wide = span * bernstein(80.0, V, np.log(1.0 / alpha))
    assert wide < normal_mixture(80.0, 2.0, 1.96 * alpha, 30.0)
    assert limits.items["upper"][0] == pytest.approx(together.mean() + wide, rel=1e-9)


@pytest.mark.parametrize("slow", [True, False])
def test_rounds_that_end_before_their_slow_answers_do_not_bias_the_bound_over_all_rounds(slow: bool) -> None:
    """Answers of 0 come at once; the first of 1 is still in flight when its round ends (or comes at once, too)."""
    p, rounds, runs, too_low = 0.25, 40, 60, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        limits = item_bounds(Problem(rounds, rounds, Values(range=(0, 1)), epsilon=0.1, delta=0.3), rounds, 1.0)
        board = new_board(rounds, rounds, 0, 100)
        for j in range(1, rounds + 1):
            clear(board, j, -1, 1)
            new_round(limits)
            for x in (rng.random(20) < p).astype(float):
                note_asked(board, 0, NOW)
                if slow and x == 1.0:
                    break
                note_counted(board, 0, NOW, float(x))
                narrow(limits, board, 0)
            close_round(limits, board)
        too_low += limits.items["upper"][0] < p
    assert too_low <= 0.05 * runs


@pytest.mark.parametrize("span", [0.0, 4.0])
def test_what_fresh_answers_show_is_reckoned_from_the_answers_themselves(span: float) -> None:
    """The picks' answers add up to Ŵ, and what they vary by to V; another account has no part in it."""
    known = Values(range=(-1.0, 3.0)) if span else Values(noise=2.0)
    state = Certified().build(Problem(6, 2, known, epsilon=0.1, delta=0.1, seed=1))
    rules, claim, n, rng = state.rules, state.claim.rules, 50, np.random.default_rng(2)  # type: ignore[attr-defined]
    state.picks[:] = (4, 1)  # type: ignore[attr-defined]
    rules["phase"], rules["goal"], rules["queued"], state.queue[0] = AUDITING, n, 1, -1  # type: ignore[attr-defined]
    answers = np.stack([1.0 + rng.uniform(-0.1, 0.1, n), 0.5 + rng.uniform(-0.1, 0.1, n)])
    for x in answers.T:
        _credit(state, 4, 0, float(x[0]))  # type: ignore[arg-type]
        _credit(state, 1, 1, float(x[1]))  # type: ignore[arg-type]
    _credit(state, 3, 1, 1000.0)  # type: ignore[arg-type]
    means = np.cumsum(answers, axis=1)[:, :-1] / np.arange(1, n)
    assert claim["fresh"][0] == pytest.approx(answers.sum(), rel=1e-12)
    assert claim["fresh_spread"][0] == pytest.approx(((answers[:, 1:] - means) ** 2).sum(), rel=1e-9)
    claim["cycles"], claim["whole"], claim["whole_spread"] = n, claim["fresh"], claim["fresh_spread"]
    assert 1.5 > best_score(state.claim, BELOW, 1.0, 0.0) > 1.5 - (0.6 if span else 2.0)  # type: ignore[attr-defined]


def test_an_answer_about_a_later_pick_counts_for_the_picks_whatever_is_planned_now() -> None:
    """A round that is gone through again plans other batches; only about the first pick given ∅ is there a doubt."""
    state: Any = Certified().build(Problem(6, 2, Values(noise=2.0), epsilon=0.1, delta=0.1, seed=1))
    state.picks[:] = (4, 1)
    state.rules["phase"], state.rules["goal"] = AUDITING, 3
    _credit(state, 1, 1, 0.5)
    _credit(state, 4, 0, 0.25)
    assert state.fresh.tolist() == [0, 1]
    assert state.claim.rules["fresh"][0] == 0.5


def test_the_order_in_which_a_batch_is_answered_does_not_say_what_its_answers_are_for() -> None:
    """One batch asks about the first pick for W and for U: each answer goes where it was asked for."""
    objective, shown = venice(3).objective, []
    for backwards in (False, True):
        state: Any = Certified().build(Problem(60, 6, Values(noise=1.0), epsilon=0.1, in_flight=64, seed=3))
        progress, past, batch = objective.start(), [], []
        for j in range(1, 7):
            past.append(progress.gains())
            open_round(state, j, -1, 7 - j)
            asked = 0
            while state.board.round[0]["ended"] == OPEN:
                item, rival, given = propose(state, asked)
                if item >= 0:
                    batch.append((asked, item, rival, given))
                    asked += 1
                    continue
                first = int(state.picks[0])
                mixed = state.rules[0]["phase"] == AUDITING and _both(state, first)
                for n, item, rival, given in batch[::-1] if mixed and backwards else batch:
                    put_number(state, n)
                    error = np.random.default_rng((j, n)).uniform(-1.0, 1.0)
                    tell(state, item, rival, given, past[given][item] + error)
                batch.clear()
                if mixed:
                    break
            if mixed:
                shown.append((state.claim.rules[0]["fresh"], state.claim.items[first]["old_total"]))
                break
            progress.add(int(state.board.round[0]["pick"]))
            drop(state, int(state.board.round[0]["pick"]))
    assert len(shown) == 2
    assert shown[0] == pytest.approx(shown[1], rel=1e-12)


def _both(state: Any, first: int) -> bool:
    """Whether the batch asks about the first pick for W and for U."""
    queue = state.queue[: int(state.rules[0]["queued"])]
    return -1 in queue and first in queue


def test_sharp_asks_about_everybody_before_it_asks_about_anybody_often() -> None:
    """Where answers are exact it needs hardly more than one each."""
    objective = venice(0).objective
    problem = Problem(60, 6, Values(noise=0.0), epsilon=0.1)
    result = simulate(Sharp().build(problem), objective, uniform(0.0), 6)
    assert result.rounds[0].per_item.min() == 1
    assert result.answers < 2 * 60
    assert result.value >= 0.99 * lazy_greedy(objective, 6).value
