"""How results look in a notebook: HTML that reads well on a light page and on a dark one.

Text has the page's own colour and lines a half-transparent grey, so nothing here needs to know which page it is. All
texts are escaped here, and only here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

LONGEST = 60  # of a text in a table, in characters
_LINE = "1px solid rgba(128,128,128,.4)"
_CELL = f"border:0;border-bottom:{_LINE};padding:.25em .9em .25em 0;vertical-align:top"
_TABLE = '<table style="border-collapse:collapse;margin:.4em 0;font-size:inherit;color:inherit">'
_BLUE = "#0072B2"


def card(title: str, *parts: str) -> str:
    """A title and what stands below it, each part made by a function of this module."""
    head = f'<p style="font-weight:bold;margin:0 0 .4em">{escape(title)}</p>'
    return f'<div class="handful" style="max-width:60em;line-height:1.45;margin:.4em 0">{head}{"".join(parts)}</div>'


def paragraph(text: str) -> str:
    """A sentence or some; nothing if there is no text."""
    return f'<p style="margin:.5em 0">{escape(text)}</p>' if text else ""


def bar(share: float, what: str) -> str:
    """A bar that is filled to a share between 0 and 1, and says so."""
    percent = f"{math.floor(1000 * min(max(share, 0.0), 1.0)) / 10:.1f}%"  # what is shown may be a lower bound
    filled = f'<div style="width:{percent};height:100%;background:{_BLUE};border-radius:.3em"></div>'
    track = "height:.6em;max-width:30em;background:rgba(128,128,128,.3);border-radius:.3em"
    return f'<div role="img" aria-label="{escape(what)}: {percent}" style="{track}">{filled}</div>'


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; numbers stand on the right, thousands are set apart, long texts are cut."""
    lines = [tuple(row) for row in rows]
    sides = [_side(value) for value in lines[0]] if lines else ["left"] * len(columns)
    head = "".join(
        f'<th scope="col" style="{_CELL};text-align:{side};white-space:nowrap">{escape(column)}</th>'
        for column, side in zip(columns, sides, strict=True)
    )
    body = "".join(f'<tr style="background:none">{"".join(_cell(v, _side(v)) for v in line)}</tr>' for line in lines)
    return f"{_TABLE}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Names and values, one below the other; a value of None is left out."""
    body = "".join(
        f'<tr style="background:none"><th scope="row" style="{_CELL};text-align:left;font-weight:normal;opacity:.75">'
        f"{escape(name)}</th>{_cell(value, 'left')}</tr>"
        for name, value in pairs
        if value is not None
    )
    return f"{_TABLE}<tbody>{body}</tbody></table>"


def short(text: str) -> str:
    """A text that is cut where it is too long for a table."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _side(value: object) -> str:
    return "right" if isinstance(value, int) else "left"


def _cell(value: object, side: str) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return f'<td style="{_CELL};text-align:{side};overflow-wrap:anywhere">{escape(short(text))}</td>'
