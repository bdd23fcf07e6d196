"""Going through an open round again: in compiled code, once for many exclusions, and to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from handful import Study
from handful.explorers.protocol import ASKED, LATE_TOLD, conclude, drop, late, propose, tell, void
from handful.problem import BUDGET
from handful.questions import VOID, Questions
from handful.rounds import arrays_of
from tests.study.test_interleavings import EXPLORERS
from tests.study.worlds import Clock

PEOPLE = 8


def busy(explorer: str, seed: int) -> Study[int]:
    """A study with many answers in its open round, skipped questions, a withdrawn item and answers that came late."""
    rng = np.random.default_rng(seed)
    settings = {"feedback": EXPLORERS[explorer]["feedback"], "explorer": EXPLORERS[explorer]["explorer"]}
    study = Study(
        range(9), 3, in_flight=12, seed=seed, epsilon=0.05, budget=400, lease_s=1e6, clock=Clock(), **settings
    )
    feedback = study.setup.problem.feedback
    for turn in range(90):
        for q in study.ask(int(rng.integers(1, 3)), f"p{turn % PEOPLE}"):
            if rng.random() < 0.1:
                study.skip(q.id, None, f"p{turn % PEOPLE}")
            elif rng.random() < 0.9 and study.finished is None:
                value: Any = float(rng.random())
                if feedback.compares:
                    value = q.options[int(value * len(q.options))] if feedback.options > 2 else value < 0.5
                study.tell(q.id, value, f"p{turn % PEOPLE}")
        if turn == 40 and study.finished is None:
            study.withdraw(next(i for i in range(9) if i not in study.result().chosen))
    return study


def recorded(questions: Questions, question: int) -> tuple[int, ...]:
    """The question as a proposal."""
    first = questions.item[question], questions.rival[question], questions.given[question]
    return (*first, *questions.more_of(question))


def one_call_at_a_time(study: Study[int]) -> list[bytes]:
    """What going through the open round again leaves, by the calls that are made when something happens."""
    exploration = study.state.exploration  # as it is: what follows begins anew
    state, questions = exploration._state, exploration._questions
    for part, before in zip(arrays_of(state), exploration._before, strict=True):
        part[...] = before
    for item in exploration.withdrawn:
        drop(state, item)
    exploration._open_board()
    options, board = exploration.options, state.board.round
    for entry in exploration._log:
        question, step = divmod(entry, 4)
        number, decided = question - exploration.first, bool(board["ended"][0])
        stands = exploration._counts(question) and questions.standing[question] != VOID
        touches = not exploration.withdrawn.isdisjoint(questions.options(question))
        if step == ASKED:
            if not decided and not touches:
                found = propose(state, number)
                proposed = (*found, *options.proposed()) if found[0] >= 0 else None
                if proposed != recorded(questions, question):
                    options.swap(proposed, recorded(questions, question))
        elif step == LATE_TOLD or decided:
            if stands:
                late(state, *options.answered(question, -1))
        elif stands:
            tell(state, *options.answered(question, number))
        else:
            if not touches:
                void(state, *options.about(question, number))
            if questions.standing[question] != VOID and board["limit"][0] >= 0:
                board["limit"] -= 1
                if board["limit"][0] <= board["counted"][0]:
                    conclude(state, BUDGET)
    return [part.tobytes() for part in arrays_of(state)]


@pytest.mark.parametrize("explorer", EXPLORERS)
def test_compiled_code_goes_through_a_round_as_one_call_at_a_time_does(explorer: str) -> None:
    gone_through = 0
    for seed in range(3):
        study = busy(explorer, seed)
        exploration = study.state.exploration
        if exploration.all_picked:
            continue
        for worker in ("p1", "p4"):
            study.state.workers.exclude(worker, by_rule=False)
            exploration._too_late.clear()
            exploration._lines.clear()  # nothing is counted for the first time: that is another matter
            expected = one_call_at_a_time(study)
            exploration.count_again()
            assert [part.tobytes() for part in exploration.arrays()] == expected
            gone_through += len(exploration._log)
    assert gone_through > 50
