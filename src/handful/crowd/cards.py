"""An item as a page shows it."""

from __future__ import annotations

from functools import lru_cache

from handful.crowd.items import Item
from handful.crowd.messages import Card


@lru_cache(maxsize=50_000)
def card(item: Item) -> Card:
    """Addresses by content, words as they are; nothing of the organizer's file names."""
    if item.kind == "text":
        return Card(kind="text", caption=item.caption, text=item.text)
    return Card(
        kind="picture",
        caption=item.caption,
        alt=item.alt or item.caption,
        image=f"/items/{item.picture}.webp",
        thumbnail=f"/items/{item.picture}-small.webp",
        width=item.width,
        height=item.height,
    )
