"""A stranger who takes questions and answers none: `python -m tests.crowd.hoarders` prints what that does to others.

Thirty honest people, each from a network of their own, think four seconds about a question; three hundred cookies ask
for one every second and keep what they get until its time is over, then ask again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from handful import Preferences, Study
from handful.crowd.caps import Caps
from handful.crowd.identity import network_of
from handful.crowd.settings import ServerLimits
from handful.rules import Door, Rule

HONEST, COOKIES, IN_FLIGHT = 30, 300, 40
THINK_S, WAIT_S, SECONDS = 4.0, 1.0, 300.0

WAYS: dict[str, Callable[[int], str]] = {
    "one address": lambda n: "192.0.2.1",
    "20 addresses of one /24": lambda n: f"192.0.2.{n % 20}",
    "300 networks": lambda n: f"172.{n // 200}.{n % 200}.1",
}


def honest_rate(addresses: list[str], seed: int = 0, *, guarded: bool = True, seconds: float = SECONDS) -> float:
    """Answers per second of the honest people while cookies at these addresses hold whatever they are given."""
    rng = np.random.default_rng(seed)
    start = 1e9
    now, door = [start], Door()
    settings: dict[str, Any] = {"rule": Rule(None, None, ()), "door": door} if guarded else {}
    study: Study[int] = Study(
        range(60),
        6,
        feedback=Preferences(),
        explorer="duels",
        budget=1_000_000,
        in_flight=IN_FLIGHT,
        lease_s=60,
        seed=seed,
        clock=lambda: now[0],
        **settings,
    )
    where = {f"h{n}": f"10.{n}.0.1" for n in range(HONEST)} | {f"a{n}": at for n, at in enumerate(addresses)}
    held = ServerLimits().held_per_network
    caps = Caps(IN_FLIGHT, held, lambda worker: network_of(where[worker], door).encode())
    if guarded:
        study.let_in_by(caps)
    turns = [(start + (0.0 if name[0] == "a" else 5.0), name) for name in where]  # the hoarders come first
    heapq.heapify(turns)
    holds: dict[str, str] = {}
    answered = 0
    while turns[0][0] < start + seconds:
        now[0], name = heapq.heappop(turns)
        if name in holds:
            study.tell(holds.pop(name), bool(rng.random() < 0.5), name)
            answered += 1
        caps.came(name, now[0])
        questions = study.ask(1, name) if name[0] == "h" or not study.held_by(name) else []
        if name[0] == "h" and questions:
            holds[name] = questions[0].id
        think = rng.exponential(THINK_S) if name in holds else WAIT_S
        heapq.heappush(turns, (now[0] + think, name))
    return answered / seconds


def main() -> None:
    calm = honest_rate([])
    print(f"nobody hoards: {calm:.2f} answers/s")
    for way, at in WAYS.items():
        rate = honest_rate([at(n) for n in range(COOKIES)])
        print(f"{COOKIES} cookies, {way}: {rate:.2f} answers/s, {100 * (1 - rate / calm):.1f}% fewer")


if __name__ == "__main__":
    main()
