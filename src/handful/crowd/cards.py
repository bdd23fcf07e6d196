"""Cards: what a worker is shown of items and checks, in which place, and what they say as answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from handful.crowd import messages
from handful.crowd.collection import LARGE, MEDIUM, SMALL, Collection, Item
from handful.crowd.intake import CheckCards
from handful.crowd.languages import DEFAULT, Language, language
from handful.crowd.messages import ItemCard
from handful.crowd.refusals import Refusal
from handful.crowd.tokens import Worker
from handful.questions import Question, Receipt
from handful.study import Study

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


@dataclass(frozen=True)
class Said:
    """What a worker chose, as they said it: a side of two, or the id of one of several."""

    side: messages.Side | None = None
    option: str | None = None


class Showing:
    """How a study's questions are shown to people."""

    def __init__(self, study: Study, deck: Deck) -> None:
        self.options = study.setup.problem.feedback.options  # at a time
        self.deck = deck

    def shown(self, worker: Worker, question: Question) -> messages.Pair | messages.Choice:
        """The question with its cards in the places where this worker sees them."""
        token, round_ = worker.token(question.id), question.round
        deck = self.deck
        chosen = [deck.card(worker, deck.number(id_)) for id_ in question.chosen]
        numbers = [deck.number(id_) for id_ in question.options]
        cards = [deck.card(worker, at, question.id) for at in numbers]
        if self.options > 2:
            options = [
                messages.Option(id=deck.option(worker, numbers[place], question.id), **dict(cards[place]))
                for place in worker.places(question.id, len(cards))
            ]
            return messages.Choice(token=token, round=round_, chosen=chosen, options=options)
        item, rival = cards
        left, right = (item, rival) if worker.item_is_left(question.id) else (rival, item)
        return messages.Pair(token=token, round=round_, chosen=chosen, left=left, right=right)

    def answered(
        self, worker: Worker, study: Study, question: str, said: messages.Chosen
    ) -> tuple[object, dict[str, object]]:
        """What the study is told (whether it was the item, or the option itself), and where that was tapped."""
        if self.options == 2:
            if said.side is None:
                raise Refusal(422, "no_side", "This study shows two at a time: answer with side, left or right.")
            item_is_left = worker.item_is_left(question)
            noted: dict[str, object] = {"side": said.side, "item_side": "left" if item_is_left else "right"}
            return (said.side == "left") == item_is_left, noted
        ids = [study.setup.ids[at] for at in study.state.questions.options(int(question[1:]))]
        places = [ids[at] for at in worker.places(question, len(ids))]
        for place, id_ in enumerate(places, start=1):
            if self.deck.option(worker, self.deck.number(id_), question) == said.option:
                return id_, {"place": place, "places": len(places)}
        raise Refusal(422, "not_an_option", "Answer with option, the id of one of the options that were shown.")

    def said(self, worker: Worker, receipt: Receipt) -> Said:
        """An answer that is stored, as this worker would say it; of nothing, nothing."""
        if receipt.answer is None:
            return Said()
        if self.options > 2:
            return Said(option=self.deck.option(worker, self.deck.number(receipt.answer), receipt.question))
        return Said(side="left" if bool(receipt.answer) == worker.item_is_left(receipt.question) else "right")
