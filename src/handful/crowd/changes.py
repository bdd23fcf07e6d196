"""Changes of a study that exists: other words while it runs, and options that were typed for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handful.crowd.collection import Collection
from handful.crowd.host import Host
from handful.crowd.intake import is_picture, practice_pictures, take_practice_picture
from handful.crowd.messages import Words
from handful.crowd.settings import Settings
from handful.crowd.words import check_lessons, cleaned_words, lessons_in, settings_with, shown_consent
from handful.errors import InvalidProblem
from handful.rules import Rule
from handful.wording import counted, listed

WORD = {
    "question": "the question",
    "practice": "the practice",
    "goal": "how many answers each gives",
}


def fixed_words(hosted: Host) -> dict[str, str]:
    """The words that cannot change any more, each with why: somebody may have them on the page, unanswered."""
    fixed = {}
    if len(hosted.study.state.questions):
        answers = hosted.study.state.answers
        given = f" ({counted(answers, 'answer')} so far)" if answers else ""
        fixed["question"] = f"people have been asked it{given}, and an answer to another one would mean something else"
    rule = hosted.study.setup.rule
    if rule is not None and rule.admission is not None and rule.admission.practice:
        fixed["practice"] = "it decides who counts, which was settled when the study was opened"
    if hosted.desk is not None or hosted.comes_by("panel"):
        fixed["goal"] = "people from a panel give as many as they are paid for, which the recruiting says"
    return fixed


def effects_of_change(hosted: Host) -> dict[str, str]:
    """For words that can change although somebody has read them: what it means that they did; `all`: for every word."""
    joined = len(hosted.study.state.workers.names)
    effects = {}
    if hosted.study.state.registered is not None:
        effects["all"] = "The study was preregistered with what stands here: other words depart from that record."
    if joined:
        who = "1 person has" if joined == 1 else f"{joined:,} people have"
        place = "keeps that place" if joined == 1 else "keep their places"
        effects["consent"] = f"{who} agreed to the text as it was and {place}; the journal keeps both texts."
        effects["instructions"] = f"{who} read them as they were."
    return effects


def with_built_in(hosted: Host, said: Words) -> Words:
    """What was said, with the built-in words where it says null for them: those in the language that the study has.

    Another language that is said along with them does not make them accepted in that language.
    """
    catalogue = hosted.settings.catalogue
    built_in = {
        "consent": catalogue.consent(marked=hosted.marks_networks),
        "instructions": catalogue.said("instructions"),
        "instruction": catalogue.said("instruction"),
    }
    null = [name for name in built_in if name in said.model_fields_set and getattr(said, name) is None]
    return said.model_copy(update={name: built_in[name] for name in null})


def changed(hosted: Host, said: Mapping[str, Any]) -> dict[str, Any]:
    """Of what was said, what would be other than it is."""
    before, after = hosted.settings, settings_with(hosted.settings, said)
    return {name: value for name, value in cleaned_words(said).items() if getattr(before, name) != getattr(after, name)}


def change_words(hosted: Host, said: Mapping[str, Any]) -> None:
    """Use other words from now on. InvalidProblem, and nothing changes, where one of them is fixed."""
    check_lessons(said)
    new, fixed = changed(hosted, said), fixed_words(hosted)
    for name in new:
        if name in fixed:
            raise InvalidProblem(f"{WORD[name]} cannot be changed any more: {fixed[name]}")
    _check_pictures(hosted, new)
    if new:
        hosted.say_words(new)


def check_consent_was_seen(hosted: Host, said: Mapping[str, Any]) -> None:
    """Refuse words after which people would agree to a text that was neither shown before nor is among them.

    With another language the built-in consent is another text, which whoever changes the language has to accept.
    """
    after = settings_with(hosted.settings, said)
    shown = after.agreed_to(marked=hosted.marks_networks)
    known = (None, hosted.settings.agreed_to(marked=hosted.marks_networks), cleaned_words(said).get("consent"))
    if shown not in known:
        raise InvalidProblem(
            f"people would agree to a text in {after.catalogue.name} that you have not accepted: send the consent in "
            "that language along, the built-in one or your own"
        )


def _check_pictures(hosted: Host, new: Mapping[str, Any]) -> None:
    """Refuse a practice that names a picture which is not there: its name would be shown as a text."""
    named = {card for lesson in lessons_in(new.get("practice") or ()) for card in lesson.cards if is_picture(card)}
    missing = named - {*hosted.collection.ids, *practice_pictures(hosted.collection.folder).ids} if named else named
    if missing:
        raise InvalidProblem(f"the practice names {min(missing)}, and there is no picture of that name: add it again")


def consent_in(hosted: Host, settings: Settings) -> str | None:
    """What people of this study agree to with these settings."""
    return shown_consent(settings, hosted.door, hosted.desk is not None)


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
    changes: RequestedChanges, studies: Sequence[Host], themes: Sequence[str], say: Callable[[str], None]
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


def _another_k(hosted: Host, changes: RequestedChanges) -> bool:
    return changes.k not in (None, hosted.k)


def _another_explorer(hosted: Host, changes: RequestedChanges) -> bool:
    return changes.explorer is not None and not hosted.study.setup.explored_by(changes.explorer)


def _refusal(hosted: Host, changes: RequestedChanges) -> str:
    state = "" if hosted.open else " and is finished"
    if _another_k(hosted, changes):
        begun, wanted = f"k = {hosted.k}", f"k = {changes.k}"
    else:
        begun, wanted = f"--explorer {hosted.study.setup.explorer_spelled}", f"--explorer {changes.explorer}"
    return f"{hosted.theme!r} was begun with {begun}{state}, and cannot change to {wanted}: {ANOTHER}"


def _keep(hosted: Host, changes: RequestedChanges, say: Callable[[str], None]) -> None:
    setup, budget = hosted.study.setup, hosted.study.state.budget
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


def _say_words(hosted: Host, changes: RequestedChanges, meant: bool, say: Callable[[str], None]) -> None:
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


def _grow(hosted: Host, wanted: int, budget: int | None, say: Callable[[str], None]) -> None:
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
