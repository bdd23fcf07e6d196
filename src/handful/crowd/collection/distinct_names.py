"""Short names of items, such that no two look alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

CONTEXT = 12
"""So many letters before the place where two texts differ may be shown with it."""
LEAST_BEGINNING = 4
"""So many letters a beginning has that is worth showing: "the …" says nothing."""
MOST_TIMES = 50
"""How often texts are compared further on, where each differs from the next a little later than from the one before."""


def cut_apart(texts: Sequence[str], fits: Callable[[str], bool]) -> list[str]:
    """Each text as it is if it fits, else its beginning; of texts that begin alike also where they differ: "The old
    harbour … in winter", and where there is no room for both, that alone.
    """
    starts = dict.fromkeys(texts, 0)
    cut = {text: _beginning(text, fits) for text in starts}
    for _ in range(MOST_TIMES):
        alike = [group for group in _grouped((short, text) for text, short in cut.items()) if len(group) > 1]
        for group in alike:
            further = _where_they_differ([text[starts[text] :] for text in group])
            for text in group:
                starts[text] += further
                cut[text] = _beginning(text[starts[text] :], fits, "… " if starts[text] else "")
        if not alike:
            break
    whole = {text: _with_beginning(text, starts[text], cut[text], fits) for text in cut}
    cut = whole if len(set(whole.values())) == len(whole) else cut
    return [cut[text] for text in texts]


def told_apart(names: dict[str, str]) -> dict[str, str]:
    """The name of each id, followed by the id itself where several have the name."""
    told, alike = dict(names), [*_groups_alike(names)]
    while alike:  # as a name with an id may be the name of another
        told |= {id_: f"{told[id_]} ({id_})" for group in alike for id_ in group}
        alike = [*_groups_alike(told)]
    return told


def _groups_alike(names: dict[str, str]) -> Iterator[list[str]]:
    """The ids that share a name, for each such name."""
    return (ids for ids in _grouped((name, id_) for id_, name in names.items()) if len(ids) > 1)


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Whatever has the same name, as pairs of a name and what has it."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, what in pairs:
        groups[name].append(what)
    return list(groups.values())


def _beginning(text: str, fits: Callable[[str], bool], before: str = "") -> str:
    """The text, or as many of its words as fit; of a first word that is too long, its letters."""
    if fits(f"{before}{text}"):
        return f"{before}{text}"
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(f"{before}{text[:middle]}…") else (low, middle - 1)
    words = text[:low].rpartition(" ")[0].rstrip()
    return f"{before}{words} …" if words else f"{before}{text[:low]}…"


def _with_beginning(text: str, start: int, shown: str, fits: Callable[[str], bool]) -> str:
    """A text that is shown from `start` on, with as many of its first words before that as fit."""
    words = text[:start].split()
    for number in range(len(words), 0, -1):
        beginning = " ".join(words[:number])
        if len(beginning) >= LEAST_BEGINNING and fits(f"{beginning} {shown}"):
            return f"{beginning} {shown}"
    return shown


def _where_they_differ(texts: Sequence[str]) -> int:
    """The beginning of the word, or else the letter, from which texts are to be shown that begin alike."""
    first, last = min(texts), max(texts)
    common = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    common = max(0, min(common, min(map(len, texts)) - CONTEXT))  # of one that ends there its end is shown
    word = texts[0].rfind(" ", 0, common) + 1
    return word if word and common - word <= CONTEXT else common
