"""The case that the app is for: six of two hundred photos, by a hundred people with thirty answers each, over HTTP."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from handful.crowd.host import Host
from handful.crowd.intake import ingest
from handful.crowd.plan import ExpectedPeople
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from handful.crowd.simulation.simulated_people import Crew, answer_all
from handful.events import Asked, RoundClosed, Told
from tests.crowd.clients import STUDY, started
from tests.crowd.pictures import folder_of

PHOTOS, PEOPLE, EACH = 200, 100, 30


def worth(name: str) -> float:
    return float(name.removeprefix("photo ").removesuffix(".jpg")) / 40.0


def repeats(hosted: Host) -> int:
    """How often somebody told a second time, in one round, which of the same two is better; from the journal alone."""
    told: Counter[tuple[int, str | None, tuple[int, int]]] = Counter()
    shown: dict[int, tuple[int, tuple[int, ...]]] = {}
    round_ = 1
    for _, event in hosted.study.journal():
        if isinstance(event, Asked):
            shown[event.question] = round_, (event.item, event.rival, *event.more)
        elif isinstance(event, RoundClosed):
            round_ += 1
        elif isinstance(event, Told):
            named, (of_round, options) = int(event.answer), shown[event.question]
            for pair in combinations(sorted(options), 2):
                if named in pair:
                    told[of_round, event.worker, pair] += 1
    assert len(told) > 3 * PEOPLE * EACH * 0.9
    return sum(count - 1 for count in told.values())


@pytest.mark.slow
def test_a_hundred_people_choose_six_of_two_hundred_and_the_result_says_something_of_each(tmp_path: Path) -> None:
    photos = ingest(folder_of(PHOTOS, tmp_path / "photos"), tmp_path / "items")
    plan = StudyPlan(k=6, expected=ExpectedPeople(PEOPLE, EACH))
    quick = Settings(goal=EACH, undo_s=0, redo_s=0, limits=ServerLimits.none())
    with started(photos, plan, quick, storage=tmp_path / "a.db") as server:
        hosted = server.registry.studies[STUDY]
        crew = Crew(PEOPLE, think_s=0.2, wait_s=0.2, each=EACH)
        report = asyncio.run(
            answer_all(server.url, [STUDY], photos, lambda _, chosen, one, other: worth(one) - worth(other), crew)
        )
        organizer = server.organizer()
        status = organizer.get(f"/api/organize/{STUDY}").json()
        assert (report.refused, report.broken) == ({}, 0)
        assert status["answers"] <= PEOPLE * EACH
        assert max(line["answers"] for line in status["workers"]) <= EACH
        if status["state"] != "finished":  # somebody's last answers may wait for others
            status = organizer.post(f"/api/organize/{STUDY}/close").json()
        assert len(status["picks"]) == len(status["chosen"]) == 6
        assert repeats(hosted) == 0
        found = organizer.get(f"/api/organize/{STUDY}/result").json()
        sheet = organizer.get(f"/api/organize/{STUDY}/sheet.png").content
    assert sheet.startswith(b"\x89PNG")
    assert found["certificate"].startswith(("Round by round, the pick was shown", "Nothing is certified"))
    decided = [pick for pick in found["picks"] if not pick["filled"]]
    assert len(decided) >= 5
    for pick in decided:
        assert pick["sentences"][0].startswith("Won ")
        assert "By the model, " in pick["sentences"][1]
        assert pick["runner_up"] is not None
    best = {f"photo {number}.jpg" for number in range(PHOTOS - 20, PHOTOS)}
    assert len({str(pick) for pick in hosted.study.result().chosen} & best) >= 4
