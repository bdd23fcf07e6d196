"""What runs beside a study that people are recruited for: both sides are brought to agree, again and again."""

from __future__ import annotations

import logging
import threading
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from handful.crowd.hosting.panel_desk import PanelDesk
from handful.crowd.hosting.tokens import Secret
from handful.crowd.people import forget_settled
from handful.errors import HandfulError, InvalidProblem, StudyFinished
from handful.recruit.prolific.client import ProlificClient
from handful.recruit.prolific.reconciling import Report, reconcile
from handful.recruit.prolific.recruiter import Recruiter
from handful.recruit.store import Store, has_recruitments
from handful.study.conduct import NOT_VERIFIED

if TYPE_CHECKING:
    from handful.crowd.hosting.hosted_study import HostedStudy

log = logging.getLogger("handful.crowd")

EVERY_S = 30.0
SOONER_S = 5.0
"""While somebody waits to be verified or paid."""

LEAST_S = 1.0
CALL_S = 20.0
ARRIVAL_S = 4.0
"""How long somebody who arrives waits at most until the platform has been asked about them."""


class PanelLoop:
    """The desk of one hosted study, and the thread that talks to the platform."""

    def __init__(self, hosted: HostedStudy, store: Store, secret: Secret) -> None:
        found = store.recruitment(hosted.study.name)
        assert found is not None
        self.hosted, self.store, self.trouble = hosted, store, None
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._one_at_a_time = threading.Lock()
        self.client = self._client(CALL_S) if found.on_prolific else None
        quick = self._client(ARRIVAL_S) if found.on_prolific else None
        self.desk = PanelDesk(store, found, secret, quick, self._wake.set)
        self.report: Report | None = None
        self._thread = threading.Thread(target=self._run, name=f"recruiting {hosted.name}", daemon=True)
        self._thread.start()

    trouble: str | None

    def _client(self, patience_s: float) -> ProlificClient | None:
        try:
            return ProlificClient.from_environment(patience_s)
        except InvalidProblem as error:
            self.trouble = f"nobody can be verified or paid: {error}"
            return None

    def stop(self) -> None:
        """Let a call under way end; what it moved is written down before and after."""
        self._stopping.set()
        self._wake.set()
        self._thread.join()

    def soon(self) -> None:
        """Wake the thread, so that it reconciles now instead of at its next turn."""
        self._wake.set()

    def _run(self) -> None:
        before = ""
        while not self._stopping.is_set():
            try:
                self.once()
                well = self.report is None or self.report.reached
                said = "" if well else "; ".join(self.report.differences if self.report else [])
            except HandfulError as error:
                said = str(error)
            except Exception as error:  # the thread must live; its words might hold an id
                said = type(error).__name__
            if said != before and said:
                log.warning("recruiting", extra={"study": self.hosted.name, "cause": said})
            before = said
            self._stopping.wait(LEAST_S)
            self._wake.wait(SOONER_S if self.desk.unverified() else EVERY_S)
            self._wake.clear()

    def once(self) -> None:
        """Reconcile once, and pass on what people hold who are done. One at a time: whoever comes later waits."""
        with self._one_at_a_time:
            self.desk.look()
            if not self.hosted.open:
                self.desk.end_all()
            self.desk.end_silent()
            self._call_back()
            if self.client is not None:
                recruiter = Recruiter(self.store, self.hosted.study.name, self.client)
                self.report = reconcile(recruiter, decided=not self.hosted.open)
                self.desk.look()
            self._let_go([person.pseudonym for person in self.desk.people() if not person.inside])
            self._exclude_unverified()
            if forget_settled(self.store, self.hosted.study.name):
                self.desk.look()
                self.hosted.people.look_again()
            self.hosted.change_signal.changed()

    def _let_go(self, workers: list[str]) -> None:
        """Free the questions that people hold who are done, for others."""
        holding = set(self.hosted.study.fold.leases.holders()) if self.hosted.open else set()
        for worker in (worker for worker in workers if worker in holding):
            with suppress(StudyFinished):
                self.hosted.study.let_go(worker)

    def _call_back(self) -> None:
        """Addresses to be called for those who finished: tried again until they answer well."""
        for person, address in self.desk.calls_due():
            with suppress(OSError, ValueError):
                with urllib.request.urlopen(address, timeout=CALL_S) as reply:
                    reply.read(1)
                self.desk.called(person)

    def _exclude_unverified(self) -> None:
        """By the rule that holds from the start: who is not from the panel does not count, nor who cannot be verified
        by the time they are done. Once: whom the organizer restores after that stays restored.
        """
        study = self.hosted.study
        for person in self.desk.people():
            name, workers = person.pseudonym, study.fold.workers
            done = person.verified is False or (person.verified is None and person.outcome is not None)
            settled = workers.excludes(name) or workers.kept_unverified(name)
            if workers.knows(name) and done and not settled:
                study.exclude(name, NOT_VERIFIED, by_rule=True)
            elif person.verified and workers.awaits_verifying(name):
                study.restore(name, verified=True)


def panel_loop_for(hosted: HostedStudy, storage: str | Path | None, secret: Secret) -> PanelLoop | None:
    """The loop of a study that people are recruited for; None for others."""
    if storage is None or not has_recruitments(storage):
        return None
    store = Store(storage, hosted.clock)
    if store.recruitment(hosted.study.name) is None:
        return None
    hosted.fix_unverified()
    return PanelLoop(hosted, store, secret)
