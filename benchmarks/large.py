"""What a study of very many items costs: microseconds for a question and its answer, and bytes for an item.

python -m benchmarks.large [--items 100000] [--k 50] [--most 1000000]

`certified` on items whose gains add up, from the first question to the certificate, beside 100 items in the same run;
memory is what is left when the study has ended, beyond the items, their ids and the journal; then `worth` on a million
items.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc

import numpy as np

from handful import Study, Values
from handful.explorers.protocol import open_round, propose, tell
from handful.explorers.registry import Worth
from handful.problem import Problem

HALF_WIDTH = 0.1


def gains_of(size: int) -> np.ndarray:
    """Few gains are large."""
    return np.random.default_rng(1).beta(2.0, 5.0, size)


def play(size: int, k: int) -> tuple[Study[int], int, float]:
    """A whole study: itself, its answers, and the processor time of asking and telling."""
    gains, noise = gains_of(size), np.random.default_rng(2).uniform(-HALF_WIDTH, HALF_WIDTH, 100_003)
    epsilon = 0.05 * float(np.sort(gains)[-k:].sum())
    study: Study[int] = Study(
        range(size), k, feedback=Values(noise=HALF_WIDTH), explorer="certified", epsilon=epsilon, seed=3
    )
    answers, start = 0, time.process_time()
    while not study.finished:
        for question in study.ask():
            study.tell(question.id, float(gains[question.item] + noise[answers % len(noise)]))
            answers += 1
    return study, answers, time.process_time() - start


def bytes_of_an_item(size: int, k: int) -> float:
    """What a study holds at its end, but for items, their ids, and the journal that is kept in memory here."""
    tracemalloc.start()
    study, _, _ = play(size, k)
    gc.collect()
    traced = tracemalloc.take_snapshot().statistics("filename")
    tracemalloc.stop()
    study.close()
    apart = ("questions.py", "storage/memory.py", "tracemalloc.py")
    return sum(found.size for found in traced if not found.traceback[0].filename.endswith(apart)) / size


def worth_of_many(size: int, answers: int) -> float:
    """Microseconds of thinking for a question and its answer, over the first `answers` of a budget of two per item."""
    gains, noise = gains_of(size), np.random.default_rng(2).normal(0.0, 0.5, 100_003)
    problem = Problem(size, 10, Values(), budget=2 * size, seed=1)
    state = Worth().build(problem)
    open_round(state, 1, 2 * size, 10)
    start = time.process_time()
    for n in range(answers):
        item, rival, given = propose(state, n)
        tell(state, item, rival, given, float(gains[item] + noise[n % len(noise)]))
    return 1e6 * (time.process_time() - start) / answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--k", type=int, default=50)
    parser.add_argument("--most", type=int, default=1_000_000, help="items for worth")
    options = parser.parse_args()
    play(100, options.k)[0].close()  # compiles
    costs = {}
    for size in (100, options.items):
        study, answers, seconds = play(size, options.k)
        costs[size] = 1e6 * seconds / answers
        ended = study.result().certificate.bound
        print(
            f"certified, N = {size:,}, k = {options.k}: {costs[size]:.1f} µs ask and tell, {answers:,} answers, {ended}"
        )
        study.close()
    print(f"the one over the other: {costs[options.items] / costs[100]:.2f} (at most 1.3)")
    print(f"memory: {bytes_of_an_item(options.items, options.k):.0f} bytes an item (at most 400)")
    took = worth_of_many(options.most, 3 * options.most // 2)
    print(f"worth, N = {options.most:,}: {took:.1f} µs a question (at most 50)")


if __name__ == "__main__":
    main()
