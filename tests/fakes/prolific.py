"""A fake Prolific over HTTP, with the oddities of the real one.

It is written from what others have observed of the real service; it is no proof of how the real one behaves. What
people do on its pages (an organizer who publishes a study, a participant who takes a place) are methods of
`FakePlatform`.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

FEE = 3  # a third of what people get
TAX = 5  # a fifth of the fee


class FakeRefusal(Exception):
    """A reply with an error, in the shape that the platform gives it."""

    def __init__(self, status: int, detail: object, title: str = "Request refused") -> None:
        super().__init__(str(detail))
        self.status, self.detail, self.title = status, detail, title

    def body(self) -> dict[str, Any]:
        told = {"status": self.status, "error_code": 140_000 + self.status, "title": self.title, "detail": self.detail}
        return {"error": told}


@dataclass(frozen=True)
class Payment:
    """A line of the platform's own books."""

    kind: str  # approve or bonus
    submission: str
    cents: int


@dataclass
class FakeSubmission:
    """One visit of one participant."""

    id: str
    participant: str
    study: str
    status: str
    started_at: float
    completed_at: float | None = None
    entered_code: str | None = None
    approving_at: float | None = None
    bonuses: list[int] = field(default_factory=list)

    def detail(self) -> dict[str, Any]:
        """As a single submission is told; the list calls the same things by other names."""
        return {
            "id": self.id,
            "participant": self.participant,
            "study_id": self.study,
            "status": self.status,
            "started_at": iso(self.started_at),
            "completed_at": iso(self.completed_at),
            "entered_code": self.entered_code,
            "return_requested": None,
            "bonus_payments": list(self.bonuses),
        }

    def line(self) -> dict[str, Any]:
        """As it stands in a list."""
        return {
            "id": self.id,
            "participant_id": self.participant,
            "status": self.status,
            "started_at": iso(self.started_at),
            "completed_at": iso(self.completed_at),
            "study_code": self.entered_code,
            "has_siblings": False,
            "return_requested": None,
            "ip": "203.0.113.7",  # personal data that the real one sends along, and nobody should read
            "strata": {"sex": "unknown"},
        }


@dataclass
class FakeStudy:
    """One study: what the researcher said, and what became of it."""

    id: str
    said: dict[str, Any]
    created: float
    status: str = "ACTIVE"
    places: int = 0

    @property
    def reward(self) -> int:
        reward: int = self.said["reward"]
        return reward


@dataclass
class FakeBonuses:
    """A list of bonuses that was handed in, and may be paid."""

    id: str
    study: str
    lines: list[tuple[str, int]]


def fees(cents: int) -> tuple[int, int]:
    """What the platform takes on top of a payment, and the tax on that."""
    fee = (cents + FEE - 1) // FEE
    return fee, (fee + TAX - 1) // TAX


def iso(when: float | None) -> str | None:
    """A time as the platform writes it."""
    return None if when is None else datetime.fromtimestamp(when, UTC).isoformat().replace("+00:00", "Z")


INSIDE = ("RESERVED", "ACTIVE")
GONE = ("RETURNED", "TIMED-OUT")


@dataclass
class Workspace:
    """How long the platform takes for what it does later."""

    approving_s: float = 0.0
    bonus_s: float = 0.0


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
        self._paying: list[tuple[float, str, int]] = []
        self._rng = random.Random(seed)

    # What researchers do

    def publish(self, said: dict[str, Any]) -> FakeStudy:
        """Make a study and publish it, as an organizer does on the platform's page."""
        with self.lock:
            study = FakeStudy(self._id(), dict(said), self.clock(), places=said["total_available_places"])
            self.studies[study.id] = study
            return study

    def transition(self, id_: str, action: str) -> dict[str, Any]:
        """Stop a study; those inside may finish."""
        with self.lock:
            study = self.study(id_)
            if action != "STOP":
                raise FakeRefusal(400, {"action": [f"{action} is not an action"]})
            if study.status not in ("ACTIVE", "PAUSED"):
                raise FakeRefusal(409, f"a study that is {study.status} cannot {action}")
            waiting = any(one.status == "AWAITING REVIEW" for one in self.of(study))
            study.status = "AWAITING REVIEW" if waiting else "COMPLETED"
            return self.told(study)

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
        """Places that are taken: returned and timed-out ones are free again."""
        return sum(one.status not in GONE for one in self.of(study))

    def told(self, study: FakeStudy) -> dict[str, Any]:
        """The study as a reply."""
        return {
            **study.said,
            "id": study.id,
            "status": study.status,
            "total_available_places": study.places,
            "places_taken": self.taken(study),
            "number_of_submissions": len(self.of(study)),
            "date_created": iso(study.created),
        }

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

    def _approve(self, one: FakeSubmission) -> None:
        if one.status == "APPROVED":
            return
        if one.status != "AWAITING REVIEW":
            raise FakeRefusal(400, "the submission has not been completed by the participant")
        one.status = "APPROVED"
        self.books.append(Payment("approve", one.id, self.studies[one.study].reward))

    def _id(self) -> str:
        return f"{self._rng.getrandbits(96):024x}"


BASE = "/api/v1"
GATEWAY = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
MONEY = re.compile(r"bulk-approve|bulk-bonus-payments|bonus-payments")


@dataclass
class Fault:
    """A reply that goes wrong: for so many requests that match.

    status: 502 is HTML, 429 and 5xx are errors, 0 closes the connection without a reply.
    done:   whether the request takes effect all the same, so that its outcome is unknown to who made it.
    """

    matching: str
    status: int = 502
    times: int = 1
    done: bool = False


@dataclass(frozen=True)
class Call:
    """A request that came, without its secrets."""

    method: str
    path: str
    said: Any


class FakeProlific:
    """A server on a free port of this machine; use as a context manager."""

    def __init__(self, platform: FakePlatform | None = None, token: str = "fake-token", port: int = 0) -> None:
        self.platform, self.token = platform or FakePlatform(), token
        self.faults: list[Fault] = []
        self.calls: list[Call] = []
        self.during: Callable[[str, str], None] | None = None
        self._money = threading.Lock()
        self._counting = threading.Lock()
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """What PROLIFIC_URL is set to."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> FakeProlific:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def fault_for(self, method: str, path: str) -> Fault | None:
        """The fault that this request meets, if any; each is used up."""
        with self._counting:
            for fault in self.faults:
                if fault.times > 0 and re.search(fault.matching, f"{method} {path}"):
                    fault.times -= 1
                    return fault
        return None

    def reply(self, method: str, path: str, query: dict[str, str], said: Any) -> tuple[int, Any]:
        """The status and the body. Calls about money are refused while another one is under way."""
        with self._counting:
            self.calls.append(Call(method, path, said))
        if self.during is not None:
            self.during(method, path)
        if method == "GET" or not MONEY.search(f"{method} {path}"):
            return self._answer(method, path, query, said)
        if not self._money.acquire(blocking=False):
            raise FakeRefusal(429, "Another payment of this workspace is under way.", "Too many requests")
        try:
            return self._answer(method, path, query, said)
        finally:
            self._money.release()

    def _answer(self, method: str, path: str, query: dict[str, str], said: Any) -> tuple[int, Any]:
        for verb, pattern, status, answer in ROUTES:
            found = re.fullmatch(pattern, path)
            if verb == method and found:
                with self.platform.lock:
                    return status, answer(self.platform, query, said, *found.groups())
        raise FakeRefusal(404, "Not found.")


class _Handler(BaseHTTPRequestHandler):
    fake: FakeProlific
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged: addresses hold ids."""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.fake.fault_for(method, parts.path)
        if fault is not None and not fault.done:
            self._fail(fault)
            return
        status, told = self._reply(method, parts.path, parts.query, body)
        if fault is not None:
            self._fail(fault)
            return
        self._send(status, b"" if told is None else json.dumps(told).encode())

    def _reply(self, method: str, path: str, query: str, body: bytes) -> tuple[int, Any]:
        try:
            if self.headers.get("Authorization") != f"Token {self.fake.token}":
                raise FakeRefusal(401, "Invalid token.", "Unauthorized")
            if not path.startswith(BASE + "/"):
                raise FakeRefusal(404, "Not found.")
            asked = {name: values[0] for name, values in parse_qs(query).items()}
            return self.fake.reply(method, path.removeprefix(BASE), asked, json.loads(body) if body else None)
        except FakeRefusal as refusal:
            return refusal.status, refusal.body()
        except (KeyError, TypeError, ValueError) as error:
            return 400, FakeRefusal(400, f"{type(error).__name__}: {error}").body()

    def _fail(self, fault: Fault) -> None:
        if fault.status == 0:
            self.close_connection = True
        elif fault.status == 502:
            self._send(502, GATEWAY, "text/html")
        else:
            self._send(fault.status, json.dumps(FakeRefusal(fault.status, "Try again later.").body()).encode())

    def _send(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _page(query: dict[str, str], path: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """One page of a list. A page beyond the end is a 404, as observed."""
    page, size = int(query.get("page", 1)), int(query.get("page_size", 20))
    if page < 1 or (page > 1 and (page - 1) * size >= len(lines)):
        raise FakeRefusal(404, "Invalid page.")
    last = max(1, -(-len(lines) // size))
    others = {"next": page + 1 if page < last else None, "previous": page - 1 if page > 1 else None, "last": last}
    links = {
        name: {"href": None if at is None else f"{BASE}{path}?page={at}", "title": name} for name, at in others.items()
    }
    return {"results": lines[(page - 1) * size : page * size], "_links": links, "meta": {"count": len(lines)}}


def _submissions(p: FakePlatform, query: dict[str, str], _: Any, study: str | None = None) -> Any:
    if study is None and "study" not in query:
        raise FakeRefusal(400, {"study": ["This field is required."]})
    found = p.of(p.study(study or query["study"]))
    if "status" in query:
        found = [one for one in found if one.status == query["status"]]
    return _page(query, "/submissions/", [one.line() for one in found])


_ID = "([0-9a-f]{24})"
ROUTES: list[tuple[str, str, int, Callable[..., Any]]] = [
    ("GET", f"/studies/{_ID}/", 200, lambda p, q, said, id_: p.told(p.study(id_))),
    ("POST", f"/studies/{_ID}/transition/", 200, lambda p, q, said, id_: p.transition(id_, said["action"])),
    ("GET", "/submissions/", 200, _submissions),
    ("GET", f"/submissions/{_ID}/", 200, lambda p, q, said, id_: p.submission(id_).detail()),
    ("POST", "/submissions/bulk-approve/", 200, lambda p, q, said: p.approve_many(said["submission_ids"])),
    (
        "POST",
        "/submissions/bonus-payments/",
        201,
        lambda p, q, said: p.hand_in_bonuses(said["study_id"], said["csv_bonuses"]),
    ),
    ("POST", f"/bulk-bonus-payments/{_ID}/pay/", 202, lambda p, q, said, id_: p.pay_bonuses(id_)),
]
