"""Assumptions that the answers refute are found, and hardly ever one that holds."""

from __future__ import annotations

import numpy as np
import pytest

from handful import Study, Values
from handful.certificates import LEVEL, refuted
from handful.claims import REFUTED
from handful.explorers.registry import Certified, Explorer
from handful.objectives import Coverage
from handful.problem import Problem
from handful.questions import Question
from tests.explorers.instances import HELD
from tests.explorers.statistics import binomial_p

PROBLEM = Problem(10, 3, Values(noise=1.0), epsilon=0.1)


def asked(
    rng: np.random.Generator, noise: float, growth: float, often: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers by an asker who asks again where an answer was far from the last one, the best case for a false alarm."""
    item, given, answer = [], [], []
    for i in range(10):
        for picks in range(3):
            last = None
            for n in range(often):
                x = 2.0 + growth * picks + noise * rng.standard_normal()
                item.append(i)
                given.append(picks)
                answer.append(x)
                if last is not None and abs(x - last) < 1.0 and n > 2:
                    break
                last = x
    return np.array(item), np.array(given), np.array(answer)


def alarms(noise: float, growth: float, runs: int) -> int:
    return sum(refuted(PROBLEM, *asked(np.random.default_rng(s), noise, growth, 40)) is not None for s in range(runs))


def test_what_holds_is_hardly_ever_refuted() -> None:
    assert binomial_p(alarms(1.0, -0.1, 400), 400, LEVEL) > HELD


@pytest.mark.parametrize(("noise", "growth", "what"), [(3.0, 0.0, "R = 1 was said"), (0.3, 6.0, "not submodular")])
def test_noise_three_times_what_was_said_and_gains_that_grow_are_found(noise: float, growth: float, what: str) -> None:
    assert alarms(noise, growth, 20) == 20
    found = refuted(PROBLEM, *asked(np.random.default_rng(0), noise, growth, 40))
    assert found is not None
    assert what in found


@pytest.mark.parametrize(("noise", "claims"), [(0.1, True), (3.0, False)])
def test_a_certificate_claims_nothing_that_its_answers_refute(noise: float, claims: bool) -> None:
    def answer(q: Question) -> float:
        return 3.0 - 0.1 * q.item + noise * float(np.random.default_rng(q.seed).standard_normal())

    certificate = (
        Study(range(12), 3, feedback=Values(noise=0.3), epsilon=0.5, budget=2000, seed=1).run(answer).certificate
    )
    assert (certificate.ratio is not None) == claims
    assert any(REFUTED in reason for reason in certificate.reasons) != claims


EXACT: dict[str, tuple[str | Explorer, dict[str, float]]] = {
    "certified, epsilon": ("certified", {"epsilon": 0.05}),
    "certified, ratio": ("certified", {"ratio": 0.7}),
    "bank": (Certified(rule="bank"), {"epsilon": 0.05}),
    "plain": (Certified(rule="plain"), {"epsilon": 0.05}),
    "worth": ("worth", {"budget": 90}),
    "uniform": ("uniform", {"budget": 180}),
    "sharp": ("sharp", {"epsilon": 0.05}),
    "topx": ("topx", {"epsilon": 0.05}),
}


@pytest.mark.parametrize("which", EXACT)
def test_answers_without_noise_refute_nothing_however_they_are_rounded(which: str) -> None:
    """Neither where the answer is always the same, nor where a sum is added up in another order each time."""
    explorer, how = EXACT[which]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        world = Coverage(rng.random(8), 0.5 * rng.random((15, 8)))

        def same(q: Question, world: Coverage = world) -> float:
            progress = world.start()
            for item in q.chosen:
                progress.add(item)
            return float(progress.gains()[q.item])

        def added_up(q: Question, world: Coverage = world) -> float:
            left = world.weights * np.prod(1.0 - world.matrix[list(q.chosen)], axis=0) * world.matrix[q.item]
            return float(sum(np.random.default_rng(q.seed).permutation(left).tolist()))

        for answer in (same, added_up):
            study = Study(range(15), 4, feedback=Values(noise=0), explorer=explorer, seed=seed, **how)  # type: ignore[arg-type]
            certificate = study.run(answer).certificate
            assert not any(REFUTED in reason for reason in certificate.reasons)
            assert certificate.ratio is not None
            assert certificate.ratio > 0.5


def test_answers_that_vary_where_none_should_and_gains_that_grow_without_noise_are_found() -> None:
    exact = Problem(10, 3, Values(noise=0.0), epsilon=0.1)
    item, given = np.zeros(6, int), np.array([0, 0, 0, 1, 1, 1])
    assert refuted(exact, item, given, np.array([0.3, 0.3, 0.3, 0.2, 0.2, 0.2])) is None
    assert "R = 0 was said" in (refuted(exact, item, given, np.array([0.3, 0.3, 0.3001, 0.2, 0.2, 0.2])) or "")
    assert "not submodular" in (refuted(exact, item, given, np.array([0.2, 0.2, 0.2, 0.3, 0.3, 0.3])) or "")
    tenths = np.array([0.1] * 3 + [0.1 + 1e-17, 0.3 - 0.2, 0.1])
    assert refuted(exact, item, given, tenths) is None
