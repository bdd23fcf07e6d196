"""From settings to a journal: a new one, or one that is stored and was made with the same settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from handful.errors import InvalidProblem, StudyExists
from handful.explorers.registry import spelled
from handful.storage import Journal, open_journal
from handful.study import events
from handful.study.clock import SteadyClock
from handful.study.fold import Fold
from handful.study.in_flight import is_free, set_in_flight
from handful.study.items import check_same_ids
from handful.study.replaying import RecordReader as RecordReader
from handful.study.replaying import fold_of
from handful.study.setup import Setup
from handful.study.small_budget import warn_of_small_budget
from handful.study.writer import Writer

Exists = Literal["error", "open"]
Clock = Callable[[], float]


def begun_or_stored(
    setup: Setup, storage: str | Path | None, name: str, exists: Exists, clock: Clock
) -> tuple[Writer, bool]:
    """The writer of a new study, or with `exists="open"` of the stored one of that name; and whether it is new."""
    if exists not in ("error", "open"):
        raise InvalidProblem(f'exists must be "error" or "open" (go on with the stored study), got {exists!r}')
    try:
        return _begun(setup, storage, name, clock), True
    except StudyExists:
        if exists == "error" or storage is None:
            raise
        writer = stored(storage, name, setup.ids, clock, setup=setup, mode="write")
        if not setup.in_flight_left and writer.fold.setup.is_current:
            set_in_flight(writer, setup.problem.in_flight)
        return writer, False


def _begun(setup: Setup, storage: str | Path | None, name: str, clock: Clock) -> Writer:
    fold = Fold(setup)
    journal = open_journal(storage, name, mode="create")
    try:
        warn_of_small_budget(fold)
    except BaseException:
        journal.close()
        raise
    writer = Writer(journal, fold, 0, SteadyClock() if clock is time.time else clock)
    writer.begin(events.Created(setup.to_dict()))
    return writer


def stored(
    url: str | Path,
    name: str,
    ids: Sequence[str] | None,
    clock: Clock,
    *,
    setup: Setup | None = None,
    mode: Any,
    watch: RecordReader | None = None,
) -> Writer:
    """The writer of a stored study; an error if `ids` or the settings in `setup` are not those it was made with.

    `watch` is called with each record that is read, and with its payload; the first comes without.
    """
    journal = open_journal(url, name, mode=mode)
    try:
        fold, seq = fold_of(journal.read, watch=watch)
        if ids is not None:
            check_same_ids(ids, fold.setup.ids)
        if setup is not None:
            _check_same_settings(setup, fold, name)
        if clock is time.time:
            clock = SteadyClock(not_before=_last_time(journal, seq))
    except BaseException:
        journal.close()
        raise
    return Writer(journal, fold, seq, clock)


def _last_time(journal: Journal, seq: int) -> float:
    """When the last of so many records was written."""
    return next(iter(journal.read(seq - 2))).time


def differences(given: Setup, found: Fold) -> dict[str, tuple[str, str]]:
    """The settings that differ, by name: as they are stored, and as they were given. An extended budget is the same
    as the one the study was made with, and so is the `in_flight` that the first run said where nobody had.
    """
    there, here = found.setup.to_dict(), given.to_dict()
    differ = {key for key, value in here.items() if there.get(key) != value and key not in ("handful", "rules")}
    differ.discard("in_flight_left")
    if is_free(found) or (given.in_flight_left and (found.setup.in_flight_left or found.setup.problem.in_flight == 1)):
        differ.discard("in_flight")
    if here["budget"] == found.budget:
        differ.discard("budget")
    there |= {"budget": found.budget, "explorer": spelled(found.setup.explorer)}
    here |= {"explorer": spelled(given.explorer)}
    return {key: (_told(there.get(key)), _told(here[key])) for key in here if key in differ}


def spelled_out(differing: dict[str, tuple[str, str]]) -> str:
    """Differences for a message."""
    return "; ".join(f"{key}: {there} there, {here} here" for key, (there, here) in differing.items())


def _check_same_settings(given: Setup, found: Fold, name: str) -> None:
    differing = differences(given, found)
    if differing:
        more = "; its budget grows by extend()" if differing.keys() == {"budget"} else ""
        raise StudyExists(
            f"there is a study {name!r} already, and it was made with other settings ({spelled_out(differing)}): give "
            f"the same settings to go on with it, take it as it is by Study.open, or choose another name{more}"
        )


def _told(value: object) -> str:
    """A setting in a few words."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_told(inner)}" for key, inner in value.items() if inner is not None) or "none"
    if isinstance(value, list | tuple) and len(value) > 5:
        return f"{len(value)} of them"
    return "none" if value is None else str(value)
