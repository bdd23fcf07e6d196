"""What an explorer's thinking costs: microseconds for one question and its answer, and simulated answers a second.

python -m benchmarks.thinking [--answers 20000] [--seconds 2]
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from handful.explorers.board import FIRST
from handful.explorers.protocol import open_round, propose, put_number, tell
from handful.explorers.registry import Certified, Duels, Explorer, Sharp, Worth
from handful.problem import OPEN, Preferences, Problem, Values
from handful.responses import uniform
from handful.simulation import simulate
from handful.venice import venice

GROWING: dict[str, Explorer] = {
    "certified, audit": Certified(near=1e-9),  # so fine that the scout does not end while it is timed
    "certified, plain": Certified(rule="plain"),
    "sharp": Sharp(),
}
SIZES = (10**3, 10**6)


def microseconds(explorer: Explorer, size: int, answers: int) -> float:
    """Ask and tell from Python, after every item was asked once; only pairs of calls are timed, the best of three."""
    known = Preferences() if isinstance(explorer, Duels) else Values(noise=1.0)
    problem = Problem(size, 6, known, epsilon=1e-9, budget=10**9, seed=1)
    state = explorer.build(problem)
    open_round(state, 1, -1, 6)
    ended = state.board.round["ended"]
    noise = np.random.default_rng(0).random(size + 4 * answers)
    gains = np.random.default_rng(1).random(size)
    asked = 0

    def some(count: int) -> float:
        nonlocal asked
        start = time.perf_counter()
        for _ in range(count):
            item, rival, given = propose(state, asked)
            if known.compares:
                answer = float(noise[asked % len(noise)] < 0.5)
            else:
                answer = gains[item] + 2.0 * noise[asked % len(noise)] - 1.0
            tell(state, item, rival, given, answer)
            asked += 1
        assert ended[0] == OPEN, "the round was decided: there is nothing left to measure"
        return (time.perf_counter() - start) / count

    some(answers if isinstance(explorer, Duels) else size + 500)
    return 1e6 * min(some(answers) for _ in range(3))


def microseconds_for_a_person(options: int, asked_before: int, questions: int) -> float:
    """Choose a question among 2,000 items for somebody who was asked so many in the round; only that is timed."""
    state: Any = Duels().build(Problem(2_000, 6, Preferences(options=options), budget=10**6, seed=1))
    open_round(state, 1, -1, 6)
    rng, spent = np.random.default_rng(0), 0.0
    best = np.arange(50)  # whom people were asked about: the candidates that are shown most
    for n in range(-50, questions):
        rows = [[FIRST, *rng.permutation(best)[:options]] for _ in range(asked_before)]
        theirs = state._replace(seen=np.array(rows)) if rows else state
        start = time.process_time()
        item, rival, given = propose(theirs, n + 50)
        if n >= 0:
            spent += time.process_time() - start
        put_number(state, n + 50)
        named = int(max(state.options)) if options > 2 else max(item, rival)
        if options > 2:
            tell(state, named, rival if named != rival else item, given, 1.0)
        else:
            tell(state, item, rival, given, float(named == item))
    return 1e6 * spent / questions


def simulated(explorer: Explorer, seconds: float) -> float:
    """Answers a second, N = 60, k = 6, half-width 1, ε = 0.1."""
    objective = venice(0).objective
    answers, runs, started = 0, 0, math.inf
    while runs == 0 or time.perf_counter() - started < seconds:
        problem = Problem(60, 6, Values(noise=1.0), epsilon=0.1, seed=runs)
        asked = simulate(explorer.build(problem), objective, uniform(1.0), 6).answers
        if started == math.inf:  # the first run compiles
            started = time.perf_counter()
            continue
        answers += asked
        runs += 1
    return answers / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=20_000, help="timed answers (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=2, help="of simulation each (default: %(default)s)")
    options = parser.parse_args()
    table = Table("explorer", "what", title="The cost of thinking")
    for heading in ("measured", "target"):
        table.add_column(heading, justify="right")
    for name, explorer in GROWING.items():
        small, large = (microseconds(explorer, size, options.answers) for size in SIZES)
        table.add_row(name, "ask and tell, N = 1,000", f"{small:.1f} µs", "≤ 100 µs")
        table.add_row(name, "ask and tell, N = 1,000,000", f"{large:.1f} µs", "≤ 100 µs")
        table.add_row(name, "the one over the other", f"{large / small:.2f}×", "≤ 2×")
    for name, explorer in (("duels", Duels()), ("worth", Worth())):
        table.add_row(
            name, "ask and tell, N = 1,000", f"{microseconds(explorer, 1000, options.answers):.1f} µs", "≤ 100 µs"
        )
    for options_shown, asked_before in ((2, 0), (2, 30), (4, 0), (4, 30), (9, 0), (9, 30)):
        who = f"a person asked {asked_before} before" if asked_before else "nobody in particular"
        took = microseconds_for_a_person(options_shown, asked_before, min(2_000, options.answers))
        what = f"ask {who}, best of {options_shown}, N = 2,000"
        table.add_row("duels", what, f"{took:.0f} µs", "≤ 300 µs")
    for name, explorer in (GROWING | {"certified, audit": Certified()}).items():
        table.add_row(
            name, "simulated answers a second, N = 60", f"{simulated(explorer, options.seconds):,.0f}", "≥ 1,000,000"
        )
    Console().print(table)


if __name__ == "__main__":
    main()
