"""Files of a source that are nobody's pictures: hidden ones, those of an operating system, and processed items."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from handful.crowd.collection.items import UNFINISHED, LeftOut
from handful.wording import counted

HIDDEN = re.compile(r"(^|/)(\.(?!\.?/)|__MACOSX/|Thumbs\.db$|desktop\.ini$|[^/]+\.items/)", re.IGNORECASE)
MOST_NAMED = 1_000


def is_hidden(name: str) -> bool:
    """Whether a file of this name, with its folders, is passed over."""
    return HIDDEN.search(name) is not None


def passed_over(names: Iterable[str]) -> list[LeftOut]:
    """One line that names the first hidden files among these, a hidden folder instead of what is in it, and counts all.

    Without any there is no line. No more is remembered than is said: there may be any number of them.
    """
    named: dict[str, int] = {}
    more = 0
    for name in map(_outermost, (name for name in names if is_hidden(name) and not _is_ours(name))):
        if name in named or len(named) < MOST_NAMED:
            named[name] = named.get(name, 0) + 1
        else:
            more += 1
    if not named:
        return []
    files = sum(named.values()) + more
    said = ", ".join(f"{name} ({counted(n, 'file')})" if name.endswith("/") else name for name, n in named.items())
    kind, were = ("hidden or system file", "was") if files == 1 else ("hidden or system files", "were")
    rest = f" and {more:,} more" if more else ""
    return [LeftOut(f"{files:,} {kind}", f"{were} passed over: {said}{rest}", files)]


def _outermost(name: str) -> str:
    """The hidden file, or the outermost hidden folder with a slash after it; printable."""
    found = HIDDEN.search(name)
    assert found is not None
    end = name.find("/", found.start(2))
    whole = name if end < 0 else name[: end + 1]
    return "".join(c if c.isprintable() else "\ufffd" for c in whole[-200:])


def _is_ours(name: str) -> bool:
    """Whether it is what arrived so far of a file that is being sent."""
    return PurePosixPath(name).name.startswith(UNFINISHED)
