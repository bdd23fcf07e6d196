"""How the app says no: the status, the code and the sentence of each refusal."""

from __future__ import annotations

import math
from collections.abc import Mapping


class Refusal(Exception):
    """A request that is not granted; it becomes an HTTP response."""

    def __init__(self, status: int, error: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.error, self.message, self.headers = status, error, message, headers


def not_found() -> Refusal:
    """The same for a study, a token, a picture or a page that does not exist, or is somebody else's."""
    return Refusal(404, "not_found", "There is nothing here.")


def not_joined() -> Refusal:
    """The browser has no cookie of the study."""
    return Refusal(401, "not_joined", "Join the study first: this browser has no cookie of it.")


def not_organizer() -> Refusal:
    """The browser has no session of the organizer."""
    return Refusal(401, "not_organizer", "This needs the organizer's key, which was printed when the server started.")


def study_ended() -> Refusal:
    """The study takes no more answers."""
    return Refusal(409, "closed", "The study has ended and takes no more answers. Thank you.")


def not_needed() -> Refusal:
    """The person is excluded or has withdrawn: what they held counts no more, while others go on."""
    said = "The study no longer needs your answers, so this one was not counted. Thank you for taking part."
    return Refusal(409, "not_needed", said)


def too_late() -> Refusal:
    """The answer can no longer be undone."""
    return Refusal(409, "too_late", "This answer has been counted and can no longer be changed.")


def too_large() -> Refusal:
    """The body is larger than the server reads."""
    said = "The request is larger than anything that is expected here."
    return Refusal(413, "too_large", said, {"Connection": "close"})


def too_fast(seconds: float) -> Refusal:
    """More requests than the rate allows; the client may try again after so many seconds."""
    wait = max(1, math.ceil(seconds))
    return Refusal(429, "too_fast", f"Too many requests: try again in {wait} s.", {"Retry-After": str(wait)})


def not_invited() -> Refusal:
    """Somebody came without an invitation, or with one that lets nobody in."""
    return Refusal(403, "not_invited", "This study is by invitation: open the link that was sent to you.")


def invitation_used() -> Refusal:
    """Somebody came with an invitation that somebody is in by."""
    return Refusal(403, "invitation_used", "This invitation has been used in another browser.")
