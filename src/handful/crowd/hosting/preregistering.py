"""A hosted study's preregistration: what people will see and read is part of it."""

from __future__ import annotations

from typing import Any

from handful.crowd.collection.items import Collection, has_collection, load_collection
from handful.crowd.collection.practice_pictures import practice_pictures
from handful.crowd.hosting.drafts import Drafts
from handful.crowd.hosting.hosted_study import THEME, HostedStudy
from handful.crowd.hosting.startup import items_folder
from handful.crowd.hosting.study_words import LENGTHS, WORDS, settings_with
from handful.crowd.settings import Settings
from handful.study.events import Noted
from handful.study.preregistration import Contents
from handful.study.study import Study


def preregister(hosted: HostedStudy) -> dict[str, Any]:
    """Write down what the study will do, unless that was done before; gives the record of the study as it is now."""
    if not hosted.has_words:  # those of the command line: from now on they stand in the journal
        said = words_of(hosted.theme, hosted.settings)
        kept = {name: said[name] or "" for name in LENGTHS}
        hosted.say_words({**kept, "goal": said["goal"] or 0, "language": said["language"]})
    return hosted.study.preregister(*_shown(hosted))


def registration_now(hosted: HostedStudy) -> dict[str, Any]:
    """What a preregistration of the study would say now."""
    return hosted.study.registration(*_shown(hosted))


def shown_in(storage: str, study: Study[Any]) -> tuple[Contents | None, dict[str, Any]]:
    """What people see and read in a stored study of the crowd app; nothing where it was never served."""
    folder = items_folder(storage)
    draft = Drafts(folder).of_study(study.name) if folder.is_dir() else None
    where = folder if draft is None else draft.folder
    if not has_collection(where):
        return None, {}
    collection, settings, theme = load_collection(where), Settings(), study.name
    if set(collection.ids) != set(study.setup.ids):
        return None, {}
    for _, event in study.journal():
        if isinstance(event, Noted) and event.topic == THEME:
            theme = str(event.data)
        elif isinstance(event, Noted) and event.topic == WORDS:
            settings = settings_with(settings, event.data)
    return collection.digests(), _with_pictures(words_of(theme, settings), settings, collection)


def _shown(hosted: HostedStudy) -> tuple[Contents, dict[str, Any]]:
    said = words_of(hosted.theme, hosted.settings)
    return hosted.collection.digests(), _with_pictures(said, hosted.settings, hosted.collection)


def _with_pictures(said: dict[str, Any], settings: Settings, collection: Collection) -> dict[str, Any]:
    """What people read, and the digests of the organizer's own pictures that they practise on."""
    named = {card for lesson in settings.practice or () for card in lesson.cards}
    digests = practice_pictures(collection.folder).digests() if named else {}
    shown = {name: digest for name, digest in digests.items() if name in named}
    return {**said, "practice_pictures": shown} if shown else said


def words_of(theme: str, settings: Settings) -> dict[str, Any]:
    """All that people read, and in which language."""
    practice = None if settings.practice is None else [lesson.to_dict() for lesson in settings.practice]
    own = {} if practice is None else {"practice": practice}  # records of studies with the built-in one never had it
    return {"theme": theme, **{name: getattr(settings, name) for name in (*LENGTHS, "goal", "language")}, **own}
