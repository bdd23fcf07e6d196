"""Questions as one worker sees them, and what the worker says as answers.

Where an option stands is drawn for every worker and question, from the worker's own key, and is no part of the answer:
of two, a side is read as the item that stood there; of more, the item itself is said, by its id.
"""

from __future__ import annotations

from dataclasses import dataclass

from handful.crowd import messages
from handful.crowd.hosting.deck import Deck
from handful.crowd.hosting.tokens import Worker
from handful.crowd.refusals import Refusal
from handful.study.questions import Question, Receipt
from handful.study.study import Study


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
        ids = [study.setup.ids[at] for at in study.fold.questions.options(int(question[1:]))]
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
