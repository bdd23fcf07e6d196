"""Prolific's interface, as far as it is needed: read submissions, approve them, pay bonuses, stop a study.

What comes back is read tolerantly; what goes wrong is told without ids and tokens.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from handful.errors import InvalidProblem, RecruitingFailed
from handful.recruit.ledger import AWAITING, GONE, OVER, SCREENED_OUT, TIMED_OUT
from handful.recruit.plan import as_decimal

TOKEN, URL = "PROLIFIC_TOKEN", "PROLIFIC_URL"
HOST = "https://api.prolific.com"
PAGE = 100
PATIENCE_S = 20.0
MOST_APPROVALS, MOST_BONUSES = 1000, 200
"""How many the platform takes in one call."""


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


@dataclass(frozen=True)
class Submission:
    """One visit of one participant. Addresses, strata and the like are sent along and never read.

    `bonuses` is None where a list does not tell them.
    """

    id: str
    participant: str
    study: str
    status: str
    bonuses: tuple[int, ...] | None = None

    @property
    def inside(self) -> bool:
        """Whether the person may still answer. A status nobody has heard of is taken as yes."""
        return self.status not in GONE | OVER

    @classmethod
    def from_detail(cls, told: Mapping[str, Any]) -> Submission:
        """As a single submission is told."""
        bonuses = told.get("bonus_payments")
        return cls(
            str(told.get("id", "")),
            str(told.get("participant", told.get("participant_id", ""))),
            str(told.get("study_id", "")),
            _status(told.get("status")),
            None if bonuses is None else tuple(int(cents) for cents in bonuses),
        )

    @classmethod
    def from_line(cls, told: Mapping[str, Any], study: str) -> Submission:
        """As a list tells it, which names the participant otherwise, and the study not at all."""
        participant = str(told.get("participant_id", told.get("participant", "")))
        return cls(str(told.get("id", "")), participant, study, _status(told.get("status")))


class ProlificClient:
    """One call per method. May be used from any thread; every call has a connection of its own."""

    def __init__(self, token: str, url: str = HOST, patience_s: float = PATIENCE_S) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidProblem(f"{URL} is not an address: expected one like {HOST}")
        if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise InvalidProblem(f"{URL} would send the token unencrypted: expected https://")
        self._host = parts.hostname
        self._http = httpx.Client(
            base_url=f"{parts.scheme}://{parts.netloc}/api/v1",
            headers={"Authorization": f"Token {token}", "Accept": "application/json"},
            timeout=patience_s,
            limits=httpx.Limits(max_keepalive_connections=0),  # a kept one may end just as a payment is sent
        )

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
        return f"ProlificClient({self._host})"

    def study(self, id_: str) -> dict[str, Any]:
        """The study that the organizer made, as the platform shows it now."""
        return self._object("show the study", "GET", f"/studies/{id_}/")

    def stop(self, id_: str) -> None:
        """Let nobody in any more; those inside may finish."""
        self._call("stop the study", "POST", f"/studies/{id_}/transition/", {"action": "STOP"})

    def submission(self, session: str) -> Submission:
        """One submission, with its bonuses."""
        return Submission.from_detail(self._object("show the submission", "GET", f"/submissions/{session}/"))

    def submissions(self, study: str) -> list[Submission]:
        """All submissions of a study."""
        query = {"study": study, "ordering": "started_at"}
        lines = self._pages("list the submissions", "/submissions/", query)
        return [Submission.from_line(line, study) for line in lines]

    def approve(self, sessions: Sequence[str]) -> None:
        """Approve up to a thousand; they are processed later."""
        if not 0 < len(sessions) <= MOST_APPROVALS:
            raise InvalidProblem(f"{len(sessions)} submissions at once: expected 1 to {MOST_APPROVALS:,}")
        said = {"submission_ids": list(sessions)}
        self._call("approve the submissions", "POST", "/submissions/bulk-approve/", said)

    def hand_in_bonuses(self, study: str, bonuses: Sequence[tuple[str, int]]) -> str:
        """Hand in up to 200 bonuses of so many cents for sessions; gives the list's id. Nothing is paid yet."""
        lines = "\n".join(f"{session},{as_decimal(cents)}" for session, cents in bonuses)
        said = {"study_id": study, "csv_bonuses": lines}
        told = self._object("take the bonuses", "POST", "/submissions/bonus-payments/", said)
        meant = sum(cents for _, cents in bonuses)
        if _cents(told["amount"]) != meant:
            raise RecruitingFailed(
                f"Prolific understood bonuses of {told['amount']} cents where {meant} were meant: nothing was paid"
            )
        return str(told["id"])

    def pay_bonuses(self, list_id: str) -> None:
        """Pay a list that was handed in. Calling this twice pays twice."""
        self._call("pay the bonuses", "POST", f"/bulk-bonus-payments/{list_id}/pay/", {})

    def _pages(self, what: str, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """The lines of all pages. The end is where no next page is named; one beyond it would be a 404."""
        page = 1
        while True:
            asked = httpx.QueryParams({**query, "page": page, "page_size": PAGE})
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
        reply = self._exchange(what, method, path, said)
        status, told = reply.status_code, None
        if reply.content:
            try:
                told = reply.json()
            except ValueError:
                if status < 400 or status >= 500:
                    raise Unknown(f"Prolific's reply is not JSON ({status}) when asked to {what}") from None
        if status >= 500:
            raise Unknown(f"Prolific failed ({status}) when asked to {what}")
        if status >= 300:
            refused = {404: NotThere, 429: Busy}.get(status, Refused)
            raise refused(status, what, _words(told))
        return told

    def _exchange(self, what: str, method: str, path: str, said: object) -> httpx.Response:
        try:
            return self._http.request(method, path, json=said)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NotSent(f"Prolific cannot be reached ({_cause(error)}) to {what}") from None
        except httpx.HTTPError as error:
            raise Unknown(f"Prolific gave no reply ({_cause(error)}) when asked to {what}") from None


def _cause(error: httpx.HTTPError) -> str:
    """The kind of an error: its words may hold the address, and that an id."""
    return type(error).__name__


def _status(told: object) -> str:
    """Spelled as in the documentation, should a reply spell it with an underscore."""
    text = str(told or "UNKNOWN").upper()
    return {"AWAITING_REVIEW": AWAITING, "TIMED_OUT": TIMED_OUT, "SCREENED_OUT": SCREENED_OUT}.get(text, text)


def _cents(value: object) -> int:
    """Money comes in whole cents; a number like 450.0 is one, 4.5 is not."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise Unknown(f"Prolific told an amount that is not a whole number of cents: {value!r}")
    return int(value)


def _words(told: Any) -> str:
    """What an error says, in whichever of its shapes, without ids."""
    error = told.get("error", told) if isinstance(told, dict) else None
    if not isinstance(error, dict):
        return "no reason was given"
    detail = error.get("detail") or error.get("message") or error.get("title") or "no reason was given"
    if isinstance(detail, dict):
        detail = "; ".join(f"{name}: {' '.join(map(str, _listed(why)))}" for name, why in detail.items())
    return re.sub(r"[0-9a-fA-F]{24}", "…", "; ".join(map(str, _listed(detail))))[:500]


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]
