"""How a study with very many answers is served: back after kill -9, nobody waits while it is looked at, exported.

The journal is made, not lived through: questions asked, answered and settled as a crowd's are, in one open round.

python -m benchmarks.large_studies [--back 100000] [--looked-at 400000] [--exported 100000] [--storage URL] [--folder .]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from handful.crowd.app import Server, listen, log_to, port_of
from handful.crowd.collection import Collection, load_collection
from handful.crowd.intake import ingest
from handful.crowd.plan import StudyPlan, new_study
from handful.crowd.registry import open_registry
from handful.crowd.settings import ServerLimits, Settings
from handful.crowd.simulation.simulated_people import Crew, answer_all
from handful.crowd.tokens import secret_in
from handful.storage import Record, open_journal

ITEMS, PEOPLE, STUDY = 60, 200, "large"
PLAN = StudyPlan(k=6, explorer="duels", budget=50_000_000, options=2, in_flight=2_000)
SETTINGS = Settings(goal=None, undo_s=0.0, redo_s=0.0, limits=ServerLimits.none())
BACK_S, WAIT_S, EXPORT_S = 5.0, 0.1, 5.0


def texts(folder: Path) -> Collection:
    """Sixty short texts."""
    table = folder / "items.csv"
    table.write_text("text\n" + "".join(f"Item number {number}\n" for number in range(ITEMS)))
    return ingest(table, folder / "items")


def records(collection: Collection, answers: int) -> Iterator[Record]:
    """The journal of a study with so many answers: three records each."""
    yield from new_study([item.id for item in collection], PLAN, SETTINGS).records()
    seq, now = 1, time.time() - answers
    for question in range(answers):
        item, rival = question % ITEMS, (question * 7 + question // ITEMS + 1) % ITEMS
        rival = rival if rival != item else (rival + 1) % ITEMS
        who, right = f"w{question % PEOPLE:016x}", str(question % 3 < (item < rival) + 1).lower()
        said = '"m":{"side":"left","item_side":"left","ms":900}'
        for kind, payload in (
            ("asked", f'{{"q":{question},"i":{item},"j":{rival},"w":"{who}"}}'),
            ("told", f'{{"q":{question},"a":{right},"w":"{who}","u":{now + 3},{said}}}'),
            ("settled", f'{{"q":[{question}]}}'),
        ):
            yield Record(seq, 1, kind, now, payload)
            seq += 1
        now += 0.5


def store(storage: str, collection: Collection, answers: int) -> int:
    """Store such a journal; gives how many records it has."""
    journal, kept, stored = open_journal(storage, STUDY, mode="create"), list[Record](), 0
    for record in records(collection, answers):
        kept.append(record)
        if len(kept) == 20_000:
            stored += len(kept)
            journal.append(kept).wait()
            kept = []
    if kept:
        journal.append(kept).wait()
    journal.close()
    return stored + len(kept)


def run_server(folder: Path, storage: str, port: int) -> None:
    """In a process of its own, as in real use."""
    log_to(None)
    listening = listen("127.0.0.1", port)
    registry = open_registry(storage, load_collection(folder / "items"), [STUDY], PLAN, SETTINGS)
    Server(registry).run_until_interrupted(listening)


@dataclass
class Served:
    """A server in a process of its own."""

    folder: Path
    storage: str
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        where = ["--server", str(self.folder), "--storage", self.storage, "--port", str(self.port)]
        self.process = subprocess.Popen([sys.executable, __file__, *where])

    def end(self, how: int) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait()

    def until_an_answer_is_taken(self) -> float:
        """Seconds from now until somebody new has answered."""
        began = time.perf_counter()
        while True:
            try:
                with httpx.Client(base_url=self.url, timeout=30) as person:
                    work = person.post(f"/api/s/{STUDY}/join", json={"consent": True})
                    if work.status_code == 200:
                        token = work.json()["questions"][0]["token"]
                        body = {"token": token, "side": "left", "ms": 900}
                        person.post(f"/api/s/{STUDY}/answer", json=body).raise_for_status()
                        return time.perf_counter() - began
            except httpx.TransportError:
                pass
            if time.perf_counter() - began > 120:
                raise SystemExit("the server did not come")
            time.sleep(0.02)


def served(folder: Path, storage: str, answers: int) -> Served:
    """A server of a study with so many answers; it is not started."""
    collection = texts(folder)
    store(storage, collection, answers)
    with listen("127.0.0.1", 0) as probe:
        return Served(folder, storage, port_of(probe))


def back_after_a_kill(folder: Path, storage: str, answers: int) -> float:
    """Seconds from the start of the next server until somebody's answer is taken, after kill -9 of the one before."""
    server = served(folder, storage, answers)
    server.start()
    server.until_an_answer_is_taken()
    server.end(signal.SIGKILL)
    server.start()
    took = server.until_an_answer_is_taken()
    server.end(signal.SIGTERM)
    return took


async def _look(url: str, key: str, stop: asyncio.Event, times: list[float]) -> None:
    """The organizer's page, open with all that it shows, again and again."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as organizer:
        (await organizer.post("/api/organize/login", json={"key": key})).raise_for_status()

        async def listen_to_events() -> None:
            async with organizer.stream("GET", f"/api/organize/{STUDY}/events") as events:
                async for _ in events.aiter_bytes():
                    pass

        stream = asyncio.create_task(listen_to_events())
        while not stop.is_set():
            for what in ("", "/result", "/agreement"):
                began = time.perf_counter()
                (await organizer.get(f"/api/organize/{STUDY}{what}")).raise_for_status()
                times.append(time.perf_counter() - began)
        stream.cancel()


async def _answer_while_it_is_looked_at(server: Served, people: int, seconds: float) -> tuple[list[float], list[float]]:
    stop, looks = asyncio.Event(), list[float]()
    collection = load_collection(server.folder / "items")
    key = secret_in(server.folder / "items").organizer_key()
    crew = Crew(people, think_s=0.5, wait_s=0.2, practises=False)
    crowd = asyncio.create_task(answer_all(server.url, [STUDY], collection, lambda *_: 0.0, crew, stop=stop))
    await asyncio.sleep(2)
    looking = asyncio.create_task(_look(server.url, key, stop, looks))
    await asyncio.sleep(seconds)
    stop.set()
    report = await crowd
    await looking
    return sorted(report.seconds), looks


def waits_while_looked_at(folder: Path, storage: str, answers: int, seconds: float) -> tuple[list[float], int]:
    """How long answers of twenty people took, in order, and how often the organizer's page was loaded meanwhile."""
    server = served(folder, storage, answers)
    server.start()
    server.until_an_answer_is_taken()
    try:
        waits, looks = asyncio.run(_answer_while_it_is_looked_at(server, 20, seconds))
    finally:
        server.end(signal.SIGTERM)
    return waits, len(looks)


def exported(folder: Path, storage: str, answers: int) -> float:
    """Seconds for `handful export` to start, open the study and write all answers."""
    store(storage, texts(folder), answers)
    began = time.perf_counter()
    program = str(Path(sys.executable).with_name("handful"))
    command = [program, "export", STUDY, "--storage", storage, "--output", str(folder / "answers.csv")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert len((folder / "answers.csv").read_text().splitlines()) > answers
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--back", type=int, default=100_000, help="answers of the study that is killed")
    parser.add_argument("--looked-at", type=int, default=400_000, help="answers of the study that is looked at")
    parser.add_argument("--exported", type=int, default=100_000, help="answers of the study that is exported")
    parser.add_argument("--seconds", type=float, default=15, help="for how long it is looked at")
    parser.add_argument("--storage", help="an empty database for the first of these; default: a fresh SQLite file")
    parser.add_argument("--folder", type=Path, default=Path(), help="where files are made: on a real disk")
    parser.add_argument("--server", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.server:
        run_server(options.server, options.storage, options.port)
        return
    table, missed = Table("what", "answers", "seconds", "at most", ""), list[str]()

    def line(what: str, answers: int, seconds: float, most: float) -> None:
        if seconds > most:
            missed.append(what)
        table.add_row(what, f"{answers:,}", f"{seconds:.3f}", f"{most:g}", "met" if seconds <= most else "MISSED")

    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folders = [Path(name) / part for part in ("back", "looked", "exported")]
        for folder in folders:
            folder.mkdir()
        if options.back:
            storage = options.storage or str(folders[0] / "study.db")
            line("back after kill -9", options.back, back_after_a_kill(folders[0], storage, options.back), BACK_S)
        if options.looked_at:
            storage = str(folders[1] / "study.db")
            waits, looks = waits_while_looked_at(folders[1], storage, options.looked_at, options.seconds)
            said = f"longest of {len(waits):,} answers, {looks} times looked at"
            line(said, options.looked_at, waits[-1], WAIT_S)
            line("99 in 100 of these", options.looked_at, waits[int(0.99 * len(waits))], WAIT_S)
        if options.exported:
            took = exported(folders[2], str(folders[2] / "study.db"), options.exported)
            line("exported by the command line", options.exported, took, EXPORT_S)
    Console().print(table)
    print(f"load average {os.getloadavg()[0]:.1f}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
