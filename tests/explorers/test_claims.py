"""What the explorers beyond the paper claim, by simulation; each test shown to fail when radii are 0.3 of theirs.

Answers are Gaussian with a standard deviation of exactly R, uniform in a range that is known (and wide enough for all
gains), or comparisons by the very model that the explorer was told of. The optimum is found by trying all sets. Where a
claim is so far from false that nothing could make it fail, the bounds it rests on are put to the test instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Literal

import numpy as np
import pytest

from handful.certificates import Variant, finite_step, free_share
from handful.explorers.audit import shown_by
from handful.explorers.protocol import ExplorerState
from handful.explorers.registry import Certified, Explorer, Pivot, Sharp
from handful.objectives import Coverage, FacilityLocation, Modular
from handful.problem import Feedback, Objective, Preferences, Problem, Values
from handful.responses import Response, btl, gaussian, uniform
from handful.simulation import Simulation, simulate
from tests.explorers.instances import BROKEN, HELD, families, stairs
from tests.explorers.playing import gains_after
from tests.explorers.statistics import binomial_p

K = 3
DELTA = 0.01
DELTAS = [0.05, 0.3, 0.8]


def duplicates() -> Objective:
    """Three families of four; only one of each counts."""
    similarity = np.zeros((12, 3))
    for family in range(3):
        similarity[4 * family : 4 * family + 4, family] = 3.0 - family
    return FacilityLocation(similarity)


def worst_for_greedy() -> Objective:
    """K sets that share nothing, and K more that greedy prefers and that take 1/K of all that is left each time."""
    c = 1.0 - 1.0 / K
    weights = [c**j / K for j in range(K)] + [c**K]
    atoms = np.zeros((3 * K, K, K + 1))
    for i in range(K):
        atoms[i, i, :] = 1.0  # the optimum
        atoms[K + i, :, i] = 1.0  # greedy's
    atoms[2 * K :, 0, 0] = 0.05  # others
    scale = np.tile(weights, K) * np.repeat([1.0] * K, K + 1)
    return Coverage(scale, atoms.reshape(3 * K, -1))


def random_coverage(seed: int) -> Objective:
    rng = np.random.default_rng(seed)
    return Coverage(rng.random(6), rng.random((12, 6)) * (rng.random((12, 6)) < 0.4))


INSTANCES: dict[str, Objective] = {
    "ties": Modular([2.0, 2.0, 1.5, 1.5, 1.5, 1.5, 1.0, 1.0, 1.0, 1.0]),
    "a needle": Modular([0.2] * 11 + [3.0]),
    "all equal": Modular([1.0] * 9),
    "duplicates": duplicates(),
    "random coverage": random_coverage(0),
    "worst for greedy": worst_for_greedy(),
    "just not good enough": Modular([2.0] * 3 + [1.51] * 9),
    "half as good": Modular([1.0] * 3 + [0.5] * 21),
    "nothing is worth anything": Modular([0.0] * 9),
    "most are worth nothing": Modular([2.0, 1.0] + [0.0] * 8),
}
NOISE = {
    "ties": 0.5,
    "a needle": 0.1,
    "just not good enough": 3.0,
    "half as good": 1.0,
    "nothing is worth anything": 0.5,
    "most are worth nothing": 0.5,
}  # R; elsewhere 2


@cache
def optimum(name: str) -> float:
    """f(OPT), by trying all sets."""
    objective = INSTANCES[name]
    best = 0.0
    for some in combinations(range(objective.size), K):
        progress = objective.start()
        for item in some:
            progress.add(item)
        best = max(best, progress.value)
    return best


@cache
def gains(name: str, chosen: tuple[int, ...]) -> np.ndarray:
    return gains_after(INSTANCES[name], chosen)


def value(name: str, chosen: tuple[int, ...]) -> float:
    return float(sum(gains(name, chosen[:j])[item] for j, item in enumerate(chosen)))


Known = Literal["R", "range"]
KNOWN: tuple[Known, ...] = ("R", "range")


def told(known: Known, noise: float, most: float) -> tuple[Values, Response]:
    """What is said of the noise, and how answers come; `most` is the largest gain."""
    if known == "R":
        return Values(noise=noise), gaussian(noise)
    half = noise * 3**0.5  # the same standard deviation
    return Values(range=(-half, most + half)), uniform(half)


def run(
    name: str,
    explorer: Explorer,
    seed: int,
    *,
    epsilon: float | None = None,
    ratio: float | None = None,
    noise: float = 0.0,
    known: Known = "R",
    cap: int = 300_000,
    delta: float = DELTA,
) -> tuple[ExplorerState, Simulation]:
    """One run. An explorer with too small a radius may hang on a tie, having lost sight of the best: hence the cap."""
    objective = INSTANCES[name]
    feedback, response = told(known, noise or NOISE.get(name, 2.0), float(gains(name, ()).max()))
    problem = Problem(objective.size, K, feedback, epsilon=epsilon, ratio=ratio, delta=delta, seed=seed)
    state = explorer.build(problem)
    return state, simulate(state, objective, response, K, cap=cap)


def failing(broken: Callable[[int], bool], runs: int, delta: float = DELTA) -> float:
    """The p-value of “at most δ of the runs break it”."""
    return binomial_p(sum(broken(seed) for seed in range(runs)), runs, delta)


# A proof in every round. After j of them f(S) ≥ (1 − e^(−j/k))·(f(OPT) − ε/(1 − 1/e)), whatever the rule.


def a_round_is_broken(
    name: str, rule: str, known: Known, shrink: float, noise: float = 0.0, delta: float = DELTA
) -> Callable[[int], bool]:
    """Whether what is claimed is false after some round, all up to it having been ended by their rule."""
    epsilon = 0.4

    def broken(seed: int) -> bool:
        explorer = Certified(rule=rule, shrink=shrink)  # type: ignore[arg-type]
        cap = 300_000 if shrink < 1 else 3_000_000
        _, result = run(name, explorer, seed, epsilon=epsilon, noise=noise, known=known, cap=cap, delta=delta)
        for j, r in enumerate(result.rounds, 1):
            if r.ended != "rule":
                assert shrink < 1.0
                return False
            share = 1.0 - (1.0 - finite_step(K)) ** j
            if value(name, result.chosen[:j]) < share * (optimum(name) - epsilon / (1 - 1 / np.e)) - 1e-9:
                return True
        return False

    return broken


RULES = ["plain", "chain", "bank"]
LOUD: dict[Known, float] = {"R": 3.0, "range": 9.0}  # so that a bound that knows the range has little to spare
HARDEST = "just not good enough"  # elsewhere a wrong pick would have to be wronger still
CAUGHT = [("plain", "R"), ("chain", "R"), ("bank", "R"), ("plain", "range"), ("chain", "range")]


def rounds_break(name: str, rule: str, known: Known, shrink: float, delta: float = DELTA) -> Callable[[int], bool]:
    return a_round_is_broken(name, rule, known, shrink, LOUD[known] if name == HARDEST else 0.0, delta)


@pytest.mark.slow
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", INSTANCES)
def test_certified_is_right_in_every_round(name: str, rule: str, known: Known) -> None:
    assert failing(rounds_break(name, rule, known, 1.0), 40) > HELD


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", INSTANCES)
def test_certified_is_right_in_every_round_over_many_runs(name: str, rule: str, known: Known) -> None:
    assert failing(rounds_break(name, rule, known, 1.0), 1000) > HELD
    if name == HARDEST and (rule, known) in CAUGHT:
        assert failing(rounds_break(name, rule, known, 0.3), 1000) < BROKEN**2


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rule", RULES)
def test_certified_is_right_in_every_round_at_any_delta(rule: str, delta: float) -> None:
    for name in (HARDEST, "duplicates", "worst for greedy", "most are worth nothing"):
        assert failing(rounds_break(name, rule, "R", 1.0, delta), 15, delta) > HELD


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", INSTANCES)
def test_certified_is_right_in_every_round_at_any_delta_over_many_runs(
    name: str, rule: str, delta: float, known: Known
) -> None:
    assert failing(rounds_break(name, rule, known, 1.0, delta), 1000, delta) > HELD


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("rule", "delta"), [("plain", 0.05), ("chain", 0.05), ("bank", 0.05), ("plain", 0.3), ("chain", 0.3)]
)  # three in ten of bank's runs are false, and less than half of the others': that shows nothing at a larger δ
def test_certified_is_caught_in_a_wrong_round_at_a_larger_delta_over_many_runs(rule: str, delta: float) -> None:
    assert failing(rounds_break(HARDEST, rule, "R", 0.3, delta), 1000, delta) < BROKEN


@pytest.mark.parametrize(("rule", "known"), CAUGHT)
def test_certified_is_caught_in_a_wrong_round_when_the_radius_is_too_small(rule: str, known: Known) -> None:
    assert failing(rounds_break(HARDEST, rule, known, 0.3), 100) < BROKEN


def test_a_bank_holds_what_rounds_showed_beyond_their_due() -> None:
    """Reckoned for answers without noise: U is the sum of the three largest, or what is left of an earlier one."""
    gains_of = [3.0, 2.0, 1.0, 0.5, 0.25]
    state = Certified(rule="bank").build(Problem(5, 3, Values(noise=1e-9), epsilon=0.4, seed=1))
    result = simulate(state, Modular(gains_of), gaussian(0.0), 3)
    s = finite_step(3)
    due, bank, left = 0.4 * s / (1 - 1 / np.e), 0.0, np.inf
    for j, item in enumerate(result.chosen):
        rest = [gain for i, gain in enumerate(gains_of) if i not in result.chosen[:j]]
        U = min(sum(sorted(rest)[-3:]), left)
        bank = (1 - s) * bank + due - (s * U - gains_of[item])
        left = U - gains_of[item]
    assert bank > 0.5
    assert state.rules["bank"][0] == pytest.approx(bank, abs=1e-6)  # type: ignore[attr-defined]


# A proof at the end.


def false_of_audit(
    name: str, known: Known, shrink: float, cap: int = 300_000, delta: float = DELTA
) -> Callable[[int], tuple[bool, bool, bool]]:
    """What is false of what an audit shows: the claim or the share of f(OPT), which are one test; U, which is less than
    the sum of the k largest gains given ∅; f(S), which is less than was shown of it.
    """

    def false(seed: int) -> tuple[bool, bool, bool]:
        epsilon = 0.2
        explorer = Certified(near=0.05, shrink=shrink)
        state, result = run(name, explorer, seed, epsilon=epsilon, known=known, cap=cap, delta=delta)
        claim = state.claim  # type: ignore[attr-defined]
        assert claim.rules["cycles"][0] > 0 or optimum(name) == 0.0  # there was an audit, or U alone was enough
        found = shown_by(claim)
        largest = float(np.sort(gains(name, ()))[::-1][:K].sum())
        needed = (1 - 1 / np.e) * optimum(name) - epsilon
        return (
            bool(result.rounds[-1].ended == "rule" and result.value < needed - 1e-9)
            or found.ratio * optimum(name) > result.value + 1e-9,
            found.optimum is not None and found.optimum < largest - 1e-9,
            found.value > result.value + 1e-9,
        )

    return false


def audit_is_broken(name: str, known: Known, shrink: float, cap: int = 300_000) -> Callable[[int], bool]:
    """Whether any of it is false."""
    false = false_of_audit(name, known, shrink, cap)
    return lambda seed: any(false(seed))


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("name", INSTANCES)
def test_what_an_audit_shows_is_true(name: str, known: Known) -> None:
    assert failing(audit_is_broken(name, known, 1.0, cap=100_000), 30) > HELD


def of_each(false: Callable[[int], tuple[bool, bool, bool]], runs: int) -> tuple[int, ...]:
    """How many of the runs say what is false, for each of the three."""
    return tuple(map(sum, zip(*(false(seed) for seed in range(runs)), strict=True)))


@pytest.mark.parametrize("delta", DELTAS)
def test_each_number_of_an_audit_is_true_at_any_delta(delta: float) -> None:
    for name in ("ties", "duplicates", "worst for greedy", "most are worth nothing"):
        found = of_each(false_of_audit(name, "R", 1.0, 100_000, delta), 15)
        assert binomial_p(max(found), 15, delta) > HELD


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("name", INSTANCES)
def test_each_number_of_an_audit_is_true_at_any_delta_over_many_runs(name: str, delta: float, known: Known) -> None:
    found = of_each(false_of_audit(name, known, 1.0, delta=delta), 1000)
    print(f"{name}, δ = {delta}, {known} known: false claim, optimum, value: {found} of 1000")
    assert binomial_p(max(found), 1000, delta) > HELD


TELLING = ["a needle", "duplicates"]
"""Where a radius of 0.3 is soon caught. Among equal items U is a bound on the best looking set, and true even then."""


@pytest.mark.slow
@pytest.mark.parametrize("name", TELLING)
def test_an_audit_is_caught_when_its_radius_is_too_small(name: str) -> None:
    assert failing(audit_is_broken(name, "R", 0.3), 200) < BROKEN


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("name", INSTANCES)
def test_what_an_audit_shows_is_true_over_many_runs(name: str, known: Known) -> None:
    assert failing(audit_is_broken(name, known, 1.0), 1000) > HELD


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", [*TELLING, "random coverage", "ties"])
def test_an_audit_is_caught_over_many_runs_when_its_radius_is_too_small(name: str) -> None:
    assert failing(audit_is_broken(name, "R", 0.3), 1000) < BROKEN**2


# Its final claim, put to the test by a scout so hasty that its picks are often too poor for what is to be shown.

CLAIMS: dict[str, dict[str, float]] = {"epsilon": {"epsilon": 0.366}, "ratio": {"ratio": 0.51}}
"""Three poor ones have 0.5 of the optimum, and 0.51 is to be shown."""


def a_false_claim_is_shown(claim: str, known: Known, shrink: float, cap: int = 300_000) -> Callable[[int], bool]:
    """Whether a share of the optimum is claimed that the picks do not have."""
    given = CLAIMS[claim]
    needed = given.get("ratio", 1 - 1 / np.e) * optimum("half as good") - given.get("epsilon", 0.0)

    def broken(seed: int) -> bool:
        _, result = run("half as good", Certified(near=100.0, shrink=shrink), seed, known=known, cap=cap, **given)
        return result.rounds[-1].ended == "rule" and result.value < needed - 1e-9

    return broken


@pytest.mark.slow
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_hasty_scout_costs_no_claim_its_truth_and_a_smaller_radius_is_caught(claim: str, known: Known) -> None:
    soon = 30_000  # whatever is ever claimed is claimed by then; the other runs would go on in vain
    assert failing(a_false_claim_is_shown(claim, known, 1.0, soon), 40) > HELD
    assert failing(a_false_claim_is_shown(claim, known, 0.3, soon), 100) < BROKEN


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_hasty_scout_costs_no_claim_its_truth_over_many_runs(claim: str, known: Known) -> None:
    assert failing(a_false_claim_is_shown(claim, known, 1.0), 1000) > HELD
    assert failing(a_false_claim_is_shown(claim, known, 0.3), 1000) < BROKEN**2


def test_a_ratio_is_certified_or_said_to_be_out_of_reach() -> None:
    """Greedy reaches 0.704 there, and more where it takes one of two that are equal for the other."""
    endings = set()
    for seed in range(20):
        _, result = run("worst for greedy", Certified(), seed, ratio=0.9, noise=0.05)
        endings.add(result.rounds[-1].ended)
        assert (result.rounds[-1].ended == "rule") == (result.value >= 0.9 * optimum("worst for greedy"))
    assert endings == {"rule", "out of reach"}


@pytest.mark.slow
def test_anchors_other_than_the_empty_set_are_among_those_tried() -> None:
    states = [run("duplicates", Certified(), seed, epsilon=0.2)[0] for seed in range(20)]
    assert {int(state.claim.rules[0]["anchor"]) for state in states} - {0}  # type: ignore[attr-defined]


# Condition (2) in every round, and each pick within ε′ of the best.


@dataclass(frozen=True)
class Hard:
    """One item is better than others by just more than what may be given away."""

    explorer: Callable[[float], Explorer]  # of shrink
    objective: Objective
    k: int
    feedback: Feedback
    epsilon: float  # ε′
    delta: float = 0.01
    in_flight: int = 1

    def broken(self, seed: int, shrink: float) -> int:
        """Rounds whose set has a mean gain more than ε′ below that of the best set of its size."""
        problem = Problem(
            self.objective.size,
            self.k,
            self.feedback,
            epsilon=self.epsilon / free_share(self.k),
            delta=self.delta,
            in_flight=self.in_flight,
            seed=seed,
        )
        known = self.feedback
        response = btl(known.beta or 1.0) if isinstance(known, Preferences) else gaussian(known.noise or 0.0)
        result = simulate(self.explorer(shrink).build(problem), self.objective, response, self.k, cap=200_000)
        assert shrink < 1.0 or not result.capped
        wrong = 0
        for j, r in enumerate(result.rounds):
            now = gains_after(self.objective, result.chosen[:j])
            others = np.delete(now, list(result.chosen[:j]))
            best = np.sort(others)[::-1][: len(r.candidates)].mean()
            wrong += bool(now[list(r.candidates)].mean() < best - self.epsilon - 1e-9)
        return wrong


def per_round(hard: Hard, runs: int, shrink: float) -> float:
    """The p-value of “it fails in at most δ′ of the rounds”."""
    wrong = sum(hard.broken(seed, shrink) for seed in range(runs))
    return binomial_p(wrong, runs * hard.k, hard.delta / hard.k)


def sharp(variant: Variant) -> Callable[[float], Explorer]:
    return lambda shrink: Sharp(variant=variant, shrink=shrink)


def pivot(shrink: float) -> Explorer:
    return Pivot(shrink=shrink)


ONE = Values(noise=1.0)
HARD = [
    pytest.param(Hard(sharp("O"), stairs(9, 3, 0.15), 3, ONE, 0.15 / 1.1, 0.05), id="sharp, one of stairs"),
    pytest.param(Hard(sharp("O"), families(3, 3, 0.15), 3, ONE, 0.15 / 1.1, 0.05), id="sharp, one of families"),
    pytest.param(Hard(sharp("full"), stairs(9, 3, 0.15), 3, ONE, 0.15 / 3.3, 0.05), id="sharp, any size"),
    pytest.param(
        Hard(sharp("O"), families(3, 3, 0.15), 3, ONE, 0.15 / 1.1, 0.05, in_flight=9), id="sharp, nine in flight"
    ),
    pytest.param(Hard(sharp("O"), Modular([16.0, 15.0, 0.0]), 1, Preferences(beta=1.0), 0.9), id="sharp, compared"),
    pytest.param(Hard(pivot, Modular([1.0] + [0.0] * 8), 1, Preferences(beta=1.0), 0.9), id="pivot, a needle"),
    pytest.param(Hard(pivot, stairs(9, 3, 1.0), 3, Preferences(beta=1.0), 0.9), id="pivot, stairs"),
    pytest.param(Hard(pivot, families(2, 3, 1.0), 2, Preferences(beta=1.0), 0.9), id="pivot, families"),
    pytest.param(Hard(pivot, stairs(9, 3, 1.0), 3, Preferences(beta=1.0), 0.9, in_flight=9), id="pivot, in flight"),
]


@pytest.mark.slow
@pytest.mark.parametrize("hard", HARD)
def test_rounds_are_right_and_a_smaller_radius_is_caught(hard: Hard) -> None:
    assert per_round(hard, 80, shrink=1.0) > HELD
    assert per_round(hard, 80, shrink=0.3) < BROKEN


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("hard", HARD)
def test_rounds_are_right_over_many_runs_and_a_smaller_radius_is_caught(hard: Hard) -> None:
    assert per_round(hard, 2000, shrink=1.0) > HELD
    assert per_round(hard, 2000, shrink=0.3) < BROKEN**2
