"""Options that were typed for studies that exist already: each is applied, refused, or said to have no effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handful.crowd.collection import Collection
from handful.crowd.hosting.changed_words import change_words, changed
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.intake import practice_pictures, take_practice_picture
from handful.errors import InvalidProblem
from handful.study.rules import Rule
from handful.wording import listed

ANOTHER = "to begin another study, give another --theme, or --storage with another file"


@dataclass(frozen=True)
class RequestedChanges:
    """The options that were typed; None for one that was not."""

    k: int | None = None
    explorer: str | None = None
    budget: int | None = None
    in_flight: int | None = None
    lease_s: float | None = None
    seed: int | None = None
    options: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    door: str | None = None
    rule: Rule | None = None
    words: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, Path] = field(default_factory=dict)

    def words_for(self, collection: Collection) -> Mapping[str, Any]:
        """The words for a study of this collection; the `pictures` that its practice names are taken in beside it."""
        taken = practice_pictures(collection.folder).ids
        pictures = {name: path for name, path in self.pictures.items() if name not in collection.ids}
        for name, path in pictures.items():
            if not path.is_file() and name not in taken:
                raise InvalidProblem(
                    f"the practice names {name}, and there is neither an item of that name nor the picture {path}"
                )
        names = {
            name: take_practice_picture(collection.folder, path.name, path.read_bytes()).id
            for name, path in pictures.items()
            if path.is_file()
        }
        lessons = self.words.get("practice") or ()
        said = [{**one, **{side: names.get(one[side], one[side]) for side in ("right", "wrong")}} for one in lessons]
        return {**self.words, "practice": said} if names else self.words


def apply_changes(
    changes: RequestedChanges, studies: Sequence[HostedStudy], themes: Sequence[str], say: Callable[[str], None]
) -> None:
    """Refuse another k or explorer than a study was begun with; let its budget grow; say what else it keeps.

    About the studies of these themes; without themes about all, and then it is enough if one is as requested.
    """
    about = [hosted for hosted in studies if hosted.theme in themes] if themes else list(studies)
    others = [hosted for hosted in about if _another_k(hosted, changes) or _another_explorer(hosted, changes)]
    if others and (themes or len(others) == len(about)):
        raise InvalidProblem(_refusal(others[0], changes))
    for hosted in about:
        if hosted not in others:
            _keep(hosted, changes, say)
            _say_words(hosted, changes, bool(themes) or len(about) == 1, say)


def _another_k(hosted: HostedStudy, changes: RequestedChanges) -> bool:
    return changes.k not in (None, hosted.k)


def _another_explorer(hosted: HostedStudy, changes: RequestedChanges) -> bool:
    return changes.explorer is not None and not hosted.study.setup.explored_by(changes.explorer)


def _refusal(hosted: HostedStudy, changes: RequestedChanges) -> str:
    state = "" if hosted.open else " and is finished"
    if _another_k(hosted, changes):
        begun, wanted = f"k = {hosted.k}", f"k = {changes.k}"
    else:
        begun, wanted = f"--explorer {hosted.study.setup.explorer_spelled}", f"--explorer {changes.explorer}"
    return f"{hosted.theme!r} was begun with {begun}{state}, and cannot change to {wanted}: {ANOTHER}"


def _keep(hosted: HostedStudy, changes: RequestedChanges, say: Callable[[str], None]) -> None:
    setup, budget = hosted.study.setup, hosted.study.fold.budget
    if changes.budget not in (None, budget):
        _grow(hosted, changes.budget or 0, budget, say)
    for option, wanted, kept in (
        ("--in-flight", changes.in_flight, setup.problem.in_flight),
        ("--lease", changes.lease_s, setup.lease_s),
        ("--seed", changes.seed, setup.problem.seed),
        ("--options", changes.options, setup.problem.feedback.options),
        ("--epsilon", changes.epsilon, setup.problem.epsilon),
        ("--delta", changes.delta, setup.problem.delta),
        ("--door", changes.door, None if hosted.door is None else hosted.door.kind),
        ("--rule", changes.rule, setup.rule),
    ):
        if wanted not in (None, kept):
            say(f"{hosted.theme}: the study {_told(option, kept)} it was begun with; {ANOTHER}")


def _told(option: str, kept: float | str | Rule | None) -> str:
    if kept is None:
        return f"stays without the {option}, as"
    said = kept.hash if isinstance(kept, Rule) else kept if isinstance(kept, str) else f"{kept:g}"
    return f"keeps the {option} {said}"


def _say_words(hosted: HostedStudy, changes: RequestedChanges, meant: bool, say: Callable[[str], None]) -> None:
    """Let people read other words where this study is `meant`: what a server was told is not for all of its studies."""
    new = changed(hosted, changes.words_for(hosted.collection) if meant else changes.words)
    if new and not meant:
        say(f"{hosted.theme}: the study keeps its own {listed(list(new))}; name it with --theme to change that")
    elif new:
        try:
            change_words(hosted, new)
        except InvalidProblem as error:
            raise InvalidProblem(f"{hosted.theme}: {error}; {ANOTHER}") from error
        say(f"{hosted.theme}: people read another {listed(list(new))} from now on")


def _grow(hosted: HostedStudy, wanted: int, budget: int | None, say: Callable[[str], None]) -> None:
    if not hosted.open:
        say(f"{hosted.theme}: the study is finished, so --budget {wanted:,} comes too late; {ANOTHER}")
    elif budget is None:
        say(f"{hosted.theme}: the study was begun without a budget, and --budget is left aside; {ANOTHER}")
    elif wanted < budget:
        say(f"{hosted.theme}: the study keeps its budget of {budget:,} answers, which can only grow; {ANOTHER}")
    else:
        hosted.study.extend(wanted - budget)
        hosted.refresh_status()
        say(f"{hosted.theme}: the budget grows from {budget:,} to {wanted:,} answers")
