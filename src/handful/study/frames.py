"""A result as a pandas DataFrame, for those who go on with it there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from handful.errors import MissingExtra
from handful.study.items import Row

if TYPE_CHECKING:
    import pandas

    from handful.study.results import Result


def frame_of(result: Result[Any]) -> pandas.DataFrame:
    """One line per round, with its number as index: its pick, what it cost, what ended it, the pick's interval."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("a result as a DataFrame", "pandas") from None
    lines = []
    for r in result.rounds:
        known = next((e for e in r.estimates if e.item is r.pick), None)
        lines.append(
            {
                "pick": r.pick.label if isinstance(r.pick, Row) else r.pick,
                "answers": r.answers,
                "late": r.late,
                "ended": r.ended,
                "drawn_from": r.size,
                "reached": r.reached,
                "mean": float("nan") if known is None else known.mean,
                "lower": float("-inf") if known is None else known.lower,
                "upper": float("inf") if known is None else known.upper,
            }
        )
    index = pandas.Index([r.round for r in result.rounds], name="round")
    columns = ["pick", "answers", "late", "ended", "drawn_from", "reached", "mean", "lower", "upper"]
    return pandas.DataFrame(lines, index=index, columns=columns)
