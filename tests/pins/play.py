"""Play a study and write down all that can be seen of it from outside."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from handful import Study

HEAD = 6  # questions that a pin shows in full; of all there is a digest


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


class Play:
    """A study, the world that answers, and the transcript of what was asked and told."""

    def __init__(self, items: Sequence[str], k: int, oracle: Callable[[Any], Any], **settings: Any) -> None:
        self.clock = Clock()
        self.study: Study[str] = Study(items, k, clock=self.clock, **settings)
        self.oracle = oracle
        self.said: list[list[Any]] = []
        self.open: list[tuple[Any, str | None]] = []  # asked of somebody, and not answered by them yet

    def watched(self, question: Any) -> Any:
        """The oracle, for `Study.run`."""
        answer = self.oracle(question)
        self.said.append(["run", *_of_question(question), answer])
        return answer

    def run(self, **how: Any) -> Play:
        """Let `Study.run` do all that is left."""
        self.study.run(self.watched, **how)
        return self

    def ask(self, n: int = 1, worker: str | None = None) -> list[Any]:
        """Ask for questions."""
        given = self.study.ask(n, worker)
        for question in given:
            self.said.append(["ask", worker, *_of_question(question)])
            self.open.append((question, worker))
        return given

    def tell(self, question: Any, worker: str | None = None, answer: Any = None, **how: Any) -> Any:
        """Answer as the oracle does, or as given."""
        receipt = self.study.tell(question.id, self.oracle(question) if answer is None else answer, worker, **how)
        self.said.append(["tell", worker, receipt.question, receipt.answer, receipt.repeated, receipt.standing])
        self.open = [(one, who) for one, who in self.open if one.id != question.id]
        return receipt

    def skip(self, question: Any, worker: str | None = None) -> None:
        """Give a question back."""
        held = self.study.skip(question.id, "too dark", worker)
        self.said.append(["skip", worker, question.id, held])
        self.open = [(one, who) for one, who in self.open if (one.id, who) != (question.id, worker)]

    def revise(self, question: Any, answer: Any, worker: str | None = None) -> None:
        """Replace an answer that may be undone."""
        receipt = self.study.revise(question.id, answer, worker)
        self.said.append(["revise", worker, receipt.question, receipt.answer, receipt.standing])

    def scrambled(self, steps: int, seed: int, *, ahead: int, workers: Sequence[str | None] = (None,)) -> Play:
        """So many steps of people who ask, and answer in any order; ends when the study does."""
        rng = random.Random(f"scrambled {seed}")
        for _ in range(steps):
            if self.study.finished:
                break
            self.clock.now += 1
            worker = workers[rng.randrange(len(workers))]
            if len(self.open) < ahead and rng.random() < 0.6 and self.ask(1, worker):
                continue
            if self.open:
                question, who = self.open[rng.randrange(len(self.open))]
                self.tell(question, who, duration=1_500 + 7 * len(self.said))
        return self

    def until(self, rounds: int, **how: Any) -> Play:
        """Ask and answer one by one until so many are picked."""
        while len(self.study.result().chosen) < rounds and not self.study.finished:
            for question in self.ask(**how):
                self.tell(question, how.get("worker"))
        return self

    def pin(self) -> dict[str, Any]:
        """All that is to stay as it is."""
        result = self.study.result()
        told = [line for line in self.said if line[0] in ("run", "ask")]
        certificate = result.certificate
        return {
            "head": [" ".join(map(_short, line)) for line in told[:HEAD]],
            "steps": len(self.said),
            "transcript": _digest(self.said),
            "chosen": list(result.chosen),
            "filled": list(result.filled),
            "answers": [result.answers, result.repeats, result.left_out],
            "finished": self.study.finished,
            "rounds": [
                [r.round, r.pick, r.ended, f"{r.reached:.17g}", r.answers, r.late, r.left_out, sorted(r.candidates)]
                for r in result.rounds
            ],
            "estimates": _digest([_estimates_of(r) for r in result.rounds]),
            "certificate": certificate.sentence,
            "numbers": [
                None if number is None else f"{number:.17g}"
                for number in (
                    certificate.epsilon,
                    certificate.delta,
                    certificate.ratio,
                    certificate.value,
                    certificate.optimum,
                )
            ],
            "shown": [list(pair) for pair in certificate.shown],
        }


def _of_question(question: Any) -> list[Any]:
    q = question
    return [q.id, q.round, q.number, list(q.options), list(q.chosen), int(q.seed)]


def _estimates_of(r: Any) -> list[Any]:
    return [[e.item, e.answers, f"{e.mean:.17g}", f"{e.lower:.17g}", f"{e.upper:.17g}"] for e in r.estimates]


def _short(part: Any) -> str:
    if isinstance(part, list):
        return "(" + ", ".join(map(str, part)) + ")"
    return f"{part:.6g}" if isinstance(part, float) else str(part)


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]
