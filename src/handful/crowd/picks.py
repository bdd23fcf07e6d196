"""What pages say of the picks, in the language of the page."""

from __future__ import annotations

from collections.abc import Callable

from handful.crowd.cards import item_card
from handful.crowd.collection import Collection
from handful.crowd.languages import DEFAULT, Language, language
from handful.crowd.messages import PickLine, Summary
from handful.results import FEWEST_MEETINGS, NO_WINS, Believed, PickStatement, Result

Called = Callable[[str], str]
ISOLATE, END_ISOLATE = "\u2068", "\u2069"
"""Around a name in a sentence that is read from right to left: a name in Latin letters is not torn apart by it."""


def sentences_in(language: Language, pick: PickStatement[str], name: Called) -> list[str]:
    """Whole sentences on one pick; `name` is what items are called."""
    if language.direction == "rtl":
        called, name = name, lambda item: f"{ISOLATE}{called(item)}{END_ISOLATE}"
    if pick.basis == "given":
        return [language.said("pick.given")]
    early = "pick.filled" if pick.filled else "pick.cut_short" if pick.cut_short else ""
    said = [language.said(early)] if early else []
    believed = "" if pick.believed is None else _believed(language, pick.believed, name)
    left_out = language.counted("pick.left_out", pick.left_out) if pick.left_out else ""
    return [*said, *filter(None, (_counts(language, pick), left_out, believed, _runner_up(language, pick, name)))]


def verdict_in(language: Language, result: Result[str]) -> str:
    """How the picks did together; of those that were filled in nothing is said."""
    wins = sum((pick.wins for pick in result.picks), start=NO_WINS)
    if language.code == DEFAULT or not wins.of:
        return result.verdict
    key = "pick.verdict.decided" if any(pick.filled for pick in result.picks) else "pick.verdict"
    return language.counted(key, won=wins.won, of=wins.of, share=wins.share)


def _counts(language: Language, pick: PickStatement[str]) -> str:
    kind = "showings" if pick.of_several else "comparisons"
    if pick.wins.of:
        return language.counted(f"pick.won.{kind}", pick.wins.of, won=pick.wins.won)
    if pick.wins_before.of:
        return language.counted(f"pick.won.before.{kind}", pick.wins_before.of, won=pick.wins_before.won)
    return "" if pick.filled else language.said("pick.none")


def _believed(language: Language, believed: Believed[str], name: Called) -> str:
    if believed.tells_little:
        return language.said("pick.too_few")
    chance = language.said("pick.sure") if believed.sure else believed.percent
    key = "pick.best" if believed.best_of == 1 else "pick.among"
    said = language.counted(key, believed.best_of, chance=chance, of=believed.candidates)
    near = [name(item) for item in believed.near_ties]
    if not near:
        return language.counted("pick.believed", said=said)
    first, *others = near
    names = language.counted("pick.and", first=first, second=others[0]) if others else first
    return language.counted("pick.near", said=said, names=names)


def _runner_up(language: Language, pick: PickStatement[str], name: Called) -> str:
    if pick.runner_up is None:
        return ""
    if pick.against.of < FEWEST_MEETINGS:
        return language.counted("pick.runner_up", name=name(pick.runner_up))
    against = pick.against
    return language.counted("pick.against", against.of, name=name(pick.runner_up), won=against.won)


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
