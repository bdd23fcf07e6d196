"""Simulated people who come from the fake Prolific, and go back there: some return, some forget their code."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from handful.crowd.collection.items import Collection
from handful.crowd.simulation.simulated_people import Advantage, Crew, CrewReport, SimulatedPerson
from handful.recruit.fake import FakePlatform
from handful.recruit.fake.records import FakeSubmission

LOOK_EVERY_S = 0.2
GIVES_UP = 0.08
FORGETS_CODE = 0.1


class PaidPerson(SimulatedPerson):
    """One simulated person with a place on the fake Prolific."""

    def at_place(self, platform: FakePlatform, there: FakeSubmission) -> PaidPerson:
        self.platform, self.there = platform, there
        return self

    async def take_part(self) -> None:
        """Arrive, agree, answer, and go back with the code that the page gives."""
        try:
            parameters = dict(parse_qsl(urlsplit(self.platform.address(self.there)).query))
            arrived = await self._say("arrive", {"parameters": parameters})
            if arrived is None or arrived["state"] != "inside":
                return
            work = await self._say("join", {"consent": True, "practice": ["apple", "pear"]})
            gives_up = self.rng.random() < GIVES_UP
            while work is not None and work["state"] != "finished":
                if gives_up and work["progress"]["answered"] >= 3:
                    self.platform.give_back(self.there, self.rng.choice(("RETURNED", "TIMED-OUT")))
                    return
                work = await self._go_on(work)
            self._go_back(work)
        finally:
            self.client.close()

    def _go_back(self, work: dict[str, Any] | None) -> None:
        ending = None if work is None else work["ending"]
        if ending is not None and ending["address"]:
            code = parse_qs(urlsplit(ending["address"]).query)["cc"][0]
            self.platform.come_back(self.there, None if self.rng.random() < FORGETS_CODE else code)


async def come_and_answer(
    url: str,
    study: str,
    platform: FakePlatform,
    there: str,
    collection: Collection,
    advantage: Advantage,
    crew: Crew,
    stop: asyncio.Event,
) -> CrewReport:
    """Let people take every place that there is on the fake Prolific, and answer here, until told to stop."""
    report, tasks = CrewReport(), list[asyncio.Task[None]]()
    names = {item.text or f"/items/{item.picture}.webp": item.id for item in collection}
    while not stop.is_set():
        while (place := platform.take_place(there)) is not None:
            number = len(tasks)
            person = PaidPerson(number, url, [study], names, advantage, crew, report, asyncio.Event(), None)
            tasks.append(asyncio.create_task(person.at_place(platform, place).take_part()))
        await asyncio.sleep(LOOK_EVERY_S)
    await asyncio.gather(*tasks)
    return report
