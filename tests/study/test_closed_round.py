"""Closed rounds are kept small, and nothing of them is lost."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from handful import Study
from handful.storage import Record
from handful.study import reopening
from handful.study.closed_round import PackedNumbers
from tests.study.test_reopening import answer_all, answered
from tests.study.worlds import picture


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
def test_numbers_are_unpacked_to_the_bit(share: float) -> None:
    rng = np.random.default_rng(1)
    for fill in (np.nan, 0.0, -0.0, -np.inf):
        values = np.where(rng.random(1_000) < share, rng.normal(size=1_000), fill)
        values[3:5] = np.nan, -0.0
        assert np.array_equal(PackedNumbers(values).unpacked().view(np.int64), values.view(np.int64))
    counts = np.where(rng.random(999) < share, rng.integers(1, 9, 999), 0)
    assert np.array_equal(PackedNumbers(counts).unpacked(), counts)


def test_what_is_mostly_one_number_takes_little_room() -> None:
    values = np.full(10_000, np.nan)
    values[::100] = 1.0
    packed = PackedNumbers(values)
    parts = [getattr(packed, slot) for slot in ("_fill", "_values", "_where")]
    held = sum((part if part.base is None else part.base).nbytes for part in parts)  # a view holds all it is of
    assert held + sys.getsizeof(packed) < 0.05 * values.nbytes


def test_a_round_too_large_to_keep_is_redone_from_the_picks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reopening, "_MOST_BYTES", 0)
    study = answered(liars=6)
    for n in range(6):
        study.exclude(f"w{n}")
    study.reopen(2, extend=400)
    answer_all(study)
    assert set(study.result().chosen[1:]) <= {"i0", "i1", "i2"}


@pytest.mark.parametrize("explorer", ["duels", "topx"])
@pytest.mark.parametrize(("most_then", "most_now"), [(2**28, 0), (0, 2**28), (0, 0)])
def test_a_redone_round_is_read_as_it_was_redone_whatever_is_kept_now(
    explorer: str, most_then: int, most_now: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(reopening, "_MOST_BYTES", most_then)
    with answered(tmp_path / "study.db", explorer, liars=3) as study:
        for redone, worker in ((3, "w0"), (2, "w1"), (2, "w2")):
            study.exclude(worker, by_rule=True)
            study.reopen(redone, extend=study.reopening(redone).missing)
            answer_all(study)
        known, records = picture(study.fold), list(study.records())
    said = [record for record in records if record.kind == "reopened"]
    alone = [most_then == 0, most_then == 0, False]  # what was before a round is kept once that was redone
    assert [json.loads(record.payload).get("p", False) for record in said] == alone
    assert [record.version for record in said] == [5 if from_picks else 3 for from_picks in alone]
    monkeypatch.setattr(reopening, "_MOST_BYTES", most_now)
    watched: list[Record] = []
    with Study.open(tmp_path / "study.db", watch=lambda record, data: watched.append(record)) as again:
        assert picture(again.fold) == known
        assert again.mismatches.count == 0
    assert watched == records
