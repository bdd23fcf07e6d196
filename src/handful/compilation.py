"""Compile what studies and simulations run, before somebody waits for it: all explorers, with all kinds of answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from dataclasses import fields
from functools import partial
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from handful.errors import InvalidProblem, UnknownExplorer
from handful.explorers.protocol import ExplorerState, conclude, late, open_round, propose, tell, void
from handful.explorers.registry import EXPLORERS, Explorer, explorer_named, spelled
from handful.journal import replayed
from handful.kernels import COMPILING, seconds_compiling
from handful.objectives import Modular
from handful.problem import CLOSED, Feedback, Preferences, Problem, Values
from handful.questions import Question
from handful.responses import btl, uniform
from handful.setup import small_budgets_heard
from handful.simulation import simulate
from handful.study import Study

GAINS = (3.0, 2.0, 1.0)
ANSWERS: dict[str, Feedback] = {
    "numbers with noise": Values(noise=0.5),
    "numbers in a range": Values(range=(0.0, 4.0)),
    "comparisons": Preferences(beta=2.0),
    "choices": Preferences(beta=2.0, options=3),
}


def compile_ahead(console: Console, explorers: Collection[str] = tuple(EXPLORERS)) -> float | None:
    """Compile these explorers beside a progress bar. Returns the seconds it took, or None if all was compiled already.

    Compiled code is kept on disk, so that later processes only load it.
    """
    logging.getLogger(COMPILING).setLevel(logging.ERROR)  # the bar says it
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    started, before = perf_counter(), seconds_compiling()
    with Progress(*columns, console=console, transient=True) as progress:
        ahead = list(tasks(explorers))
        bar = progress.add_task("", total=len(ahead))
        for name, run in ahead:
            progress.update(bar, description=f"Compiling {name}")
            run()
            progress.advance(bar)
    return perf_counter() - started if seconds_compiling() > before else None


def tasks(explorers: Collection[str] = tuple(EXPLORERS)) -> Iterator[tuple[str, Callable[[], None]]]:
    """What there is to compile for these explorers: a name, and a function that runs it once."""
    for explorer in _explorers(explorers):
        for answers, feedback in ANSWERS.items():
            problem = Problem(len(GAINS), 2, feedback, epsilon=1.0, budget=60, seed=1)
            try:
                explorer.build(problem)
            except (InvalidProblem, UnknownExplorer):  # it does not ask for such answers
                continue
            yield f"{spelled(explorer)}, {answers}", partial(_run, explorer, problem)


def _explorers(names: Collection[str]) -> Iterator[Explorer]:
    """Those of these names, and once more those whose rule makes another explorer of them."""
    for kind in (EXPLORERS[name] for name in names):
        yield kind()
        if "rule" in {option.name for option in fields(kind)}:  # type: ignore[arg-type]
            yield explorer_named(kind.name, rule="plain")


def _run(explorer: Explorer, problem: Problem) -> None:
    """A study, a simulation, and what seldom happens in either."""

    def answer(q: Question) -> object:
        if problem.feedback.options > 2:
            return max(q.options, key=GAINS.__getitem__)
        return GAINS[q.item] if q.rival is None else GAINS[q.item] > GAINS[q.rival]

    with small_budgets_heard():
        for excluding in (True, False):  # where nobody was excluded by hand, something is certified
            with Study(
                range(len(GAINS)), 2, feedback=problem.feedback, explorer=explorer, epsilon=1.0, budget=60, seed=1
            ) as study:
                for question in study.ask(1, "somebody"):
                    study.tell(question.id, answer(question), "somebody")
                    if excluding:
                        study.exclude("somebody")  # so the round is gone through again
                study.run(answer)
                replayed(study.records)  # as when it is opened again
    response = btl(2.0) if problem.feedback.compares else uniform(0.5)
    simulate(explorer.build(problem), Modular(GAINS), response, 2, budget=problem.total)
    _go_through(explorer.build(problem))


def _go_through(state: ExplorerState) -> None:
    """A round in which a question comes to nothing, an answer comes too late, and somebody wants an end."""
    open_round(state, 1, -1, 2)
    void(state, *propose(state, 0))
    question = propose(state, 0)
    tell(state, *question, 1.0)
    late(state, *question, 1.0)
    conclude(state, CLOSED)
