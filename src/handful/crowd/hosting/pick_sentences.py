"""What is said of a pick in the language of the page. In English it is what the study itself says."""

from __future__ import annotations

from collections.abc import Callable

from handful.crowd.languages import Language
from handful.study.statements import Believed, PickStatement
from handful.study.verdict import FEWEST_MEETINGS

Called = Callable[[str], str]


def sentences_in(language: Language, pick: PickStatement[str], name: Called) -> list[str]:
    """Whole sentences on one pick; `name` is what items are called."""
    if pick.basis == "given":
        return [language.said("pick.given")]
    said = [language.said("pick.filled")] if pick.filled else []
    believed = "" if pick.believed is None else _believed(language, pick.believed, name)
    return [*said, *filter(None, (_counts(language, pick), believed, _runner_up(language, pick, name)))]


def _counts(language: Language, pick: PickStatement[str]) -> str:
    kind = "showings" if pick.of_several else "comparisons"
    if pick.mean is not None:
        return language.counted("pick.mean", pick.answers, mean=f"{pick.mean:.3g}")
    if pick.wins.of:
        return language.counted(f"pick.won.{kind}", pick.wins.of, won=pick.wins.won)
    if pick.wins_before.of:
        return language.counted(f"pick.won.before.{kind}", pick.wins_before.of, won=pick.wins_before.won)
    return "" if pick.filled else language.said("pick.none")


def _believed(language: Language, believed: Believed[str], name: Called) -> str:
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
