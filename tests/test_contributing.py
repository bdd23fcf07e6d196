"""The explorer that CONTRIBUTING.md walks through works as it is printed there."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from handful import Study, Values, explorers
from handful.errors import HandfulError
from handful.explorers.protocol import NOTHING_CLAIMED
from handful.explorers.registry import EXPLORERS
from handful.objectives import Modular
from handful.oracles import noisy
from handful.oracles import uniform as uniformly
from handful.responses import uniform
from handful.simulation import simulate

PAGE = (Path(__file__).resolve().parent.parent / "CONTRIBUTING.md").read_text()
GAINS = Modular([0.1, 2.0, 0.4, 1.2, 0.3])


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The page's code as a module."""
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    file = tmp_path_factory.mktemp("explorers") / "leading.py"
    file.write_text(code)
    spec = importlib.util.spec_from_file_location("leading", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["leading"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def study(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study by the example, once its name is in the registry."""
    monkeypatch.setitem(EXPLORERS, "leading", example.Leading)
    return Study(
        [f"item {i}" for i in range(5)],
        2,
        feedback=Values(noise=0.2),
        explorer="leading:margin=0.4",
        budget=200,
        seed=3,
    )


def test_a_study_by_the_example_runs_to_its_end_and_claims_nothing(study: Study) -> None:
    result = study.run(noisy(GAINS, uniformly(0.2), study.items))
    assert result.chosen == ("item 1", "item 3")
    assert {r.ended for r in result.rounds} == {"rule"}
    assert NOTHING_CLAIMED in result.certificate.reasons
    assert "Nothing is certified" in result.certificate.sentence
    assert [e.item for e in result.rounds[0].estimates][:2] == ["item 1", "item 3"]


def test_the_simulator_decides_as_the_study_does(study: Study) -> None:
    problem = study.setup.problem
    simulated = simulate(study.setup.explorer.build(problem), GAINS, uniform(0.2), 2, budget=problem.total)
    result = study.run(noisy(GAINS, uniformly(0.2), study.items))
    assert [(r.pick, r.answers, r.ended) for r in simulated.rounds] == [
        (study.items.index(r.pick), r.answers, r.ended) for r in result.rounds
    ]


def test_the_budget_ends_a_round_with_the_best_mean_though_the_example_does_not_say_so(study: Study) -> None:
    problem = study.setup.problem
    far = EXPLORERS["leading"](margin=100.0).build(problem)  # type: ignore[call-arg]
    simulated = simulate(far, GAINS, uniform(0.2), 2, budget=problem.total)
    assert simulated.chosen == (1, 3)
    assert [r.ended for r in simulated.rounds] == ["budget", "budget"]


def test_what_the_example_cannot_work_on_is_refused(example: ModuleType, study: Study) -> None:
    with pytest.raises(HandfulError, match="give budget="):
        Study(range(5), 2, feedback=Values(noise=0.2), explorer=example.Leading(), epsilon=0.1)


def test_machine_code_of_an_explorer_outside_the_package_is_not_kept(study: Study) -> None:
    study.run(noisy(GAINS, uniformly(0.2), study.items))
    kept = [file for file in Path(explorers.__file__).parent.rglob("*.nbi") if b"LeadingState" in file.read_bytes()]
    assert kept == []  # else a process without it could not read the index, and an edit of it would be missed
