"""How many questions may be out at once, where the first run says it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handful import Study, Values
from handful.errors import IdleWorkers, StorageCorrupt, StudyExists
from handful.events import InFlightSet
from handful.questions import Question
from tests.study.worlds import picture

SETTINGS: dict[str, Any] = {"feedback": Values(noise=1.0), "explorer": "certified", "budget": 260, "seed": 3}


def careful(q: Question) -> float:
    return int(q.item) + (q.seed % 1000) / 500


def study(**options: Any) -> Study:
    return Study(range(12), 3, **(SETTINGS | options))


@pytest.mark.parametrize("explorer", ["certified", "worth", "topx", "sharp"])
def test_the_first_run_in_processes_says_64_as_if_the_study_was_made_so(explorer: str, tmp_path: Path) -> None:
    left, said = study(explorer=explorer, storage=tmp_path / "a.db"), study(explorer=explorer, in_flight=64)
    assert left.setup.problem.in_flight == 1
    assert left.run(careful, n_jobs=2) == said.run(careful)
    assert left.setup.problem.in_flight == 64
    left.close()
    with Study.open(tmp_path / "a.db", items=range(12)) as again:
        assert picture(again.state) == picture(left.state)
        assert again.result() == left.result()


def test_with_what_was_withdrawn_and_extended_before() -> None:
    left, said = study(), study(in_flight=64)
    for one in (left, said):
        one.withdraw(11, "broken")
        one.extend(40)
    assert left.run(careful, n_jobs=1) == said.run(careful)
    assert 11 not in left.result().chosen


def test_it_is_said_once_and_before_anything_is_asked() -> None:
    begun = study()
    (first,) = begun.ask()
    begun.tell(first.id, careful(first))
    with pytest.warns(IdleWorkers, match="at most 1 question in flight, which is fixed once it has begun"):
        begun.run(careful, n_jobs=2)
    assert begun.setup.problem.in_flight == 1
    here = study()
    assert here.run(careful) == study(in_flight=1).run(careful)


def test_a_number_that_was_given_stays() -> None:
    given = study(in_flight=7)
    given.run(careful, n_jobs=2)
    assert given.setup.problem.in_flight == 7
    assert not [record for record in given.records() if record.kind == InFlightSet.kind]


def test_what_was_preregistered_stays() -> None:
    registered = study()
    record = registered.preregister()
    with pytest.warns(IdleWorkers):
        registered.run(careful, n_jobs=2)
    assert registered.registration()["hash"] == record["hash"]


def test_the_same_script_goes_on_and_another_number_is_refused(tmp_path: Path) -> None:
    stored: dict[str, Any] = {"storage": tmp_path / "a.db", "exists": "open"}
    with study(**stored) as one:
        expected = one.run(careful, n_jobs=1)
    with study(**stored) as again:
        assert again.run(careful, n_jobs=1) == expected
    with study(**stored, in_flight=64) as also:
        assert also.result() == expected
    with pytest.raises(StudyExists, match="in_flight: 64 there, 5 here"):
        study(**stored, in_flight=5)


@pytest.mark.parametrize("number", [1, 5, 64])
def test_a_number_that_is_given_before_anything_was_asked_is_taken_and_stays(tmp_path: Path, number: int) -> None:
    with study(storage=tmp_path / "a.db"):
        pass
    said: dict[str, Any] = {"storage": tmp_path / "a.db", "exists": "open", "in_flight": number}
    with study(**said) as one:
        expected = one.run(careful, n_jobs=1)
        assert one.setup.problem.in_flight == number
    assert expected == study(in_flight=number).run(careful)
    with study(**said) as again:
        assert again.run(careful, n_jobs=1) == expected


def test_a_script_that_says_no_number_opens_what_was_made_with_one_at_a_time(tmp_path: Path) -> None:
    with study(storage=tmp_path / "a.db", in_flight=1):
        pass
    with study(storage=tmp_path / "a.db", exists="open") as again:
        assert again.setup.problem.in_flight == 1


def test_a_journal_that_says_it_late_or_twice_is_corrupt() -> None:
    late = study()
    late.ask()
    with pytest.raises(StorageCorrupt, match="after it was fixed"):
        late.state.apply(InFlightSet(64), 0.0)
    with pytest.raises(StorageCorrupt, match="in_flight"):
        study().state.apply(InFlightSet(-1), 0.0)
    twice = study()
    twice.state.apply(InFlightSet(64), 0.0)
    with pytest.raises(StorageCorrupt, match="after it was fixed"):
        twice.state.apply(InFlightSet(64), 0.0)
