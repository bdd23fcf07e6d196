"""A hosted study's preregistration: what people will see and read is part of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handful.crowd.changes import consent_in
from handful.crowd.collection import Collection, has_collection, load_collection
from handful.crowd.drafts import Drafts
from handful.crowd.host import THEME, Host
from handful.crowd.intake import practice_pictures
from handful.crowd.languages import DEFAULT, language
from handful.crowd.registry import items_folder
from handful.crowd.settings import Settings
from handful.crowd.words import LENGTHS, WORDS, settings_with, shown_consent
from handful.events import Noted
from handful.preregistration import Contents
from handful.recruit.ledger import is_recruited_for
from handful.study import Study


def preregister(hosted: Host) -> dict[str, Any]:
    """Write down what the study will do, unless that was done before; gives the record of the study as it is now."""
    if not hosted.has_words and hosted.open:  # those of the command line: from now on they stand in the journal
        said = words_of(hosted.theme, hosted.settings)
        kept = {name: said[name] or "" for name in LENGTHS}
        hosted.say_words({**kept, "goal": said["goal"] or 0, "language": said["language"]})
    hosted.study.preregister(*_shown(hosted))
    return registration_now(hosted)


def registration_now(hosted: Host) -> dict[str, Any]:
    """What a preregistration of the study would say now."""
    return hosted.study.registration(*_shown(hosted))


def built_in_words(record: Mapping[str, Any]) -> dict[str, str]:
    """The question that a registered study of the crowd app asks where the organizer wrote none."""
    catalogue = language(record.get("language") or DEFAULT)
    prompt = "prompt.two" if record["feedback"].get("options", 2) == 2 else "prompt.more"
    return {"question": catalogue.said(prompt)}


def collection_in(storage: str, study: Study[Any]) -> Collection | None:
    """What people see in a stored study of the crowd app; None where it was never served."""
    folder = items_folder(storage)
    draft = Drafts(folder).of_study(study.name) if folder.is_dir() else None
    where = folder if draft is None else draft.folder
    collection = load_collection(where) if has_collection(where) else None
    return collection if collection is not None and set(collection.ids) == set(study.setup.ids) else None


def shown_in(storage: str, study: Study[Any]) -> tuple[Contents | None, dict[str, Any]]:
    """What people see and read in a stored study of the crowd app; nothing where it was never served."""
    collection, settings, theme = collection_in(storage, study), Settings(), study.name
    if collection is None:
        return None, {}
    for _, event in study.journal():
        if isinstance(event, Noted) and event.topic == THEME:
            theme = str(event.data)
        elif isinstance(event, Noted) and event.topic == WORDS:
            settings = settings_with(settings, event.data)
    said = words_of(theme, settings)
    said["consent"] = shown_consent(settings, study.state.door, is_recruited_for(storage, study.name))
    return collection.digests(), _with_pictures(said, settings, collection)


def _shown(hosted: Host) -> tuple[Contents, dict[str, Any]]:
    said = words_of(hosted.theme, hosted.settings)
    said["consent"] = consent_in(hosted, hosted.settings)
    return hosted.collection.digests(), _with_pictures(said, hosted.settings, hosted.collection)


def _with_pictures(said: dict[str, Any], settings: Settings, collection: Collection) -> dict[str, Any]:
    """What people read, and the digests of the organizer's own pictures that they practise on."""
    named = {card for lesson in settings.practice or () for card in lesson.cards}
    digests = practice_pictures(collection.folder).digests() if named else {}
    shown = {name: digest for name, digest in digests.items() if name in named}
    return {**said, "practice_pictures": shown} if shown else said


def words_of(theme: str, settings: Settings) -> dict[str, Any]:
    """All that people read, and in which language; of the built-in consent, the text that stands for all of them."""
    practice = None if settings.practice is None else [lesson.to_dict() for lesson in settings.practice]
    own = {} if practice is None else {"practice": practice}  # records of studies with the built-in one never had it
    return {"theme": theme, **{name: getattr(settings, name) for name in (*LENGTHS, "goal", "language")}, **own}
