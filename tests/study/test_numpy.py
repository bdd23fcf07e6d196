"""Numbers of NumPy are as good as any, wherever a number is taken; what is stored are plain ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import handful
from handful import Certified, Duels, PerItem, Preferences, Sharp, Study, TopX, Values
from handful.errors import InvalidProblem
from handful.explorers.registry import explorer_of
from handful.objectives import Modular
from handful.oracles import btl, gaussian
from handful.problem import Total
from handful.simulation import greedy, lazy_greedy, random_set
from handful.venice import venice

ITEMS = ["a", "b", "c", "d", "e", "f"]


def study(**changed: Any) -> Study:
    settings: dict[str, Any] = {"k": 2, "feedback": Values(range=(0, 1)), "budget": 40}
    return Study(ITEMS, **(settings | changed))


Whole = Callable[[Any], Any]
WHOLE: dict[str, Whole] = {
    "k": lambda n: study(k=n).setup,
    "budget": lambda n: study(budget=12 * n).setup,
    "in_flight": lambda n: study(in_flight=n).setup,
    "seed": lambda n: study(seed=n).setup,
    "epsilon": lambda n: study(epsilon=n, budget=None).setup,
    "lease_s": lambda n: study(lease_s=n).setup,
    "prior": lambda n: study(prior=[n] * 6).setup,
    "noise": lambda n: study(feedback=Values(noise=n)).setup,
    "range": lambda n: study(feedback=Values(range=(n, 2 * n))).setup,
    "tau": lambda n: study(feedback=Preferences(tau=n), explorer="topx").setup,
    "beta": lambda n: study(feedback=Preferences(beta=n)).setup,
    "PerItem": lambda n: study(budget=PerItem(n)).setup,
    "l": lambda n: study(explorer=TopX(l=n)).setup,
    "variance": lambda n: study(feedback=Preferences(), explorer=Duels(variance=n)).setup,
}
SHARES: dict[str, Whole] = {
    "delta": lambda x: study(delta=x).setup,
    "ratio": lambda x: study(ratio=x, feedback=Values(noise=0.1), explorer=Certified()).setup,
    "range": lambda x: study(feedback=Values(range=(0.0, x))).setup,
    "careless": lambda x: study(feedback=Preferences(), explorer=Duels(careless=x)).setup,
}


@pytest.mark.parametrize("number", [np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("parameter", WHOLE)
def test_a_whole_number_of_numpy_is_one(parameter: str, number: Callable[[int], Any]) -> None:
    made = WHOLE[parameter]
    assert made(number(2)) == made(2)
    assert json.dumps(made(number(2)).to_dict()) == json.dumps(made(2).to_dict())


@pytest.mark.parametrize("number", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("parameter", SHARES)
def test_a_real_number_of_numpy_is_one(parameter: str, number: Callable[[float], Any]) -> None:
    made = SHARES[parameter]
    assert json.dumps(made(number(0.25)).to_dict()) == json.dumps(made(0.25).to_dict())


def test_a_study_made_and_told_in_numpy_is_the_same_study(sqlite_storage: str) -> None:
    def told(number: Callable[[float], Any], whole: Callable[[int], Any], **where: Any) -> list[tuple[str, str]]:
        made = study(
            k=whole(2), in_flight=whole(2), seed=whole(5), budget=whole(24), clock=lambda: number(7.0), **where
        )
        with made:
            while questions := made.ask(whole(2), "ann"):
                for q in questions:
                    assert type(q.seed) is int
                    made.tell(q.id, number(0.25), "ann", {"ms": whole(3), "of": [whole(1)]}, undo_s=whole(1))
                made.settle("ann")
                if made.status().answers == 4:
                    made.extend(whole(3))
            made.note("seen", whole(2))
            return [(record.kind, record.payload) for record in made.records()]

    plain = told(float, int)
    assert told(np.float32, np.int64) == plain
    assert told(np.float64, np.uint16, storage=sqlite_storage) == plain


def test_a_comparison_may_be_told_as_a_numpy_bool() -> None:
    with study(feedback=Preferences()) as made:
        (q,) = made.ask(1)
        assert made.tell(q.id, np.True_).answer is True


def test_items_of_an_array_come_out_as_numbers() -> None:
    made = Study(np.arange(4) * 10, np.int64(2), feedback=Values(noise=0.1), budget=np.int64(40), chosen=[np.int64(20)])
    result = made.run(lambda q: np.float32(q.item))
    assert result.chosen == (20, 30)
    assert made.setup.ids == ("0", "10", "20", "30")
    assert json.loads(json.dumps(result.to_dict()))["chosen"] == [20, 30]
    assert json.dumps(made.status().to_dict())


def test_a_price_may_be_asked_in_numpy() -> None:
    def price(n: Any) -> dict[str, object]:
        return handful.price(
            n(12), n(2), feedback=Preferences(beta=n(2)), quality=0.5, runs=n(2), seed=n(1), in_flight=n(2)
        ).to_dict()

    assert json.dumps(price(np.int64)) == json.dumps(price(int))


def test_the_rest_takes_numpy_too() -> None:
    two, world = np.int64(2), Modular(np.array([1.0, 5.0, 3.0]))
    for pick in (greedy, lazy_greedy, random_set):
        assert pick(world, two) == pick(world, 2)
    assert random_set(world, 2, seed=np.int32(7)) == random_set(world, 2, seed=7)
    assert venice(np.int64(3), n=np.int64(8), model=np.int64(20)).images == venice(3, n=8, model=20).images
    assert gaussian(np.float32(0.5)) == gaussian(0.5)
    assert btl(two) == btl(2)
    assert Total(np.int64(4)) == Total(4)
    assert explorer_of(Sharp()) == Sharp()


@pytest.mark.parametrize("wrong", [np.True_, np.float64(2.0), np.nan, "2", None, 2.0])
def test_what_is_no_whole_number_is_refused_as_before(wrong: object) -> None:
    with pytest.raises(InvalidProblem, match="k must be a whole number, 1 or more, got"):
        study(k=wrong)
