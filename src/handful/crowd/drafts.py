"""Drafts: studies that are being set up in the browser, with their files, their settings, and a look at them.

A draft is a folder beside the database: `uploads/` holds the files as they came, the processed collection lies beside
them, and `draft.json` has the settings. It stays where it is when the study is opened, and is then the study's own
collection. Before the study is created the file says under which name; so after a crash in between the study is either
there, with this collection and these words, or the draft is still a draft.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
import threading
from collections.abc import Callable, Container, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from handful.crowd.cards import item_card
from handful.crowd.changes import consent_in
from handful.crowd.collection import (
    CARRIED,
    MANIFEST,
    SAME_AS,
    Collection,
    LeftOut,
    carry,
    check_enough,
    forget_half_written,
    has_collection,
    load_collection,
)
from handful.crowd.host import Host
from handful.crowd.intake import NUMBERED, carry_practice_pictures, ingest
from handful.crowd.languages import languages
from handful.crowd.messages import About, DraftSettings, DraftState, Option, Preview, Words
from handful.crowd.people import DAYS
from handful.crowd.plan import DryRun, Inherited, StudyPlan, check_settings, expected_minutes, plan_of, suited
from handful.crowd.practice import lessons_shown
from handful.crowd.settings import BOUNDS, Settings
from handful.crowd.sources import UNFINISHED_UPLOAD, WHOLE, Uploads, keep_originals
from handful.crowd.words import settings_with, shown_consent
from handful.errors import HandfulError, InvalidCollection, InvalidProblem, StorageError
from handful.rules import Door

DRAFT = "draft.json"


def settings_as_made(told: dict[str, Any]) -> DraftSettings:
    """Settings that nobody sends now: of a draft that was stored before, or of a study that was made elsewhere.

    Their numbers may lie beyond what a page may send. They stay what they are, and are checked when a study is made.
    A language that there is not is left out, as it always was when a study was made.
    """
    words = told["words"] if isinstance(told.get("words"), dict) else {}
    if isinstance(words.get("language"), str) and words["language"] not in languages():
        words = words | {"language": None}
    beyond, words_beyond = _beyond(told), _beyond(words)
    within = told | _nearest(beyond) | ({"words": words | _nearest(words_beyond)} if words else {})
    made = DraftSettings.model_validate(within)
    return made.model_copy(update={**beyond, "words": made.words.model_copy(update=words_beyond)})


def _beyond(told: dict[str, Any]) -> dict[str, float]:
    """The numbers that are not within their bounds."""
    numbers = {name: told[name] for name in BOUNDS if type(told.get(name)) in (int, float)}
    return {
        name: value
        for name, value in numbers.items()
        if math.isfinite(value) and not BOUNDS[name].least <= value <= BOUNDS[name].most
    }


def _nearest(beyond: dict[str, float]) -> dict[str, float]:
    """For each number the bound that it is beyond, of the number's own type."""
    return {name: type(value)(min(max(value, BOUNDS[name].least), BOUNDS[name].most)) for name, value in beyond.items()}


def changed_settings(settings: DraftSettings, told: DraftSettings) -> DraftSettings:
    """The settings with those settings and words that were given to `told`; the others stay."""
    given = {name: getattr(told, name) for name in told.model_fields_set}
    words = {name: getattr(told.words, name) for name in told.words.model_fields_set}
    return settings.model_copy(update={**given, "words": settings.words.model_copy(update=words)})


def draft_told(settings: DraftSettings, opened: str | None, made: float, inherited: Inherited) -> dict[str, Any]:
    """What the file says."""
    return {"settings": settings.model_dump(), "opened": opened, "made": made, "inherited": inherited.to_dict()}


def put_draft(folder: Path, told: dict[str, Any]) -> None:
    """Write it, whole or not at all."""
    unfinished = folder / f"{DRAFT}.unfinished"
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            json.dump({"version": 1, **told}, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(folder / DRAFT)
    except OSError as error:
        raise StorageError(f"the draft cannot be stored: {error.strerror or error}") from error


def chosen_without(chosen: Sequence[str], file: str, carried: Container[str]) -> list[str]:
    """Those that were not made from this file: of a zip or a table none is left but what an earlier study gave.

    Else another item that gets the same name later, such as that of a row, would be chosen without having been seen.
    """
    all_of_them = file.lower().endswith(WHOLE)
    return [one for one in chosen if one in carried or not (all_of_them or file in (one, NUMBERED.sub("", one)))]


def check_chosen(chosen: Sequence[str], items: Container[str]) -> None:
    """Refuse to have chosen from the start what is no item."""
    for name in chosen:
        if name not in items:
            raise InvalidProblem(f"{name!r} cannot be chosen from the start: there is no such item")


UPLOADS = "uploads"


@dataclass
class Preparing:
    """How far the files have been processed."""

    done: int = 0
    total: int = 0
    fault: str | None = None

    def process(self, source: Path | None, folder: Path, carried: Collection) -> bool:
        """Whether these items, and those made from `source` if there is any, are in the folder; else `fault` is why."""
        try:
            if source is None:
                carried.save()
            else:
                ingest(source, folder, self._progress, carried=carried.items)
        except HandfulError as error:
            # Paths of this machine are no business of a page.
            self.fault = str(error).replace(f"{folder / UPLOADS}", "your files").replace(f" in {folder}", "")
        except OSError as error:
            self.fault = f"the items cannot be stored: {error.strerror or error}"
        return self.fault is None

    def _progress(self, so_far: int, total: int) -> None:
        self.done, self.total = so_far, total


ID_BYTES = 9
MOST_DRAFTS = 100


class Draft:
    """One study in the making. Its methods may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uploads = Uploads(folder / UPLOADS)
        self.lock = self.uploads.lock
        self.preparing: Preparing | None = None
        self._processing = False
        self._collection: Collection | None = None
        self.dry_run: DryRun | None = None  # of the settings and items as they are
        self._read()
        with suppress(HandfulError):  # that the items cannot be read is said to whoever looks at them
            self._choose_what_is_there()  # the server may have been stopped before that was done

    def _read(self) -> None:
        try:
            told = json.loads((self.folder / DRAFT).read_text(encoding="utf-8"))
            self.settings = settings_as_made(told["settings"])
            self.opened: str | None = told["opened"]
            self.made: float = told["made"]
            self.inherited = Inherited.from_dict(told["inherited"])
        except (OSError, ValueError, KeyError, TypeError, InvalidProblem) as error:
            raise StorageError(f"{self.folder / DRAFT} cannot be read: restore it, or delete it") from error

    @property
    def plan(self) -> StudyPlan:
        """How the study will be made."""
        return plan_of(self.settings, self.inherited)

    @property
    def id(self) -> str:
        """What the draft is called in addresses."""
        return self.folder.name

    @property
    def state(self) -> DraftState:
        """Whether files are awaited, being processed, or ready."""
        if self.opened is not None:
            return "opened"
        if self._processing:
            return "preparing"
        return "ready" if has_collection(self.folder) else "collecting"

    @property
    def collection(self) -> Collection | None:
        """The processed items; None before that."""
        with self.lock:
            if self._collection is None and has_collection(self.folder):
                self._collection = load_collection(self.folder)
            return self._collection

    @property
    def ids(self) -> Set[str]:
        """The names of the processed items; none before that."""
        return set(() if self.collection is None else self.collection.ids)

    @property
    def carried(self) -> Collection:
        """The items that come from an earlier study; none in most drafts."""
        there = (self.folder / CARRIED).exists()
        return load_collection(self.folder, CARRIED) if there else Collection(self.folder, ())

    def take_out(self, name: str) -> bool:
        """Whether there was an item of this name; it is left out of the study now, and not chosen from the start."""
        with self.lock:
            self.only_a_draft()
            collection = self.collection
            if collection is None or self.state == "preparing" or name not in collection.ids:
                return False
            kept = tuple(item for item in collection if item.id != name)
            left_out = (*collection.left_out, LeftOut(name, "was taken out here"))
            check_enough(len(kept), (), Path("your items"))
            self.end_dry_run()
            try:
                carried = self.carried
                if name in carried.ids:
                    Collection(self.folder, tuple(item for item in carried if item.id != name)).save(CARRIED)
                self._collection = Collection(self.folder, kept, left_out)
                self._collection.save()
                # Or it would come back with the next file that is added.
                same = [one.name for one in left_out if one.why == f"{SAME_AS}{name}"]
                self.uploads.take_out(collection[name], same, carried=name in carried.ids)
            except OSError as error:
                raise StorageError(f"the items cannot be stored: {error.strerror or error}") from error
            self._choose_only(self.ids)
            return True

    def change(self, told: DraftSettings) -> None:
        """Keep the settings and words that were given to `told`; the others stay."""
        with self.lock:
            self.only_a_draft()
            settings = changed_settings(self.settings, told)
            if "chosen" in told.model_fields_set and has_collection(self.folder):
                check_chosen(settings.chosen, self.ids)
            check_settings(settings, self.inherited, self.settings)
            if settings != self.settings:
                self.end_dry_run()
            self.settings = settings
            self.save()

    def begin_dry_run(self) -> None:
        """Let simulated people answer; a dry run that is there stays."""
        with self.lock:
            self.only_a_draft()
            if self.dry_run is not None and (self.dry_run.running or self.dry_run.outcome is not None):
                return
            if self.collection is None:
                raise InvalidCollection("there are no items yet: add files or texts, and have them prepared")
            self.dry_run = DryRun(self.plan, self.collection)

    def end_dry_run(self) -> None:
        """Forget the dry run: it was of something else, or nobody waits for it any more."""
        with self.lock:
            if self.dry_run is not None:
                self.dry_run.stop()
            self.dry_run = None

    def save(self) -> None:
        """Write the draft's file, whole or not at all."""
        put_draft(self.folder, draft_told(self.settings, self.opened, self.made, self.inherited))

    def files_may_change(self) -> None:
        """Refuse other files where a study was opened with these, or while they are being processed."""
        self.only_a_draft()
        if self.state == "preparing":
            raise InvalidCollection("the files are being processed: wait until that is done")

    def files_change(self, gone: str | None = None) -> None:
        """Called before files come or go, once they surely do: what was processed no longer holds.

        `gone` is a file that does not come again as it was: the items made from it are not chosen any more.
        """
        with self.lock:
            self.files_may_change()
            self.end_dry_run()
            (self.folder / MANIFEST).unlink(missing_ok=True)
            self._collection, self.preparing = None, None
            if gone is not None:
                self._choose_only(chosen_without(self.settings.chosen, gone, self.carried.ids))

    def _choose_what_is_there(self) -> None:
        """Once the items are known: of those that were chosen from the start, the others are not any more."""
        if self.settings.chosen and self.opened is None and has_collection(self.folder):
            self._choose_only(self.ids)

    def _choose_only(self, names: Container[str]) -> None:
        with self.lock:
            chosen = [name for name in self.settings.chosen if name in names]
            if chosen != self.settings.chosen:
                self.settings = self.settings.model_copy(update={"chosen": chosen})
                self.save()

    def prepare(self, done: Callable[[], None] = lambda: None) -> None:
        """Process the files in the background; `done` is called after that, whatever came of it."""
        with self.lock:
            self.only_a_draft()
            if self.state != "collecting":
                return
            source = self.uploads.source()
            self.preparing = Preparing(total=len(self.uploads.files))
            told = (self.preparing, source, done)
            work = threading.Thread(target=self._process, args=told, name="handful-intake", daemon=True)
            self._processing = True
            work.start()

    def _process(self, preparing: Preparing, source: Path, done: Callable[[], None]) -> None:
        try:
            carried = self.carried
            alone = carried.items and not self.uploads.files
            if preparing.process(None if alone else source, self.folder, carried):
                self._choose_what_is_there()
        except HandfulError as error:
            preparing.fault = str(error)
        finally:
            self._processing = False
        done()

    def discard(self) -> None:
        """Delete the draft and everything in it. The file goes last, so that what is left half-way is found again."""
        with self.lock:
            self.files_may_change()
            self.end_dry_run()
            for path in self.folder.iterdir():
                if path.name != DRAFT:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            shutil.rmtree(self.folder)

    def only_a_draft(self) -> None:
        """Refuse to change what a study was opened with."""
        if self.opened is not None:
            raise InvalidCollection("this study has been opened: it keeps the items and settings it began with")


class Drafts:
    """All drafts beside one database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._drafts: dict[str, Draft] = {}
        self._lock = threading.Lock()
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if (path / DRAFT).is_file() and not path.name.startswith(UNFINISHED_UPLOAD):
                self._drafts[path.name] = Draft(path)

    def __iter__(self) -> Iterator[Draft]:
        return iter(sorted(self._drafts.copy().values(), key=lambda draft: draft.made))  # others may come meanwhile

    def get(self, id_: str) -> Draft | None:
        """The draft of this name, which may have been opened since."""
        return self._drafts.get(id_)

    def of_study(self, name: str) -> Draft | None:
        """The draft from which a study was opened."""
        return next((draft for draft in list(self._drafts.values()) if draft.opened == name), None)

    def new(self, settings: DraftSettings, now: float, id_: str | None = None) -> Draft:
        """Begin an empty draft, or give the one that was begun under this name."""
        return self._begin(settings, now, lambda _: None, id_=id_)

    def new_from(
        self,
        settings: DraftSettings,
        now: float,
        collection: Collection,
        ids: Set[str],
        inherited: Inherited | None = None,
        sources: Sequence[Path] = (),
    ) -> Draft:
        """Begin a draft with the items of these names in an earlier study's collection, and what is taken over.

        `sources` are where the files may be that the items were made from: they are kept too.
        """
        check_enough(sum(name in ids for name in collection.ids), (), Path("what the new study takes"))

        def fill(folder: Path) -> None:
            carried = carry(collection, ids, folder)
            keep_originals(carried, sources, folder)
            carry_practice_pictures(collection.folder, folder)
            carried.save()

        return self._begin(settings, now, fill, inherited)

    def _begin(
        self,
        settings: DraftSettings,
        now: float,
        fill: Callable[[Path], None],
        inherited: Inherited | None = None,
        id_: str | None = None,
    ) -> Draft:
        """A new draft, whole or not there: it gets its name last."""
        check_settings(settings, inherited, None if inherited is None else settings)
        with self._lock:
            if id_ is not None and id_ in self._drafts:
                return self._drafts[id_]
            if sum(draft.opened is None for draft in self._drafts.values()) >= MOST_DRAFTS:
                raise InvalidCollection(f"there are {MOST_DRAFTS} drafts already: open or delete one of them first")
            folder = self.folder / (id_ or secrets.token_hex(ID_BYTES))
            unfinished = folder.with_name(f"{UNFINISHED_UPLOAD}{folder.name}")
            try:
                (unfinished / UPLOADS).mkdir(parents=True)
                fill(unfinished)
                put_draft(unfinished, draft_told(settings, None, now, inherited or Inherited()))
                unfinished.rename(folder)
            except OSError as error:
                shutil.rmtree(unfinished, ignore_errors=True)
                raise StorageError(f"{self.folder} cannot be written: {error.strerror or error}") from error
            draft = self._drafts[folder.name] = Draft(folder)
            return draft

    def discard(self, draft: Draft) -> None:
        """Delete a draft."""
        draft.discard()
        with self._lock:
            self._drafts.pop(draft.id, None)

    def forget_unfinished(self) -> None:
        """At a start: delete what arrived or was begun only in part."""
        for path in self.folder.glob(f"{UNFINISHED_UPLOAD}*") if self.folder.is_dir() else ():
            shutil.rmtree(path)
        for draft in self._drafts.values():
            draft.uploads.forget_unfinished()
            forget_half_written(draft.folder)

    def settle(self, stored: Callable[[str], bool]) -> None:
        """After a start: whatever was about to be opened and is not stored is a draft again."""
        for draft in self._drafts.values():
            if draft.opened is not None and not stored(draft.opened):
                draft.opened = None
                draft.save()


def set_up_in_browser(folder: Path) -> bool:
    """Whether a database's folder holds studies that were set up in the browser, or drafts of them."""
    return folder.is_dir() and any((path / DRAFT).is_file() for path in folder.iterdir())


def preview_of_draft(draft: Draft, settings: Settings) -> Preview:
    """A draft as people would meet it; `settings` are the server's."""
    collection = draft.collection
    if collection is None:
        raise InvalidCollection("there are no items yet: add files or texts, and have them prepared")
    plan, told = suited(draft.plan, collection), draft.settings
    words = settings_with(settings, told.words.model_dump(exclude_none=True))
    words = replace(words, consent=shown_consent(words, Door(told.door)))
    shown, minutes = plan.shown(len(collection)), expected_minutes(words.goal, plan.rule)
    return _preview(draft.id, told.theme, collection, words, plan.k, shown, words.goal, minutes)


def preview_of_study(hosted: Host, said: Words) -> Preview:
    """A study as people would meet it with these words, where it does not have them already."""
    words = settings_with(hosted.settings, said.model_dump(exclude_unset=True))
    words = replace(words, consent=consent_in(hosted, words))
    goal, minutes = hosted.goal, hosted.minutes
    if words.goal != hosted.settings.goal:
        goal, minutes = words.goal, expected_minutes(words.goal, hosted.study.setup.rule)
    shown = hosted.showing.options
    return _preview(hosted.name, hosted.theme, hosted.collection, words, hosted.k, shown, goal, minutes)


def _preview(
    name: str,
    theme: str,
    collection: Collection,
    words: Settings,
    k: int,
    options: int,
    goal: int | None,
    minutes: int | None,
) -> Preview:
    about = About(
        study=name,
        theme=theme,
        state="open",
        k=k,
        items=len(collection),
        options=options,
        goal=goal,
        minutes=minutes,
        consent=words.consent,
        instructions=words.instructions,
        question=words.question,
        welcome=words.welcome,
        thanks=words.thanks,
        practice=lessons_shown(words.practice, collection),
        texts=collection.only_texts,
        undo_s=words.undo_s,
        solo=False,
        show_result=words.show_result,
        retention_days=DAYS if words.retention_days is None else words.retention_days,
        joined=False,
    )
    first = [item_card(one, words.language) for one in collection.items[:options]]
    return Preview(about=about, options=[Option(id=str(n), **dict(one)) for n, one in enumerate(first)])
