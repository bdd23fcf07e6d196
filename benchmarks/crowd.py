"""How many answers the crowd app takes per second, over HTTP, durable, with the load generator beside it.

Everybody also keeps an event stream open, as the pages do. With --beside another checkout of the repository is measured
in the same run, in turn: its server, by this generator, with nothing but what it depended on (httptools or not).

With --guarded people come by an open link, with caps on persons and networks, and one question in twelve is a check.
They all come from one network: no cap keeps anybody from going on, and each is looked at for every question.

python -m benchmarks.crowd [--seconds 15] [--storage URL] [--workers 500] [--explorer duels] [--shown 2 4]
    [--loads 3] [--guarded] [--beside FOLDER]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Column, Table

from handful.crowd.app import Server, listen, log_to, port_of
from handful.crowd.collection import Collection, load_collection
from handful.crowd.intake import ingest
from handful.crowd.plan import StudyPlan
from handful.crowd.registry import open_registry
from handful.crowd.settings import ServerLimits, Settings
from handful.crowd.simulation.http_client import ConnectionLost, HttpClient
from handful.crowd.simulation.simulated_people import Crew, CrewReport, SimulatedPerson, answer_all
from handful.rules import Checks, Door, Rule

ITEMS, K = 60, 6
ENDLESS = 50_000_000
AS_IT_WAS = """
import runpy, sys
from pathlib import Path
sys.argv = sys.argv[1:]
if "httptools" not in (Path(sys.argv[0]).parents[1] / "pyproject.toml").read_text():
    sys.modules["httptools"] = None
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs the script of another checkout with nothing but what that depended on."""
PREPARE = """
import sys
from pathlib import Path
from handful.crowd.intake import ingest
ingest(Path(sys.argv[1]) / "items.csv", Path(sys.argv[2]) / "items")
"""
"""Prepares the items as another checkout does."""


def texts(folder: Path) -> Collection:
    """Sixty short texts: what is measured is the answers, not the pictures, which a browser fetches once."""
    table = folder / "items.csv"
    table.write_text("text\n" + "".join(f"Item number {number}\n" for number in range(ITEMS)))
    return ingest(table, folder / "items")


def run_server(folder: Path, storage: str, port: int, explorer: str, shown: int, guarded: bool) -> None:
    """In a process of its own, as in real use."""
    log_to(None)
    plan = StudyPlan(k=K, explorer=explorer, budget=ENDLESS, options=shown, in_flight=2_000)
    if guarded:  # nobody is excluded: what is measured is the work of looking
        plan = replace(plan, door=Door(), rule=Rule(None, Checks(), ()))
    registry = open_registry(
        storage, load_collection(folder / "items"), ["load"], plan, Settings(goal=None, limits=ServerLimits.none())
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


class Streams:
    """The event streams that pages keep open, one for each person, once they have answered."""

    def __init__(self, url: str) -> None:
        self.answers = 0
        self._where = urlsplit(url)
        self._open: dict[SimulatedPerson, asyncio.Task[None]] = {}

    def note(self, person: SimulatedPerson, *_: object) -> None:
        self.answers += 1
        if person not in self._open:
            self._open[person] = asyncio.create_task(self._listen(person.client.cookie))

    def close(self) -> None:
        for task in self._open.values():
            task.cancel()

    async def _listen(self, cookie: str) -> None:
        reader, writer = await asyncio.open_connection(self._where.hostname, self._where.port)
        path = "/api/s/load/events?present=true"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {self._where.netloc}\r\nCookie: {cookie}\r\n\r\n".encode())
        try:
            while await reader.read(65536):
                pass
        finally:
            writer.close()


async def load(url: str, collection: Collection, crew: Crew, warm_s: float, seconds: float) -> tuple[CrewReport, float]:
    """What happened in `seconds`, after everybody has joined and warmed up."""
    gc.collect()
    gc.freeze()  # the generator's own pauses are not the server's
    stop, streams = asyncio.Event(), Streams(url)
    await until_up(url)
    all_of_them = asyncio.create_task(
        answer_all(
            url,
            ["load"],
            collection,
            lambda study, chosen, left, right: 0.0,
            crew,
            stop=stop,
            acknowledged=streams.note,
        )
    )
    await asyncio.sleep(warm_s)
    before, began = streams.answers, time.perf_counter()
    await asyncio.sleep(seconds)
    took, answers = time.perf_counter() - began, streams.answers - before
    stop.set()
    report = await all_of_them
    streams.close()
    report.seconds = report.seconds[-answers:]
    return report, answers / took


def measure(
    folder: Path,
    crew: Crew,
    storage: str,
    explorer: str,
    shown: int,
    seconds: float,
    guarded: bool,
    beside: Path | None = None,
) -> tuple[CrewReport, float]:
    """A fresh server, a crew in front of it, and what happened; `beside`: the server of another checkout."""
    collection = texts(folder)
    with listen("127.0.0.1", 0) as probe:
        port = port_of(probe)
    options = ["--storage", storage, "--port", str(port), "--explorer", explorer]
    script, environment = [__file__], dict(os.environ)
    if beside is None:
        options += ["--shown", str(shown), *(["--guarded"] if guarded else [])]
    else:
        script = ["-c", AS_IT_WAS, str(beside / "benchmarks" / "crowd.py")]
        environment["PYTHONPATH"] = str(beside / "src")
        its_own = Path(tempfile.mkdtemp(dir=folder))
        subprocess.run([sys.executable, "-c", PREPARE, folder, its_own], env=environment, check=True)
        folder = its_own  # in its own format
    server = subprocess.Popen([sys.executable, *script, "--server", str(folder), *options], env=environment)
    try:
        time.sleep(2)
        if server.poll() is not None:
            raise SystemExit("the server did not start")
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
    parser.add_argument("--shown", type=int, nargs="+", default=[2, 4], help="how many a question shows, each in turn")
    parser.add_argument("--loads", type=int, default=3, help="only the first so many of the three loads")
    parser.add_argument("--guarded", action="store_true", help="with an open link's caps, and checks")
    parser.add_argument("--beside", type=Path, help="another checkout of the repository, to compare with")
    parser.add_argument("--server", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.server:
        run_server(options.server, options.storage, options.port, options.explorer, options.shown[0], options.guarded)
        return
    table = Table(
        Column("load", no_wrap=True),
        "server",
        "shown",
        "answers/s",
        "p50 ms",
        "p99 ms",
        "target ms",
        "errors",
        "load average",
    )
    think = Crew(options.workers, think_s=options.workers / 150, wait_s=1, practises=False)
    loads = [
        ("100 people, closed loop", Crew(100, think_s=0, practises=False), ""),
        (f"{options.workers} people, closed loop", Crew(options.workers, think_s=0, practises=False), ""),
        (f"{options.workers} people who think", think, "≤ 50"),
    ]
    before = [(options.beside, 2)] if options.beside else []
    for name, crew, latency in loads[: options.loads]:
        for tree, shown in [*before, *((None, shown) for shown in options.shown)]:
            with tempfile.TemporaryDirectory() as temporary:
                storage = options.storage or f"{temporary}/load.db"
                report, rate = measure(
                    Path(temporary), crew, storage, options.explorer, shown, options.seconds, options.guarded, tree
                )
            errors = report.broken + sum(report.refused.values())
            figures = f"{rate:.0f}", f"{1000 * report.quantile(0.5):.1f}", f"{1000 * report.quantile(0.99):.1f}"
            server = "this one" if tree is None else tree.name
            table.add_row(name, server, str(shown), *figures, latency, str(errors), f"{os.getloadavg()[0]:.1f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
