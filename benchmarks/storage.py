"""How fast answers become durable, and how fast a journal is read back.

python -m benchmarks.storage [--threads 64] [--seconds 3] [--records 200000] [--storage URL]
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing

from rich.console import Console
from rich.table import Table

from handful.storage import Journal, Record, open_journal

PAYLOAD = '{"question":123456,"item":17,"rival":42,"worker":"w1234567","answer":true,"meta":null,"x":1}'


def event(seq: int, kind: str = "told") -> Record:
    return Record(seq, 1, kind, time.time(), PAYLOAD)


def durable_answers_per_second(journal: Journal, threads: int, seconds: float) -> tuple[float, float]:
    """Each thread appends a question and its answer and waits until they are durable, again and again.

    Gives the answers per second of all threads together, and the 99th percentile of one wait in seconds.
    """
    turn = threading.Lock()
    appended = 0
    waits: list[float] = []
    deadline = time.perf_counter() + seconds

    def answer() -> None:
        nonlocal appended
        while (start := time.perf_counter()) < deadline:
            with turn:
                ticket = journal.append([event(appended, "asked"), event(appended + 1)])
                appended += 2
            ticket.wait()
            waits.append(time.perf_counter() - start)

    workers = [threading.Thread(target=answer) for _ in range(threads)]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    took = time.perf_counter() - started
    return len(waits) / took, sorted(waits)[int(0.99 * len(waits))]


def seconds_of(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def append_one_by_one(journal: Journal, records: list[Record]) -> None:
    for record in records:
        journal.append((record,))


def measure(url: str | None, records: list[Record], threads: int, seconds: float) -> list[str]:
    """One row of the table."""
    run = f"benchmark {time.time()}"
    with closing(open_journal(url, f"{run} answers")) as journal:
        rate, p99 = durable_answers_per_second(journal, threads, seconds)
    with closing(open_journal(url, f"{run} records")) as journal:
        append = seconds_of(lambda: append_one_by_one(journal, records)) / len(records)
        assert sum(1 for _ in journal.read()) == len(records)
        read = seconds_of(lambda: sum(1 for _ in journal.read()))
    return [f"{rate:,.0f}", f"{1e3 * p99:.1f} ms", f"{1e6 * append:.2f} µs", f"{read:.2f} s"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=64, help="threads that answer at once (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3, help="how long they answer (default: %(default)s)")
    parser.add_argument("--records", type=int, default=200_000, help="records to read back (default: %(default)s)")
    parser.add_argument("--storage", metavar="URL", help="a storage to measure besides memory and a SQLite file")
    options = parser.parse_args()
    records = [event(seq) for seq in range(options.records)]
    title = f"Journals ({options.threads} threads, {options.records:,} records of {len(PAYLOAD)} bytes)"
    table = Table("storage", title=title)
    for heading in ("durable answers/s", "p99 of one answer", "append, not waiting", "read all"):
        table.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        table.add_row("memory", *measure(None, records, options.threads, options.seconds))
        table.add_row("sqlite", *measure(f"sqlite:///{folder}/a.db", records, options.threads, options.seconds))
        if options.storage:
            table.add_row("given URL", *measure(options.storage, records, options.threads, options.seconds))
    Console().print(table)


if __name__ == "__main__":
    main()
