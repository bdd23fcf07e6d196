"""`duels` with more than two options a question: which of m is the best addition, by Plackett and Luce.

With the options O shown, P(i is named) = exp(θ_i) / Σ_{j∈O} exp(θ_j). An answer moves the beliefs about all options by
one step on the whole of it, for the m − 1 pairs it tells about are not independent: with v twice the mean variance of
the options, κ = 1/√(1 + πv/8) and p_i = exp(κ·mean_i) / Σ_j exp(κ·mean_j),
    mean_i += s_i·κ·(y_i − p_i),     s_i −= s_i²·κ²·p_i(1 − p_i),     y_i = 1 for the option named and 0 for others,
which for two options is the step of `duels`. An answer is taken for careless with a chance that its p tells.

How far strengths lie apart is not known before: the belief is held on four scales at once, each with a prior variance
of its own, and the scale that foretold the answers best so far is the one that chooses (empirical Bayes).

A question shows the winner of a posterior draw and the rivals for whom an answer is worth most against it; every third
question shows the winners of m draws, as far as they differ. The options are in random order, which says nothing.
"""

from __future__ import annotations

import math

import numpy as np

from handful.core.draws import PLACES, below
from handful.core.endings import RULE
from handful.core.explorers.choices_state import ChoicesState, add_up
from handful.core.explorers.protocol import explores
from handful.core.kernels import kernel
from handful.core.parts.belief import (
    best_of,
    drawn,
    left_of,
    reckon,
    worth_of_asking,
)
from handful.core.parts.board import NOW, Rows, pick_one, surprise
from handful.core.parts.seen import has_compared
from handful.core.parts.sureness import EVERY, chance_of_best, share_of_budget

_EVERY = 3  # one question in so many shows the winners of draws alone
_AGAIN = 2**31  # the q-th draw of question n is the draw of question n + q·_AGAIN


@kernel
def begin(state: ChoicesState) -> None:
    """A later round starts from what is believed, with more doubt."""
    rules, board = state.rules[0], state.board
    if rules.rounds == 0:
        rules.rounds = 1
        return
    for g in range(len(state.scales)):
        own, scale = state.own[g], state.scales[g]
        centre = 0.0
        for p in range(board.round[0].candidates):
            centre += own[board.open[p]].mean
        centre /= board.round[0].candidates
        for i in range(len(own)):
            own[i].mean -= centre
            own[i].variance = min(scale.variance, own[i].variance + scale.widen)
    add_up(state)


@kernel
def _is_in(state: ChoicesState, item: int, size: int) -> bool:
    """Whether `item` is among the first `size` options."""
    found = False
    for q in range(size):
        found |= state.options[q] == item
    return found


@kernel
def _add_worthiest(state: ChoicesState, lead: int, start: int, size: int) -> None:
    """Fill the options from `start` on with those whose comparison with `lead` is worth most."""
    board, options, hopes = state.board, state.options, state.chances
    left, kept = left_of(board), start
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if _is_in(state, i, start):
            continue
        full = kept == size
        hope = _hope(state, lead, i, left, hopes[size - 1] if full else 0.0)
        if full and hope <= hopes[size - 1]:
            continue
        at = kept - 1 if full else kept
        while at > start and hopes[at - 1] < hope:
            options[at], hopes[at] = options[at - 1], hopes[at - 1]
            at -= 1
        options[at], hopes[at] = i, hope
        kept = min(kept + 1, size)


@kernel
def _hope(state: ChoicesState, lead: int, i: int, left: float, most: float) -> float:
    """What it is worth to compare item i with `lead`; 0 if that is less than `most`."""
    away, v = abs(state.items[lead].mean - state.items[i].mean), _doubt(state, i)
    blur = 1.0 + math.pi * v / 8.0
    z2 = away * away / blur
    noise = blur * (4.0 + z2 + z2 * z2 / 12.0)  # 1/(p(1 − p)) = 2 + 2 cosh z, as far as it matters
    return worth_of_asking(away, v, noise, left, most)


@kernel
def _is_new(state: ChoicesState, item: int, size: int) -> bool:
    """Whether whoever asks has compared `item` with none of the first `size` options."""
    found = False
    for q in range(size):
        found |= has_compared(state.seen, state.options[q], item)
    return not found


@kernel
def _add_new(state: ChoicesState, lead: int, start: int, size: int) -> None:
    """As `_add_worthiest`, of those whom this person has not compared with any option yet; then of all."""
    board, left = state.board, left_of(state.board)
    for at in range(start, size):
        best, most, new = -1, 0.0, False
        for p in range(board.round[0].candidates):
            i = board.open[p]
            if _is_in(state, i, at):
                continue
            is_new = _is_new(state, i, at)
            if new and not is_new:
                continue
            floor = most if new == is_new else 0.0
            hope = _hope(state, lead, i, left, floor)
            if best < 0 or hope > floor or is_new != new:
                best, most, new = i, hope, is_new
        state.options[at] = best


@kernel
def _tidy(state: ChoicesState) -> None:
    """Leave no trace of a reckoning: states are compared to the bit."""
    for q in range(len(state.chances)):
        state.chances[q] = 0.0


@kernel
def _doubt(state: ChoicesState, item: int) -> float:
    """The variance of a strength once what is in flight has come, about: p(1 − p) is that of one option among m."""
    v, share = state.items[item].variance, 1.0 / len(state.options)
    return v / (1.0 + share * (1.0 - share) * v * state.board.items[item].waiting)


@kernel
def share(state: ChoicesState) -> int:
    """What this round may cost."""
    return share_of_budget(state.board, state.rules[0].sure)


@kernel
def propose(state: ChoicesState, n: int) -> tuple[int, int, int]:
    """The winner of a posterior draw, and those who are worth comparing with it most; in random order."""
    board, options = state.board, state.options
    size = min(len(options), board.round[0].candidates)
    for q in range(size, len(options)):
        options[q] = -1
    lead = drawn(state.items, board, n)
    options[0] = lead
    kept = 1
    if n % _EVERY == _EVERY - 1:
        for q in range(1, size):
            other = drawn(state.items, board, n + q * _AGAIN)
            if not _is_in(state, other, kept) and _is_new(state, other, kept):
                options[kept] = other
                kept += 1
    if state.seen[0, 0] < 0:
        _add_worthiest(state, lead, kept, size)
    else:
        _add_new(state, lead, kept, size)
    r = board.round[0]
    for p in range(size - 1, 0, -1):
        q = below(p + 1, r.seed, r.round, PLACES, n * len(options) + p)
        options[p], options[q] = options[q], options[p]
    for q in range(1, size):
        board.items[options[q]].waiting += 1
    _tidy(state)
    return options[0], options[1], NOW


@kernel
def asked(state: ChoicesState, n: int) -> None:
    """To propose changes nothing but what any explorer's board notes."""


@kernel
def _learn(state: ChoicesState, named: int) -> None:
    """One step on every scale, from the options that are candidates still; then the best scale chooses."""
    rules, where = state.rules[0], state.board.items
    best = 0
    for g in range(len(state.scales)):
        _learn_on(state, g, named, where)
        if state.scales[g].evidence > state.scales[best].evidence:
            best = g
    _tidy(state)
    if best != rules.scale or state.scales[best].doubt > 0.0:
        rules.scale = best
        add_up(state)
        return
    for q in range(len(state.options)):
        if state.options[q] >= 0:
            reckon(state.items, state.own[best], state.scores, state.options[q], state.scales[best].trust, 0.0)


@kernel
def _learn_on(state: ChoicesState, g: int, named: int, where: Rows) -> None:
    """One step of assumed-density filtering on one scale."""
    scale, own, options, chances, scores = state.scales[g], state.own[g], state.options, state.chances, state.scores
    count, variance, score, square, top = 0, 0.0, 0.0, 0.0, -np.inf
    for q in range(len(options)):
        i = options[q]
        if i >= 0 and where[i].where >= 0:
            count += 1
            variance += own[i].variance
            score += scores[i]
            square += scores[i] * scores[i]
            top = max(top, own[i].mean + scale.trust * scores[i])
    apart = square / count - (score / count) ** 2  # of two options, a quarter of their squared distance
    variance = 2.0 * variance / count + scale.doubt * 2.0 * count / (count - 1) * apart
    kappa = 1.0 / math.sqrt(1.0 + math.pi * variance / 8.0)
    total = 0.0
    for q in range(len(options)):
        i = options[q]
        chances[q] = 0.0
        if i >= 0 and where[i].where >= 0:
            chances[q] = math.exp(kappa * (own[i].mean + scale.trust * scores[i] - top))
            total += chances[q]
    likely = 0.0
    for q in range(len(options)):
        chances[q] /= total
        if options[q] == named:
            likely = chances[q]
    careless = state.rules[0].careless
    came = (1.0 - careless) * likely + careless / count
    scale.evidence += math.log(max(came, 1e-300))
    meant = (1.0 - careless) * likely / came if came > 0.0 else 1.0
    step, mean, spread = 0.0, 0.0, 0.0  # of what scores are worth
    for q in range(len(options)):
        i, p = options[q], chances[q]
        if i < 0 or where[i].where < 0:
            continue
        y = 1.0 if i == named else 0.0
        s = own[i].variance
        own[i].mean += s * meant * kappa * (y - p)
        own[i].variance = max(s * (1.0 - s * meant * kappa * kappa * p * (1.0 - p)), 1e-9)
        step += meant * kappa * (y - p) * scores[i]
        mean += p * scores[i]
        spread += p * scores[i] * scores[i]
    if scale.doubt > 0.0:
        scale.trust += scale.doubt * step
        bend = meant * kappa * kappa * max(spread - mean * mean, 0.0)
        scale.doubt = max(scale.doubt * (1.0 - scale.doubt * bend), 1e-9)


@kernel
def tell(state: ChoicesState, item: int, rival: int, given: int, answer: float) -> None:
    """`item` was named among the options: the others were not, and the beliefs about all of them move."""
    for q in range(len(state.options)):
        i = state.options[q]
        if i >= 0 and i != item:
            row = state.board.items[i]
            row.waiting -= 1
            row.spread += surprise(row.count, row.total, 0.0)
            row.count += 1
    _learn(state, item)
    if state.rules[0].sure > 0.0 and state.board.round[0].counted % EVERY == 0:
        best = best_of(state.items, state.board)
        if chance_of_best(state.items, state.board, best) >= state.rules[0].sure:
            pick_one(state.board, best, RULE, np.inf)


@kernel
def void(state: ChoicesState, item: int, rival: int, given: int) -> None:
    """Nobody named any of the options, and nobody will."""
    for q in range(len(state.options)):
        i = state.options[q]
        if i >= 0 and i != item:
            state.board.items[i].waiting -= 1


@kernel
def late(state: ChoicesState, item: int, rival: int, given: int, answer: float) -> None:
    """An answer that names a candidate teaches as one among the options that are candidates still."""
    where, there = state.board.items, 0
    for q in range(len(state.options)):
        i = state.options[q]
        if i >= 0 and where[i].where >= 0:
            there += 1
    if there > 1 and where[item].where >= 0:
        _learn(state, item)


@kernel
def conclude(state: ChoicesState, ended: int) -> None:
    """The strongest, as far as is known."""
    pick_one(state.board, best_of(state.items, state.board), ended, np.inf)


explores(
    ChoicesState,
    begin=begin,
    share=share,
    propose=propose,
    asked=asked,
    tell=tell,
    void=void,
    late=late,
    conclude=conclude,
)
