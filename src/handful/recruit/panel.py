"""Any panel by configuration: how a person's id comes in, what may become of them, and what sends them back.

A panel is any service that sends people to an address with an id in it, and has an address back for each outcome.
"""

from __future__ import annotations

import hmac
import re
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from handful.errors import InvalidProblem

Outcome = Literal["finished", "refused", "not_admitted", "full", "returned", "timed_out"]
"""finished: reached the end, or nothing was left to ask them; refused: did not consent; not_admitted: the checks before
the first question were not passed; full: no place was left when they came; returned: gave their place back;
timed_out: took longer than allowed."""

OUTCOMES: tuple[Outcome, ...] = ("finished", "refused", "not_admitted", "full", "returned", "timed_out")
FREES_ITS_PLACE: frozenset[Outcome] = frozenset({"refused", "full", "returned", "timed_out"})
"""Outcomes after which somebody else may have the place."""


@dataclass(frozen=True)
class Identity:
    """Who says they arrived: the panel's id of the person, of this visit, and of the study over there."""

    participant: str
    session: str | None = None
    study: str | None = None


@dataclass(frozen=True)
class Redirect:
    """The browser goes to this address."""

    address: str


@dataclass(frozen=True)
class ShowCode:
    """The page shows a code, which the person types in at the panel."""

    code: str


@dataclass(frozen=True)
class FormPost:
    """The browser posts a form to this address."""

    address: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ServerCall:
    """Our server calls this address; the person may close the page."""

    address: str


Action = Redirect | ShowCode | FormPost | ServerCall


@dataclass(frozen=True)
class PanelEnding:
    """What became of somebody from a panel, and how they go back there.

    address: where the browser goes. code: to be typed in at the panel. post: the fields of a form to post to `address`.
    """

    outcome: Outcome
    title: str
    words: str
    address: str | None = None
    code: str | None = None
    post: dict[str, str] | None = None


_WORDS: dict[Outcome, tuple[str, str]] = {
    "finished": ("That was all. Thank you!", "Your answers are stored. Go back now, so that you are paid."),
    "refused": (
        "Thank you for looking in",
        "You did not agree, so nothing was asked of you. Please return your place where you came from.",
    ),
    "not_admitted": (
        "Thank you for trying",
        "This task is not the right one for you today. You are paid for your time; go back to end it.",
    ),
    "full": ("All places are taken", "Enough people are taking part already. Thank you for coming."),
    "returned": ("You have returned this", "Your place went to somebody else. Thank you for what you have answered."),
    "timed_out": ("The time is over", "Your place went to somebody else. Thank you for what you have answered."),
}


EACH = "each"
"""As `code`: every person gets a code of their own."""

MOST_ID = 200
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:=+-]{0,199}")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_BLANKS = re.compile(r"\{(\w+)\}")
_FILLED = {"participant", "session", "study", "code"}
_CODE_LETTERS = 10


@dataclass(frozen=True)
class Panel:
    """How people come and go. Addresses may hold {participant}, {session}, {study} and {code}.

    id, session, study: the names of the parameters in the address that people come by.
    endings: an address for each outcome that has one; outcomes without one end on a page of ours.
    code:    shown to those who finished, the same for all, or "each": one for every person.
    call:    an address that our server calls when somebody has finished.
    post:    an address that the browser posts the session and the code to when somebody has finished.
    preview: values of the session that mean "only looking", which counts nothing.
    places:  how many may be inside or finished; None where the panel counts.
    minutes: after how long somebody who is silent has lost their place.
    """

    name: str
    id: str
    session: str | None = None
    study: str | None = None
    endings: Mapping[Outcome, str] = field(default_factory=dict)
    code: str | None = None
    call: str | None = None
    post: str | None = None
    preview: tuple[str, ...] = ()
    places: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        for parameter in (self.id, self.session, self.study):
            if parameter is not None and not _PARAMETER.fullmatch(parameter):
                raise InvalidProblem(f"{parameter!r} cannot be a parameter in an address: expected a name like pid")
        for outcome, address in self.endings.items():
            if outcome not in OUTCOMES:
                raise InvalidProblem(f"there is no outcome {outcome!r}: expected one of {', '.join(OUTCOMES)}")
            _check_address(outcome, address)
        for name, other in (("call", self.call), ("post", self.post)):
            if other is not None:
                _check_address(name, other)
        if self.places is not None and self.places < 1:
            raise InvalidProblem(f"a panel with {self.places} places lets nobody in: give 1 or more")

    def identity(self, given: Mapping[str, str]) -> Identity | None:
        """Who the parameters of an address say they are; None for a preview or an address without an id."""
        participant = given.get(self.id, "").strip()
        session = given.get(self.session, "").strip() if self.session else ""
        study = given.get(self.study, "").strip() if self.study else ""
        if session in self.preview or participant in self.preview:
            return None
        if not _ID.fullmatch(participant) or (self.session and not _ID.fullmatch(session)):
            return None
        return Identity(participant, session or None, study if _ID.fullmatch(study) else None)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that are read from an address."""
        return tuple(name for name in (self.id, self.session, self.study) if name is not None)

    @property
    def post_origin(self) -> str | None:
        """Where forms go to, for the Content-Security-Policy."""
        if self.post is None:
            return None
        parts = urlsplit(self.post)
        return f"{parts.scheme}://{parts.netloc}"

    def code_of(self, who: Identity, key: bytes) -> str | None:
        """The code of somebody who has finished."""
        return personal_code(key, who.participant, who.session) if self.code == EACH else self.code

    def actions(self, outcome: Outcome, who: Identity, key: bytes) -> tuple[Action, ...]:
        """What is done for somebody with this outcome, in order; nothing is a page of ours and no more."""
        code = self.code_of(who, key) if outcome == "finished" else None
        done: list[Action] = []
        if outcome == "finished":
            if self.call is not None:
                done.append(ServerCall(_filled(self.call, who, code)))
            if self.post is not None:
                fields = ((self.session or self.id, who.session or who.participant), ("code", code or "finished"))
                return (*done, FormPost(self.post, fields))
        address = self.endings.get(outcome)
        if code is not None and (address is None or "{code}" not in address):
            done.append(ShowCode(code))
        if address is not None:
            done.append(Redirect(_filled(address, who, code)))
        return tuple(done)

    def ending(self, outcome: Outcome, who: Identity, key: bytes) -> PanelEnding:
        """What the page says to somebody with this outcome, and where it sends them."""
        title, words = _WORDS[outcome]
        ending = PanelEnding(outcome, title, words)
        for action in self.actions(outcome, who, key):
            if isinstance(action, Redirect):
                ending = replace(ending, address=action.address)
            elif isinstance(action, ShowCode):
                ending = replace(ending, code=action.code)
            elif isinstance(action, FormPost):
                ending = replace(ending, address=action.address, post=dict(action.fields))
        return ending

    def to_dict(self) -> dict[str, Any]:
        """The panel as plain JSON, as it is stored."""
        return {**asdict(self), "endings": dict(self.endings), "preview": list(self.preview)}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Panel:
        """A panel that was stored."""
        return cls(**{**told, "preview": tuple(told.get("preview", ()))})


def panel(
    *,
    id: str,
    name: str = "panel",
    session: str | None = None,
    study: str | None = None,
    done: str | None = None,
    refused: str | None = None,
    not_admitted: str | None = None,
    full: str | None = None,
    returned: str | None = None,
    timed_out: str | None = None,
    **more: Any,
) -> Panel:
    """A panel, with the address back for each outcome; `done` is where those go who finished."""
    found: dict[Outcome, str | None] = {
        "finished": done,
        "refused": refused,
        "not_admitted": not_admitted,
        "full": full,
        "returned": returned,
        "timed_out": timed_out,
    }
    endings = {outcome: address for outcome, address in found.items() if address is not None}
    return Panel(name, id, session, study, endings, **more)


def preset(name: str, **more: Any) -> Panel:
    """A panel whose parameters are known: prolific, connect or sona; `more` is as for `panel`."""
    known: dict[str, dict[str, Any]] = {
        "prolific": {"id": "PROLIFIC_PID", "session": "SESSION_ID", "study": "STUDY_ID"},
        "connect": {"id": "participantId", "session": "assignmentId", "study": "projectId"},
        "sona": {"id": "sona_code"},
    }
    if name not in known:
        raise InvalidProblem(f"there is no preset {name!r}: expected {', '.join(known)}, or a panel with its own id=")
    if name == "connect" and "done" not in more:
        more["done"] = "https://connect.cloudresearch.com/participant/project/{study}/complete"
    return panel(**{"name": name, **known[name], **more})


def _check_address(what: str, address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme not in ("https", "http") or not parts.netloc:
        raise InvalidProblem(f"the address for {what!r}, {address!r}, is not one: expected https://…")
    if "{" in parts.netloc:
        raise InvalidProblem(f"the host of the address for {what!r} cannot be filled in: {address!r}")
    unknown = set(_BLANKS.findall(address)) - _FILLED
    if unknown:
        raise InvalidProblem(
            f"the address for {what!r} has {{{min(unknown)}}}: "
            "expected {participant}, {session}, {study} or {code}"
        )


def _filled(address: str, who: Identity, code: str | None) -> str:
    values = {"participant": who.participant, "session": who.session, "study": who.study, "code": code}
    return _BLANKS.sub(lambda blank: quote(values[blank[1]] or "", safe=""), address)


def personal_code(key: bytes, participant: str, session: str | None = None) -> str:
    """The code of one person: letters and digits that only who has the key can make."""
    parts = (b"code", participant.encode(), (session or "").encode())
    told = b"".join(len(part).to_bytes(4) + part for part in parts)
    return b32encode(hmac.digest(key, told, sha256)).decode()[:_CODE_LETTERS]
