"""The audit's claim as one sum: against what it stands for, and against askers that would make it false."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from handful.confidence import FIRST, TOP, WIDEST, bet_cost, conjugate, normal_cost
from handful.explorers.board import new_board, surprise
from handful.explorers.claim import (
    ABOVE,
    AFRESH,
    CLAIM,
    LATER,
    LEVEL,
    WHOLE,
    Claim,
    ReachTest,
    allowance,
    begin_afresh,
    best_score,
    chosen,
    drop_anchor,
    hear,
    learn,
    name,
    new_claim,
    new_reach,
    note_first,
    notice,
    out_of_reach,
    renew_pool,
    score,
    squares,
    ways,
    worst,
)
from handful.kernels import kernel
from handful.problem import Floats
from tests.explorers.instances import BROKEN, HELD
from tests.explorers.statistics import binomial_p

BETS = WIDEST * ((np.arange(4_000) + 0.5) / 4_000.0) ** 2  # equally likely
LOST = -np.log1p(-BETS) - BETS


def log_phi(x: float) -> float:
    if x > -30.0:
        return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))
    return -0.5 * x * x - math.log(-x * math.sqrt(2.0 * math.pi)) - 1.0 / (x * x)


def log_half_normal(z: float, T: float, Q: float, rho: float) -> float:
    """log M(z), in units of R."""
    x = T * z / math.sqrt(Q + rho)
    return math.log(2.0) + 0.5 * math.log(rho / (Q + rho)) + 0.5 * x * x + log_phi(x)


def log_bets(z: float, T: float, V: float) -> float:
    """The same for bets, by quadrature, in units of the range."""
    exponents = BETS * T * z - LOST * V
    top = float(exponents.max())
    return top + math.log(float(np.exp(exponents - top).mean()))


@pytest.mark.parametrize("eta", [1e-5, 3e-4, 0.01, 0.2, 0.9, 1.7, 4.0, 5.99, 6.01, 20.0])
def test_the_table_of_costs_is_never_too_low_and_hardly_too_high(eta: float) -> None:
    low, high = -2.0 / eta - 1.0, eta + 1.0

    def at(x: float) -> float:
        if x > -30:
            return eta * x - 0.5 * x * x - log_phi(x) - math.log(2.0)
        return eta * x + math.log(-x * math.sqrt(2 * math.pi)) + 1 / x**2 - math.log(2.0)

    for _ in range(200):  # a concave function of x
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (a, high) if at(a) < at(b) else (low, b)
    assert at(low) - 1e-6 <= conjugate(eta) <= at(low) + 1e-3


@pytest.mark.parametrize("cap", [math.inf, 3.0, 0.4, 0.0, -0.2])
@pytest.mark.parametrize(("T", "rho"), [(1.0, 10.0), (40.0, 10.0), (900.0, 30.0)])
@pytest.mark.parametrize("slope", [0.3, 4.0, 60.0])
def test_a_cost_is_the_most_that_slope_times_z_exceeds_the_mixture_by(
    slope: float, T: float, rho: float, cap: float
) -> None:
    wide = math.sqrt(T + rho)
    zs = np.linspace(-3.0 * T / (slope * wide) - 30.0, 1.1 * slope * wide / T + 5.0, 20_001) * wide / T
    zs = np.append(zs[zs <= cap], min(cap, float(zs[-1])))
    most = max(slope * z - log_half_normal(float(z), T, T, rho) for z in zs)
    found = normal_cost(slope, T, T, rho, cap)
    assert most - 1e-6 <= found <= most + 0.01 + 1e-3 * abs(found)


@pytest.mark.parametrize("cap", [1.0, 0.3, 0.0])
@pytest.mark.parametrize(("T", "V"), [(2.0, 0.3), (50.0, 1.0), (500.0, 40.0)])
@pytest.mark.parametrize("slope", [1.0, 20.0, 200.0])
def test_a_bet_costs_at_least_what_its_mixture_leaves_open(slope: float, T: float, V: float, cap: float) -> None:
    zs = np.linspace(-1.0, cap, 400)
    assert bet_cost(slope, T, V, cap) >= max(slope * z - log_bets(float(z), T, V) for z in zs) - 1e-6


def claim_of(
    means: np.ndarray, counts: np.ndarray, k: int, n: int, fresh: float, anchor: int = 0, **rules: float
) -> Claim:
    """Items with these means of so many answers, and n fresh answers to each pick that add up to `fresh`."""
    given = {
        "share": 0.6,
        "epsilon": 0.1,
        "noise": 1.0,
        "high": math.inf,
        "delta": 0.05,
        "rho": 20.0,
        "fresh_rho": 30.0,
    }
    claim = new_claim(len(means), k, **given | rules)
    board = new_board(len(means), k, 0, 1)
    for picked in (0, anchor) if anchor else (0,):
        drop_anchor(claim, board, picked)
    claim.items["old"], claim.items["old_total"] = counts, means * counts
    claim.items["old_rounds"] = 1
    claim.rules["cycles"], claim.rules["whole"] = n, n * fresh
    return claim


def test_a_claim_is_shown_only_if_every_set_that_breaks_it_is_ruled_out() -> None:
    """Every B of two items, and every split of what is missing between W and the gains of B, on a fine grid."""
    rng = np.random.default_rng(5)
    for _ in range(4):
        counts = rng.integers(3, 200, 4).astype(float)
        means = rng.uniform(0.2, 1.5, 4)
        n, k = 40, 2
        base = claim_of(means, counts, k, n, 3.0)
        edge = best_score(base, CLAIM, 0.6, 0.0)  # the claim with ε = −edge is just shown
        level = allowance(base, 0)
        least = math.inf
        zs = np.linspace(-1.5, 1.5, 101)
        for B in combinations(range(4), k):
            a, b = (np.array([log_half_normal(z, counts[i], counts[i], 20.0) for z in zs]) for i in B)
            gap = 3.0 - edge - 0.6 * float(means[list(B)].sum())  # u + 0.6·(z₁ + z₂) must reach it
            u = gap - 0.6 * (zs[:, None] + zs[None, :])
            x = n * u / math.sqrt(n * k + 30.0)
            tail = np.array([[log_phi(float(v)) for v in row] for row in x])
            w = math.log(2.0) + 0.5 * math.log(30.0 / (n * k + 30.0)) + 0.5 * x * x + tail
            least = min(least, float((a[:, None] + b[None, :] + w).min()))
        assert least >= level - 0.02
        assert least <= level + 1.5  # and not much more is asked for


def test_shares_of_delta_and_weights_of_accounts_add_up_to_one() -> None:
    """Each anchor after the first has three tests: by all its answers, and twice by those from when it begins anew."""
    claim = claim_of(np.ones(9), np.ones(9), 4, 1, 1.0)

    def share() -> float:
        return sum(math.exp(-allowance(claim, way)) for way in range(2)) / 0.05

    shares = [share()]
    claim.torn[0] = 1
    shares.append(share())
    for anchor in range(1, 4):
        claim.rules["anchor"] = anchor
        for alone in (0, 1, 1):
            claim.rules["alone"] = alone
            shares.append(share())
    assert sum(shares) == pytest.approx(WHOLE + LATER + AFRESH * 3 / 4)
    assert sum(shares) <= 1.0
    claim.rules["alone"] = 0
    assert sum(math.exp(-chosen(claim, rounds)) for rounds in range(40)) == pytest.approx(1.0)


def test_who_begins_anew_from_an_anchor_counts_no_answer_from_before() -> None:
    claim, board = new_claim(5, 3, noise=1.0, delta=0.05), new_board(5, 3, 0, 1)
    claim.items["skip"] = 0
    for picked in range(2):
        for item in range(5):
            hear(claim, item, picked, 2.0)
        drop_anchor(claim, board, picked)
    learn(claim, 4, 2.0)
    assert claim.items["now"].tolist() == [0, 0, 0, 0, 1]
    begin_afresh(claim, 2, np.array([3, 1, 0]))
    assert claim.items["old"].tolist() == [0, -1, 0, -1, 0]
    assert (claim.items["now"].sum(), claim.items["old_total"].sum()) == (0, 0.0)
    learn(claim, 0, 1.5)
    assert (claim.items["old"][0], claim.items["old_total"][0]) == (1, 1.5)


def test_an_item_that_was_never_asked_about_may_be_worth_all_that_the_range_allows() -> None:
    means, counts = np.array([1.0, 0.9, 0.5, 0.0]), np.array([5000, 5000, 5000, 0])
    assert best_score(claim_of(means, counts, 2, 9, 1.0), ABOVE, 1.0, 0.0) == -math.inf
    ranged = claim_of(means, counts, 2, 9, 1.0, span=4.0, high=3.0, noise=2.0)
    assert 3.9 < -best_score(ranged, ABOVE, 1.0, 0.0) < 4.5


def test_first_answers_say_how_large_gains_are_and_are_not_counted() -> None:
    claim = new_claim(20, 3, noise=1.0, delta=0.05)
    for n in range(20):
        note_first(claim, n, 0, n)
        hear(claim, n, 0, 2.0)
    assert claim.rules["sighted"][0] == 12
    assert claim.items["count"].tolist() == [0] * 12 + [1] * 8


# A false claim is seldom made, whoever asks, and however cleverly.

START = 20  # answers about each at first
SPELL = 12  # looks, in which who looks low is asked about no more; then all are asked about until they are even


@kernel
def asked(count: int, total: float, mean: float, deviation: float, low: float, level: int) -> tuple[int, float]:
    """More answers, up to `level`; where that is 0, a quarter more, if the sum is at least so many deviations away."""
    if level == 0 and total < count * mean - low * deviation * math.sqrt(float(count)):
        return count, total
    n = level - count if level > 0 else count // 4
    return count + n, total + n * mean + np.random.normal(0.0, deviation * math.sqrt(float(n)))


@kernel
def picked_by_luck(claim: Claim, gain: float, anchor: int, patience: float) -> None:
    """A round before the anchor, with the same asker, who sees to it that those of OPT are picked who look high."""
    items, k = claim.items, claim.rules[0].k
    for look in range(2 * SPELL):
        for i in range(k):
            row = items[i]
            row.old_rounds = 1
            row.old, row.old_total = asked(row.old, row.old_total, gain, 1.0, patience, 15 * START if look == 0 else 0)
    for _ in range(anchor):
        highest = -1
        for i in range(k):
            row = items[i]
            if row.old > 0 and (highest < 0 or row.old_total / row.old > items[highest].old_total / items[highest].old):
                highest = i
        items[highest].old = -1


@kernel
def lucky(claim: Claim, gain: float, worth: float, spells: int, patience: float, seed: int) -> bool:
    """Whether a claim is ever shown, by an asker who asks no more about items of OPT that look low, and looks often.

    What is not in OPT is known for certain, so that it is never in the way.
    """
    rules, items = claim.rules[0], claim.items
    np.random.seed(seed)
    for i in range(rules.k, len(items)):
        items[i].old = 10**6
        items[i].old_rounds = 1
    if rules.anchor > 0:
        picked_by_luck(claim, gain, rules.anchor, patience)
        if rules.alone == 1:  # the audit begins anew from here: what was heard before counts no more
            for i in range(rules.k):
                if items[i].old > 0:
                    items[i].old, items[i].old_total = 0, 0.0
    for look in range(spells * SPELL):
        level = START * 15 ** (look // SPELL) if look % SPELL == 0 else 0
        for i in range(rules.k):  # OPT
            row = items[i]
            if rules.alone == 1 and row.old >= 0:
                row.old, row.old_total = asked(row.old, row.old_total, gain, 1.0, patience, level)
            elif rules.alone == 0 and row.old > 0:
                row.now, row.now_total = asked(row.now, row.now_total, gain, 1.0, patience, level)
        above, most = -rules.whole, 2.0 * patience
        rules.cycles, above = asked(rules.cycles, above, -worth, math.sqrt(squares(claim)), most, level)
        rules.whole = -above
        if _ever_shown(claim):
            return True
    return False


@kernel
def _ever_shown(claim: Claim) -> bool:
    """Whether the claim is shown, in some way and for some y."""
    rules = claim.rules[0]
    for way in range(ways(claim)):
        for step in range(20):
            if score(claim, CLAIM, way, math.exp(-3.0 + 0.6 * step), rules.share, rules.epsilon) >= 0.0:
                return True
    return False


@kernel
def lucky_coins(
    claim: Claim, totals: Floats, gain: float, worth: float, spells: int, patience: float, seed: int
) -> bool:
    """The same for answers of 0 or 1, of which it is known that they are from 0 to 1."""
    rules, items = claim.rules[0], claim.items
    np.random.seed(seed)
    k = rules.k
    deviation, own = math.sqrt(gain * (1.0 - gain)), worth / rules.k
    for i in range(k, len(items)):
        items[i].old = 10**6
    for look in range(spells * SPELL):
        even, level = look % SPELL == 0, START * 15 ** (look // SPELL)
        for i in range(k):
            row = items[i]
            if not even and row.old_total < row.old * gain - patience * deviation * math.sqrt(float(row.old)):
                continue
            for _ in range(level - row.old if even else row.old // 4):
                learn(claim, i, 1.0 if np.random.random() < gain else 0.0)
        spread = math.sqrt(k * own * (1.0 - own))
        if even or not rules.whole > rules.cycles * worth + 2.0 * patience * spread * math.sqrt(float(rules.cycles)):
            for _ in range(level - rules.cycles if even else rules.cycles // 4):
                for i in range(k):
                    x = 1.0 if np.random.random() < own else 0.0
                    rules.whole_spread += surprise(rules.cycles, totals[i], x)
                    totals[i] += x
                    rules.whole += x
                rules.cycles += 1
        if _ever_shown(claim):
            return True
    return False


@dataclass(frozen=True)
class Crowd:
    """k of so many items, what is given, and what answers are like."""

    k: int
    size: int
    anchor: int = 0
    coin: float = 0.0  # the chance of a 1; 0: answers are Gaussian
    anew: bool = False  # whether only answers given the anchor's picks count

    @property
    def patience(self) -> float:
        """With which most false claims are made when the radius is too small; see `asked`."""
        return 0.7 if self.anchor == 0 and self.coin == 0.0 else 1.0

    def promised(self, delta: float) -> float:
        """How often a false claim may be made: a later anchor has a share of δ, as there are many to choose from."""
        return delta if self.anchor == 0 else (0.5 * AFRESH if self.anew else LATER) * delta / self.k

    def made_in_vain(self, delta: float, shrink: float, runs: int, patience: float) -> int:
        """How often a claim is made that is false by next to nothing."""
        k, gain = self.k, self.coin or 1.0
        epsilon = 0.1 if self.coin == 0.0 else 0.01 * gain * k
        known = {"noise": 0.5, "span": 1.0, "high": 1.0} if self.coin else {"noise": 1.0, "high": math.inf}
        worth = 0.6 * (k - self.anchor) * gain - epsilon - 1e-9
        made = 0
        for seed in range(runs):
            claim = new_claim(
                self.size, k, share=0.6, epsilon=epsilon, delta=delta, shrink=shrink, rho=20.0, fresh_rho=30.0, **known
            )
            for picked in (0, self.anchor) if self.anchor else (0,):
                drop_anchor(claim, new_board(self.size, k, 0, 1), picked)
            claim.rules["alone"] = self.anew or self.anchor == 0
            if self.coin:
                made += bool(lucky_coins(claim, np.zeros(k), gain, worth, 3, patience, seed))
            else:
                made += bool(lucky(claim, gain, worth, 4, patience, seed))
        return made


CROWDS = [
    pytest.param(Crowd(1, 5), id="1 of 5"),
    pytest.param(Crowd(6, 20), id="6 of 20"),
    pytest.param(Crowd(20, 30), id="20 of 30"),
    pytest.param(Crowd(50, 60), id="50 of 60"),
    pytest.param(Crowd(19, 20), id="all but one"),
    pytest.param(Crowd(6, 20, anchor=2), id="6 of 20, given two"),
    pytest.param(Crowd(20, 30, anchor=5), id="20 of 30, given five"),
    pytest.param(Crowd(6, 20, anchor=2, anew=True), id="6 of 20, anew given two"),
    pytest.param(Crowd(20, 30, anchor=5, anew=True), id="20 of 30, anew given five"),
    pytest.param(Crowd(6, 20, coin=0.05), id="6 of 20, hardly ever 1"),
    pytest.param(Crowd(20, 30, coin=0.95), id="20 of 30, nearly always 1"),
]


def p_value(crowd: Crowd, delta: float, shrink: float, runs: int, patience: float) -> float:
    """Of “a false claim is made no more often than promised”."""
    return binomial_p(crowd.made_in_vain(delta, shrink, runs, patience), runs, crowd.promised(delta))


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("crowd", CROWDS)
def test_who_asks_no_more_about_what_looks_low_makes_no_false_claim(crowd: Crowd, delta: float) -> None:
    assert p_value(crowd, delta, 1.0, 30, crowd.patience) > HELD


@pytest.mark.parametrize("crowd", CROWDS)
def test_a_radius_that_is_too_small_is_caught_by_who_asks_so(crowd: Crowd) -> None:
    assert p_value(crowd, 0.3, 0.3, 60, crowd.patience) < BROKEN


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("crowd", CROWDS)
def test_no_asker_makes_false_claims_over_many_runs(crowd: Crowd, delta: float) -> None:
    for patience in (
        crowd.patience,
        2.0,
    ):  # the first is best at it with too small a radius, the other with the right one
        assert p_value(crowd, delta, 1.0, 1000, patience) > HELD
    if crowd.coin == 0.0 or delta < 0.5:  # with coins seven or eight in ten are caught, which shows nothing at 0.8
        assert p_value(crowd, delta, 0.3, 1000, crowd.patience) < BROKEN


# Out of reach is said only of what is.


@kernel
def given_up(reach: ReachTest, claim: Claim, gain: float, worth: float, looks: int, seed: int) -> bool:
    """Whether an asker who looks often is ever told that a claim is out of reach."""
    rules = claim.rules[0]
    np.random.seed(seed)
    for look in range(looks):
        for i in range(rules.k):
            for _ in range(1 + look // 4):
                x = gain + np.random.normal()
                learn(claim, i, x)
                notice(reach, i, x)
                reach.rules[0].answers += 1
        n = 1 + rules.cycles // 10
        rules.whole += n * worth + np.random.normal(0.0, math.sqrt(n * float(rules.k)))
        rules.cycles += n
        if reach.rules[0].answers >= reach.rules[0].renew:
            name(reach, claim)
        if out_of_reach(reach, claim):
            return True
    return False


def told_in_vain(margin: float, runs: int, looks: int) -> int:
    """How often, where W − s·U exceeds −ε by `margin`."""
    told = 0
    for seed in range(runs):
        k = 3
        claim = claim_of(np.ones(5), np.ones(5), k, 0, 0.0, epsilon=0.0)
        reach = new_reach(5, k)
        name(reach, claim)
        told += bool(given_up(reach, claim, 1.0, 0.6 * k + margin, looks, seed))
    return told


@pytest.mark.slow
def test_out_of_reach_is_said_of_what_is_and_hardly_ever_of_what_is_not() -> None:
    assert binomial_p(told_in_vain(0.01, 400, 60), 400, LEVEL) > HELD
    assert told_in_vain(-0.5, 20, 400) == 20
    assert TOP < WIDEST
    assert FIRST == 0.25


@pytest.mark.parametrize("anchor", [0, 2])
@pytest.mark.parametrize("span", [0.0, 2.0])
def test_the_pool_holds_every_set_that_may_stand_in_the_way(anchor: int, span: float) -> None:
    size, k = 3_000, 3
    rng = np.random.default_rng(7)
    known = {"share": 0.6, "noise": 1.0, "delta": 0.05, "span": span, "high": 2.0 if span else math.inf}
    claim = new_claim(size, k, anchor=anchor, rho=20.0, **known)
    counts = np.minimum(rng.geometric(0.7, size), 30)
    claim.items["old"] = counts
    claim.items["old_rounds"] = 1 + rng.integers(0, 2, size)
    claim.items["old_total"] = counts * rng.normal(1.0, 0.4, size)
    claim.items["old_spread"] = (counts - 1) * rng.random(size)
    whole = claim._replace(rules=claim.rules.copy(), best=claim.best.copy(), keys=claim.keys.copy())
    claim = claim._replace(pool=claim.pool.copy())
    claim.rules["pooled"] = 0
    renew_pool(claim)
    first = int(claim.rules["pooled"][0])
    assert first < size / 2 or span > 0.0
    for step in range(900):
        if step % 30 == 0:
            renew_pool(claim)
            for way in range(3 if span else 2):
                for y in (0.3, 3.0, 40.0):
                    assert worst(claim, way, y, 0.6) == worst(whole, way, y, 0.6)
                    assert set(claim.best) == set(whole.best)
        learn(claim, int(claim.best[step % k]), float(rng.normal(0.5, 0.3)))  # the accounts are the same rows
    renew_pool(claim)
    outside = next(i for i in range(size) if i not in claim.pool[: claim.rules["pooled"][0]])
    for _ in range(40):  # as when a round is gone through again, after other answers
        learn(claim, outside, 100.0)
    renew_pool(claim)
    assert worst(claim, 0, 3.0, 0.6) == worst(whole, 0, 3.0, 0.6)
    assert outside in claim.best or anchor > 0
    short = claim._replace(rules=claim.rules.copy(), pool=claim.pool[::-1].copy())
    short.rules["pooled"] = k  # those who stand last
    assert worst(short, 0, 3.0, 0.6) < worst(whole, 0, 3.0, 0.6)
