"""What an audit has heard about W and all gains: the accounts that its claim (`claim.py`) is tested by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handful.core.kernels import kernel, rare
from handful.core.objective import Floats, Ints
from handful.core.parts.board import Board, Rows, surprise

NORMALS = 2  # ways with ρ and BROADER·ρ; the next is by bets
BROADER = 30.0
MANY = 8  # answers, from which on an item is always in the pool
_SIGHTS = 12  # the first questions of a study say how large gains are, and are not counted

_RULES = np.dtype(
    [
        ("k", np.int64),
        ("share", np.float64),  # s
        ("epsilon", np.float64),  # ε
        ("noise", np.float64),  # R
        ("span", np.float64),  # H; 0 if no range is known
        ("high", np.float64),  # and its upper end, else ∞
        ("delta", np.float64),  # δ
        ("shrink", np.float64),  # multiplies widths; 1 but in tests of power
        ("anchor", np.int64),  # i, how many picks are given
        ("worth", np.float64),  # about f(S)
        ("alone", np.int64),  # 1 where only answers given these picks count, which an item has one account of
        ("sighted", np.int64),  # first answers that have come
        ("sight", np.float64),  # and their sum
        ("rho", np.float64),  # ρ
        ("cycles", np.int64),  # n: each pick has so many fresh answers
        ("fresh", np.float64),  # weighted sum of all fresh answers
        ("fresh_spread", np.float64),  # Σ weight²·(answer − mean of those before it about the same pick)²
        ("whole", np.float64),  # the sum as it was when the last batch was whole: half a batch shows nothing
        ("whole_spread", np.float64),  # and so the other
        ("fresh_rho", np.float64),  # ρ for W
        ("shown", np.float64),  # by how much W − s·U exceeds −ε at least; below 0 nothing is shown
        ("way", np.int64),  # how that was found
        ("turn", np.int64),  # and which other way was tried
        ("pooled", np.int64),  # items in the pool: all at first; 0 to gather it anew
        ("moved", np.int64),  # items that may have left the place they had when it was
    ],
    align=True,
)

_ITEM = np.dtype(
    [
        ("skip", np.int32),  # first questions in flight
        ("round", np.int32),  # the latest that asked, from 0
        ("rounds", np.int32),  # how many asked
        ("count", np.int32),  # its answers
        ("total", np.float64),
        ("spread", np.float64),  # as on the board
        ("start", np.int32),  # the same of the first round
        ("old", np.int32),  # the same when the anchor was chosen; -1 if the item cannot be in B
        ("start_total", np.float64),
        ("start_spread", np.float64),
        ("old_rounds", np.int32),
        ("now", np.int32),  # answers of the audit, given the anchor's picks
        ("old_total", np.float64),
        ("old_spread", np.float64),
        ("now_total", np.float64),
        ("now_spread", np.float64),
    ],
    align=True,
)


class Claim(NamedTuple):
    """What is known of W and of all gains, and what it shows."""

    rules: Rows
    items: Rows
    torn: Ints  # 1 for each round that ended with questions in flight
    log_y: Floats  # where each way was best last
    best: Ints  # a set B, and
    keys: Floats  # what its items add
    pool: Ints  # the items that any set B can be taken from (`pool.py`)
    taken: Ints  # how many of each class are in it


def new_claim(size: int, k: int, **rules: float) -> Claim:
    """The accounts before the first answer."""
    r = np.zeros(1, _RULES)
    for name, value in ({"shrink": 1.0, "rho": 10.0, "fresh_rho": 10.0} | rules).items():
        r[name] = value
    r["k"] = k
    r["alone"] = 1
    r["shown"] = -np.inf
    items = np.zeros(size, _ITEM)
    items["round"] = -1
    r["pooled"] = size
    torn, best, pool = np.zeros(k, np.int64), np.zeros(k, np.int64), np.arange(size)
    return Claim(r, items, torn, np.zeros(NORMALS + 1), best, np.zeros(k), pool, np.zeros(MANY * (k + 1), np.int64))


# What is learnt.


@kernel
def note_first(claim: Claim, item: int, picked: int, n: int) -> None:
    """Question n of a round is asked: is it one of the first?"""
    if picked == 0 and n < _SIGHTS:
        claim.items[item].skip += 1


@kernel
def hear(claim: Claim, item: int, picked: int, answer: float) -> None:
    """An answer to the scout, given all picks so far."""
    rules, row = claim.rules[0], claim.items[item]
    if row.skip > 0:  # an item's answers come in the order asked
        row.skip -= 1
        rules.sighted += 1
        rules.sight += answer
        return
    if row.round != picked:
        row.round = picked
        row.rounds += 1
        row.count = 0
        row.total = 0.0
        row.spread = 0.0
    row.spread += surprise(row.count, row.total, answer)
    row.count += 1
    row.total += answer


@kernel
def hear_nothing(claim: Claim, item: int) -> None:
    """A question of the scout came to nothing."""
    if claim.items[item].skip > 0:
        claim.items[item].skip -= 1


@rare
def close_round(claim: Claim, board: Board, picked: int) -> None:
    """A round of the scout has ended; the first one says what ρ should be."""
    rules, r = claim.rules[0], board.round[0]
    if r.asked != r.counted:
        claim.torn[picked] = 1
    if picked == 0:
        usual = abs(rules.sight) / rules.sighted if rules.sighted > 0 else 0.0
        usual = max(usual, 0.1 * rules.noise)
        known = rules.noise / usual if usual > 0.0 else 1.0
        # Not `known` squared, as answers needed would be: so few first answers say too little about gains for that.
        rules.rho = max(1.0, 25.0 * (0.25 + 3.0 / rules.k) * known**1.5)


@rare
def drop_anchor(claim: Claim, board: Board, picked: int) -> None:
    """Gains given the picks so far may serve for the claim."""
    claim.rules[0].anchor = picked
    claim.rules[0].alone = 1 if picked == 0 else 0
    for i in range(len(claim.items)):
        row = claim.items[i]
        counts = row.round >= 0 and claim.torn[row.round] == 0
        row.old = -1 if board.items[i].where < 0 else (row.count if counts else 0)
        row.old_rounds = row.rounds
        row.old_total = row.total if counts else 0.0
        row.old_spread = row.spread if counts else 0.0
        if picked == 0:
            row.start = row.old
            row.start_total = row.old_total
            row.start_spread = row.old_spread


@rare
def keep_first(claim: Claim) -> None:
    """Gains given ∅ may serve for the claim once more: all answers about them, those of the audit too."""
    for i in range(len(claim.items)):
        row = claim.items[i]
        if row.start >= 0:
            row.start = row.old
            row.start_total = row.old_total
            row.start_spread = row.old_spread


@rare
def back_to_first(claim: Claim) -> None:
    """Gains given ∅ serve for the claim after all."""
    claim.rules[0].anchor = 0
    claim.rules[0].alone = 1
    for i in range(len(claim.items)):
        row = claim.items[i]
        row.old = row.start
        row.old_total = row.start_total
        row.old_spread = row.start_spread
        row.now = 0


@rare
def begin_afresh(claim: Claim, anchor: int, picks: Ints) -> None:
    """Gains given the first picks serve for the claim, by answers from now on alone."""
    claim.rules[0].anchor = anchor
    claim.rules[0].alone = 1
    for i in range(len(claim.items)):
        row = claim.items[i]
        row.old = 0 if row.start >= 0 else -1
        row.old_rounds = 0
        row.old_total = 0.0
        row.old_spread = 0.0
        row.now = 0
    for p in range(anchor):
        claim.items[picks[p]].old = -1


@kernel
def learn(claim: Claim, item: int, answer: float) -> None:
    """One more answer about an item given the anchor's picks."""
    rules, row = claim.rules[0], claim.items[item]
    if row.old < MANY and row.now == 0:
        rules.moved += 1
    if 0 < rules.pooled < len(claim.pool):
        _let_in(claim, item)
    if rules.alone == 1:
        row.old_spread += surprise(row.old, row.old_total, answer)
        row.old += 1
        row.old_total += answer
    else:
        row.now_spread += surprise(row.now, row.now_total, answer)
        row.now += 1
        row.now_total += answer


@kernel
def _let_in(claim: Claim, item: int) -> None:
    """Put an item into the pool, if it is not: when a round is gone through again, answers may come about any."""
    rules, pool = claim.rules[0], claim.pool
    for at in range(rules.pooled):  # who is asked about stands near the front
        if pool[at] == item:
            return
    pool[rules.pooled] = item
    rules.pooled += 1
