"""`duels`: direct comparisons between contenders, by a belief about how strong each item is.

The belief is a Gaussian per item over its strength θ, with P(a is preferred to b) = 1/(1 + exp(θ_b − θ_a)) as the
likelihood; the sharpness β of the crowd is part of θ and need not be known. A question pits the winner of a posterior
draw (Thompson sampling: many questions can be out at once, each with a draw of its own) against the rival for whom an
answer is worth most (`belief.py`; an answer about a difference of strengths that is decided with chance p has a
variance of 1/(p(1 − p))). Every third question pits the winners of two draws: the belief may be too sure,
and draws go on looking where it sees no worth. An answer moves the two beliefs by one step of
assumed-density filtering: with v = s_a + s_b, κ = 1/√(1 + πv/8) and p = 1/(1 + exp(−κ(m_a − m_b))),
    m_a += s_a·κ·(y − p),     s_a −= s_a²·κ²·p(1 − p),     and m_b, s_b with the opposite sign.
A prior's scores enter as one more unknown: a strength is its own part plus τ times the item's score, and every
comparison teaches τ too, so that a good prior is soon trusted and a wrong one not (or the other way round).
Where tastes differ, close contests alone may mislead: one question in six is against a random rival, and what these say
of an item shifts its strength in the contest (`borda.py`). Nobody compares the same two items twice in a round while
they can be asked something else (`seen.py`). With `sure`, a round ends when the belief is as sure as that of its best.
Between rounds the belief is kept and widened: gains fall, some more than others. A late answer still teaches.
Questions with more than two options are in `choices.py`.

The belief chooses *what to ask*, and the pick. It proves nothing: what may be claimed is in the certificate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

import handful.core.explorers.choices  # noqa: F401  (registers the kernels for more than two options)
from handful.core.certificates import Certificate
from handful.core.checks import is_finite
from handful.core.endings import RULE
from handful.core.evidence import Evidence, claim_by_comparisons
from handful.core.explorers.choices_state import ChoicesState, new_choices
from handful.core.explorers.protocol import Explorer, State, explores
from handful.core.guarantees import NO_GUARANTEE
from handful.core.kernels import kernel
from handful.core.objective import Floats, Ints
from handful.core.parts.belief import (
    best_of,
    drawn,
    left_of,
    new_beliefs,
    reckon,
    reckon_all,
    standardised,
    worth_of_asking,
)
from handful.core.parts.board import NOW, Board, Rows, new_board, pick_one, rival_of
from handful.core.parts.borda import keep_some, new_shares, note_random
from handful.core.parts.requirements import comparisons_only, needs_a_budget, scores
from handful.core.parts.seen import has_compared, new_seen
from handful.core.parts.sureness import EVERY, chance_of_best, share_of_budget
from handful.core.problem import Problem
from handful.core.views import STRENGTH, View, belief_view
from handful.errors import InvalidProblem

_RULES = np.dtype(
    [
        ("variance", np.float64),  # of a strength, before anything is known
        ("widen", np.float64),  # variance added for the next round
        ("careless", np.float64),  # share of answers taken for coin flips
        ("rounds", np.int64),  # whether a round has begun before
        ("trust", np.float64),  # how much strength a prior's score is worth, as far as is known
        ("doubt", np.float64),  # and the variance of that; 0 without a prior
        ("random", np.int64),  # whether some questions are against a random rival
        ("sure", np.float64),  # how sure the belief must be of the best to end a round before its budget; 0: never
    ],
    align=True,
)


_EVERY = 3  # one question in so many is between the winners of two draws
_RANDOM, _AT = 6, 4  # one question in so many, and which, is against a random rival
_LATER, _MORE_AT = 6, 1  # after so many questions per candidate, this one is, too
_AGAIN = 2**31  # the second draw of question n is the draw of question n + _AGAIN
_TRUST, _DOUBT = 0.3, 0.25  # what a score of one standard deviation is worth at first, and the variance of that


class DuelsState(NamedTuple):
    """Strengths, as far as they are known."""

    board: Board
    rules: Rows
    items: Rows  # strengths
    own: Rows  # what of them a prior's score does not explain
    scores: Floats  # a prior's, standardised; else 0
    seen: Ints  # what whoever asks has been asked (`seen.py`)
    number: Ints  # of the question that is told
    shares: Rows  # of random rivals that were beaten (`borda.py`)
    contest: Rows  # strengths, shifted by what these say: who leads, and who is picked


def new_duels(size: int, k: int, seed: int, in_flight: int, prior: Floats | None = None, **rules: float) -> DuelsState:
    """The state before the first round: all strengths alike, or as the prior's scores say."""
    r = np.zeros(1, _RULES)
    for name, value in rules.items():
        r[name] = value
    items = new_beliefs(size, 0.0, float(r["variance"][0]))
    scores = np.zeros(size)
    standard = standardised(prior)
    if standard is not None:
        scores = standard
        r["trust"], r["doubt"] = _TRUST, _DOUBT
    board, number = new_board(size, k, seed, in_flight), np.full(1, -1, np.int64)
    state = DuelsState(board, r, items, items.copy(), scores, new_seen(2), number, new_shares(size), items.copy())
    _add_up(state)
    return state


@kernel
def _add_up(state: DuelsState) -> None:
    """Strengths: their own parts, and what a prior's scores are worth."""
    rules = state.rules[0]
    reckon_all(state.items, state.own, state.scores, rules.trust, rules.doubt)
    for i in range(len(state.items)):
        _shift(state, i)


@kernel
def _shift(state: DuelsState, i: int) -> None:
    """The strength of item i in the contest."""
    state.contest[i].mean = state.items[i].mean + state.shares[i].shift
    state.contest[i].variance = state.items[i].variance


@kernel
def begin(state: DuelsState) -> None:
    """A later round starts from what is believed, with more doubt."""
    rules, board, own = state.rules[0], state.board, state.own
    if rules.rounds == 0:
        rules.rounds = 1
        return
    centre = 0.0
    for p in range(board.round[0].candidates):
        centre += own[board.open[p]].mean
    centre /= board.round[0].candidates
    for i in range(len(own)):
        own[i].mean -= centre
        own[i].variance = min(rules.variance, own[i].variance + rules.widen)
    keep_some(state.shares)
    _add_up(state)


@kernel
def share(state: DuelsState) -> int:
    """What this round may cost."""
    return share_of_budget(state.board, state.rules[0].sure)


@kernel
def propose(state: DuelsState, n: int) -> tuple[int, int, int]:
    """The winner of a posterior draw, and the rival who is worth comparing with it most; not what was asked before."""
    item, rival = _contest(state, n)
    return item, rival, NOW


@kernel
def _contest(state: DuelsState, n: int) -> tuple[int, int]:
    """The two items of question n."""
    board, items, seen = state.board, state.contest, state.seen
    lead, left = drawn(items, board, n), left_of(board)
    if _is_random(state, n):
        rival = rival_of(board, lead, n)
        if not has_compared(seen, lead, rival):
            return rival, lead
    if n % _EVERY == _EVERY - 1:
        second = drawn(items, board, n + _AGAIN)
        if second != lead and not has_compared(seen, lead, second):
            return second, lead
    best, most = -1, 0.0
    again, most_again = -1, 0.0  # among those whom this person has compared with the lead
    for p in range(board.round[0].candidates):
        i = board.open[p]
        if i == lead:
            continue
        away, v = abs(items[lead].mean - items[i].mean), _doubt(state, i)
        blur = 1.0 + math.pi * v / 8.0
        z2 = away * away / blur
        noise = blur * (4.0 + z2 + z2 * z2 / 12.0)  # 1/(p(1 − p)) = 2 + 2 cosh z, as far as it matters
        if has_compared(seen, lead, i):
            hope = worth_of_asking(away, v, noise, left, most_again)
            if hope > most_again or again < 0:
                again, most_again = i, hope
            continue
        hope = worth_of_asking(away, v, noise, left, most)
        if hope > most or best < 0:
            best, most = i, hope
    if best >= 0:
        return best, lead
    for p in range(board.round[0].candidates):  # the lead was compared with everybody: any two that were not
        for q in range(p + 1, board.round[0].candidates):
            if not has_compared(seen, board.open[p], board.open[q]):
                return board.open[q], board.open[p]
    return again, lead


@kernel
def _is_random(state: DuelsState, n: int) -> bool:
    """Whether question n of the round is against a random rival."""
    if n < 0 or state.rules[0].random == 0:
        return False
    at = n % _RANDOM
    return at == _AT or (at == _MORE_AT and n >= _LATER * state.board.round[0].candidates)


@kernel
def _doubt(state: DuelsState, item: int) -> float:
    """The variance of a strength once what is in flight has come, about."""
    v = state.items[item].variance
    return v / (1.0 + 0.25 * v * state.board.items[item].waiting)


@kernel
def learn(state: DuelsState, item: int, rival: int, answer: float) -> None:
    """One step of assumed-density filtering."""
    rules = state.rules[0]
    a, b, apart = state.own[item], state.own[rival], state.scores[item] - state.scores[rival]
    kappa = 1.0 / math.sqrt(1.0 + math.pi * (a.variance + b.variance + rules.doubt * apart * apart) / 8.0)
    p = 1.0 / (1.0 + math.exp(-kappa * (state.items[item].mean - state.items[rival].mean)))
    meant = 1.0
    if rules.careless > 0.0:  # how likely the answer was meant, given that it came out so
        likely = p if answer > 0.5 else 1.0 - p
        meant = (1.0 - rules.careless) * likely / ((1.0 - rules.careless) * likely + 0.5 * rules.careless)
    step = meant * kappa * (answer - p)
    bend = meant * kappa * kappa * p * (1.0 - p)
    a.mean += a.variance * step
    b.mean -= b.variance * step
    a.variance = max(a.variance * (1.0 - a.variance * bend), 1e-9)
    b.variance = max(b.variance * (1.0 - b.variance * bend), 1e-9)
    if rules.doubt == 0.0:
        reckon(state.items, state.own, state.scores, item, rules.trust, rules.doubt)
        reckon(state.items, state.own, state.scores, rival, rules.trust, rules.doubt)
        _shift(state, item)
        _shift(state, rival)
        return
    rules.trust += rules.doubt * apart * step
    rules.doubt = max(rules.doubt * (1.0 - rules.doubt * apart * apart * bend), 1e-9)
    _add_up(state)


@kernel
def asked(state: DuelsState, n: int) -> None:
    """To propose changes nothing."""


@kernel
def tell(state: DuelsState, item: int, rival: int, given: int, answer: float) -> None:
    """Move the beliefs about both items; the round is over when it is sure of the best."""
    learn(state, item, rival, answer)
    board, rules = state.board, state.rules[0]
    if _is_random(state, state.number[0]):
        note_random(state.shares, state.items, board, rival, 1.0 - answer)
        for p in range(board.round[0].candidates):
            _shift(state, board.open[p])
    state.number[0] = -1
    if rules.sure > 0.0 and board.round[0].counted % EVERY == 0:
        best = best_of(state.contest, board)
        if chance_of_best(state.contest, board, best) >= rules.sure:
            pick_one(board, best, RULE, np.inf)


@kernel
def late(state: DuelsState, item: int, rival: int, given: int, answer: float) -> None:
    """An answer about candidates that are still there teaches as before."""
    where = state.board.items
    if where[item].where >= 0 and where[rival].where >= 0:
        learn(state, item, rival, answer)


@kernel
def conclude(state: DuelsState, ended: int) -> None:
    """The strongest, as far as is known."""
    pick_one(state.board, best_of(state.contest, state.board), ended, np.inf)


explores(DuelsState, begin=begin, share=share, propose=propose, asked=asked, tell=tell, late=late, conclude=conclude)


@dataclass(frozen=True)
class Duels(Explorer):
    """Choices between contenders, by a belief about strengths. Needs no knowledge of β; any budget will do.

    With more than two options a question, `variance` and `widen` are where the belief starts from: it learns how far
    strengths lie apart.
    """

    name: ClassVar[str] = "duels"
    order: ClassVar[Literal["item", "none"]] = "none"
    variance: float = 1.5
    widen: float = 0.1
    careless: float = 0.1
    sure: float | None = None

    @property
    def edition(self) -> int:
        """Since edition 2 nobody is asked the same twice, and random rivals tell who is best."""
        return 2

    def __post_init__(self) -> None:
        if not (is_finite(self.variance) and self.variance > 0):
            raise InvalidProblem(f"variance of strengths must be a positive number, got {self.variance!r}")
        if not (is_finite(self.widen) and self.widen >= 0):
            raise InvalidProblem(f"widen is a variance added between rounds, 0 or more, got {self.widen!r}")
        if not (is_finite(self.careless) and 0 <= self.careless < 1):
            raise InvalidProblem(f"careless is a share of answers, from 0 to less than 1, got {self.careless!r}")
        if self.sure is not None and not (is_finite(self.sure) and 0.5 <= self.sure < 1):
            raise InvalidProblem(f"sure is a probability, from 0.5 to less than 1, or None, got {self.sure!r}")

    def build(self, problem: Problem) -> State:
        """The state before the first round; values, or no budget, are refused."""
        comparisons_only(self.name, problem)
        needs_a_budget(self.name, problem)
        if problem.feedback.options > 2:
            return new_choices(
                problem.size,
                problem.k,
                problem.seed,
                problem.in_flight,
                problem.feedback.options,
                scores(problem),
                self.variance,
                self.widen,
                self.careless,
                self.sure or 0.0,
            )
        return new_duels(
            problem.size,
            problem.k,
            problem.seed,
            problem.in_flight,
            scores(problem),
            variance=self.variance,
            widen=self.widen,
            careless=self.careless,
            random=1,
            sure=self.sure or 0.0,
        )

    def view(self, problem: Problem, state: DuelsState | ChoicesState) -> View:
        """Its belief about strengths."""
        strengths = state.contest if isinstance(state, DuelsState) else state.items
        return belief_view(strengths["mean"], strengths["variance"], STRENGTH)

    def claim(self, evidence: Evidence, state: DuelsState | ChoicesState) -> Certificate:
        """What the comparisons show of rivals; nothing of how close a pick is to the best."""
        return claim_by_comparisons(evidence, NO_GUARANTEE, by_rounds=False)
