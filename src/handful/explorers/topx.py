"""TopX, Algorithm 2 of the paper, line by line: its state, its sets of items, a round of it, and its settings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from handful.certificates import (
    NO_GUARANTEE,
    OPTIMUM_BOUND,
    VALUES,
    Certificate,
    Evidence,
    Guarantee,
    PerRound,
    Variant,
    allowed_gap,
    assumptions_of,
    beta_of,
    check_shrink,
    claim_of,
    needs_an_end,
    noise_of,
    one_of,
    pairs_only,
    per_round,
    promise,
    reached_epsilon,
)
from handful.errors import InvalidProblem
from handful.explorers.board import (
    NOBODY,
    NOW,
    SHARE,
    Board,
    Rows,
    View,
    end,
    interval_view,
    new_board,
    rival_of,
    shuffle,
)
from handful.explorers.protocol import Explorer, ExplorerState, explores
from handful.kernels import kernel
from handful.numbers import whole
from handful.problem import OPEN, RULE, Ints, Preferences, Problem

LITERAL, COUNTED = range(2)  # the radius
ADAPTIVE, EVERYBODY, FIXED = range(3)  # which items a step asks
BEST_MEAN, SMALLEST_GAP = range(2)  # what to return when the budget ends a round

_RULES = np.dtype(
    [
        ("size", np.int64),  # N
        ("most", np.int64),  # k′
        ("only", np.int64),  # l fixed to this; 0 for any l = 1..k′
        ("epsilon", np.float64),  # ε′
        ("delta", np.float64),  # δ′
        ("noise", np.float64),  # R
        ("radius", np.int64),
        ("shrink", np.float64),  # multiplies the radius; 1 but in tests of power
        ("asking", np.int64),
        ("repeats", np.int64),  # samples per item of the fixed-sample form
        ("tau", np.int64),
        ("beta", np.float64),  # comparisons: β if known, nan if not; VALUES for values
        ("out_of_budget", np.int64),
        ("step", np.int64),  # t
        ("seen", np.int64),  # candidates with at least one answer
        ("queued", np.int64),  # entries of the list Q
        ("next", np.int64),  # how much of Q has been asked
    ],
    align=True,
)


_ITEM = np.dtype([("mean", np.float64), ("root", np.float64)], align=True)  # v_i (−∞ if never asked) and 1/√T(i)

_PLACE = np.dtype(
    [
        ("leader", np.int64),  # M_t for l = k′, in the order of their means
        ("mean", np.float64),  # their means
        ("lower", np.float64),  # their lower bounds
        ("ranked", np.int64),  # their places, in the order of their upper bounds
        ("ceiling", np.float64),  # those upper bounds
        ("other", np.int64),  # the k′ items of largest upper bound that do not lead, in order
        ("upper", np.float64),  # those upper bounds
        ("inside", np.int64),  # places in M_t, in the order of their lower bounds
    ],
    align=True,
)


class TopXState(NamedTuple):
    """Algorithm 2 in the middle of its work."""

    board: Board
    rules: Rows  # one row
    items: Rows
    places: Rows  # the few that matter at step t
    queue: Ints  # Q


def new_topx(size: int, k: int, seed: int, in_flight: int, **rules: float) -> TopXState:
    """A TopX of N = `size` items; `rules` are the fields of _RULES that the caller sets."""
    r = np.zeros(1, _RULES)
    for name, value in ({"shrink": 1.0, "tau": 1, "beta": VALUES} | rules).items():
        r[name] = value
    r["size"] = size
    most = int(r["most"][0])
    board = new_board(size, k, seed, in_flight)
    return TopXState(board, r, np.zeros(size, _ITEM), np.zeros(most, _PLACE), np.zeros(2 * max(size, most), np.int64))


@kernel
def scale(state: TopXState) -> float:
    """rad_t(i)·√T(i) = R·√(2 log(4N t³/δ′)), by the letter or with the union bound over samples (line 4)."""
    rules = state.rules[0]
    t = float(max(rules.step, 1))
    samples = 1.0
    if state.board.round[0].in_flight > 1:
        t = float(max(state.board.round[0].counted, 1))  # an item was sampled at most t times
    elif rules.radius == COUNTED:
        samples = float(rules.most)  # an item was sampled at most k′·t times
    logs = math.log(4.0 * rules.size * samples / rules.delta) + 3.0 * math.log(t)
    return rules.shrink * rules.noise * math.sqrt(2.0 * logs)


@kernel
def lead(state: TopXState, most: int, c: float) -> int:
    """M_t for every l at once (line 6: a prefix of the leaders), and the largest upper bounds of all others."""
    candidates, open_, board_items = state.board.round[0].candidates, state.board.open, state.board.items
    items, places = state.items, state.places
    held = 0
    for p in range(candidates):
        i = open_[p]
        m = items[i].mean
        if held == most and not m > places[held - 1].mean:
            continue
        q = held if held < most else most - 1
        while q > 0 and m > places[q - 1].mean:
            places[q].leader = places[q - 1].leader
            places[q].mean = places[q - 1].mean
            q -= 1
        places[q].leader = i
        places[q].mean = m
        held = min(held + 1, most)
    far = 0
    bar = places[held - 1].mean
    for p in range(candidates):
        i = open_[p]
        ceiling = items[i].mean + c * items[i].root if board_items[i].count > 0 else np.inf
        if far == most and not ceiling > places[far - 1].upper:
            continue
        if items[i].mean >= bar and _leads(places, held, i):
            continue
        q = far if far < most else most - 1
        while q > 0 and ceiling > places[q - 1].upper:
            places[q].other = places[q - 1].other
            places[q].upper = places[q - 1].upper
            q -= 1
        places[q].other = i
        places[q].upper = ceiling
        far = min(far + 1, most)
    for p in range(held):
        i = places[p].leader
        asked = board_items[i].count > 0
        places[p].lower = items[i].mean - c * items[i].root if asked else -np.inf
        ceiling = items[i].mean + c * items[i].root if asked else np.inf
        q = p
        while q > 0 and ceiling > places[q - 1].ceiling:
            places[q].ranked = places[q - 1].ranked
            places[q].ceiling = places[q - 1].ceiling
            q -= 1
        places[q].ranked = p
        places[q].ceiling = ceiling
    return far


@kernel
def _leads(places: Rows, held: int, item: int) -> bool:
    """Whether `item` is one of the leaders."""
    found = False
    for p in range(held):
        found = found or places[p].leader == item
    return found


@kernel
def swap(state: TopXState, l: int, most: int, others: int) -> tuple[float, int]:
    """Lines 6–10 and 12 for one l: Σ_M̃ ṽ − Σ_M ṽ, and the most uncertain item in which M̃ and M differ.

    M̃ takes the best of M's lower and the others' upper bounds. So it swaps the worst of M for the best outside,
    one by one, as long as that gains: only the swapped items enter the difference.
    """
    places = state.places
    for p in range(l):  # M_t by lower bound, ascending
        q = p
        while q > 0 and places[p].lower < places[places[q - 1].inside].lower:
            places[q].inside = places[q - 1].inside
            q -= 1
        places[q].inside = p
    gap, widest = 0.0, -1
    a = b = 0
    for p in range(l):
        while a < most and places[a].ranked < l:  # in M_t itself
            a += 1
        if a < most and (b == others or not places[b].upper > places[a].ceiling):
            o, ceiling = places[places[a].ranked].leader, places[a].ceiling
            a += 1
        elif b < others:
            o, ceiling = places[b].other, places[b].upper
            b += 1
        else:
            break
        worst = places[places[p].inside]
        gain = ceiling - worst.lower
        if not gain > 0.0:
            break
        gap += gain
        widest = _wider(state, _wider(state, widest, worst.leader), o)
    return gap, widest


@kernel
def _wider(state: TopXState, i: int, j: int) -> int:
    """The one of the larger radius; the first of the candidates where they are equal."""
    if i < 0:
        return j
    a, b, places = state.items[i].root, state.items[j].root, state.board.items
    return j if b > a or (b == a and places[j].where < places[i].where) else i


@kernel
def sizes(state: TopXState) -> tuple[int, int, int]:
    """The first and last l to look at, and the largest there could be: min(k′, |C|)."""
    most = min(state.rules[0].most, state.board.round[0].candidates)
    only = min(state.rules[0].only, most)
    return (1, most, most) if only == 0 else (only, only, most)


@kernel
def _survey(state: TopXState, may_end: bool) -> None:
    """Lines 4–13: return A (if the round may end now), or make the list Q of items to query."""
    rules, candidates = state.rules[0], state.board.round[0].candidates
    rules.queued = 0
    rules.next = 0
    c = scale(state)  # line 4
    first, final, most = sizes(state)
    others = lead(state, most, c)
    for l in range(first, final + 1):
        gap, q = swap(state, l, most, others)  # lines 6–9
        if may_end and gap <= allowed_gap(rules.beta, l, rules.epsilon, candidates):  # line 10
            _finish(state, l, RULE, reached_epsilon(rules.beta, l, gap, candidates))  # line 11
            return
        if q >= 0:
            state.queue[rules.queued] = q  # lines 12 and 13
            rules.queued += 1


@kernel
def _finish(state: TopXState, l: int, ended: int, reached: float) -> None:
    """A = M_t of size l."""
    for p in range(l):
        state.board.best[p] = state.places[p].leader
    state.board.round[0].size = l
    end(state.board, ended, reached)


@kernel
def _enqueue(state: TopXState, below: int) -> None:
    """Q is every candidate with fewer than `below` answers and questions in flight."""
    board, rules = state.board, state.rules[0]
    rules.queued = 0
    rules.next = 0
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if board.items[i].count + board.items[i].waiting < below:
            state.queue[rules.queued] = i
            rules.queued += 1


@kernel
def _examine(state: TopXState) -> None:
    """One step t: every question of Q is answered, and none is in flight."""
    board, rules = state.board, state.rules[0]
    if rules.asking == FIXED:
        _enqueue(state, rules.repeats * rules.tau)
        if rules.queued == 0:
            lead(state, 1, 0.0)
            _finish(state, 1, RULE, rules.epsilon if rules.beta == VALUES else np.inf)
        return
    _enqueue(state, 1)  # an item whose only question came to nothing is asked again first
    if rules.queued > 0:
        return
    rules.step += 1
    _survey(state, True)
    if rules.asking == EVERYBODY and board.round[0].ended == OPEN:
        _enqueue(state, np.iinfo(np.int64).max)


@kernel
def _refill(state: TopXState) -> None:
    """More questions than one step's Q are wanted in flight: what would Q be if those in flight were answered?"""
    board, rules = state.board, state.rules[0]
    if rules.asking == FIXED:
        _enqueue(state, rules.repeats * rules.tau)
        return
    _enqueue(state, 1)
    if rules.queued > 0:
        return
    if rules.asking == ADAPTIVE and rules.seen == board.round[0].candidates:
        for p in range(board.round[0].candidates):
            i = board.open[p]
            state.items[i].root = 1.0 / math.sqrt(board.items[i].count + board.items[i].waiting)
        _survey(state, False)
        for p in range(board.round[0].candidates):
            i = board.open[p]
            state.items[i].root = 1.0 / math.sqrt(board.items[i].count)
    if rules.queued == 0:
        _enqueue(state, np.iinfo(np.int64).max)


@kernel
def begin(state: TopXState) -> None:
    """Line 3: every candidate is queried once; in random order where the budget does not reach for all."""
    board, rules = state.board, state.rules[0]
    rules.step = 0
    rules.seen = 0
    for i in range(len(state.items)):
        state.items[i].root = np.inf
        state.items[i].mean = -np.inf
    _enqueue(state, 1)
    r = board.round[0]
    if 0 <= r.limit < r.candidates * rules.tau:
        shuffle(board, state.queue, rules.queued)


@kernel
def propose(state: TopXState, n: int) -> tuple[int, int, int]:
    """Line 14: the next query of Q, as τ comparisons with random rivals where queries are comparisons."""
    board, rules = state.board, state.rules[0]
    if rules.next == rules.queued * rules.tau:
        queued, at = rules.queued, rules.next
        if board.round[0].in_flight > 1:
            _refill(state)
        if rules.next == rules.queued * rules.tau:
            rules.queued, rules.next = queued, at  # nothing to ask: as if nobody had asked
            return -1, NOBODY, NOW
    item = state.queue[rules.next // rules.tau]
    rules.next += 1
    return item, NOBODY if rules.beta == VALUES else rival_of(board, item, n), NOW


@kernel
def _proceed(state: TopXState) -> None:
    """An answer has come, or never will: is the next step due, or the round decided?"""
    board, rules = state.board, state.rules[0]
    r = board.round[0]
    if r.ended != OPEN:
        return
    if r.counted == r.asked and rules.next == rules.queued * rules.tau:
        _examine(state)
    elif r.in_flight > 1 and rules.seen == r.candidates and rules.asking != FIXED:
        queued, at = rules.queued, rules.next
        half = len(state.queue) // 2
        for p in range(queued):
            state.queue[half + p] = state.queue[p]
        _survey(state, True)
        for p in range(queued):
            state.queue[p] = state.queue[half + p]
        rules.queued, rules.next = queued, at


@kernel
def tell(state: TopXState, item: int, rival: int, given: int, answer: float) -> None:
    """Lines 15 and 16 are on the board; the next step is due once Q is answered, or after each of many in flight."""
    if state.board.items[item].count == 1:
        state.rules[0].seen += 1
    state.items[item].root = 1.0 / math.sqrt(state.board.items[item].count)
    state.items[item].mean = state.board.items[item].total / state.board.items[item].count
    _proceed(state)


@kernel
def void(state: TopXState, item: int, rival: int, given: int) -> None:
    """A question came to nothing; if it was the last in flight, the next step is due."""
    _proceed(state)


@kernel
def conclude(state: TopXState, ended: int) -> None:
    """The paper does not say what to return when the budget ends a round: the best mean, or the l of smallest gap."""
    rules = state.rules[0]
    c = scale(state)
    first, final, most = sizes(state)
    others = lead(state, most, c)
    if rules.out_of_budget == BEST_MEAN:
        first, final = min(max(rules.only, 1), most), min(max(rules.only, 1), most)
    best, reached = first, np.inf
    for l in range(first, final + 1):
        if state.board.items[state.places[l - 1].leader].count == 0:
            break
        gap, _ = swap(state, l, most, others)
        epsilon = reached_epsilon(rules.beta, l, gap, state.board.round[0].candidates)
        if epsilon < reached:
            best, reached = l, epsilon
    _finish(state, best, ended, reached)


explores(TopXState, begin=begin, propose=propose, tell=tell, void=void, conclude=conclude)


_AS_PRINTED = "the printed radius is wide enough, though it allows for one sample per item and step"
Radius = Literal["counted", "literal"]
OutOfBudget = Literal["best-mean", "smallest-gap"]


@dataclass(frozen=True)
class TopX(Explorer):
    """The paper's TopX (Algorithm 2).

    variant: "full" (k′ = k, ε′ = ε/k), "O" (k′ = 1, ε′ = ε/k) or "G" (k′ = 1, ε′ = 0, competes with exact greedy).
    l: fix the size of the set returned: 1 is noisy greedy, k is randomised greedy. None: whichever is decided first.
    radius: "counted" (union bound over samples) or "literal" (the paper's formula as printed).
    out_of_budget: "best-mean" picks the item of best mean, "smallest-gap" draws from the set closest to being decided.
    """

    name: ClassVar[str] = "topx"
    variant: Variant = "full"
    l: int | None = None
    radius: Radius = "counted"
    out_of_budget: OutOfBudget = "best-mean"
    shrink: float = 1.0

    def __post_init__(self) -> None:
        check_shared(self.variant, self.radius, self.out_of_budget, self.shrink)
        if self.l is not None:
            whole("l", self.l, 1)

    @property
    def edition(self) -> int:
        """2: ties, and the order of first questions, are drawn from the seed."""
        return 2

    def per_round(self, problem: Problem) -> PerRound:
        """ε′, δ′ and k′ for this problem."""
        most = per_round(self.variant, problem.rounds, problem.epsilon or 0.0, problem.delta)
        if self.l is None:
            return most
        if self.l > problem.rounds:
            raise InvalidProblem(f"l = {self.l} is more than the {problem.rounds} items to pick")
        return PerRound(most.epsilon, most.delta, self.l)

    def guarantee(self, problem: Problem) -> Guarantee:
        """Theorem 1 or 2."""
        if self.shrink < 1 or (problem.epsilon is None and self.variant != "G"):
            return NO_GUARANTEE
        assumptions = assumptions_of(problem)
        if self.radius == "literal" and self.l is None and self.variant == "full" and problem.in_flight == 1:
            assumptions = (*assumptions, _AS_PRINTED)
        given = promise(self.variant, problem.epsilon or 0.0, problem.delta, assumptions)
        if self.l is None or (self.l == 1 and self.variant == "G"):
            return given
        epsilon = 0.0 if self.variant == "G" else given.epsilon  # the l best for sure, but any of them
        return Guarantee(OPTIMUM_BOUND, epsilon, given.delta, self.l > 1, given.assumptions)

    def build(self, problem: Problem) -> ExplorerState:
        """Algorithm 2 with value queries, or with the Borda reduction for preferences."""
        pairs_only(self.name, problem)
        needs_an_end(self.name, problem, self.variant == "G")
        return topx_state(
            problem,
            self.per_round(problem),
            asking=ADAPTIVE,
            only=self.l or 0,
            **codes(self.radius, self.out_of_budget, self.shrink),
        )

    def view(self, problem: Problem, state: TopXState) -> View:
        """Means and rad_t(i)."""
        return topx_view(problem, state)

    def claim(self, evidence: Evidence, state: TopXState) -> Certificate:
        """Theorem 1 or 2, and what the answers show."""
        return claim_of(evidence, self.guarantee(evidence.problem), shrink=self.shrink)


def topx_state(problem: Problem, parts: PerRound, **rules: float) -> ExplorerState:
    """Algorithm 2 for this problem, with value queries or with the Borda reduction for preferences."""
    return new_topx(
        problem.size,
        problem.k,
        problem.seed,
        problem.in_flight,
        most=parts.most,
        epsilon=parts.epsilon,
        delta=parts.delta,
        noise=noise_of(problem),
        tau=problem.feedback.tau if isinstance(problem.feedback, Preferences) else 1,
        beta=beta_of(problem),
        **rules,
    )


def codes(radius: Radius, out_of_budget: OutOfBudget, shrink: float) -> dict[str, float]:
    """Options as the fields of _RULES."""
    return {
        "radius": LITERAL if radius == "literal" else COUNTED,
        "out_of_budget": BEST_MEAN if out_of_budget == "best-mean" else SMALLEST_GAP,
        "shrink": shrink,
    }


def check_shared(variant: str, radius: str, out_of_budget: str, shrink: float) -> None:
    """Refuse options that TopX and UNIFORM do not know."""
    one_of("variant", variant, ("full", "O", "G"))
    one_of("radius", radius, ("counted", "literal"))
    one_of("out_of_budget", out_of_budget, ("best-mean", "smallest-gap"))
    check_shrink(shrink)


def topx_view(problem: Problem, state: TopXState) -> View:
    """Means and rad_t(i); shares of comparisons won lie between 0 and 1."""
    count = state.board.items["count"]
    root = np.sqrt(count)
    radius = np.divide(scale(state), root, out=np.full(len(count), np.inf), where=count > 0)
    if not problem.feedback.compares:
        return interval_view(state.board, radius)
    return interval_view(state.board, radius, SHARE).within(0.0, 1.0, count > 0)
