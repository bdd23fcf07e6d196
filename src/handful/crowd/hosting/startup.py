"""What happens when a server starts: stored studies are opened, new ones begun, and all of them registered."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from handful.crowd.collection import Collection, load_collection
from handful.crowd.hosting.drafts import Draft, Drafts
from handful.crowd.hosting.expected_people import note_expected
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.practice import check_can_be_practised
from handful.crowd.hosting.registry import Registry, link_of, slug_of
from handful.crowd.hosting.requested_changes import RequestedChanges, apply_changes
from handful.crowd.hosting.stored_study import StoredStudy
from handful.crowd.hosting.study_plan import StudyPlan, new_study, suited
from handful.crowd.hosting.study_words import settings_with
from handful.crowd.hosting.tokens import secret_in
from handful.crowd.hosting.warming import warm_up
from handful.crowd.intake import keep_practice_pictures
from handful.crowd.settings import Settings
from handful.crowd.sources import clean_text
from handful.errors import HandfulError, InvalidCollection, InvalidProblem, ItemsChanged, StorageError
from handful.storage import StudySummary, list_studies, make_storage, without_password
from handful.study.clock import SteadyClock
from handful.study.small_budget import small_budgets_heard

MAX_THEME = 200


def items_folder(storage: str | Path) -> Path:
    """Where the collection of a database lives: beside the file, or in the current folder for one behind a URL."""
    text = str(storage)
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    if "://" not in text:
        return Path(f"{text}.items")
    name = text.rsplit("/", 1)[-1].split("?")[0] or "handful"
    return Path(f"{name}.items")


def open_registry(
    storage: str | Path | None,
    collection: Collection | None,
    themes: Sequence[str],
    plan: StudyPlan | None = None,
    settings: Settings | None = None,
    *,
    changes: RequestedChanges | None = None,
    say: Callable[[str], None] = lambda _: None,
    clock: Callable[[], float] = time.time,
) -> Registry:
    """Every study of the storage that is about this collection or one of its own, and a new one for each theme that
    has none yet. Without a collection there may be none at all: studies are then set up in the browser.

    `plan` is for new ones; `changes` are what those that exist should be like, too.
    """
    plan, settings, changes = plan or StudyPlan(), settings or Settings(), changes or RequestedChanges()
    if collection is not None:
        plan = suited(plan, collection)
    summaries = stored_studies(storage)
    stored = [study.name for study in summaries]
    if clock is time.time:  # one clock for all, which does not jump
        clock = SteadyClock(not_before=max((study.last_time for study in summaries), default=-math.inf))
    if collection is not None:
        folder = collection.folder
    elif storage is not None:
        folder = items_folder(storage)
        make_storage(storage)
    else:
        raise InvalidProblem("a server without a collection needs a storage, where studies can be set up")
    drafts = Drafts(folder)
    drafts.forget_unfinished()
    drafts.settle(stored.__contains__)
    themes = _cleaned(themes, stored, collection)
    studies: dict[str, HostedStudy] = {}
    try:
        for name in stored:
            draft = drafts.of_study(name)
            if draft is not None:
                studies[name] = _set_up_before(storage, name, draft, settings, clock)
                continue
            hosted = None if collection is None else _taken_up(storage, name, collection, settings, say, clock)
            if hosted is not None:
                studies[hosted.name] = hosted
        for theme in themes:
            _finish_beginning(theme, list(studies.values()), plan)
        new = [theme for theme in themes if theme not in {hosted.theme for hosted in studies.values()}]
        words = changes.words_for(collection) if new and changes.words and collection is not None else {}  # or refused
        apply_changes(changes, list(studies.values()), themes, say)
        for theme in new:
            if theme not in {hosted.theme for hosted in studies.values()}:
                assert collection is not None, "a theme comes with a collection"
                name = slug_of(theme, {*studies, *stored})
                studies[name] = _begun(storage, name, theme, collection, plan, settings, say, clock)
                if words:
                    studies[name].say_words(words)
        warm_up([hosted.study for hosted in studies.values() if hosted.open])
    except BaseException:
        for hosted in studies.values():
            hosted.close()
        raise
    if not studies and collection is not None:
        raise ItemsChanged(
            f"no study in {without_password(str(storage))} is about these items: give a --theme to begin one"
        )
    return Registry(studies, folder, secret_in(folder), settings, drafts, storage, clock)


def open_draft(registry: Registry, draft: Draft) -> HostedStudy:
    """Make a draft a study that people can answer. It is whole or not there, whenever the server dies."""
    with draft.lock:
        collection, told = draft.collection, draft.settings
        if draft.opened is not None:
            return registry.studies.get(draft.opened) or _opened_before(registry, draft, draft.opened)
        if collection is None:
            raise InvalidCollection("there are no items yet: add files or texts, and have them prepared")
        draft.end_dry_run()
        (theme,) = _cleaned([told.theme], (), collection)
        plan, said = suited(draft.plan, collection), told.words.model_dump(exclude_none=True)
        lessons = settings_with(registry.settings, said).practice
        check_can_be_practised(plan.rule, lessons)
        keep_practice_pictures(draft.folder, {card for lesson in lessons or () for card in lesson.cards})
        with small_budgets_heard():
            warm_up([new_study(collection.ids, plan, registry.settings)])
        with registry.adding:
            name = slug_of(theme, {*registry.studies, *(study.name for study in stored_studies(registry.storage))})
            draft.opened = name
            draft.save()
            try:
                words = settings_with(registry.settings, said)
                where = {"storage": registry.storage, "name": name, "clock": registry.clock}
                study = new_study(collection.ids, plan, words, **where)
            except BaseException:
                draft.opened = None
                draft.save()
                raise
            stored = _stored_at(registry.storage, name, collection, registry.clock)
            try:
                hosted = HostedStudy(study, collection, registry.settings, theme, registry.clock, stored)
                hosted.say_words(said)
                note_expected(hosted.study, plan.expected)
                registry.add(hosted)
            except BaseException:
                study.close()  # the next try takes it up
                raise
    return hosted


def _opened_before(registry: Registry, draft: Draft, name: str) -> HostedStudy:
    """A study that was stored while something after it failed: take it up as at a start."""
    with registry.adding:
        hosted = _set_up_before(registry.storage, name, draft, registry.settings, registry.clock)
        registry.add(hosted)
    return hosted


def warm_up_for(draft: Draft) -> None:
    """Compile what the study will need while its organizer still writes; what cannot be begun is left alone."""
    collection = draft.collection
    with suppress(HandfulError), small_budgets_heard():
        if collection is not None:
            warm_up([new_study(collection.ids, suited(draft.plan, collection), Settings())])


def _set_up_before(
    storage: str | Path | None, name: str, draft: Draft, settings: Settings, clock: Callable[[], float]
) -> HostedStudy:
    """A study that was set up in the browser. If the server died before what it notes first was stored, it is now."""
    collection = load_collection(draft.folder)
    stored = _stored_at(storage, name, collection, clock)
    assert stored is not None
    (theme,) = _cleaned([draft.settings.theme], (), collection)
    hosted = HostedStudy(stored.open(), collection, settings, theme, clock, stored)
    if not hosted.has_words:
        hosted.say_words(draft.settings.words.model_dump(exclude_none=True))
    if hosted.expected is None and hosted.open:
        note_expected(hosted.study, draft.plan.expected)
    return hosted


def check_first(
    storage: str | Path | None, themes: Sequence[str], plan: StudyPlan, settings: Settings, items: int
) -> None:
    """Refuse what could never be served, before the items are processed; `items` is how many there are at most."""
    if _cleaned(themes, [study.name for study in stored_studies(storage)], items):
        if plan.k > items:  # of which some may turn out to be unusable
            raise InvalidProblem(f"k = {plan.k} is more than there are files or rows, {items}: lower k or add items")
        with small_budgets_heard():
            new_study(range(items), replace(plan, chosen=()), settings)


def _cleaned(themes: Sequence[str], stored: Sequence[str], items: object) -> list[str]:
    """The themes as they are shown; InvalidProblem if there are items and nothing to ask about them."""
    cleaned = [clean_text(theme, MAX_THEME).replace("\n", " ") for theme in themes]
    if not all(cleaned) or not (cleaned or stored or items is None):
        raise InvalidProblem('there is nothing to ask about: give a --theme, like "Cathedrals in Venice"')
    return cleaned


def stored_studies(storage: str | Path | None) -> list[StudySummary]:
    """What there is in a storage; nothing where there is no file."""
    if storage is None:
        return []
    try:
        return list_studies(storage)
    except StorageError:
        if "://" not in str(storage) and not Path(storage).exists():
            return []
        raise


def _taken_up(
    storage: str | Path | None,
    name: str,
    collection: Collection,
    settings: Settings,
    say: Callable[[str], None],
    clock: Callable[[], float],
) -> HostedStudy | None:
    """A stored study, unless it is about other things, or not for people."""
    stored = _stored_at(storage, name, collection, clock)
    assert stored is not None
    try:
        study = stored.open()
    except ItemsChanged:
        return None
    if not study.setup.problem.feedback.compares:
        study.close()
        say(f"study {name!r} asks for values, and people can only compare: it is left out")
        return None
    return HostedStudy(study, collection, settings, clock=clock, stored=stored, link=link_of(name))


def _finish_beginning(theme: str, studies: Sequence[HostedStudy], plan: StudyPlan) -> None:
    """Where the server died between storing a study of this theme and what it notes first, note that now."""
    hosted = next((one for one in studies if one.theme == theme), None)
    if hosted is None:
        ours = re.compile(rf"{re.escape(slug_of(theme))}(-\d+)?")
        new = (one for one in studies if one.open and not one.has_theme and not one.study.fold.answers)
        hosted = next((one for one in new if ours.fullmatch(one.study.name)), None)
        if hosted is None:
            return
        hosted.say_theme(theme)
    if hosted.expected is None and hosted.open:
        note_expected(hosted.study, plan.expected)


def _begun(
    storage: str | Path | None,
    name: str,
    theme: str,
    collection: Collection,
    plan: StudyPlan,
    settings: Settings,
    say: Callable[[str], None],
    clock: Callable[[], float],
) -> HostedStudy:
    with small_budgets_heard() as heard:
        study = new_study(collection.ids, plan, settings, storage=storage, name=name, clock=clock)
    for told in heard if plan.budget is not None or not settings.solo else ():
        say(f"{theme}: {told}")
    hosted = HostedStudy(study, collection, settings, theme, clock, _stored_at(storage, name, collection, clock))
    note_expected(hosted.study, plan.expected)
    return hosted


def _stored_at(
    storage: str | Path | None, name: str, collection: Collection, clock: Callable[[], float]
) -> StoredStudy | None:
    """How to open the study again; in memory there is no again."""
    return None if storage is None else StoredStudy(storage, name, collection.ids, clock)
