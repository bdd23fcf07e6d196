"""What makes no sense is refused by name, with a message that says what was expected or what to do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from handful import Study, responses
from handful.certificates import per_round
from handful.errors import HandfulError, InvalidAnswer, InvalidCollection, InvalidProblem, UnknownExplorer
from handful.explorers.protocol import drop
from handful.explorers.registry import TopX, Uniform, explorer_named, explorer_of
from handful.images import Image, ImageCollection
from handful.objectives import Coverage, Modular
from handful.problem import PerItem, Preferences, Problem, Total, Values
from handful.simulation import greedy, lazy_greedy, random_set, simulate

NAN, INF = math.nan, math.inf
Make = Callable[[], object]


def problem(**given: object) -> Make:
    """A sound problem but for what is given."""
    sound = {"size": 10, "k": 3, "feedback": Values(noise=1.0), "epsilon": 0.1}
    return lambda: Problem(**(sound | given))  # type: ignore[arg-type]


def simulated(response: responses.Response, k: int = 3, size: int = 10, **given: object) -> Make:
    """A run of TopX on a sound problem but for what is given."""
    return lambda: simulate(TopX().build(problem(**given)()), Modular([1.0] * size), response, k)  # type: ignore[arg-type]


def build(explorer: TopX | Uniform, **given: object) -> Make:
    return lambda: explorer.build(problem(**given)())  # type: ignore[arg-type]


def topx(**given: object) -> Make:
    return lambda: TopX(**given)  # type: ignore[arg-type]


def uniform(**given: object) -> Make:
    return lambda: Uniform(**given)  # type: ignore[arg-type]


EPSILON = "epsilon must be a positive number in the units of f"
DELTA = "delta is a probability of error and must lie between 0 and 1"
NOISE = "noise must be a finite number, 0 or more"
RANGE = r"range must be \(lo, hi\) with finite lo < hi"
BETA = "beta must be positive.*leave it out if it is not known"
ONE_OF = "must be one of"

PROBLEMS: list[tuple[Make, str]] = [
    (problem(size=0), "no items to pick from: give at least one"),
    (problem(size=2.5), "size must be a whole number"),
    (problem(size=True, k=1), "size must be a whole number"),
    (problem(k=0), "k must be a whole number, 1 or more, got 0"),
    (problem(k=-1), "k must be a whole number, 1 or more, got -1"),
    (problem(k=2.0), "k must be a whole number, 1 or more, got 2.0"),
    (problem(k=True), "k must be a whole number, 1 or more, got True"),
    (problem(k=11), "k = 11 is more than the 10 items there are: lower k or add items"),
    *((problem(epsilon=x), EPSILON) for x in (0, 0.0, -0.1, NAN, INF, True, "0.1")),
    *((problem(delta=x), DELTA) for x in (0, 1, -0.1, 1.5, NAN, True, "0.05", None)),
    *((problem(ratio=x), "ratio is the share of the optimum to certify") for x in (0, 1, 2, NAN, True, "half")),
    *((problem(in_flight=x), "in_flight must be a whole number, 1 or more") for x in (0, -3, 1.5, True, INF)),
    *((problem(seed=x), "seed must be a whole number") for x in (-1, 2**64, 0.5, True, None)),
    (problem(chosen=(1, 1)), "name one twice"),
    (problem(chosen=(10,)), "must be among the items"),
    (problem(chosen=(-1,)), "must be among the items"),
    (problem(chosen=(0.5,)), "must be among the items"),
    (problem(chosen=(0, 1, 2)), "3 items are chosen already and k = 3: nothing is left"),
    (problem(prior=(1.0,) * 9), "one score per item: got 9 for 10 items"),
    (problem(prior=(1.0,) * 9 + (NAN,)), "scores must be finite numbers"),
    (problem(prior=(True,) * 10), "scores must be finite numbers"),
    *((problem(budget=x), "budget must be a whole number, 1 or more") for x in (0, -5, 2.5, True, NAN)),
    *((lambda x=x: Total(x), "budget must be a whole number, 0 or more") for x in (-1, 2.5, True, INF)),
    *((lambda x=x: PerItem(x), "0 or more and finite") for x in (-0.5, NAN, INF, True, "3")),
]
FEEDBACK: list[tuple[Make, str]] = [
    *((lambda x=x: Values(noise=x), NOISE) for x in (-1.0, NAN, INF, True, "1")),
    (lambda: Values(noise=1.0, range=(0.0, 1.0)), "not both: one of them is the sharper"),
    *((lambda x=x: Values(range=x), RANGE) for x in ((1, 0), (0, 0), (0, NAN), (-INF, 1), (0, 1, 2), 5, ("0", "1"))),
    *((lambda x=x: Values(range=x), "scale the answers") for x in ((-1e308, 1e308), (0, 1e-120), (0, 1e120))),
    *((lambda x=x: Preferences(tau=x), "tau must be a whole number, 1 or more") for x in (0, -1, 1.5, True)),
    *((lambda x=x: Preferences(beta=x), BETA) for x in (0, -2.0, NAN, True, "2")),
]
EXPLORERS: list[tuple[Make, str]] = [
    (topx(variant="X"), f"variant {ONE_OF} 'full', 'O', 'G', got 'X'"),
    (topx(radius="small"), f"radius {ONE_OF} 'counted', 'literal', got 'small'"),
    (topx(out_of_budget="stop"), f"out_of_budget {ONE_OF} 'best-mean', 'smallest-gap'"),
    *((topx(l=x), "l must be a whole number, 1 or more") for x in (0, -1, 1.5, True)),
    *((topx(shrink=x), "shrink multiplies the radius and must be positive") for x in (0, -1, NAN, INF, True)),
    (build(TopX(l=4)), "l = 4 is more than the 3 items to pick"),
    (build(TopX(), feedback=Values()), r"needs to know the noise: give Values\(noise=R\) or"),
    (build(Uniform(), feedback=Values()), r"needs to know the noise: give Values\(noise=R\) or"),
    (build(TopX(), epsilon=None), "topx needs epsilon=, budget= or both"),
    (build(Uniform(), epsilon=None), "uniform needs epsilon=, budget= or both"),
    (build(Uniform(stop="fixed"), epsilon=None, budget=100), "needs epsilon: it estimates all gains to ε′/2"),
    (uniform(stop="never"), f"stop {ONE_OF} 'rule', 'fixed', got 'never'"),
    (uniform(variant="o"), f"variant {ONE_OF}"),
    (uniform(radius="large"), f"radius {ONE_OF}"),
    (uniform(out_of_budget="x"), f"out_of_budget {ONE_OF}"),
    (
        lambda: explorer_named("topx", speed=3),
        "explorer topx has no option 'speed'; it has variant, l, radius",
    ),
    (lambda: explorer_of("duels:speed=3"), "explorer duels has no option 'speed'"),
    (lambda: explorer_of("topx:O"), "written as topx:option=value, got 'O'"),
    (lambda: explorer_of("topx:variant=Q"), f"variant {ONE_OF}"),
    (lambda: explorer_of("topx:name=3"), "explorer topx has no option 'name'"),
    (lambda: explorer_of("topx:variant=O,variant=G"), "the option 'variant' is given twice"),
    (lambda: explorer_of("topx:l=1.5"), "l must be"),
    (lambda: explorer_of("topx:l=" + 1000 * "["), "l must be"),
    (lambda: explorer_of("certified:near=abc"), "near must be a positive share, such as 0.1, got 'abc'"),
    (lambda: explorer_of("certified:near=1" + 400 * "0"), "near must be a positive share"),
    (lambda: explorer_of("certified:near=nan"), "near must be a positive share"),
    (lambda: explorer_named("topx", variant="Q"), f"variant {ONE_OF}"),
    (lambda: per_round("N", 3, 0.1, 0.05), "variant must be 'full', 'O' or 'G', got 'N'"),  # type: ignore[arg-type]
]
WORLDS: list[tuple[Make, str]] = [
    *((lambda x=x: responses.uniform(x), "half-width of the noise must be a finite") for x in (-1, NAN, INF, "1")),
    *((lambda x=x: responses.gaussian(x), "standard deviation of the noise must be a") for x in (-1, NAN, INF, True)),
    *((lambda x=x: responses.btl(x), r"β must be 0 or more \(∞ allowed\)") for x in (-1, NAN, "2", True)),
    *((lambda x=x: responses.linear(1.0, x), r"careless rate must lie in \[0, 1\]") for x in (-0.1, 1.1, NAN)),
    (lambda: responses.saturating(-1.0), "β must be 0 or more"),
    *(
        (lambda f=f: f(Modular([1.0, 2.0]), 3), "k must lie between 1 and the 2")
        for f in (greedy, lazy_greedy, random_set)
    ),
    *(
        (lambda f=f: f(Modular([1.0, 2.0]), 0), "k must be a whole number, 1 or")
        for f in (greedy, lazy_greedy, random_set)
    ),
    (simulated(responses.uniform(1.0), size=9), "built for 10 items, the objective has 9: they must agree"),
    (simulated(responses.uniform(1.0), k=11), "was built to pick 3, not 11: they must agree"),
    (simulated(responses.btl(2.0)), "gives comparisons, which is not what the explorer asks for"),
    (simulated(responses.uniform(1.0), feedback=Preferences()), "gives numbers, which is not what the explorer asks"),
    (lambda: explorer_of(TopX), "must be a name such as 'certified', or settings such as Certified"),  # type: ignore[arg-type]
    (lambda: explorer_of(3), "must be a name such as 'certified'.*got 3"),  # type: ignore[arg-type]
    (lambda: Coverage([1.0], [[1.5]]), "it is a probability"),
]


@pytest.mark.parametrize(("make", "message"), [*PROBLEMS, *FEEDBACK, *EXPLORERS, *WORLDS])
def test_what_makes_no_sense_is_refused_with_what_was_expected(make: Make, message: str) -> None:
    with pytest.raises(InvalidProblem, match=message) as caught:
        make()
    assert isinstance(caught.value, ValueError)


def test_there_must_be_enough_candidates_to_simulate() -> None:
    state = TopX().build(problem()())  # type: ignore[arg-type]
    for item in range(8):
        drop(state, item)
    with pytest.raises(InvalidProblem, match="k = 3 is more than the 2 candidates"):
        simulate(state, Modular([1.0] * 10), responses.uniform(1.0), 3)


def test_an_unknown_explorer_is_named_together_with_those_there_are() -> None:
    with pytest.raises(UnknownExplorer, match=r"no explorer named 'top'; there are .*topx, uniform") as caught:
        explorer_named("top")
    assert isinstance(caught.value, HandfulError)


def test_tags_that_are_not_there_are_named() -> None:
    with pytest.raises(InvalidCollection, match="the topics"):
        ImageCollection.build([Image("a", ("art",), 10.0)], [], ())
    with pytest.raises(InvalidCollection, match="'church'.*add it to the topics"):
        Coverage.from_tags([{"art"}], [{"church"}], [10.0], ["art"])
    with pytest.raises(InvalidCollection, match="no model image carries any topic"):
        ImageCollection.build([Image("a", ("art",), 10.0)], [Image("b", ("boat",), 1.0)], ("art",))


@pytest.mark.parametrize(
    ("feedback", "answer", "message"),
    [
        *((Values(noise=1.0), x, "takes numbers") for x in (None, "3", b"3", True, [1.0, 2.0], np.bool_(True))),
        *((Values(), x, "finite number") for x in (NAN, INF, -INF)),
        *((Values(range=(0.0, 5.0)), x, "True and False are 1 and 0 with") for x in (True, np.bool_(False))),
        (Values(range=(0.0, 5.0)), 5.01, "outside the range"),
        (Values(range=(0.0, 5.0)), -1, "outside the range"),
        *((Preferences(), x, "takes True .* or False") for x in (1, 0, 1.0, "yes", None, np.float64(1.0))),
    ],
)
def test_an_answer_that_does_not_fit_its_question_is_refused(
    feedback: Values | Preferences, answer: object, message: str
) -> None:
    with pytest.raises(InvalidAnswer, match=message):
        feedback.check(answer)


def test_answers_that_fit_are_numbers_afterwards() -> None:
    assert (
        Values(noise=1.0).check(3) == Values().check(np.float32(3.0)) == Values(range=(0, 3)).check(np.int64(3)) == 3.0
    )
    assert [Values(range=(0, 1)).check(x) for x in (True, False, np.bool_(True))] == [1.0, 0.0, 1.0]
    assert Preferences().check(True) == Preferences().check(np.bool_(True)) == 1.0
    assert Preferences().check(False) == 0.0


def test_what_is_sound_is_taken() -> None:
    assert Problem(5, 2, Values(noise=0.0), epsilon=np.float64(0.1), chosen=(4,), budget=PerItem(2.5)).total == Total(
        25
    )
    assert (Problem(5, 2, Values(), chosen=(4,)).rounds, Problem(5, 2, Values(), chosen=(4,)).candidates) == (1, 4)
    assert Preferences(beta=INF).beta == INF
    assert Values(range=(-1.0, 3.0)).sub_gaussian == 2.0


@pytest.mark.parametrize("answer", [1.1e150, -1e300, 10**200])
def test_an_answer_whose_square_is_no_number_is_refused(answer: float) -> None:
    with pytest.raises(InvalidAnswer, match="in a larger unit"):
        Values().check(answer)
    assert Values().check(-1e150) == -1e150


@pytest.mark.parametrize("answer", [1e-151, -1e-200, 5e-324])
def test_an_answer_so_small_that_its_square_is_no_number_is_refused_and_zero_is_not(answer: float) -> None:
    with pytest.raises(InvalidAnswer, match="in a smaller unit"):
        Values().check(answer)
    with pytest.raises(InvalidAnswer, match="in a smaller unit"):
        Values(noise=0.0).check(answer)
    assert Values().check(-1e-150) == -1e-150
    assert Values(noise=0.3).check(answer) == Values(range=(-1.0, 1.0)).check(answer) == answer  # it is as good as 0
    assert Values(noise=0.0).check(0) == Values(range=(-1.0, 1.0)).check(-0.0) == 0.0


@pytest.mark.parametrize("noise", [1e-200, 5e-324, 1e200])
def test_a_study_is_not_made_with_a_noise_whose_square_is_no_number(noise: float) -> None:
    with pytest.raises(InvalidProblem, match="in another unit"):
        Study(range(5), 2, feedback=Values(noise=noise), epsilon=noise)
    for sound in (0.0, 1e-150, 1e150):
        Values(noise=sound).check_unit()
