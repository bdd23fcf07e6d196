"""The fake Prolific itself: its rules about studies, submissions and money. May be used from any thread."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from handful.recruit.fake.checks import check_change, check_new
from handful.recruit.fake.records import (
    FakeBonuses,
    FakeRefusal,
    FakeStudy,
    FakeSubmission,
    Payment,
    cost,
    fees,
    iso,
    money,
)

INSIDE = ("RESERVED", "ACTIVE")
GONE = ("RETURNED", "TIMED-OUT")


@dataclass
class Workspace:
    """What the researcher's workspace can do, and how much money is in it, in cents.

    publishing_s, approving_s, bonus_s: how long the platform takes for what it does later.
    processing_s: for how long a study that turns active shows a status that no documentation names.
    """

    balance: int = 1_000_000
    researcher_codes: bool = True
    fixed_screen_out: bool = True
    publishing_s: float = 0.0
    approving_s: float = 0.0
    bonus_s: float = 0.0
    processing_s: float = 0.0
    minimum: int = 600


class FakePlatform:
    """Studies, submissions and the books. Participants act through `take_place`, `come_back`, `give_back`."""

    def __init__(
        self, workspace: Workspace | None = None, seed: int = 0, clock: Callable[[], float] = time.time
    ) -> None:
        self.workspace, self.clock = workspace or Workspace(), clock
        self.lock = threading.RLock()
        self.studies: dict[str, FakeStudy] = {}
        self.submissions: dict[str, FakeSubmission] = {}
        self.bonuses: dict[str, FakeBonuses] = {}
        self.books: list[Payment] = []
        self.messages: list[dict[str, Any]] = []
        self._paying: list[tuple[float, str, int]] = []
        self._rng = random.Random(seed)

    # What researchers do

    def create(self, said: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            check_new(said, self.workspace.researcher_codes, self.workspace.fixed_screen_out)
            study = FakeStudy(self._id(), dict(said), self.clock(), places=said["total_available_places"])
            self.studies[study.id] = study
            return self.told(study)

    def change(self, id_: str, said: dict[str, Any]) -> dict[str, Any]:
        with self.lock:
            study = self.study(id_)
            check_change(study, said, self.workspace.researcher_codes, self.workspace.fixed_screen_out)
            places = said.get("total_available_places", study.places)
            if study.status != "UNPUBLISHED" and places > study.places:
                self._afford(cost(study.reward, places) - cost(study.reward, study.places))
                if study.status in ("COMPLETED", "AWAITING REVIEW"):
                    study.status, study.turns_active_at = "PROCESSING", self.clock()
            study.said.update(said)
            study.places = places
            return self.told(self.study(id_))

    def transition(self, id_: str, action: str) -> dict[str, Any]:
        with self.lock:
            study, now = self.study(id_), self.clock()
            allowed = {
                "PUBLISH": ("UNPUBLISHED",),
                "PAUSE": ("ACTIVE",),
                "START": ("PAUSED",),
                "STOP": ("ACTIVE", "PAUSED"),
            }
            if action not in allowed:
                raise FakeRefusal(400, {"action": [f"{action} is not an action"]})
            if study.status not in allowed[action]:
                raise FakeRefusal(409, f"a study that is {study.status} cannot {action}")
            if action == "PUBLISH":
                self._afford(cost(study.reward, study.places))
                study.status, study.turns_active_at = "PUBLISHING", now + self.workspace.publishing_s
            else:
                study.status = {"PAUSE": "PAUSED", "START": "ACTIVE", "STOP": "COMPLETED"}[action]
                if action == "STOP" and any(one.status == "AWAITING REVIEW" for one in self.of(study)):
                    study.status = "AWAITING REVIEW"
            return self.told(self.study(id_))

    def decide(self, id_: str, said: dict[str, Any]) -> dict[str, Any]:
        """A transition of a submission."""
        with self.lock:
            one, action = self.submission(id_), said.get("action")
            if action == "COMPLETE":
                self._complete(one, said.get("completion_code"))
            elif action == "APPROVE":
                self._approve(one)
            elif action == "REJECT":
                if len(said.get("message") or "") < 100 or not said.get("rejection_category"):
                    raise FakeRefusal(400, {"message": ["at least 100 characters and a rejection_category"]})
                one.status = "REJECTED"
            elif action in ("RETURN", "UNRETURN", "START", "SCREEN_OUT", "UNREJECT"):
                one.status = {"RETURN": "RETURNED", "SCREEN_OUT": "SCREENED OUT", "UNREJECT": "AWAITING REVIEW"}.get(
                    action, "ACTIVE"
                )
            else:
                raise FakeRefusal(400, {"action": [f"{action} is not an action"]})
            return one.detail()

    def approve_many(self, ids: Iterable[str]) -> None:
        """Accepted now, done later."""
        with self.lock:
            found = [self.submission(id_) for id_ in ids]
            for one in found:
                if one.status in INSIDE:
                    raise FakeRefusal(400, f"submission {one.id} has not been completed")
            for one in found:
                if one.status == "AWAITING REVIEW" and one.approving_at is None:
                    one.approving_at = self.clock() + self.workspace.approving_s
            self.catch_up()

    def request_return(self, id_: str, reasons: list[str]) -> dict[str, Any]:
        with self.lock:
            one = self.submission(id_)
            if not reasons:
                raise FakeRefusal(400, {"request_return_reasons": ["This field is required."]})
            one.return_requested = self.clock()
            keep = ("id", "status", "participant", "return_requested")
            return {name: value for name, value in one.detail().items() if name in keep}

    def hand_in_bonuses(self, study: str, csv: str) -> dict[str, Any]:
        with self.lock:
            self.study(study)
            lines = []
            for line in csv.strip().splitlines():
                who, amount = line.split(",")
                one = next((s for s in self.submissions.values() if who in (s.id, s.participant)), None)
                if one is None:
                    raise FakeRefusal(400, f"{who} is not in this study")
                lines.append((one.id, round(100 * float(amount))))
            if not lines or len(lines) > 200:
                raise FakeRefusal(400, "1 to 200 lines")
            listed = FakeBonuses(self._id(), study, lines)
            self.bonuses[listed.id] = listed
            amount_ = sum(cents for _, cents in lines)
            fee, tax = fees(amount_)
            told = {"amount": amount_, "fees": fee, "vat": tax, "total_amount": amount_ + fee + tax}
            return {"id": listed.id, "study": study, **told}

    def pay_bonuses(self, id_: str) -> None:
        """Not idempotent, as the real one: twice is paid twice."""
        with self.lock:
            listed = self.bonuses.get(id_)
            if listed is None:
                raise FakeRefusal(404, "Not found.")
            self._paying += [(self.clock() + self.workspace.bonus_s, who, cents) for who, cents in listed.lines]
            self.catch_up()

    # What participants do

    def take_place(self, study: str, participant: str | None = None, status: str = "ACTIVE") -> FakeSubmission | None:
        """Somebody takes a place, if there is one; they come back under `address`."""
        with self.lock:
            found = self.study(study)
            if found.status != "ACTIVE" or self.taken(found) >= found.places:
                return None
            one = FakeSubmission(self._id(), participant or self._id(), study, status, self.clock())
            self.submissions[one.id] = one
            return one

    def address(self, one: FakeSubmission) -> str:
        """The address of the study with the person's ids in it."""
        address: str = self.studies[one.study].said["external_study_url"]
        blanks = {"PROLIFIC_PID": one.participant, "STUDY_ID": one.study, "SESSION_ID": one.id}
        for name, value in blanks.items():
            address = address.replace("{{%" + name + "%}}", value)
        return address

    def come_back(self, one: FakeSubmission, code: str | None) -> None:
        """The person is back at the platform with a code, or without one (NOCODE)."""
        with self.lock:
            if one.status not in INSIDE:
                return
            one.entered_code = code or "NOCODE"
            one.status, one.completed_at = "AWAITING REVIEW", self.clock()
            found = self.studies[one.study].code(code)
            if found is not None and found.get("actor", "participant") == "participant":
                self._act(one, found)

    def give_back(self, one: FakeSubmission, status: str = "RETURNED") -> None:
        """The person returns the submission, or the time is over (TIMED-OUT); the place is free again."""
        with self.lock:
            if one.status in INSIDE:
                one.status = status

    # Looking

    def study(self, id_: str) -> FakeStudy:
        """The study as it is now."""
        study = self.studies.get(id_)
        if study is None:
            raise FakeRefusal(404, "Not found.")
        self.catch_up()
        if study.turns_active_at is not None and study.turns_active_at <= self.clock():
            study.status = "PROCESSING"
            if study.turns_active_at + self.workspace.processing_s <= self.clock():
                study.status, study.turns_active_at = "ACTIVE", None
        if study.status == "ACTIVE" and self.taken(study) >= study.places:
            here = self.of(study)
            if here and not any(one.status in INSIDE for one in here):
                waiting = any(one.status == "AWAITING REVIEW" for one in here)
                study.status = "AWAITING REVIEW" if waiting else "COMPLETED"
        elif study.status == "AWAITING REVIEW" and not any(
            one.status in (*INSIDE, "AWAITING REVIEW") for one in self.of(study)
        ):
            study.status = "COMPLETED"
        return study

    def submission(self, id_: str) -> FakeSubmission:
        self.catch_up()
        one = self.submissions.get(id_)
        if one is None:
            raise FakeRefusal(404, "Not found.")
        return one

    def of(self, study: FakeStudy) -> list[FakeSubmission]:
        """The submissions of a study, in the order they began."""
        return [one for one in self.submissions.values() if one.study == study.id]

    def taken(self, study: FakeStudy) -> int:
        """Places that are taken: returned and timed-out ones are free again, and screened-out ones too."""
        return sum(one.status not in (*GONE, "SCREENED OUT") for one in self.of(study))

    def told(self, study: FakeStudy) -> dict[str, Any]:
        """The study as a reply."""
        return {
            **study.said,
            "id": study.id,
            "status": study.status,
            "total_available_places": study.places,
            "places_taken": self.taken(study),
            "number_of_submissions": len(self.of(study)),
            "is_ready_to_publish": study.status == "UNPUBLISHED",
            "date_created": iso(study.created),
            "total_cost": cost(study.reward, study.places),
            "currency_code": "GBP",
            "minimum_reward_per_hour": self.workspace.minimum,
            "is_underpaying": 60 * study.reward < self.workspace.minimum * study.said["estimated_completion_time"],
        }

    def cost_of(self, study: FakeStudy) -> dict[str, Any]:
        """What it costs by the books so far; for a draft, what it would cost."""
        if study.status == "UNPUBLISHED":
            rewards, bonuses = study.reward * study.places, 0
        else:
            paid = Counter[bool]()
            for payment in self.books:
                if self.submissions[payment.submission].study == study.id:
                    paid[payment.kind == "bonus"] += payment.cents
            rewards, bonuses = paid[False], paid[True]
        told = {}
        for name, cents in (("rewards", rewards), ("bonuses", bonuses)):
            fee, tax = fees(cents)
            told[name] = {name: money(cents), "fees": money(fee), "tax": money(tax)}
        return told

    def catch_up(self) -> None:
        """Do what is due: approvals and bonuses that were accepted before."""
        with self.lock:
            now = self.clock()
            for one in self.submissions.values():
                if one.approving_at is not None and one.approving_at <= now:
                    one.approving_at = None
                    self._approve(one)
            for due in [due for due in self._paying if due[0] <= now]:
                self._paying.remove(due)
                self.submissions[due[1]].bonuses.append(due[2])
                self.books.append(Payment("bonus", due[1], due[2]))

    # Inside

    def _complete(self, one: FakeSubmission, code: str | None) -> None:
        found = self.studies[one.study].code(code)
        if found is None or found.get("actor") != "researcher":
            raise FakeRefusal(400, {"completion_code": ["not a code that researchers may use"]})
        if one.status not in INSIDE:
            if one.entered_code == code:
                return
            raise FakeRefusal(409, f"a submission that is {one.status} cannot be completed")
        one.entered_code, one.status, one.completed_at = code, "AWAITING REVIEW", self.clock()
        self._act(one, found)

    def _act(self, one: FakeSubmission, code: dict[str, Any]) -> None:
        for action in code.get("actions") or []:
            if action["action"] == "AUTOMATICALLY_APPROVE":
                self._approve(one)
            elif action["action"] == "REQUEST_RETURN":
                one.return_requested = self.clock()
            elif action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                study = self.studies[one.study]
                one.status = "SCREENED OUT"
                study.screened_out += 1
                self.books.append(Payment("screen_out", one.id, action["fixed_screen_out_reward"]))
                if study.screened_out >= action["slots"] and study.status == "ACTIVE":
                    study.status = "PAUSED"

    def _approve(self, one: FakeSubmission) -> None:
        if one.status == "APPROVED":
            return
        if one.status != "AWAITING REVIEW":
            raise FakeRefusal(400, "the submission has not been completed by the participant")
        one.status = "APPROVED"
        self.books.append(Payment("approve", one.id, self.studies[one.study].reward))

    def _afford(self, cents: int) -> None:
        if cents > self.workspace.balance:
            raise FakeRefusal(400, "There is not enough money in the workspace to publish this study.")
        self.workspace.balance -= cents

    def _id(self) -> str:
        return f"{self._rng.getrandbits(96):024x}"
