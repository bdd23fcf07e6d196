"""The registry of all the studies that one server hosts, each with its collection, and of those being set up."""

from __future__ import annotations

import logging
import math
import re
import threading
import time
import unicodedata
from base64 import b32encode
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from handful.crowd.collection import Collection
from handful.crowd.hosting.drafts import Drafts
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.organizer_keys import OrganizerKeys
from handful.crowd.hosting.recruiting import panel_loop_for
from handful.crowd.hosting.tokens import Secret
from handful.crowd.intake import keep_practice_pictures, practice_pictures
from handful.crowd.messages import StudyLine
from handful.crowd.people import Invitations, People, invitation_of, keep_for, kept_for, new_pseudonym, retire
from handful.crowd.refusals import invitation_used, not_invited
from handful.crowd.settings import Settings
from handful.crowd.sources import ORIGINALS
from handful.errors import StorageError
from handful.recruit.desk import PanelLoop
from handful.storage import probe

log = logging.getLogger("handful.crowd")

LOOK_EVERY_S = 1.0
SHORT = 6
"""Letters of a short link."""


@dataclass
class Registry:
    """The hosted studies by their names in links, and what they share."""

    studies: dict[str, HostedStudy]
    folder: Path
    secret: Secret
    settings: Settings
    drafts: Drafts
    storage: str | Path | None = None
    clock: Callable[[], float] = time.time
    keys: OrganizerKeys = field(init=False)
    adding: threading.Lock = field(default_factory=threading.Lock, init=False)
    pictures: dict[str, Path] = field(default_factory=dict, init=False)
    on_added: list[Callable[[HostedStudy], None]] = field(default_factory=list, init=False)
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

    def _know_people_of(self, hosted: HostedStudy) -> None:
        if self.storage is not None:
            hosted.people = People(hosted.study.name, self.storage)
            self.note_retention(hosted)

    def note_retention(self, hosted: HostedStudy) -> None:
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

    def invited(self, hosted: HostedStudy, code: str) -> str | None:
        """The pseudonym that an invitation stands for, now or since it was first used; None if it lets nobody in."""
        if self.storage is None:
            return None
        return Invitations(hosted.study.name, self.storage).use(code, new_pseudonym())

    def check_invited(self, hosted: HostedStudy, code: str) -> None:
        """Refuse a code that would not let anybody in; looking does not use it."""
        found = None if self.storage is None else invitation_of(hosted.study.name, self.storage, code)
        if found is None:
            raise not_invited()
        if found.pseudonym is not None and hosted.people.named(found.pseudonym) is not None:
            raise invitation_used()

    def short_code(self, hosted: HostedStudy) -> str:
        """What stands for a study in an address that is read out or typed; nobody can guess that of another."""
        return b32encode(self.secret.derive("short link", hosted.study.name))[:SHORT].decode().lower()

    def originals_of(self, hosted: HostedStudy) -> tuple[Path, ...]:
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

    def add(self, hosted: HostedStudy) -> None:
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
