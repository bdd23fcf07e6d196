"""Explorers of the benchmark, for values under a budget: sequential halving, and KL-UCB.

Both are what others would do, made as good as we could for k picks of many items: what they are told in one round
serves all that follow, and their settings were chosen by eye from a small grid over cells of N = 5,000, on other seeds
than it uses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from handful.explorers.board import NOBODY, NOW, Board, Rows, even_share, first_order, new_board, pick_one
from handful.explorers.bounds import new_tree, plant, seat
from handful.explorers.gains import keep_best
from handful.explorers.protocol import Explorer, ExplorerState, explores
from handful.kernels import kernel
from handful.problem import BUDGET, Ints, Problem

_ITEM = np.dtype(
    [("mean", np.float64), ("tie", np.float64), ("count", np.float64), ("total", np.float64), ("index", np.float64)],
    align=True,
)
_HALVING = np.dtype(
    [
        ("survivors", np.int64),  # to be left before the first pick
        ("share", np.float64),  # of all answers, for that
        ("once", np.float64),  # of these, for first answers at most
        ("first", np.int64),
        ("looked", np.int64),
        ("plan", np.int64),
        ("held", np.int64),
        ("next", np.int64),
        ("again", np.int64),
        ("stages", np.int64),
    ],
    align=True,
)
_UCB = np.dtype(
    [
        ("sureness", np.float64),
        ("low", np.float64),
        ("high", np.float64),  # of answers; the same as low where nothing is known
        ("queued", np.int64),
        ("squares", np.float64),
        ("free", np.float64),
        ("variance", np.float64),
    ],
    align=True,
)


class HalvingState(NamedTuple):
    """Those who are looked at are the first of the queue."""

    board: Board
    rules: Rows
    items: Rows
    queue: Ints


@kernel
def _count(items: Rows, item: int, answer: float) -> None:
    row = items[item]
    row.count += 1.0
    row.total += answer
    row.mean = row.total / row.count


@kernel
def _stage(state: HalvingState) -> None:
    """How often everybody is asked about in this stage."""
    rules, r = state.rules[0], state.board.round[0]
    rules.next = 0
    rules.again = max(1, (rules.plan - r.asked) // (max(rules.stages, 1) * rules.held))


@kernel
def _duel(state: HalvingState) -> None:
    """Halve those who are left down to one, with this round's share."""
    rules, r = state.rules[0], state.board.round[0]
    rules.first = 0
    rules.plan = share(state)
    r.limit = rules.plan
    rules.held = rules.survivors
    rules.stages = math.ceil(math.log2(rules.held))
    _stage(state)


@kernel
def begin(state: HalvingState) -> None:
    """The first round leaves some of all at first; every round then halves these down to one."""
    rules, r = state.rules[0], state.board.round[0]
    rules.looked = 0
    if rules.first == 0:
        _duel(state)
        return
    rules.survivors = min(max(min(rules.survivors, r.candidates // 4), r.rounds), r.candidates)
    rules.plan = int(rules.share * r.left)
    rules.held = min(r.candidates, max(int(rules.once * rules.plan), rules.survivors))
    rules.stages = math.ceil(math.log2(rules.held / rules.survivors))
    _stage(state)


@kernel
def share(state: HalvingState) -> int:
    """While it looks at all, what is left; then an even share of the rest."""
    r, rules = state.board.round[0], state.rules[0]
    if rules.first == 1:
        return int(r.left)
    return int(rules.looked + even_share(r.left - rules.looked, r.rounds))


@kernel
def propose(state: HalvingState, n: int) -> tuple[int, int, int]:
    """Whoever is next; nobody while the last answers of a stage are missing."""
    rules = state.rules[0]
    if rules.next >= rules.held:
        return -1, NOBODY, NOW
    rules.next += 1
    return state.queue[rules.next - 1], NOBODY, NOW


@kernel
def tell(state: HalvingState, item: int, rival: int, given: int, answer: float) -> None:
    """After a stage, the better half goes on."""
    rules, r = state.rules[0], state.board.round[0]
    _count(state.items, item, answer)
    if rules.next < rules.held or r.asked > r.counted:
        return
    rules.again -= 1
    if rules.again > 0:
        rules.next = 0
        return
    least = rules.survivors if rules.first == 1 else 1
    rules.stages -= 1
    kept = max(least, (rules.held + 1) // 2) if rules.stages > 0 else least
    keep_best(state.queue, state.items, rules.held, kept)
    rules.held = kept
    if rules.stages > 0 and r.asked + kept <= rules.plan:
        _stage(state)
    elif rules.first == 1:
        keep_best(state.queue, state.items, kept, rules.survivors)
        rules.looked = r.asked
        _duel(state)
    else:
        keep_best(state.queue, state.items, kept, 1)
        pick_one(state.board, state.queue[0], BUDGET, np.inf)


@kernel
def leave(state: HalvingState, item: int) -> None:
    """One less is left."""
    at = 0
    while state.queue[at] != item:
        at += 1
    for p in range(at, len(state.queue) - 1):
        state.queue[p] = state.queue[p + 1]
    state.queue[len(state.queue) - 1] = item
    if at < state.rules[0].survivors:
        state.rules[0].survivors -= 1


@kernel
def conclude(state: HalvingState, ended: int) -> None:
    """The best mean of those who are left."""
    keep_best(state.queue, state.items, max(1, state.rules[0].survivors), 1)
    pick_one(state.board, state.queue[0], ended, np.inf)


explores(HalvingState, begin=begin, share=share, propose=propose, tell=tell, leave=leave, conclude=conclude)


class UCBState(NamedTuple):
    """A tree of all candidates by index."""

    board: Board
    rules: Rows
    items: Rows
    queue: Ints
    tree: Ints


@kernel
def _divergence(p: float, q: float) -> float:
    """The Kullback-Leibler divergence between two coins."""
    d = p * math.log(p / q) if p > 0.0 else 0.0
    return d + (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else d


@kernel
def _set_index(state: UCBState, item: int) -> None:
    """The largest mean that the answers do not speak against strongly."""
    rules, row = state.rules[0], state.items[item]
    if rules.low == rules.high:
        row.index = row.mean + math.sqrt(2.0 * rules.variance * rules.sureness / row.count)
        return
    p = min(max((row.mean - rules.low) / (rules.high - rules.low), 0.0), 1.0)
    least, most = p, 1.0
    for _ in range(30):
        q = 0.5 * (least + most)
        if row.count * _divergence(p, min(q, 1.0 - 1e-9)) > rules.sureness:
            most = q
        else:
            least = q
    row.index = q


@kernel
def begin_ucb(state: UCBState) -> None:
    """The first round asks about everybody once."""
    return


@kernel
def share_ucb(state: UCBState) -> int:
    """First answers, and an even share of the rest."""
    r, once = state.board.round[0], max(len(state.queue) - state.rules[0].queued, 0)
    if r.counted > 0 and r.round == 1:
        once = len(state.queue)
    once = min(once, r.left)
    return int(once + even_share(r.left - once, r.rounds))


@kernel
def propose_ucb(state: UCBState, n: int) -> tuple[int, int, int]:
    """Everybody once; then the largest index."""
    rules = state.rules[0]
    if rules.queued < len(state.queue):
        rules.queued += 1
        return state.queue[rules.queued - 1], NOBODY, NOW
    return state.tree[1], NOBODY, NOW


@kernel
def tell_ucb(state: UCBState, item: int, rival: int, given: int, answer: float) -> None:
    """One index changes; all of them where the variance is another."""
    rules, items = state.rules[0], state.items
    before = items[item].mean
    _count(items, item, answer)
    if items[item].count > 1.0:
        rules.squares += (answer - before) * (answer - items[item].mean)
        rules.free += 1.0
    variance = rules.squares / rules.free if rules.free >= 10.0 else rules.variance
    if rules.variance == 0.0 and state.board.round[0].counted == len(state.queue):  # a guess: half of what they differ
        level, total = 0.0, 0.0
        for i in range(len(items)):
            level += items[i].mean / len(items)
        for i in range(len(items)):
            total += (items[i].mean - level) ** 2
        variance = 0.5 * total / len(items)
    if abs(variance - rules.variance) > 0.05 * rules.variance:
        rules.variance = variance
        for i in range(len(items)):
            if items[i].count > 0.0:
                _set_index(state, i)
        plant(state.tree, items["index"], items["tie"])
    else:
        _set_index(state, item)
        seat(state.tree, items["index"], items["tie"], item, True)


@kernel
def leave_ucb(state: UCBState, item: int) -> None:
    """It is asked about no more."""
    seat(state.tree, state.items["index"], state.items["tie"], item, False)


@kernel
def conclude_ucb(state: UCBState, ended: int) -> None:
    """Whoever was asked about most; of these the best mean."""
    board, items = state.board, state.items
    best = board.open[0]
    for p in range(board.round[0].candidates):
        i = board.open[p]
        more = items[i].count - items[best].count
        if more > 0.0 or (more == 0.0 and (items[i].mean, items[i].tie) > (items[best].mean, items[best].tie)):
            best = i
    pick_one(board, best, ended, np.inf)


explores(
    UCBState,
    begin=begin_ucb,
    share=share_ucb,
    propose=propose_ucb,
    tell=tell_ucb,
    leave=leave_ucb,
    conclude=conclude_ucb,
)


def _rules(dtype: np.dtype[Any], **values: float) -> Rows:
    rules = np.zeros(1, dtype)
    for name, value in values.items():
        rules[name] = value
    return rules


def _items(problem: Problem) -> Rows:
    items = np.zeros(problem.size, _ITEM)
    items["tie"] = np.random.Generator(np.random.Philox(key=problem.seed)).random(problem.size)
    return items


@dataclass(frozen=True)
class Halving(Explorer):
    """Sequential halving with `share` of all answers, `once` of these for first ones, to `survivors`; then to one."""

    name: ClassVar[str] = "halving"
    survivors: int = 100
    share: float = 0.6
    once: float = 0.33

    def build(self, problem: Problem) -> ExplorerState:
        """Nothing is known."""
        board = new_board(problem.size, problem.k, problem.seed, problem.in_flight)
        rules = _rules(_HALVING, survivors=self.survivors, share=self.share, once=self.once, first=1)
        return HalvingState(board, rules, _items(problem), first_order(problem.size, problem.seed))


@dataclass(frozen=True)
class KLUCB(Explorer):
    """KL-UCB: everybody once, then the largest index; for answers between low and high, else for normal ones."""

    name: ClassVar[str] = "kl-ucb"
    low: float = 0.0
    high: float = 0.0
    sureness: float = 1.0

    def build(self, problem: Problem) -> ExplorerState:
        """Nothing is known."""
        board = new_board(problem.size, problem.k, problem.seed, problem.in_flight)
        rules = _rules(_UCB, sureness=self.sureness, low=self.low, high=self.high)
        queue = first_order(problem.size, problem.seed)
        return UCBState(board, rules, _items(problem), queue, new_tree(problem.size))
