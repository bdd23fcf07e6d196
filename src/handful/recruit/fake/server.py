"""The fake Prolific over HTTP: routes, pages, and replies that go wrong when they are told to."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from handful.recruit.fake.platform import FakePlatform
from handful.recruit.fake.records import FakeRefusal, cost, fees

BASE = "/api/v1"
GATEWAY = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
MONEY = re.compile(r"bulk-approve|bulk-bonus-payments|bonus-payments|/transition/|^PATCH ")


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

    def do_PATCH(self) -> None:
        self._serve("PATCH")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

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


_LISTED = ("id", "name", "internal_name", "status", "total_available_places", "places_taken", "reward", "date_created")


def _studies(p: FakePlatform, query: dict[str, str], _: Any) -> Any:
    told = [p.told(p.study(id_)) for id_ in list(p.studies)]
    return _page(query, "/studies/", [{name: one.get(name) for name in _LISTED} for one in told])


def _submissions(p: FakePlatform, query: dict[str, str], _: Any, study: str | None = None) -> Any:
    if study is None and "study" not in query:
        raise FakeRefusal(400, {"study": ["This field is required."]})
    found = p.of(p.study(study or query["study"]))
    if "status" in query:
        found = [one for one in found if one.status == query["status"]]
    return _page(query, "/submissions/", [one.line() for one in found])


def _counts(p: FakePlatform, _: dict[str, str], __: Any, study: str) -> Any:
    counts: dict[str, int] = {}
    for one in p.of(p.study(study)):
        counts[one.status] = counts.get(one.status, 0) + 1
    return {**counts, "TOTAL": sum(counts.values())}


def _delete(p: FakePlatform, _: dict[str, str], __: Any, study: str) -> None:
    if p.study(study).status != "UNPUBLISHED":
        raise FakeRefusal(409, "Only drafts can be deleted.")
    del p.studies[study]


def _calculate(_: FakePlatform, __: dict[str, str], said: Any) -> Any:
    return {"total_cost": cost(said["reward"], said["total_available_places"])}


def _recommend(p: FakePlatform, query: dict[str, str], _: Any) -> Any:
    told = {"min_reward_per_hour": p.workspace.minimum, "recommended_reward_per_hour": p.workspace.minimum * 3 // 2}
    return [{"currency": query.get("currency", "GBP"), **told}]


_ID = "([0-9a-f]{24})"
ROUTES: list[tuple[str, str, int, Callable[..., Any]]] = [
    ("POST", "/studies/", 201, lambda p, q, said: p.create(said)),
    ("GET", "/studies/", 200, _studies),
    ("GET", f"/studies/{_ID}/", 200, lambda p, q, said, id_: p.told(p.study(id_))),
    ("PATCH", f"/studies/{_ID}/", 200, lambda p, q, said, id_: p.change(id_, said)),
    ("DELETE", f"/studies/{_ID}/", 204, _delete),
    ("POST", f"/studies/{_ID}/transition/", 200, lambda p, q, said, id_: p.transition(id_, said["action"])),
    ("GET", f"/studies/{_ID}/cost/", 200, lambda p, q, said, id_: p.cost_of(p.study(id_))),
    ("GET", f"/studies/{_ID}/submissions/", 200, _submissions),
    ("GET", f"/studies/{_ID}/submissions/counts/", 200, _counts),
    ("POST", "/study-cost-calculator/", 200, _calculate),
    ("GET", "/reward-recommendations/", 200, _recommend),
    ("GET", "/submissions/", 200, _submissions),
    ("GET", f"/submissions/{_ID}/", 200, lambda p, q, said, id_: p.submission(id_).detail()),
    ("POST", f"/submissions/{_ID}/transition/", 200, lambda p, q, said, id_: p.decide(id_, said)),
    ("POST", "/submissions/bulk-approve/", 200, lambda p, q, said: p.approve_many(said["submission_ids"])),
    (
        "POST",
        f"/submissions/{_ID}/request-return/",
        200,
        lambda p, q, said, id_: p.request_return(id_, said["request_return_reasons"]),
    ),
    (
        "POST",
        "/submissions/bonus-payments/",
        201,
        lambda p, q, said: p.hand_in_bonuses(said["study_id"], said["csv_bonuses"]),
    ),
    ("POST", f"/bulk-bonus-payments/{_ID}/pay/", 202, lambda p, q, said, id_: p.pay_bonuses(id_)),
    ("POST", "/messages/", 204, lambda p, q, said: p.messages.append(said)),
]

__all__ = ["Call", "FakeProlific", "Fault", "fees"]
