"""All cards that a worker may be shown, by number: the items of the study, and what only its checks show.

In a study with checks the addresses of pictures and the ids of options are made for each worker and question: nobody
learns from another person, from a list of the items, or from what they saw before, which of them are checks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from handful.crowd.collection import LARGE, MEDIUM, SMALL, Collection
from handful.crowd.hosting.item_card import item_card
from handful.crowd.hosting.tokens import Worker
from handful.crowd.intake import CheckCards
from handful.crowd.languages import DEFAULT
from handful.crowd.messages import ItemCard


class Deck:
    """The cards of one study. `link` is the study's name in addresses."""

    def __init__(
        self,
        collection: Collection,
        link: str,
        checks: CheckCards | None = None,
        spoken: Callable[[], str] = lambda: DEFAULT,
    ) -> None:
        self.items = len(collection)
        self._at = {item.id: at for at, item in enumerate(collection)}
        self._cards = list(collection)
        self._folder, self._checks = collection.folder, checks
        self._link, self._spoken = link, spoken
        self.spoiled: dict[int, int] = {}  # the numbers of spoiled copies, by those of their items
        self.instructed: list[int] = []
        if checks is not None:
            for name, copy in checks.spoiled.items():
                self.spoiled[self._at[name]] = len(self._cards)
                self._cards.append(copy)
            self.instructed = list(range(len(self._cards), len(self._cards) + len(checks.instructed)))
            self._cards.extend(checks.instructed)
        made = [] if checks is None else [(checks.folder, item) for item in self._cards[self.items :]]
        self._files = {name: folder / name for folder, item in made for name in collection.pictures(item)}

    def kept(self, name: str) -> Path | None:
        """The file of a check's picture by its own name: it is there for all, as those of the items are."""
        return self._files.get(name)

    def number(self, id: str) -> int:
        """The number of an item."""
        return self._at[id]

    def id(self, number: int) -> str:
        """The name of the item with this number."""
        return self._cards[number].id

    def card(self, worker: Worker, number: int, question: str | None = None, words_of: int | None = None) -> ItemCard:
        """The card as this worker sees it in a question, or as chosen; `words_of`: with the words of another item."""
        card = item_card(self._cards[number], self._spoken())
        if words_of is not None:
            words = item_card(self._cards[words_of], self._spoken())
            card = card.model_copy(update={"caption": words.caption, "alt": words.alt})
        if self._checks is None or card.kind == "text":
            return card
        address = f"/api/s/{self._link}/pictures/{worker.card_name(number, question)}"
        return card.model_copy(
            update={
                "image": f"{address}{LARGE}",
                "medium": f"{address}{MEDIUM}" if card.medium else None,
                "thumbnail": f"{address}{SMALL}",
            }
        )

    def option(self, worker: Worker, number: int, question: str) -> str:
        """The id by which this worker answers a question with the card."""
        return f"i{number}" if self._checks is None else worker.card_name(number, question)

    def picture(self, worker: Worker, name: str) -> Path | None:
        """The file behind one of this worker's addresses; None for any other."""
        ending = next((ending for ending in (MEDIUM, SMALL, LARGE) if name.endswith(ending)), None)
        if ending is None:
            return None
        number = worker.card_number(name.removesuffix(ending))
        if number is None or not number < len(self._cards) or not self._cards[number].picture:
            return None
        item = self._cards[number]
        if ending == MEDIUM and not item.medium:
            return None
        folder = self._folder if number < self.items or self._checks is None else self._checks.folder
        return folder / f"{item.picture}{ending}"
