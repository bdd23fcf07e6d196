"""Simulated people: they join, look, think, answer and sometimes err, over real HTTP like everybody else."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from handful.crowd.collection import Collection
from handful.crowd.simulation.http_client import ConnectionLost, HttpClient

Advantage = Callable[[str, tuple[str, ...], str, str], float]
"""(study, chosen, one, other) → how much more the one item would add than the other, by the items' names."""

Acknowledged = Callable[["SimulatedPerson", str, str], None]
"""Called with the person, the token and the side or the option when the server has said that an answer is stored."""


@dataclass(frozen=True)
class Crew:
    """What kind of people, how many, and how fast.

    think_s: the median time for an answer; 0 is as fast as the server lets them.
    beta:    how sharply people see the difference, from the dullest to the sharpest (Bradley-Terry-Luce).
    careless: which share of people answers every fifth question by a coin.
    skips:   how often a question is skipped.
    each:    how many answers each gives to a study before they leave it; None: until it is finished.
    practises: whether they say what they chose in the practice.
    """

    workers: int = 100
    think_s: float = 2.2
    spread: float = 0.5
    beta: tuple[float, float] = (1.0, 4.0)
    careless: float = 0.1
    skips: float = 0.0
    seed: int = 0
    wait_s: float = 0.5
    each: int | None = None
    practises: bool = True


@dataclass
class CrewReport:
    """What a crew did, and how the server replied."""

    answers: int = 0
    repeated: int = 0
    skips: int = 0
    waits: int = 0
    refused: dict[int, int] = field(default_factory=dict)
    broken: int = 0
    seconds: list[float] = field(default_factory=list)

    def quantile(self, q: float) -> float:
        """The time that a share q of the answers took at most."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else math.nan


async def answer_all(
    url: str,
    studies: Sequence[str],
    collection: Collection,
    advantage: Advantage,
    crew: Crew | None = None,
    *,
    stop: asyncio.Event | None = None,
    acknowledged: Acknowledged | None = None,
) -> CrewReport:
    """Send a crew to answer until all studies are finished, or until `stop` is set."""
    crew, report = crew or Crew(), CrewReport()
    names = {item.text or f"/items/{item.picture}.webp": item.id for item in collection}
    people = [
        SimulatedPerson(number, url, studies, names, advantage, crew, report, stop or asyncio.Event(), acknowledged)
        for number in range(crew.workers)
    ]
    await asyncio.gather(*(person.take_part() for person in people))
    return report


class SimulatedPerson:
    """One simulated person, who takes one study after another, beginning with a different one than their neighbour."""

    def __init__(
        self,
        number: int,
        url: str,
        studies: Sequence[str],
        names: dict[str, str],
        advantage: Advantage,
        crew: Crew,
        report: CrewReport,
        stop: asyncio.Event,
        acknowledged: Acknowledged | None,
    ) -> None:
        self.rng = random.Random(f"{crew.seed} {number}")
        self.client = HttpClient(url)
        first = number % len(studies)
        self.studies = [*studies[first:], *studies[:first]]
        self.study = self.studies[0]
        self.names, self.advantage, self.crew, self.report = names, advantage, crew, report
        self.stop, self.acknowledged = stop, acknowledged
        low, high = crew.beta
        self.beta = low * (high / low) ** self.rng.random()
        self.careless = self.rng.random() < crew.careless

    async def take_part(self) -> None:
        """Answer in every study until it is finished."""
        await self._pause(self.crew.think_s * self.rng.random())
        try:
            for study in self.studies:
                self.study, self.client.cookie = study, ""
                practised = {"practice": ["apple", "pear"]} if self.crew.practises else {}
                work = await self._say("join", {"consent": True, **practised})
                while (
                    work is not None and work["state"] != "finished" and work["progress"]["answered"] != self.crew.each
                ):
                    work = await self._go_on(work)
                if self.stop.is_set():
                    return
        finally:
            self.client.close()

    async def _go_on(self, work: dict[str, Any]) -> dict[str, Any] | None:
        if not work["questions"]:
            self.report.waits += 1
            await self._pause(self.crew.wait_s * (0.5 + self.rng.random()))
            return await self._say("next")
        question = work["questions"][0]
        thought = self._thinking_time()
        await self._pause(thought)
        if self.rng.random() < self.crew.skips:
            self.report.skips += 1
            return await self._say("skip", {"token": question["token"], "reason": "unsure"})
        body = {"token": question["token"], **self._choice(question), "ms": round(1000 * thought)}
        began = perf_counter()
        reply = await self._say("answer", body)
        if reply is not None and "answer" in reply:
            self.report.seconds.append(perf_counter() - began)
            self.report.answers += 1
            self.report.repeated += reply["answer"]["repeated"]
            if self.acknowledged is not None:
                stored = reply["answer"]
                self.acknowledged(self, question["token"], stored["side"] or stored["option"])
        return reply

    def _choice(self, question: dict[str, Any]) -> dict[str, str]:
        """By Plackett and Luce with this person's sharpness (of two: Bradley-Terry-Luce), or at random."""
        cards = question.get("options") or [question["left"], question["right"]]
        weights = [1.0] * len(cards)
        if not (self.careless and self.rng.random() < 0.2):
            chosen, names = tuple(map(self._name, question["chosen"])), [self._name(card) for card in cards]
            more = [self.beta * self.advantage(self.study, chosen, name, names[0]) for name in names]
            weights = [math.exp(max(-50.0, x - max(more))) for x in more]
        (at,) = self.rng.choices(range(len(cards)), weights)
        return {"option": cards[at]["id"]} if "options" in question else {"side": ("left", "right")[at]}

    def _name(self, card: dict[str, Any]) -> str:
        """The item that a card shows; a card of a check shows none, and stands for itself."""
        shown: str = card["text"] or card["image"]
        return self.names.get(shown, shown)

    async def _say(self, what: str, body: object = None) -> dict[str, Any] | None:
        """The server's answer, asking again for as long as it takes; None when we are told to stop."""
        path = f"/api/s/{self.study}/{what}"
        patience = 0.05
        while not self.stop.is_set():
            try:
                status, reply = await (self.client.get(path) if body is None else self.client.post(path, body))
            except ConnectionLost:
                self.report.broken += 1
                await self._pause(patience)
                patience = min(1.0, patience * 2)
                continue
            if status == 200:
                assert isinstance(reply, dict)
                return reply
            if what == "join" and status == 409:  # it ended before this person came
                return {"state": "finished", "questions": [], "progress": {"answered": 0}}
            self.report.refused[status] = self.report.refused.get(status, 0) + 1
            if status in (429, 503):
                await self._pause(1.0)
            else:
                path, body = f"/api/s/{self.study}/next", None
                await self._pause(patience)
                patience = min(1.0, patience * 2)
        return None

    def _thinking_time(self) -> float:
        if self.crew.think_s <= 0:
            return 0.0
        return self.crew.think_s * math.exp(self.rng.gauss(0.0, self.crew.spread))

    async def _pause(self, seconds: float) -> None:
        """Sleep, but wake up when told to stop."""
        if seconds <= 0:
            return
        try:
            await asyncio.wait_for(self.stop.wait(), seconds)
        except TimeoutError:
            return
