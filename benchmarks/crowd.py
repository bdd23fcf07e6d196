"""How many answers the crowd app takes per second, over HTTP, durable, with the load generator beside it.

python benchmarks/crowd.py [--seconds 15] [--storage URL] [--workers 500] [--explorer duels]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

from handful.crowd.collection.intake import ingest
from handful.crowd.collection.items import Collection, load_collection
from handful.crowd.hosting.startup import StudyPlan, open_registry
from handful.crowd.settings import ServerLimits, Settings
from handful.crowd.simulation.http_client import ConnectionLost, HttpClient
from handful.crowd.simulation.simulated_people import Crew, CrewReport, answer_all
from handful.crowd.web.logs import log_to
from handful.crowd.web.server import Server, listen, port_of

ITEMS, K = 60, 6
ENDLESS = 50_000_000


def texts(folder: Path) -> Collection:
    """Sixty short texts: what is measured is the answers, not the pictures, which a browser fetches once."""
    table = folder / "items.csv"
    table.write_text("text\n" + "".join(f"Item number {number}\n" for number in range(ITEMS)))
    return ingest(table, folder / "items")


def run_server(folder: Path, storage: str, port: int, explorer: str) -> None:
    """In a process of its own, as in real use."""
    log_to(None)
    plan = StudyPlan(k=K, explorer=explorer, budget=ENDLESS, in_flight=2_000)
    registry = open_registry(
        storage, load_collection(folder / "items"), ["load"], plan, Settings(limits=ServerLimits.none())
    )
    Server(registry).run_until_interrupted(listen("127.0.0.1", port))


async def until_up(url: str) -> None:
    client = HttpClient(url)
    while True:
        try:
            await client.get("/healthz")
            client.close()
            return
        except ConnectionLost:
            await asyncio.sleep(0.1)


async def load(url: str, collection: Collection, crew: Crew, warm_s: float, seconds: float) -> tuple[CrewReport, float]:
    """What happened in `seconds`, after everybody has joined and warmed up."""
    stop = asyncio.Event()
    await until_up(url)
    all_of_them = asyncio.create_task(
        answer_all(
            url, ["load"], collection, lambda study, chosen, left, right: 0.0, crew, stop=stop, acknowledged=note
        )
    )
    await asyncio.sleep(warm_s)
    counted.clear()
    began = time.perf_counter()
    await asyncio.sleep(seconds)
    took, answers = time.perf_counter() - began, len(counted)
    stop.set()
    report = await all_of_them
    report.seconds = report.seconds[-answers:]
    return report, answers / took


counted: list[None] = []


def note(*_: object) -> None:
    counted.append(None)


def measure(folder: Path, crew: Crew, storage: str, explorer: str, seconds: float) -> tuple[CrewReport, float]:
    """A fresh server, a crew in front of it, and what happened."""
    collection = texts(folder)
    with listen("127.0.0.1", 0) as probe:
        port = port_of(probe)
    options = ["--storage", storage, "--port", str(port), "--explorer", explorer]
    server = subprocess.Popen([sys.executable, __file__, "--server", str(folder), *options])
    try:
        return asyncio.run(load(f"http://127.0.0.1:{port}", collection, crew, 3 + crew.think_s, seconds))
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--storage", help="default: a fresh SQLite file each time")
    parser.add_argument("--explorer", default="duels")
    parser.add_argument("--workers", type=int, default=500)
    parser.add_argument("--server", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.server:
        run_server(options.server, options.storage, options.port, options.explorer)
        return
    table = Table(
        Column("load", no_wrap=True), "answers/s", "target", "p50 ms", "p99 ms", "target ms", "errors", "load average"
    )
    loads = [
        ("64 workers, closed loop", Crew(64, think_s=0), "≥ 500", ""),
        (
            f"{options.workers} workers who think",
            Crew(options.workers, think_s=options.workers / 150, wait_s=1),
            "≥ 100",
            "≤ 100",
        ),
    ]
    for name, crew, rate, latency in loads:
        with tempfile.TemporaryDirectory() as temporary:
            storage = options.storage or f"{temporary}/load.db"
            report, per_second = measure(Path(temporary), crew, storage, options.explorer, options.seconds)
        errors = report.broken + sum(report.refused.values())
        figures = f"{1000 * report.quantile(0.5):.1f}", f"{1000 * report.quantile(0.99):.1f}"
        table.add_row(name, f"{per_second:.0f}", rate, *figures, latency, str(errors), f"{os.getloadavg()[0]:.1f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
