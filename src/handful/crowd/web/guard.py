"""What every request passes: limits, the check of where it comes from, and the headers of every response."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handful.crowd.refusals import Refusal, too_fast, too_large
from handful.crowd.settings import Settings
from handful.crowd.web.addresses import Proxies, address_of, seen_through
from handful.crowd.web.error_responses import refused_page
from handful.crowd.web.rate_limits import RateLimiter
from handful.crowd.web.static_files import RETRYING_HASH

log = logging.getLogger("handful.crowd.access")

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; "
    f"script-src 'self' '{RETRYING_HASH}'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
FILES = ("/s/", "/static/", "/items/")
SAFE = {"GET", "HEAD", "OPTIONS"}
MOST_DIGITS = 18  # of a length; Python refuses to read numbers of thousands of digits


def _is_file(path: str) -> bool:
    return path.startswith(FILES) or (path.startswith("/api/s/") and "/pictures/" in path)


class Guard:
    """An ASGI middleware around the whole app."""

    def __init__(self, app: ASGIApp, settings: Settings, one_room: Callable[[], bool] = lambda: False) -> None:
        self.app = app
        self._one_room = one_room
        self.hosts = settings.hosts
        self.limits = settings.limits
        self.addresses = RateLimiter(settings.limits.address)
        self.files = RateLimiter(settings.limits.files)
        self.proxies = Proxies(settings.proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500
        scope = seen_through(scope, self.proxies)

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if "cache-control" not in headers:
                    headers["Cache-Control"] = "no-store"
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is not None:
                await refused_page(refusal, scope["path"])(scope, receive, send_guarded)
            else:
                await self.app(scope, _limited(receive, self._most_bytes(scope)), send_guarded)
        finally:
            _log(scope, status, time.perf_counter() - began)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.hosts is not None and _name(host) not in self.hosts:
            return Refusal(400, "bad_host", "This server is not known under that name.")
        if scope["method"] not in SAFE and not _same_origin(headers):
            return Refusal(403, "cross_origin", "This was sent by a page of another site and is not taken.")
        length = headers.get("content-length", "0")
        if not (
            length.isascii()
            and length.isdecimal()
            and len(length) <= MOST_DIGITS
            and int(length) <= self._most_bytes(scope)
        ):
            return too_large()
        # A page, its scripts and its pictures come at once, and cost little: they are not counted like answers.
        limiter = self.files if _is_file(scope["path"]) else self.addresses
        wait = limiter.wait(address_of(scope))
        return too_fast(wait) if wait and not self._one_room() else None

    def _most_bytes(self, scope: Scope) -> int:
        """How large a body may be. What is large is read only after the key was checked."""
        path, method = scope["path"], scope["method"]
        if method == "PUT" and path.startswith(("/api/organize/", "/api/setup/")) and "/practice/" in path:
            return self.limits.picture_bytes
        if path.startswith("/api/organize/") and path.endswith(("/new-study", "/words", "/preview")):
            return self.limits.settings_bytes  # it names items, or has a long consent
        if not path.startswith("/api/setup"):
            return self.limits.body_bytes
        if method == "PUT" and "/files/" in path:
            return self.limits.upload_bytes
        return self.limits.texts_bytes if method == "POST" and path.endswith("/texts") else self.limits.settings_bytes


def _limited(receive: Receive, left: int) -> Receive:
    """Count what really comes, for a body whose length was not told."""

    async def counting() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413)
        return message

    return counting


def _same_origin(headers: Headers) -> bool:
    """Whether a request that changes something comes from our own pages, or from no page at all.

    Every browser tells one of the two headers with a POST; a program that answers over the JSON interface tells none.
    """
    site = headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    if origin is None:
        return True
    try:
        own = urlsplit(origin).netloc
    except ValueError:  # such as http://[
        return False
    return own != "" and own == headers.get("host")


def _name(host: str) -> str:
    return host.rsplit(":", 1)[0] if not host.endswith("]") else host


def _log(scope: Scope, status: int, seconds: float) -> None:
    """The route, not the address asked for: nobody's token, name or address gets into the log."""
    if log.isEnabledFor(logging.INFO):
        route = getattr(scope.get("route"), "path", "unknown")
        log.info(
            "request",
            extra={"method": scope["method"][:8], "route": route, "status": status, "ms": round(seconds * 1000, 1)},
        )
