"""The registry: all studies that one server hosts, how they are opened and begun, and those being set up."""

from __future__ import annotations

import logging
import math
import re
import threading
import time
import unicodedata
from base64 import b32encode
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path

from handful import Duels, Preferences, Study
from handful.crowd.changes import RequestedChanges, apply_changes
from handful.crowd.collection import Collection, load_collection
from handful.crowd.drafts import Draft, Drafts, settings_as_made
from handful.crowd.host import Host, StoredStudy
from handful.crowd.intake import keep_practice_pictures, practice_pictures
from handful.crowd.messages import DraftSettings, StudyLine
from handful.crowd.organizer_keys import OrganizerKeys
from handful.crowd.people import Invitations, People, invitation_of, keep_for, kept_for, new_pseudonym, retire
from handful.crowd.plan import DUELS, Inherited, StudyPlan, new_study, note_expected, suited
from handful.crowd.practice import check_can_be_practised
from handful.crowd.recruitment import panel_loop_for
from handful.crowd.refusals import invitation_used, not_invited
from handful.crowd.settings import Settings
from handful.crowd.sources import ORIGINALS, clean_text
from handful.crowd.tokens import Secret, secret_in
from handful.crowd.words import own_words, settings_with
from handful.errors import HandfulError, InvalidCollection, InvalidProblem, ItemsChanged, StorageError, StudyFinished
from handful.journal import SteadyClock
from handful.recruit.desk import PanelLoop
from handful.rules import ONLY_VERIFIED, Rule
from handful.setup import Setup, small_budgets_heard
from handful.storage import StudySummary, list_studies, make_storage, probe, without_password

_TURNS = 60  # enough for a round to end, unless there are very many


def warm_up(studies: Iterable[Study]) -> None:
    """Let their explorers be compiled before the first person waits for it: some seconds, and only the first time.

    The budget is such that nothing has to be warned of.
    """
    for explorer, k, options in {
        (study.setup.explorer, study.setup.problem.k, study.setup.problem.feedback.options) for study in studies
    }:
        known = Preferences(options=options)
        study = Study(range(k + 2), k, feedback=known, explorer=explorer, budget=k * (k + 2), in_flight=2)
        who = "somebody"
        for question in chain.from_iterable(study.ask(2, who) for _ in range(_TURNS)):
            study.tell(question.id, min(question.options) if options > 2 else question.item < question.rival, who)
            if who == "somebody":
                study.leave(who)  # the round is gone through again, as when anybody withdraws
                who = "another"
        study.status()


log = logging.getLogger("handful.crowd")

LOOK_EVERY_S = 1.0
SHORT = 6
"""Letters of a short link."""


@dataclass
class Registry:
    """The hosted studies by their names in links, and what they share."""

    studies: dict[str, Host]
    folder: Path
    secret: Secret
    settings: Settings
    drafts: Drafts
    storage: str | Path | None = None
    clock: Callable[[], float] = time.time
    keys: OrganizerKeys = field(init=False)
    adding: threading.Lock = field(default_factory=threading.Lock, init=False)
    pictures: dict[str, Path] = field(default_factory=dict, init=False)
    on_added: list[Callable[[Host], None]] = field(default_factory=list, init=False)
    panels: dict[str, PanelLoop] = field(default_factory=dict, init=False)
    _practised: dict[Path, set[str]] = field(default_factory=dict, init=False)  # what is served of each folder's
    _health: tuple[float, str | None] = field(default=(-math.inf, None), init=False)  # when looked at, and the fault

    def __post_init__(self) -> None:
        self.keys = OrganizerKeys(self.secret, self.storage, self.clock)
        for hosted in self.studies.values():
            self.show_pictures(hosted.collection)
            self.show_practice(hosted.collection.folder)
            self._know_people_of(hosted)
        self.retire_people()  # only now: all studies have said for how long they keep theirs

    @property
    def one_room(self) -> bool:
        """Whether a study for one room is open: all who sit there have one address, so no address has a limit."""
        return any(hosted.comes_by("room") and hosted.open for hosted in list(self.studies.values()))

    def _know_people_of(self, hosted: Host) -> None:
        if self.storage is not None:
            hosted.people = People(hosted.study.name, self.storage)
            self.note_retention(hosted)

    def note_retention(self, hosted: Host) -> None:
        """Store for how long a study's people are kept; where nothing is said now, what was said before stands."""
        if self.storage is not None:
            name, told = hosted.study.name, hosted.settings.retention_days
            if told is None:
                hosted.kept_days = kept_for(self.storage, name, self.clock())
            else:
                keep_for(self.storage, name, told)

    def retire_people(self) -> None:
        """Forget the people of studies whose retention is over."""
        if self.storage is not None:
            for hosted in self.studies.values():
                self.note_retention(hosted)
            retire(self.storage, self.clock())
            for hosted in self.studies.values():
                hosted.people.look_again()

    def invited(self, hosted: Host, code: str) -> str | None:
        """The pseudonym that an invitation stands for, now or since it was first used; None if it lets nobody in."""
        if self.storage is None:
            return None
        return Invitations(hosted.study.name, self.storage).use(code, new_pseudonym())

    def check_invited(self, hosted: Host, code: str) -> None:
        """Refuse a code that would not let anybody in; looking does not use it."""
        found = None if self.storage is None else invitation_of(hosted.study.name, self.storage, code)
        if found is None:
            raise not_invited()
        if found.pseudonym is not None and hosted.people.named(found.pseudonym) is not None:
            raise invitation_used()

    def short_code(self, hosted: Host) -> str:
        """What stands for a study in an address that is read out or typed; nobody can guess that of another."""
        return b32encode(self.secret.derive("short link", hosted.study.name))[:SHORT].decode().lower()

    def originals_of(self, hosted: Host) -> tuple[Path, ...]:
        """Where the files may be that the items of a study were made from."""
        draft = self.drafts.of_study(hosted.study.name)
        if draft is not None:
            return draft.folder / ORIGINALS, draft.uploads.source()
        return (Path(hosted.collection.source),) if hosted.collection.source else ()

    def show_pictures(self, collection: Collection) -> None:
        """Serve the pictures of a collection, each by the hash of its content."""
        for item in collection:
            for name in collection.pictures(item):
                self.pictures[name] = collection.folder / name

    def show_practice(self, folder: Path) -> None:
        """Serve the pictures to practise on, beside the items of this folder, and no longer those that are gone."""
        there = practice_pictures(folder)
        names = {name for item in there for name in there.pictures(item)}
        self.show_pictures(there)
        before, self._practised[folder] = self._practised.get(folder, set()), names
        for name in before - names:
            if self.pictures.get(name) == folder / name and not (folder / name).exists():
                self.pictures.pop(name, None)  # another thread may have seen the same
                for path in (one / name for one in self._folders() if (one / name).exists()):
                    self.pictures[name] = path  # the same picture, of others

    def _folders(self) -> set[Path]:
        """Where there are pictures, of studies and of those being set up."""
        studies = (hosted.collection.folder for hosted in self.studies.values())
        return {*studies, *(draft.folder for draft in self.drafts)}

    def let_go_of_practice(self, folder: Path) -> None:
        """Delete the pictures to practise on that no study of this folder's items names any more."""
        practices = [one.settings.practice or () for one in self.studies.values() if one.collection.folder == folder]
        keep_practice_pictures(folder, {card for lessons in practices for one in lessons for card in one.cards})
        self.show_practice(folder)

    def picture(self, name: str) -> Path | None:
        """The file of a picture, of an item or of a check: nobody learns from an address which of them it is."""
        found = self.pictures.get(name)
        decks = (hosted.showing.deck for hosted in self.studies.values()) if found is None else ()
        return found or next((path for deck in decks if (path := deck.kept(name)) is not None), None)

    def add(self, hosted: Host) -> None:
        """Host one more study, which was opened while the server runs."""
        self.show_pictures(hosted.collection)
        self.show_practice(hosted.collection.folder)
        self._know_people_of(hosted)
        self.studies = {**self.studies, hosted.name: hosted}  # others may be going through the studies now
        for told in self.on_added:
            told(hosted)

    def start(self) -> None:
        """Begin to signal changes; called within the event loop that serves."""
        for hosted in self.studies.values():
            hosted.change_signal.start()

    def stop_streams(self) -> None:
        """End all event streams, so that nobody who merely listens keeps the server from stopping."""
        for hosted in self.studies.values():
            hosted.change_signal.stop()

    def look_for_recruiting(self) -> None:
        """Begin to receive people from panels, for studies that are recruited for since."""
        for name, hosted in self.studies.items():
            if name not in self.panels and (found := panel_loop_for(hosted, self.storage, self.secret)) is not None:
                self.panels[name] = found
                hosted.desk = found.desk

    def close(self) -> None:
        """Store what is queued and free the storage, of all studies whatever becomes of one."""
        with ExitStack() as closing:
            for hosted in self.studies.values():
                closing.callback(hosted.close)
            for panel in self.panels.values():
                closing.callback(panel.stop)

    def storage_fault(self) -> str | None:
        """Why answers cannot be stored now; None if they can. The storage is written to and read back.

        Looked at once a second at most, and told in the log when it changes.
        """
        looked, before = self._health
        if time.monotonic() - looked < LOOK_EVERY_S:
            return before
        fault = None
        if self.storage is not None:
            try:
                probe(self.storage)
            except StorageError as error:
                fault = str(error)
        # After the probe, which takes its time: a study may find the fault meanwhile, and tell it.
        told = next((hosted.fault.cause for hosted in self.studies.values() if hosted.fault.cause is not None), None)
        fault = fault or told or next((name for name, one in self.studies.items() if not one.storage_works), None)
        self._health = time.monotonic(), fault
        if told is not None or (fault is None and before is None):
            return fault  # the study has said so itself
        if fault is not None and before is None:
            log.error("answers cannot be stored", extra={"cause": fault})
        elif fault is None and before is not None:
            log.warning("answers can be stored again")
        return fault

    def public(self) -> list[StudyLine]:
        """What anybody may know of each study that is listed."""
        return [line for line in self.all() if self.studies[line.study].settings.listed]

    def all(self) -> list[StudyLine]:
        """A line for each study, listed or not."""
        return [
            StudyLine(study=name, theme=hosted.theme, state=hosted.state, began=hosted.began)
            for name, hosted in self.studies.items()
        ]


_OUR_OWN = frozenset({"login", "logout", "backup"})
"""What a study cannot be called in links: the organizer's pages use these words."""


def link_of(name: str) -> str:
    """A stored study's name as part of a link: as it is, or without letters that mean something in an address."""
    if re.fullmatch(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,99}", name) and name not in _OUR_OWN:
        return name
    return f"{slug_of(name)}-{sha256(name.encode()).hexdigest()[:8]}"


def slug_of(theme: str, taken: Iterable[str] = ()) -> str:
    """A theme as part of a link: "Cathedrals in Venice" is at cathedrals-in-venice."""
    plain = unicodedata.normalize("NFKD", theme).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "study"
    slug, number = stem, 2
    while slug in _OUR_OWN or slug in set(taken):
        slug, number = f"{stem}-{number}", number + 1
    return slug


def solo_study(registry: Registry, themes: Sequence[str] = ()) -> Host:
    """The study for one person that is not finished, of these themes before others; if all are, the last of them."""
    studies = [hosted for hosted in registry.studies.values() if hosted.study.setup.solo]
    if not studies:
        theirs = next(iter(registry.studies.values())).theme
        raise InvalidProblem(
            f"{without_password(str(registry.storage))} holds {theirs!r}, a study for many: to choose alone beside it, "
            "give a --theme of your own, or another file as --storage"
        )
    named = [hosted for hosted in studies if hosted.theme in themes] or studies
    return next((hosted for hosted in named if hosted.open), named[-1])


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
    studies: dict[str, Host] = {}
    try:
        for name in stored:
            draft = drafts.of_study(name)
            hosted: Host | None = None
            try:
                if draft is not None:
                    hosted = _set_up_before(storage, name, draft, settings, clock)
                elif collection is not None:
                    hosted = _taken_up(storage, name, collection, settings, say, clock)
            except StudyFinished as error:
                say(f"{error}: it is left out")
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


def open_draft(registry: Registry, draft: Draft) -> Host:
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
                hosted = Host(study, collection, registry.settings, theme, registry.clock, stored)
                hosted.say_words(said)
                note_expected(hosted.study, plan.expected)
                registry.add(hosted)
            except BaseException:
                study.close()  # the next try takes it up
                raise
    return hosted


def _opened_before(registry: Registry, draft: Draft, name: str) -> Host:
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
) -> Host:
    """A study that was set up in the browser. If the server died before what it notes first was stored, it is now."""
    collection = load_collection(draft.folder)
    stored = _stored_at(storage, name, collection, clock)
    assert stored is not None
    (theme,) = _cleaned([draft.settings.theme], (), collection)
    hosted = Host(_ours(stored.open()), collection, settings, theme, clock, stored)
    if not hosted.has_words and hosted.study.setup.is_current:
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
) -> Host | None:
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
    return Host(_ours(study), collection, settings, clock=clock, stored=stored, link=link_of(name))


def _ours(study: Study) -> Study:
    """The study; StudyFinished if it is not over, and only another version of handful can go on with it."""
    if study.setup.is_current or study.finished is not None:
        return study
    study.close()
    raise StudyFinished(f"study {study.name!r} was {study.setup.made_by}, and only that version goes on with it")


def _finish_beginning(theme: str, studies: Sequence[Host], plan: StudyPlan) -> None:
    """Where the server died between storing a study of this theme and what it notes first, note that now."""
    hosted = next((one for one in studies if one.theme == theme), None)
    if hosted is None:
        ours = re.compile(rf"{re.escape(slug_of(theme))}(-\d+)?")
        new = (one for one in studies if one.open and not one.has_theme and not one.study.state.answers)
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
) -> Host:
    with small_budgets_heard() as heard:
        study = new_study(collection.ids, plan, settings, storage=storage, name=name, clock=clock)
    for told in heard if plan.budget is not None or not settings.solo else ():
        say(f"{theme}: {told}")
    hosted = Host(study, collection, settings, theme, clock, _stored_at(storage, name, collection, clock))
    note_expected(hosted.study, plan.expected)
    return hosted


def _stored_at(
    storage: str | Path | None, name: str, collection: Collection, clock: Callable[[], float]
) -> StoredStudy | None:
    """How to open the study again; in memory there is no again."""
    return None if storage is None else StoredStudy(storage, name, collection.ids, clock)


def draft_from(
    registry: Registry, hosted: Host, items: Sequence[str] | None = None, chosen: Sequence[str] | None = None
) -> Draft:
    """A draft with the settings, rule, door and words of a study, those of its items, and what is chosen at the start.

    It names this study as the one it continues. Without `items` it has all of them, without `chosen` the picks so far.
    The study itself stays as it is.
    """
    picks = list(hosted.latest_result().chosen if chosen is None else chosen)
    known = hosted.collection.ids
    taken = set(known if items is None else items) | set(picks)
    unknown = sorted(taken - set(known))
    if unknown:
        raise InvalidCollection(f"this study has no item {unknown[0]!r}")
    settings = _settings_of(hosted, picks, len(taken))
    inherited = Inherited.of(hosted.study.name, hosted.study.setup, hosted.door)
    sources = registry.originals_of(hosted)
    return registry.drafts.new_from(settings, registry.clock(), hosted.collection, taken, inherited, sources)


def _explorer_of(setup: Setup) -> tuple[str | None, float | None]:
    """What decides what is asked, None for the default; and how sure it must be to end a round."""
    never = replace(setup, explorer=replace(setup.explorer, sure=None)) if isinstance(setup.explorer, Duels) else setup
    usual = never.explorer_spelled == DUELS and setup.problem.epsilon is None
    return None if usual else never.explorer_spelled, setup.sure


def _settings_of(hosted: Host, picks: list[str], items: int) -> DraftSettings:
    setup, defaults = hosted.study.setup, DraftSettings()
    problem, expected = setup.problem, hosted.expected
    explorer, sure = _explorer_of(setup)
    checks = setup.rule not in (None, ONLY_VERIFIED)
    k = problem.k if len(picks) < problem.k else len(picks) + max(1, min(problem.k, items - len(picks) - 1))
    return settings_as_made(
        {
            "theme": hosted.theme,
            "chosen": picks,
            "k": min(k, 1_000),
            "options": problem.feedback.options,
            "people": defaults.people if expected is None else expected.people,
            "door": defaults.door if hosted.door is None else hosted.door.kind,
            "checks": checks,
            "rule": setup.rule.to_dict() if setup.rule is not None and checks and setup.rule != Rule() else None,
            "epsilon": problem.epsilon,
            "delta": None if problem.delta == StudyPlan.delta else problem.delta,
            "explorer": explorer,
            "sure": sure,
            "in_flight": problem.in_flight,
            "lease": setup.lease_s,
            "seed": problem.seed + 1,  # other draws than those the picks came from
            "words": own_words(hosted.settings, hosted.retention_days),
        }
    )
