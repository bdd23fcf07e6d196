"""A Dask cluster of real processes: the same result whoever dies, joins late or does the work."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from handful import Question, Study, Values
from handful.errors import EvaluationFailed, HandfulError, InvalidProblem, NoWorkers

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
SETTINGS: dict[str, Any] = {"feedback": Values(noise=1.0), "budget": 300, "in_flight": 16, "seed": 3}
PATIENCE = {"distributed.deploy.lost-worker-timeout": "5 minutes"}  # a busy machine starts workers slowly


def careful(q: Question) -> float:
    return int(q.item) + (q.seed % 1000) / 500


def slowly(q: Question) -> float:
    time.sleep(0.01)
    return careful(q)


def poisonous(q: Question) -> float:
    if q.id == "q37":
        os._exit(9)
    return careful(q)


def study(**options: Any) -> Study:
    return Study(range(12), 3, **(SETTINGS | options))


def worker(address: str, name: str, *more: str, **environment: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--name", name, "--nthreads", "1"]
    return subprocess.Popen(
        [*command, "--no-dashboard", *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, **environment},
    )


def killed(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def scheduler() -> Iterator[str]:
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    with subprocess.Popen(
        [*command, "--host", "127.0.0.1"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stderr is not None
        address = next(line.split()[-1] for line in process.stderr if "Scheduler at:" in line)
        yield address
        process.kill()


def test_the_page_on_clusters_runs_as_it_stands(scheduler: str) -> None:
    """With three workers, one of which is killed and one of which joins late."""
    page = (Path(__file__).resolve().parents[1] / "docs" / "cluster.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert '"tcp://10.0.0.5:8786", progress=True' in code
    code = code.replace('"tcp://10.0.0.5:8786", progress=True', "SCHEDULER, progress=meddle")
    with ExitStack() as stack:
        workers = [worker(scheduler, str(n), "--no-nanny") for n in range(2)]
        for process in workers:
            stack.callback(killed, process)

        def meddle(progress: Any) -> None:
            if progress.answers > 60 and len(workers) == 2:
                killed(workers[0])
                workers.append(worker(scheduler, "late", "--no-nanny"))
                stack.callback(killed, workers[2])

        names: dict[str, Any] = {"SCHEDULER": scheduler, "meddle": meddle, "print": lambda result: None}
        exec(code, names)
        assert len(workers) == 3
    assert names["result"] == study(in_flight="cluster").run(careful)


def test_a_poison_question_is_named_also_on_a_cluster() -> None:
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0, **PATIENCE}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(EvaluationFailed, match="question q37, about .* ended the worker it was sent to: call"),
    ):
        study().run(poisonous, dask=client)


def test_a_question_that_ends_every_worker_is_named_though_no_worker_comes_back(
    scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from handful import executors as module

    monkeypatch.setattr(module, "SAY_AFTER_S", 1.0)
    monkeypatch.setattr(module, "GIVE_UP_AFTER_S", 3.0)
    with ExitStack() as stack:
        for n in range(2):
            stack.callback(killed, worker(scheduler, str(n), "--no-nanny"))
        with distributed.Client(scheduler) as client:
            client.wait_for_workers(2)
            with (
                pytest.warns(NoWorkers, match="no worker is left"),
                pytest.raises(EvaluationFailed, match="ended all workers that were left.* none joined") as raised,
            ):
                study().run(poisonous, dask=client)
    assert "q37" in str(raised.value)


@pytest.mark.slow
def test_a_poison_question_is_named_by_a_scheduler_with_its_usual_settings(scheduler: str) -> None:
    with ExitStack() as stack:
        for n in range(2):
            stack.callback(killed, worker(scheduler, str(n)))
        with pytest.raises(EvaluationFailed, match="question q37, about .* ended all 4 workers it was sent to: call"):
            study().run(poisonous, dask=scheduler)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::handful.errors.NoWorkers")
def test_a_poison_question_is_named_on_a_cluster_with_all_its_defaults() -> None:
    with (
        distributed.LocalCluster(dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(EvaluationFailed, match="ended all .* workers .*: call the oracle with seed") as raised,
    ):
        study().run(poisonous, dask=client)
    assert "q37" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::handful.errors.NoWorkers")
@pytest.mark.parametrize("count", [1, 2, 7])
def test_any_number_of_workers_gives_the_same_result_while_some_are_killed(count: int) -> None:
    deaths: list[int] = []
    with (
        dask.config.set(PATIENCE),
        distributed.LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
    ):

        def meddle(progress: Any) -> None:
            if progress.answers > 80 * (len(deaths) + 1) and len(deaths) < 3:
                with distributed.Client(cluster) as client:
                    pids = list(client.run(os.getpid).values())
                deaths.append(pids[len(deaths) % len(pids)])
                os.kill(deaths[-1], signal.SIGKILL)

        assert study().run(slowly, dask=cluster, progress=meddle) == study().run(careful)
    assert len(set(deaths)) == 3


def test_a_batch_that_the_scheduler_forgot_is_sent_again_and_counted_once() -> None:
    from handful.executors import Cluster

    items = tuple(range(12))
    questions = [Question(f"q{n}", 1, n, items[n], None, (), n) for n in range(12)]
    with (
        distributed.LocalCluster(1, processes=False, dashboard_address=None) as cluster,
        Cluster(careful, items, cluster.scheduler_address) as cluster_,
    ):
        pending = [cluster_.submit(question) for question in questions]
        cluster_._flush()
        for batch in cluster_._sent:
            batch.future.cancel()
        assert [each.result() for each in pending] == [careful(question) for question in questions]
        assert cluster_._sent == []


def test_errors_come_home_from_a_cluster_and_a_wrong_address_is_named() -> None:
    def failing(q: Question) -> float:
        return 1 / (q.number - 3)

    with distributed.LocalCluster(1, processes=False, dashboard_address=None) as cluster:
        with pytest.raises(ZeroDivisionError) as raised:
            study(feedback=Values(noise=9.0)).run(failing, dask=cluster)
        assert "return 1 / (q.number - 3)" in "".join(raised.value.__notes__)
        assert study().run(careful, dask=cluster) == study().run(careful)
    with pytest.raises(InvalidProblem, match="dask= must be a distributed.Client or an address"):
        study().run(careful, dask=7)


def test_a_worker_with_another_version_is_refused() -> None:
    from handful import executors as module

    with pytest.raises(InvalidProblem, match="a worker of the cluster has handful .*, and 9.9 asks"):
        module.check_version("9.9")


def test_a_worker_that_has_another_version_installed_is_named(scheduler: str, tmp_path: Path) -> None:
    (tmp_path / "handful-9.9.dist-info").mkdir()
    (tmp_path / "handful-9.9.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: handful\nVersion: 9.9\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    other = worker(scheduler, "other", "--no-nanny", PYTHONPATH=path)
    try:
        with distributed.Client(scheduler) as client:
            client.wait_for_workers(1)
        with pytest.raises(InvalidProblem, match=r"worker tcp://.* has handful 9.9, and .* asks"):
            study().run(careful, dask=scheduler)
    finally:
        killed(other)


def test_an_oracle_that_imports_what_no_worker_has_is_refused(scheduler: str, tmp_path: Path) -> None:
    (tmp_path / "only_here.py").write_text("def gain(q):\n    return 1.0\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom handful import Study, Values\nfrom only_here import gain\nsys.path.pop(0)\n"
        f"Study(range(9), 2, feedback=Values(), budget=30, in_flight=8).run(gain, dask={scheduler!r})\n"
    )
    alone = worker(scheduler, "alone", "--no-nanny")
    try:
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    finally:
        killed(alone)
    last = [line for line in done.stderr.splitlines() if line.startswith("handful.errors.InvalidProblem")][-1]
    assert "cannot be opened on a worker of the cluster (ModuleNotFoundError: No module named 'only_here')" in last


JUDGE = """
import time
from scale import seconds

def gain(q):
    time.sleep(seconds)
    return int(q.item) + (q.seed % 1000) / 500
"""


@pytest.mark.slow
def test_the_command_goes_on_after_control_c_while_workers_die_and_join(scheduler: str, tmp_path: Path) -> None:
    """With three workers of another folder, which do not have the oracle's files."""
    (tmp_path / "judge.py").write_text(JUDGE)
    (tmp_path / "scale.py").write_text("seconds = 0.1\n")
    (tmp_path / "items.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(12)))
    url = tmp_path / "handful.db"
    # Whoever runs the tests may ignore Ctrl-C.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{heeding}; from handful.cli import main; main()"]
    command += ["select", "items.csv", "-k", "3"]
    command += ["--oracle", "judge:gain", "--noise", "1", "--budget", "600", "--seed", "3", "--json"]
    command += ["--storage", str(url), "--dask", scheduler]

    def begun() -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def wait_for(answers: int) -> None:
        for _ in range(1200):
            if url.exists():
                with suppress(HandfulError), Study.open(url, "items", read_only=True) as watched:
                    if watched.status().answers >= answers:
                        return
            time.sleep(0.1)
        raise AssertionError(f"never {answers} answers")

    with ExitStack() as stack:
        workers = [worker(scheduler, str(n), "--no-nanny") for n in range(3)]
        for process in workers:
            stack.callback(killed, process)
        first = begun()
        stack.callback(killed, first)
        wait_for(60)
        os.killpg(first.pid, signal.SIGINT)
        _, said = first.communicate(timeout=60)
        assert first.returncode == 130
        assert re.search(r"handful: stopped with \d+ answers, all kept; to go on: handful select", said)
        assert "Traceback" not in said
        (tmp_path / "scale.py").write_text("seconds = 0.03\n")
        again = begun()
        stack.callback(killed, again)
        wait_for(200)
        killed(workers[0])
        stack.callback(killed, worker(scheduler, "late", "--no-nanny"))
        out, said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    settings = SETTINGS | {"budget": 600, "in_flight": "cluster"}
    expected = Study([str(n) for n in range(12)], 3, **settings).run(careful)
    assert json.loads(out)["chosen"] == list(expected.chosen)
    assert json.loads(out)["answers"] == expected.answers == 600
