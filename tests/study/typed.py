"""What a type checker is told of items: read by mypy in test_types.py, and never run.

An ignored error must be one, or mypy says that the comment is not needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import handful
from handful import Question, Result, RoundResult, Status, Study

study = Study(["a", "b"], 1, feedback=handful.Preferences(), budget=4)
assert_type(study, Study[str])
assert_type(study.items, tuple[str, ...])
assert_type(study.ask(1), list[Question[str]])
assert_type(study.ask(1)[0].item, str)
assert_type(study.ask(1)[0].chosen, tuple[str, ...])
assert_type(study.status(), Status[str])
assert_type(study.status().leader, str | None)

result = study.run(lambda q: q.item.startswith("a"))
assert_type(result, Result[str])
assert_type(result.chosen, tuple[str, ...])
assert_type(result.rounds, tuple[RoundResult[str], ...])
assert_type(result.rounds[0].estimates[0].item, str)

with Study([Path("x")], 1, feedback=handful.Preferences(), budget=4) as of_paths:
    assert_type(of_paths, Study[Path])
    assert_type(of_paths.finish("enough").chosen, tuple[Path, ...])

assert_type(Study.open("a.db", "x"), Study[str])
assert_type(Study.open("a.db", items=[1, 2]), Study[int])


def anything(study: Study) -> Result:
    return study.result()


assert_type(anything(study), Result[Any])

study.withdraw(3)  # type: ignore[arg-type]
study.run(lambda q: q.item + 3)  # type: ignore[operator]
