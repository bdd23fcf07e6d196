"""What pages say of the picks."""

from __future__ import annotations

from handful.crowd.collection import Collection
from handful.crowd.hosting.item_card import item_card
from handful.crowd.hosting.pick_sentences import sentences_in, verdict_in
from handful.crowd.languages import DEFAULT, Language, language
from handful.crowd.messages import PickLine, Summary
from handful.study.results import Result


def pick_lines(collection: Collection, result: Result[str], spoken: Language | None = None) -> list[PickLine]:
    """Every pick in order, with its sentences and its runner-up; in English, or as it is `spoken`."""
    spoken = spoken or language(DEFAULT)
    return [
        PickLine(
            card=item_card(collection[pick.item], spoken.code),
            name=collection.name_of(pick.item),
            sentences=sentences_in(spoken, pick, collection.name_of),
            cut_short=pick.cut_short,
            filled=pick.filled,
            runner_up=None if pick.runner_up is None else item_card(collection[pick.runner_up], spoken.code),
            runner_up_name=None if pick.runner_up is None else collection.name_of(pick.runner_up),
        )
        for pick in result.picks
    ]


def summary_of(theme: str, collection: Collection, result: Result[str], spoken: Language | None = None) -> Summary:
    """What was chosen, what is said of it, and what may be claimed."""
    picks = pick_lines(collection, result, spoken)
    return Summary(
        theme=theme,
        chosen=[pick.card for pick in picks],
        picks=picks,
        verdict=verdict_in(spoken or language(DEFAULT), result),
        certificate=str(result.certificate),
        assumptions=list(result.certificate.assumptions),
    )
