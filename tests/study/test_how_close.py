"""How close to the best a selection is shown to be: the example in docs/simulators.md, and what a budget alone says."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from handful import Study, Values
from handful.explorers.worth import NOT_FOR_PROOF

PAGE = (Path(__file__).parents[2] / "docs" / "simulators.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("aim", "answers", "share"), [("ratio=0.9", 420, "90%"), ("epsilon=1", 139, "82%")])
def test_the_example_of_a_share_gives_the_figures_beside_it(
    aim: str, answers: int, share: str, capsys: pytest.CaptureFixture[str]
) -> None:
    section = PAGE.split("## How close to the best?")[1].split("\n## ")[0]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    names: dict[str, object] = {}
    exec(found[1].replace("ratio=0.9", aim), names)
    said = capsys.readouterr().out
    assert said.startswith(f"{answers} ")
    assert f"worth at least {share} of the best possible one" in said
    assert f"{answers} answers" in section
    worth, result = names["worth"], names["result"]
    assert sum(sorted(worth)[-5:]) == pytest.approx(48.5)  # type: ignore[call-overload]
    assert sum(worth[i] for i in result.chosen) == pytest.approx(47.1)  # type: ignore[attr-defined,index]


@pytest.mark.parametrize(
    ("noise", "more", "advised"),
    [(0.5, {}, True), (0.5, {"epsilon": 1.0}, False), (0.001, {}, False)],
)
def test_a_budget_alone_says_how_more_would_be_proved_where_little_is(
    noise: float, more: dict[str, float], advised: bool
) -> None:
    feedback = Values(noise=noise)
    study: Study[int] = Study(range(30), 2, feedback=feedback, explorer="worth", budget=200, seed=1, **more)
    rng = random.Random(1)
    certificate = study.run(lambda q: q.item / 10 + rng.gauss(0, noise)).certificate
    assert certificate.ratio is not None
    assert (NOT_FOR_PROOF in certificate.reasons) is advised
