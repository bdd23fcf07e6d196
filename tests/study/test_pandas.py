"""Items from pandas, and a result as a DataFrame."""

from __future__ import annotations

import builtins
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from handful import Preferences, Question, Row, Study, Values
from handful.errors import InvalidProblem, ItemsChanged, MissingExtra

FLATS = pd.DataFrame(
    {"price": [900, 700, 1200, 800], "m2": [50.0, 40.5, 80.0, np.nan], "on the sea": [True, False, True, False]},
    index=["Via Roma", "Calle Lunga", "Lido", "Murano"],
)
SETTINGS: dict[str, Any] = {"feedback": Values(noise=0.01), "budget": 40}


def cheapest(q: Question[Row]) -> float:
    return float((2000 - q.item.price) / 1000)


def test_the_items_of_a_frame_are_its_rows() -> None:
    study: Study[Row] = Study(FLATS, 2, **SETTINGS)
    assert study.setup.ids == ("Via Roma", "Calle Lunga", "Lido", "Murano")
    row = study.items[0]
    assert (row.label, row.price, row["m2"], row["on the sea"]) == ("Via Roma", 900, 50.0, True)
    assert dict(row) == {"price": 900, "m2": 50.0, "on the sea": True}
    assert str(row) == "Via Roma"
    assert repr(row).startswith("<Row 'Via Roma': price=900, m2=50.0, on the sea=True")
    with pytest.raises(AttributeError, match="no column 'rooms'"):
        _ = row.rooms
    result = study.run(cheapest)
    assert [row.label for row in result.chosen] == ["Calle Lunga", "Murano"]
    assert json.loads(json.dumps(result.to_dict()))["chosen"] == ["Calle Lunga", "Murano"]
    assert list(FLATS.loc[[row.label for row in result.chosen]].price) == [700, 800]


def test_rows_travel_to_other_processes_and_can_be_keys() -> None:
    rows = Study(FLATS, 2, **SETTINGS).items
    again = pickle.loads(pickle.dumps(rows))
    assert again == rows  # also that of Murano, whose size is missing
    assert set(again) == set(rows)
    assert rows[0] != rows[1]


def test_rows_are_numbered_where_the_index_only_counts() -> None:
    study: Study[Row] = Study(FLATS.reset_index(drop=True), 2, **SETTINGS)
    assert study.setup.ids == ("0", "1", "2", "3")
    assert study.items[2].label == 2
    assert type(study.items[2].label) is int


def test_a_frame_that_was_stored_is_known_again(sqlite_storage: str) -> None:
    for _ in range(2):
        with Study(FLATS, 2, storage=sqlite_storage, exists="open", **SETTINGS) as study:
            study.tell(study.ask(1)[0].id, 0.5)
    assert study.status().answers == 2
    with Study.open(sqlite_storage, items=FLATS) as study:
        assert study.items[0].price == 900
    with pytest.raises(ItemsChanged, match="item 0 is 'Murano', but the study was made with 'Via Roma'"):
        Study.open(sqlite_storage, items=FLATS[::-1])


def test_rows_may_be_chosen_from_the_start_and_withdrawn() -> None:
    study: Study[Row] = Study(FLATS, 3, chosen=FLATS.loc[["Murano"]], **SETTINGS)
    study.withdraw(study.items[1])
    assert [row.label for row in study.run(cheapest).chosen] == ["Murano", "Via Roma", "Lido"]


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (pd.concat([FLATS, FLATS]), "index has 'Via Roma' twice, and rows are named by it"),
        (pd.concat([FLATS, FLATS], axis=1), "two columns 'price'"),
        (FLATS[:0], "there are no items to pick from"),
    ],
    ids=["an index that repeats", "columns that repeat", "nothing"],
)
def test_a_frame_whose_rows_have_no_names_is_refused(items: pd.DataFrame, said: str) -> None:
    with pytest.raises(InvalidProblem, match=said):
        Study(items, 1, **SETTINGS)


@pytest.mark.parametrize(
    ("items", "ids"),
    [
        (pd.Series(["dawn", "noon"]), ("dawn", "noon")),
        (pd.Series(["dawn", "noon"], index=["first", "second"]), ("first", "second")),
        (pd.Series([7, 7], index=["first", "second"]), ("first", "second")),
        (pd.Series(["dawn", "noon", "dusk"])[[0, 2]], ("dawn", "dusk")),
        (pd.Series([0.5, 0.5], index=[1001, 1002]), ("1001", "1002")),
        (pd.Series(["dawn", "noon"], index=["same", "same"]), ("dawn", "noon")),
    ],
    ids=["counted", "labelled", "values alike", "a part", "numbered", "labels alike"],
)
def test_the_items_of_a_series_are_its_values_named_by_its_labels(items: pd.Series[Any], ids: tuple[str, ...]) -> None:
    study: Study[Any] = Study(items, 1, feedback=Preferences(), budget=6)
    assert study.items == tuple(items)
    assert study.setup.ids == ids


def test_a_result_becomes_a_frame() -> None:
    result = Study(FLATS, 2, **SETTINGS).run(cheapest)
    frame = result.to_frame()
    assert list(frame.index) == [1, 2]
    assert frame.index.name == "round"
    assert list(frame.columns) == [
        *("pick", "answers", "late", "ended", "drawn_from", "reached", "mean", "lower", "upper")
    ]
    assert list(FLATS.loc[frame.pick].price) == [700, 800]
    assert frame.answers.sum() == result.answers
    assert list(frame["mean"]) == pytest.approx([1.3, 1.2], abs=0.01)
    assert (frame.lower <= frame["mean"]).all()
    assert (frame["mean"] <= frame.upper).all()


def test_a_result_of_nothing_is_an_empty_frame() -> None:
    frame = Study(["a", "b"], 1, feedback=Preferences(), budget=6).result().to_frame()
    assert len(frame) == 0
    assert "pick" in frame.columns


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    result = Study(["a", "b"], 1, feedback=Preferences(), budget=6).result()
    found: Callable[..., Any] = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return found(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"pip install 'handful\[pandas\]'"):
        result.to_frame()
