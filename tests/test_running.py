"""Running an oracle: the same result in any order of execution, and exactly as the compiled simulator decides."""

from __future__ import annotations

import random
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handful import Preferences, Question, Study, TopX, Uniform, Values
from handful.explorers.registry import Certified
from handful.oracles import btl, compares, gaussian, noisy, uniform
from handful.responses import Response
from handful.running import RunProgress
from handful.simulation import simulate
from tests.study.worlds import coverage, folded, live

SIZE, K = 25, 4
SETTINGS: dict[str, tuple[dict[str, Any], Response]] = {
    "full": ({"feedback": Values(noise=0.5), "explorer": TopX(), "epsilon": 6.0}, uniform(0.5)),
    "full, by the letter": (
        {"feedback": Values(noise=0.5), "explorer": TopX(radius="literal"), "epsilon": 6.0},
        uniform(0.5),
    ),
    "O with a budget": (
        {"feedback": Values(noise=0.5), "explorer": TopX("O"), "epsilon": 4.0, "budget": 900},
        gaussian(0.5),
    ),
    "G with a budget": ({"feedback": Values(noise=0.2), "explorer": TopX("G"), "budget": 1200}, uniform(0.2)),
    "l = k": ({"feedback": Values(noise=0.5), "explorer": TopX(l=K), "epsilon": 6.0, "budget": 3000}, uniform(0.5)),
    "borda": ({"feedback": Preferences(tau=3), "explorer": TopX(), "budget": 1500}, btl(3.0)),
    "smallest gap": (
        {"feedback": Preferences(), "explorer": TopX(out_of_budget="smallest-gap"), "budget": 500},
        btl(3.0, careless=0.1),
    ),
    "a tiny budget": ({"feedback": Preferences(), "explorer": TopX(), "budget": 60}, btl(3.0)),
    "uniform": ({"feedback": Values(noise=0.5), "explorer": Uniform(), "epsilon": 9.0, "budget": 3000}, uniform(0.5)),
    "fixed": ({"feedback": Values(noise=0.2), "explorer": Uniform(stop="fixed"), "epsilon": 9.0}, uniform(0.2)),
    "sharp": ({"feedback": Values(noise=0.5), "explorer": "sharp", "epsilon": 4.0}, uniform(0.5)),
    "sharp comparisons": ({"feedback": Preferences(), "explorer": "sharp", "budget": 1500}, btl(3.0)),
    "certified": ({"feedback": Values(noise=0.5), "explorer": "certified", "epsilon": 2.0}, uniform(0.5)),
    "certified by a chain": (
        {"feedback": Values(noise=0.5), "explorer": Certified("chain"), "epsilon": 4.0},
        uniform(0.5),
    ),
    "certified ratio": ({"feedback": Values(noise=0.5), "explorer": "certified", "ratio": 0.5}, uniform(0.5)),
    "worth": ({"feedback": Values(), "explorer": "worth", "budget": 500}, gaussian(1.0)),
    "duels": ({"feedback": Preferences(), "explorer": "duels", "budget": 500}, btl(3.0)),
    "pivot": ({"feedback": Preferences(beta=9.0), "explorer": "pivot", "epsilon": 4.0, "budget": 3000}, btl(9.0)),
}


@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
@pytest.mark.parametrize("in_flight", [1, 7, 40])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_run_decides_as_the_compiled_simulator_does_on_the_same_noise(name: str, in_flight: int) -> None:
    settings, response = SETTINGS[name]
    objective = coverage(SIZE)
    oracle = (compares if response.compares else noisy)(objective, response)
    study = Study(range(SIZE), K, seed=11, in_flight=in_flight, **settings)
    found = study.run(oracle)
    problem = study.setup.problem
    expected = simulate(study.setup.explorer.build(problem), objective, response, K, budget=problem.total)
    assert found.chosen == expected.chosen
    assert found.answers == expected.answers
    for round_, simulated in zip(found.rounds, expected.rounds, strict=True):
        assert round_.candidates == simulated.candidates
        assert (round_.ended, round_.reached) == (simulated.ended, simulated.reached)
        assert round_.answers == simulated.answers
        if study.setup.explorer.order == "none":  # a comparison is an answer about both sides
            assert round_.counted.sum() == 2 * simulated.per_item.sum()
        else:
            assert np.array_equal(round_.counted, simulated.per_item)


def careful(q: Question, pause: float = 0.0) -> float:
    """An oracle for other processes, which is done with later questions first."""
    if pause:
        time.sleep(pause * random.random())
    return int(q.item) + (q.seed % 1000) / 500


class Backwards(Executor):
    """Answers only when it must, and then the latest question first."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        executor = self

        class Late(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                while executor.waiting:
                    future, act = executor.waiting.pop()
                    future.set_result(act())
                return super().result(timeout)

        future = Late()
        self.waiting.append((future, partial(fn, *args, **kwargs)))
        return future


@pytest.mark.parametrize("in_flight", [1, 3, 16])
def test_a_run_gives_the_same_result_in_every_order_of_execution(in_flight: int) -> None:
    def study() -> Study:
        return Study(range(12), 3, feedback=Values(noise=1.0), epsilon=6.0, budget=400, in_flight=in_flight, seed=3)

    alone = study()
    expected = alone.run(careful)
    for executor in (ThreadPoolExecutor(5), Backwards(), ProcessPoolExecutor(2)):
        pause = 0.002 if isinstance(executor, ThreadPoolExecutor) else 0.0
        with executor:
            other = study()
            assert other.run(partial(careful, pause=pause), executor=executor) == expected
        assert live(other) == live(alone) | {"leases": live(other)["leases"]}


def test_a_run_gives_the_same_result_on_a_cluster() -> None:
    distributed = pytest.importorskip("distributed")
    study = Study(range(8), 2, feedback=Values(noise=1.0), budget=60, in_flight=4, seed=3)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = study.run(careful, executor=client.get_executor())
    assert found == Study(range(8), 2, feedback=Values(noise=1.0), budget=60, in_flight=4, seed=3).run(careful)


@pytest.mark.parametrize("at", [0, 1, 37, 199])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_run_goes_on_to_the_same_result(tmp_path: Path, at: int, error: type[BaseException]) -> None:
    settings: dict[str, Any] = {"feedback": Values(noise=1.0), "budget": 200, "in_flight": 5, "seed": 3}
    expected = Study(range(12), 3, **settings).run(careful)
    url = tmp_path / "study.db"
    calls = 0

    def failing(q: Question) -> float:
        nonlocal calls
        calls += 1
        if calls == at + 1:
            raise error("no electricity")
        return careful(q)

    with Study(range(12), 3, storage=url, **settings) as study:
        with pytest.raises(error) as raised:
            study.run(failing)
        assert study.status().answers == at
        assert "run(oracle) again to go on" in raised.value.__notes__[0]
        assert live(study) == folded(study)
    with Study.open(url, items=range(12)) as study:
        assert study.run(careful) == expected


def test_an_interrupt_half_way_through_an_event_leaves_the_study_as_its_journal_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = Study(range(12), 3, feedback=Values(noise=1.0), budget=200, seed=3)
    for q in study.ask(1):
        study.tell(q.id, 1.0)
    (q,) = study.ask(1)
    before = live(study)

    def interrupted(*_: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr("handful.rounds.tell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study.tell(q.id, 2.0)
    assert live(study) == before == folded(study)
    assert not study.tell(q.id, 2.0).repeated


def test_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[RunProgress] = []
    study = Study(range(12), 3, feedback=Values(noise=1.0), budget=60, seed=3)
    study.run(careful, progress=seen.append)
    assert seen[-1] == RunProgress(3, 3, 60, 60)
    Study(range(12), 3, feedback=Values(noise=1.0), budget=60, seed=3).run(careful, progress=True)
    assert "60 of 60 answers" in capsys.readouterr().out


def test_oracles_answer_for_items_of_any_kind() -> None:
    objective = coverage(SIZE)
    names = [f"photo {i}" for i in range(SIZE)]
    by_index = Study(range(SIZE), 3, feedback=Values(noise=0.5), budget=300, seed=2).run(noisy(objective, uniform(0.5)))
    by_name = Study(names, 3, feedback=Values(noise=0.5), budget=300, seed=2).run(noisy(objective, uniform(0.5), names))
    assert by_name.chosen == tuple(names[i] for i in by_index.chosen)
