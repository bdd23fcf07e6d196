"""Calls to Prolific. What comes back is read tolerantly; what goes wrong is told without ids and tokens."""

from __future__ import annotations

import http.client
import json
import os
import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from handful.errors import InvalidProblem, RecruitingFailed
from handful.recruit.money import as_decimal
from handful.recruit.prolific.submissions import Submission, from_detail, from_line

TOKEN, URL = "PROLIFIC_TOKEN", "PROLIFIC_URL"
HOST = "https://api.prolific.com"
PAGE = 100
PATIENCE_S = 20.0
MOST_APPROVALS = 1000

StudyAction = Literal["PUBLISH", "PAUSE", "START", "STOP"]


class Refused(RecruitingFailed):
    """The platform said no: nothing was done."""

    def __init__(self, status: int, what: str, detail: str) -> None:
        super().__init__(f"Prolific refused to {what} ({status}): {detail}")
        self.status, self.detail = status, detail


class NotThere(Refused):
    """There is nothing of that id."""


class Busy(Refused):
    """Too many calls at once: nothing was done, and it may be tried again later."""


class NotSent(RecruitingFailed):
    """The platform could not be reached: nothing was done."""


class Unknown(RecruitingFailed):
    """There was no proper reply: whether it was done is not known."""


class ProlificClient:
    """One call per method. May be used from any thread; every call has a connection of its own."""

    def __init__(self, token: str, url: str = HOST, patience_s: float = PATIENCE_S) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidProblem(f"{URL} is not an address: expected one like {HOST}")
        if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise InvalidProblem(f"{URL} would send the token unencrypted: expected https://")
        self._token, self._parts, self._patience_s = token, parts, patience_s

    @classmethod
    def from_environment(cls, patience_s: float = PATIENCE_S) -> ProlificClient:
        """With the token and the address that the environment names, as the official client does."""
        token = os.environ.get(TOKEN, "").strip()
        if not token:
            raise InvalidProblem(
                f"{TOKEN} is not set: make a token in Prolific's settings and put it into the environment "
                f"(export {TOKEN}=…), never into a file of the study"
            )
        return cls(token, os.environ.get(URL) or HOST, patience_s)

    def __repr__(self) -> str:
        return f"ProlificClient({self._parts.hostname})"

    # Studies

    def create_study(self, said: Mapping[str, Any]) -> dict[str, Any]:
        return self._object("create the draft", "POST", "/studies/", said)

    def study(self, id_: str) -> dict[str, Any]:
        return self._object("show the study", "GET", f"/studies/{id_}/")

    def studies(self) -> Iterator[dict[str, Any]]:
        """All studies, as the list tells them: with fewer fields than one alone."""
        return self._pages("list the studies", "/studies/", {})

    def set_places(self, id_: str, places: int) -> dict[str, Any]:
        """Only upwards, once the study is published."""
        return self._object("change the places", "PATCH", f"/studies/{id_}/", {"total_available_places": places})

    def turn(self, id_: str, action: StudyAction) -> dict[str, Any]:
        """Publish, pause, start or stop."""
        return self._object(f"{action.lower()} the study", "POST", f"/studies/{id_}/transition/", {"action": action})

    def cost_of(self, reward: int, places: int) -> int:
        """What so many places cost with everything, in cents."""
        said = {"reward": reward, "total_available_places": places}
        return _cents(self._object("calculate the cost", "POST", "/study-cost-calculator/", said)["total_cost"])

    def spent(self, id_: str) -> dict[str, Any]:
        """What the platform's own books say of a study."""
        return self._object("show the cost", "GET", f"/studies/{id_}/cost/")

    def least_per_hour(self, currency: str) -> int | None:
        """The platform's present minimum in cents per hour, if it says one."""
        told = self._call("recommend a reward", "GET", f"/reward-recommendations/?{urlencode({'currency': currency})}")
        for line in told if isinstance(told, list) else []:
            if isinstance(line, dict) and line.get("currency") == currency and "min_reward_per_hour" in line:
                return _cents(line["min_reward_per_hour"])
        return None

    # Submissions

    def submission(self, session: str) -> Submission:
        return from_detail(self._object("show the submission", "GET", f"/submissions/{session}/"))

    def submissions(self, study: str) -> list[Submission]:
        """All submissions of a study."""
        query = {"study": study, "ordering": "started_at"}
        return [from_line(line, study) for line in self._pages("list the submissions", "/submissions/", query)]

    def complete(self, session: str, code: str) -> Submission:
        """Complete a submission from here, by a code that only researchers may use."""
        said = {"action": "COMPLETE", "completion_code": code}
        return from_detail(self._object("complete the submission", "POST", f"/submissions/{session}/transition/", said))

    def approve(self, sessions: Sequence[str]) -> None:
        """Approve up to a thousand; they are processed later."""
        if not 0 < len(sessions) <= MOST_APPROVALS:
            raise InvalidProblem(f"{len(sessions)} submissions at once: expected 1 to {MOST_APPROVALS:,}")
        said = {"submission_ids": list(sessions)}
        self._call("approve the submissions", "POST", "/submissions/bulk-approve/", said)

    def request_return(self, session: str, reason: str) -> None:
        """Ask the person to give the submission back."""
        said = {"request_return_reasons": [reason]}
        self._call("ask for a return", "POST", f"/submissions/{session}/request-return/", said)

    def hand_in_bonuses(self, study: str, bonuses: Sequence[tuple[str, int]]) -> tuple[str, int]:
        """Hand in bonuses of so many cents for sessions; gives the list's id and whole cost. Nothing is paid yet."""
        lines = "\n".join(f"{session},{as_decimal(cents)}" for session, cents in bonuses)
        said = {"study_id": study, "csv_bonuses": lines}
        told = self._object("take the bonuses", "POST", "/submissions/bonus-payments/", said)
        if _cents(told["amount"]) != sum(cents for _, cents in bonuses):
            raise RecruitingFailed(
                f"Prolific understood bonuses of {told['amount']} cents where {sum(c for _, c in bonuses)} were meant: "
                "nothing was paid"
            )
        return str(told["id"]), _cents(told["total_amount"])

    def pay_bonuses(self, list_id: str) -> None:
        """Pay a list that was handed in. Calling this twice pays twice."""
        self._call("pay the bonuses", "POST", f"/bulk-bonus-payments/{list_id}/pay/", {})

    # The wire

    def _pages(self, what: str, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """The lines of all pages. The end is where no next page is named; one beyond it would be a 404."""
        page = 1
        while True:
            asked = urlencode({**query, "page": page, "page_size": PAGE})
            try:
                told = self._object(what, "GET", f"{path}?{asked}")
            except NotThere:
                if page == 1:
                    raise
                return  # what was listed before has shrunk since
            yield from told.get("results") or []
            if not ((told.get("_links") or {}).get("next") or {}).get("href"):
                return
            page += 1

    def _object(self, what: str, method: str, path: str, said: object = None) -> dict[str, Any]:
        told = self._call(what, method, path, said)
        if not isinstance(told, dict):
            raise Unknown(f"Prolific's reply makes no sense when asked to {what}: expected an object")
        return told

    def _call(self, what: str, method: str, path: str, said: object = None) -> Any:
        status, body = self._exchange(what, method, path, said)
        told: Any = None
        if body:
            try:
                told = json.loads(body)
            except ValueError:
                if status < 400 or status >= 500:
                    raise Unknown(f"Prolific's reply is not JSON ({status}) when asked to {what}") from None
        if status >= 500:
            raise Unknown(f"Prolific failed ({status}) when asked to {what}")
        if status >= 300:
            refused = {404: NotThere, 429: Busy}.get(status, Refused)
            raise refused(status, what, _words(told))
        return told

    def _exchange(self, what: str, method: str, path: str, said: object) -> tuple[int, bytes]:
        host, port = self._parts.hostname, self._parts.port
        assert host is not None
        line: http.client.HTTPConnection
        if self._parts.scheme == "https":
            line = http.client.HTTPSConnection(
                host, port, timeout=self._patience_s, context=ssl.create_default_context()
            )
        else:
            line = http.client.HTTPConnection(host, port, timeout=self._patience_s)
        try:
            try:
                line.connect()
            except OSError as error:
                raise NotSent(f"Prolific cannot be reached ({_cause(error)}) to {what}") from None
            body = None if said is None else json.dumps(said).encode()
            headers = {"Authorization": f"Token {self._token}", "Accept": "application/json"}
            if body is not None:
                headers["Content-Type"] = "application/json"
            try:
                line.request(method, f"/api/v1{path}", body, headers)
                reply = line.getresponse()
                return reply.status, reply.read()
            except (OSError, http.client.HTTPException) as error:
                raise Unknown(f"Prolific gave no reply ({_cause(error)}) when asked to {what}") from None
        finally:
            line.close()


def masked(text: str) -> str:
    """A text without ids, for messages."""
    return re.sub(r"[0-9a-fA-F]{24}", "…", text)


def _cause(error: BaseException) -> str:
    return getattr(error, "strerror", None) or type(error).__name__


def _cents(value: object) -> int:
    """Money comes in whole cents; a number like 450.0 is one, 4.5 is not."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise Unknown(f"Prolific told an amount that is not a whole number of cents: {value!r}")
    return int(value)


def _words(told: Any) -> str:
    """What an error says, in whichever of its shapes."""
    error = told.get("error", told) if isinstance(told, dict) else None
    if not isinstance(error, dict):
        return "no reason was given"
    detail = error.get("detail") or error.get("message") or error.get("title") or "no reason was given"
    if isinstance(detail, dict):
        detail = "; ".join(f"{name}: {' '.join(map(str, _listed(why)))}" for name, why in detail.items())
    return masked("; ".join(map(str, _listed(detail))))[:500]


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]
