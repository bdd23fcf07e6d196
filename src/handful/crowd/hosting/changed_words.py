"""Changing what people read while a study runs: what is harmless is done, and for the rest it is said why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.study_words import check_lessons, cleaned_words, lessons_in, settings_with
from handful.crowd.intake import is_picture, practice_pictures
from handful.crowd.setup_messages import Words
from handful.errors import InvalidProblem
from handful.wording import counted

WORD = {
    "question": "the question",
    "practice": "the practice",
    "goal": "how many answers each gives",
}


def fixed_words(hosted: HostedStudy) -> dict[str, str]:
    """The words that cannot change any more, each with why: somebody may have them on the page, unanswered."""
    fixed = {}
    if len(hosted.study.fold.questions):
        answers = hosted.study.fold.answers
        given = f" ({counted(answers, 'answer')} so far)" if answers else ""
        fixed["question"] = f"people have been asked it{given}, and an answer to another one would mean something else"
    rule = hosted.study.setup.rule
    if rule is not None and rule.admission is not None and rule.admission.practice:
        fixed["practice"] = "it decides who counts, which was settled when the study was opened"
    if hosted.desk is not None or hosted.comes_by("panel"):
        fixed["goal"] = "people from a panel give as many as they are paid for, which the recruiting says"
    return fixed


def effects_of_change(hosted: HostedStudy) -> dict[str, str]:
    """For words that can change although somebody has read them: what it means that they did; `all`: for every word."""
    joined = len(hosted.study.fold.workers.names)
    effects = {}
    if hosted.study.fold.registered is not None:
        effects["all"] = "The study was preregistered with what stands here: other words depart from that record."
    if joined:
        who = "1 person has" if joined == 1 else f"{joined:,} people have"
        place = "keeps that place" if joined == 1 else "keep their places"
        effects["consent"] = f"{who} agreed to the text as it was and {place}; the journal keeps both texts."
        effects["instructions"] = f"{who} read them as they were."
    return effects


def with_built_in(hosted: HostedStudy, said: Words) -> Words:
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


def changed(hosted: HostedStudy, said: Mapping[str, Any]) -> dict[str, Any]:
    """Of what was said, what would be other than it is."""
    before, after = hosted.settings, settings_with(hosted.settings, said)
    return {name: value for name, value in cleaned_words(said).items() if getattr(before, name) != getattr(after, name)}


def change_words(hosted: HostedStudy, said: Mapping[str, Any]) -> None:
    """Use other words from now on. InvalidProblem, and nothing changes, where one of them is fixed."""
    check_lessons(said)
    new, fixed = changed(hosted, said), fixed_words(hosted)
    for name in new:
        if name in fixed:
            raise InvalidProblem(f"{WORD[name]} cannot be changed any more: {fixed[name]}")
    _check_pictures(hosted, new)
    if new:
        hosted.say_words(new)


def check_consent_was_seen(hosted: HostedStudy, said: Mapping[str, Any]) -> None:
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


def _check_pictures(hosted: HostedStudy, new: Mapping[str, Any]) -> None:
    """Refuse a practice that names a picture which is not there: its name would be shown as a text."""
    named = {card for lesson in lessons_in(new.get("practice") or ()) for card in lesson.cards if is_picture(card)}
    missing = named - {*hosted.collection.ids, *practice_pictures(hosted.collection.folder).ids} if named else named
    if missing:
        raise InvalidProblem(f"the practice names {min(missing)}, and there is no picture of that name: add it again")
