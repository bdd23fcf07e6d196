"""The picture of a result: every word of it is inside, and every pick is marked."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from handful import Result, Study, Values

ITEMS = [f"item {i}" for i in range(80)]


@pytest.fixture(scope="module")
def result() -> Result[str]:
    """Five rounds that say they came with a proof, and whose picks are among the least asked about."""
    study = Study(ITEMS, 5, feedback=Values(noise=0.1), explorer="uniform", budget=5 * 160)
    found = study.run(lambda q: float(q.item[5:]))
    return replace(found, rounds=tuple(_with_proof(r, found.chosen) for r in found.rounds))


def _with_proof(r: Any, picks: tuple[str, ...]) -> Any:
    counted = np.array([1 if item in picks else 100 - i for i, item in enumerate(ITEMS)])
    return replace(r, proof=True, answers_about=counted)


def test_the_titles_of_five_rounds_are_inside_the_picture(result: Result[str]) -> None:
    figure = result.plot()
    figure.canvas.draw()
    above = [axis for axis in figure.subfigs[0].axes if axis.get_title(loc="left")]
    assert len(above) == 5
    edges = [axis.title.figure.bbox.x1 for axis in above]
    boxes = [axis._left_title.get_window_extent() for axis in above]
    assert all("with the proof" in " ".join(axis.get_title(loc="left").split()) for axis in above)
    assert all(box.x1 <= edge for box, edge in zip(boxes, edges, strict=True))
    assert all(one.x1 <= other.x0 for one, other in pairwise(boxes)), "nor do they overlap"


def test_picks_that_were_asked_about_less_than_sixty_others_are_marked(result: Result[str]) -> None:
    (answers,) = (axis for axis in result.plot().subfigs[1].axes if axis.get_title() == "Answers over items")
    assert sorted(text.get_text() for text in answers.texts) == ["1", "2", "3", "4", "5"]
    assert len(answers.patches) == 65
    assert "the 60 most asked about and the picks, of 80" in answers.get_xlabel()
