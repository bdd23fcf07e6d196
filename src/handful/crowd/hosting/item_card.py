"""Item cards: what a page shows of an item."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

from handful.crowd.collection import LARGE, MEDIUM, SMALL, Item
from handful.crowd.languages import DEFAULT, Language, language
from handful.crowd.messages import ItemCard

MOST_SAID = 60


@lru_cache(maxsize=50_000)
def item_card(item: Item, spoken: str = DEFAULT) -> ItemCard:
    """Addresses by content, words as they are; of a file's name only what helps somebody who cannot see the picture.

    `spoken` is the code of the language that such a name is introduced in.
    """
    if item.kind == "text":
        return ItemCard(kind="text", caption=item.caption, text=item.text)
    return ItemCard(
        kind="picture",
        caption=item.caption,
        alt=item.alt or item.caption or _spoken(item.id, language(spoken)),
        image=f"/items/{item.picture}{LARGE}",
        medium=f"/items/{item.picture}{MEDIUM}" if item.medium else None,
        thumbnail=f"/items/{item.picture}{SMALL}",
        width=item.width,
        height=item.height,
    )


def _spoken(name: str, spoken: Language) -> str:
    """A file's name as one would say it, without folders and ending: "2019/IMG_2031.JPG" is "Picture IMG 2031"."""
    words = re.sub(r"[\W_]+", " ", PurePosixPath(name).stem).strip()[:MOST_SAID].strip()
    return spoken.counted("picture.named", name=words).strip()
