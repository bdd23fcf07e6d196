"""Whatever happens, in whatever order: the live state is the fold of the journal, bit for bit."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import create_engine, text

from handful import Preferences, Study, TopX, Uniform, Values
from handful.errors import InvalidAnswer, InvalidProblem, StudyFinished
from handful.events import KINDS
from handful.explorers.registry import Certified
from handful.questions import STANDINGS
from handful.rules import Admission, ChecksBelow, Door, Rule
from handful.state import set_in_flight
from tests.study.worlds import Clock, folded, live

EXPLORERS: dict[str, dict[str, Any]] = {
    "topx": {"feedback": Values(noise=0.2), "explorer": TopX(), "epsilon": 6.0},
    "topx of l = 1": {"feedback": Values(range=(0, 1)), "explorer": TopX("O", l=1), "epsilon": 9.0},
    "borda": {"feedback": Preferences(tau=2), "explorer": TopX(), "budget": 60},
    "uniform": {"feedback": Values(noise=0.1), "explorer": Uniform(), "epsilon": 2.0},
    "uniform, fixed": {"feedback": Values(noise=0.3), "explorer": Uniform(stop="fixed"), "epsilon": 3.0},
    "sharp": {"feedback": Values(noise=0.2), "explorer": "sharp", "epsilon": 3.0},
    "sharp comparisons": {"feedback": Preferences(), "explorer": "sharp", "budget": 60},
    "certified": {"feedback": Values(range=(0, 1)), "explorer": "certified", "epsilon": 6.0},
    "certified by a chain": {"feedback": Values(noise=0.2), "explorer": Certified(rule="chain"), "epsilon": 3.0},
    "certified ratio": {"feedback": Values(range=(0, 1)), "explorer": "certified", "ratio": 0.4, "budget": 90},
    "worth": {"feedback": Values(), "explorer": "worth", "budget": 60},
    "duels": {"feedback": Preferences(), "explorer": "duels", "budget": 60},
    "choices": {"feedback": Preferences(options=4), "explorer": "duels", "budget": 60},
    "pivot": {"feedback": Preferences(beta=20.0), "explorer": "pivot", "epsilon": 6.0},
}
PEOPLE = ("ann", "bob", "cid", None)
RULE = Rule(Admission(practice=1, checks=0, right_at_least=1), None, (ChecksBelow(0.5, after=3),), share=0.8)
# How often each happens, relative to the others.
STEPS = {
    "work": 8,
    "take": 4,
    "tell": 3,
    "tell twice": 1,
    "exchange": 3,
    "revise": 2,
    "skip": 3,
    "wait": 3,
    "check": 2,
    "exclude": 1,
    "restore": 2,
    "change door": 1,
    "withdraw": 2,
    "extend": 1,
    "pause": 1,
    "note": 1,
    "finish": 1,
    "restart": 2,
}
steps = st.lists(
    st.tuples(
        st.sampled_from([step for step, weight in STEPS.items() for _ in range(weight)]),
        st.sampled_from(PEOPLE),
        st.integers(0, 9),
    ),
    min_size=15,
    max_size=50,
)
happened: Counter[str] = Counter()


class World:
    """People who come, go, repeat, skip and change their minds; an organizer who changes hers; and restarts."""

    def __init__(
        self,
        explorer: str,
        url: str | None,
        in_flight: int | None,
        budget: int | None,
        seed: int,
        rule: Rule | None,
        door: Door | None = None,
    ) -> None:
        self.clock = Clock()
        self.url = url
        self.rng = np.random.default_rng(seed)
        self.study = Study(
            [f"item {i}" for i in range(7)],
            3,
            in_flight=in_flight,
            seed=seed,
            clock=self.clock,
            lease_s=10,
            storage=url,
            rule=rule,
            door=door,
            **({"budget": budget} | EXPLORERS[explorer]),
        )
        if in_flight is None:  # as the first run in processes does
            set_in_flight(self.study._writer, 1 + seed % 5)

    def answer(self, question: str) -> object:
        """Any answer that the question may have; a question that is not there gets one all the same."""
        value = float(self.rng.random())
        feedback, questions = self.study.setup.problem.feedback, self.study.state.questions
        if feedback.options > 2:
            options = questions.options(int(question[1:])) if int(question[1:]) < len(questions) else (0,)
            return self.study.items[options[int(value * len(options))]]
        return value > 0.5 if self.study.setup.problem.feedback.compares else value

    def some_question(self) -> str:
        asked = len(self.study.state.questions)
        return f"q{self.rng.integers(max(0, asked - 6), asked)}" if asked else "q0"

    def work(self, who: str | None, n: int) -> None:
        for _ in range(n):
            for q in self.study.ask(1, who):
                self.study.tell(q.id, self.answer(q.id), who)

    def take(self, who: str | None, n: int) -> None:
        assert len(self.study.ask(n + 1, who)) <= n + 1

    def tell(self, who: str | None, n: int) -> None:
        id_ = self.some_question()
        self.study.tell(id_, self.answer(id_), who, {"ms": n}, undo_s=5 if n < 3 else 0)

    def tell_twice(self, who: str | None, n: int) -> None:
        id_ = self.some_question()
        first = self.study.tell(id_, self.answer(id_), who)
        before = live(self.study)
        second = self.study.tell(id_, self.answer(id_), "somebody else")
        assert (second.answer, second.repeated) == (first.answer, True)
        assert live(self.study) == before

    def exchange(self, who: str | None, n: int) -> None:
        for q in self.study.held_by(who)[:1]:
            assert not self.study.exchange(q.id, self.answer(q.id), who, undo_s=5)[0].repeated

    def revise(self, who: str | None, n: int) -> None:
        for question, held in list(self.study.state.provisional.items()):
            self.study.revise(f"q{question}", self.answer(f"q{question}"), held.worker if n else "an impostor")

    def skip(self, who: str | None, n: int) -> None:
        for q in self.study.held_by(who)[:3]:
            assert self.study.skip(q.id, "unclear", who)
            assert not self.study.skip(q.id, "unclear", who)

    def wait(self, who: str | None, n: int) -> None:
        self.clock.now += 2 * n
        self.study.settle()

    def check(self, who: str | None, n: int) -> None:
        kind = ("practice", "gold", "instructed")[n % 3]
        self.study.check(who or "dot", kind, n > 2, 100 * n)

    def exclude(self, who: str | None, n: int) -> None:
        self.study.exclude(who or "dot", "test", by_rule=n < 5)

    def restore(self, who: str | None, n: int) -> None:
        for worker in list(self.study.state.workers.names)[: n + 1]:
            self.study.restore(worker)

    def change_door(self, who: str | None, n: int) -> None:
        self.study.change_door(Door("room" if n % 2 else "invitations"))

    def withdraw(self, who: str | None, n: int) -> None:
        self.study.withdraw(f"item {n % 7}")

    def extend(self, who: str | None, n: int) -> None:
        self.study.extend(n)

    def pause(self, who: str | None, n: int) -> None:
        self.study.pause()
        assert self.study.ask(1, who) == []
        if n:
            self.study.resume()

    def note(self, who: str | None, n: int) -> None:
        before = live(self.study)
        self.study.note("gold", {"worker": who})
        assert live(self.study) == before

    def finish(self, who: str | None, n: int) -> None:
        if n < 4:
            self.study.finish()

    def restart(self, who: str | None, n: int) -> None:
        if self.url is not None:
            self.study.close()
            before, self.study = live(self.study), Study.open(self.url, clock=self.clock)
            assert live(self.study) == before

    def compare(self) -> None:
        assert live(self.study) == folded(self.study)
        status = self.study.status()
        assert status.budget is None or status.answers + status.in_flight <= status.budget


def play(explorer: str, storage: Callable[[str], str | None], examples: int) -> None:
    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(
        steps=steps,
        in_flight=st.sampled_from([1, 2, 5, None]),
        budget=st.sampled_from([45, 90, None]),
        seed=st.integers(0, 99),
        rule=st.sampled_from([None, None, RULE]),
        door=st.sampled_from([None, Door()]),
    )
    def interleave(
        steps: list[tuple[str, str | None, int]],
        in_flight: int | None,
        budget: int | None,
        seed: int,
        rule: Rule | None,
        door: Door | None,
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            world = World(explorer, storage(folder), in_flight, budget, seed, rule, door)
            try:
                for step, who, n in steps:
                    try:
                        getattr(world, step.replace(" ", "_"))(who, n)
                    except (InvalidAnswer, InvalidProblem, StudyFinished, LookupError):
                        happened["refused"] += 1
                    world.compare()
                assert world.study.mismatches.count == 0
                happened.update(event.kind for _, event in world.study.journal())
                happened.update(f"ended by {r.ended}" for r in world.study.result().rounds)
                happened.update(STANDINGS[standing] for standing in world.study.state.questions.standing)
            finally:
                world.study.close()

    interleave()


@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
@pytest.mark.parametrize("explorer", EXPLORERS)
def test_any_interleaving_leaves_the_live_state_equal_to_the_fold_of_the_journal(explorer: str) -> None:
    happened.clear()
    play(explorer, lambda folder: None, examples=200 if explorer == "topx" else 15)
    if explorer == "topx":  # else it would be a promise about nothing
        expected = {"ended by rule", "ended by closed", "refused"}
        assert set(KINDS) | set(STANDINGS) | expected <= set(happened)


@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
@pytest.mark.parametrize("explorer", ["topx", "borda"])
def test_a_study_in_a_file_goes_on_after_every_restart_as_if_there_had_been_none(explorer: str) -> None:
    play(explorer, lambda folder: str(Path(folder) / "study.db"), examples=6)


@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
def test_a_study_in_postgres_goes_on_after_every_restart_as_if_there_had_been_none(postgres_storage: str) -> None:
    engine = create_engine(postgres_storage)

    def emptied(folder: str) -> str:
        with engine.begin() as connection:
            connection.execute(text("DROP TABLE IF EXISTS events, handful_format"))
        return postgres_storage

    play("borda", emptied, examples=6)
    engine.dispose()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
@pytest.mark.parametrize("explorer", EXPLORERS)
def test_many_more_interleavings(explorer: str) -> None:
    play(explorer, lambda folder: None, examples=2000)
