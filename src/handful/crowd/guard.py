"""What every request passes: where it comes from, how much it may ask, who asks, and what an error becomes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from fastapi import Cookie, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handful.crowd.assets import RETRYING_HASH, page
from handful.crowd.host import Host
from handful.crowd.identity import known_worker, parsed
from handful.crowd.refusals import Refusal, not_found, not_joined, not_organizer, study_ended, too_fast, too_large
from handful.crowd.registry import Registry
from handful.crowd.settings import Rate, ServerLimits, Settings
from handful.crowd.tokens import Worker
from handful.errors import HandfulError, InvalidAnswer, InvalidProblem, StorageError, StudyFinished, UnknownQuestion
from handful.wording import sentence

access_log = logging.getLogger("handful.crowd.access")

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
    if access_log.isEnabledFor(logging.INFO):
        route = getattr(scope.get("route"), "path", "unknown")
        access_log.info(
            "request",
            extra={"method": scope["method"][:8], "route": route, "status": status, "ms": round(seconds * 1000, 1)},
        )


Network = IPv4Network | IPv6Network
MOST_FORWARDED = 1_000  # characters of X-Forwarded-For that are looked at, from its end


class Proxies:
    """The networks whose word about other addresses is taken."""

    def __init__(self, networks: Sequence[str] = ()) -> None:
        try:
            self._networks: tuple[Network, ...] = tuple(ip_network(network, strict=False) for network in networks)
        except ValueError as error:
            raise InvalidProblem(f"--proxy {error}: expected an address or a network, like 10.0.0.0/8") from error

    def __bool__(self) -> bool:
        return bool(self._networks)

    def __contains__(self, host: str) -> bool:
        known = parsed(host)
        return known is not None and any(known in network for network in self._networks)

    def client_of(self, peer: str, forwarded: str) -> str:
        """The last address in X-Forwarded-For that is not a proxy's own; that of `peer` unless it is a proxy.

        Whatever stands before that address was written by whoever sent the request, and proves nothing.
        """
        if peer not in self:
            return peer
        client = peer
        for host in reversed(forwarded[-MOST_FORWARDED:].split(",")):
            told = host.strip()
            if parsed(told) is None:
                return client
            client = told
            if client not in self:
                return client
        return client


def seen_through(scope: Scope, proxies: Proxies) -> Scope:
    """The scope with the address of the client, where a proxy stands between."""
    client = scope.get("client")
    if not proxies or not client or client[0] not in proxies:
        return scope
    told = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return {**scope, "client": (proxies.client_of(client[0], ",".join(told)), 0)}


def address_of(scope: Scope) -> str:
    """Where a request comes from; kept in memory only, for the limits."""
    client = scope.get("client")
    return network_of(client[0]) if client else ""


@lru_cache(maxsize=10_000)
def network_of(host: str) -> str:
    """One address per household: with IPv6 everybody has a whole network of 2⁶⁴."""
    known = parsed(host)
    if known is None or isinstance(known, IPv4Address):
        return host if known is None else str(known)
    return str(ip_network((int(known), 64), strict=False))


MOST_REMEMBERED = 50_000


class RateLimiter:
    """One token bucket per name, forgotten once it is full again. For the event loop's thread alone."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self.clock = clock
        self._levels: dict[str, tuple[float, float]] = {}

    def wait(self, name: str) -> float:
        """Count one request: 0 if it is within the rate, else how many seconds until the next one is."""
        now = self.clock()
        level, at = self._levels.pop(name, (self.rate.burst, now))
        level = min(self.rate.burst, level + (now - at) * self.rate.per_second)
        within = level >= 1
        self._levels[name] = (level - 1 if within else level, now)
        if len(self._levels) > MOST_REMEMBERED:
            self._forget(now)
        return 0.0 if within else (1 - level) / self.rate.per_second

    def _forget(self, now: float) -> None:
        """Drop what is full again; if all are busy, the half that was seen longest ago."""
        self._levels = {
            name: (level, at)
            for name, (level, at) in self._levels.items()
            if level + (now - at) * self.rate.per_second < self.rate.burst
        }
        for name in list(self._levels)[: max(0, len(self._levels) - MOST_REMEMBERED // 2)]:
            del self._levels[name]


class OpenStreams:
    """How many event streams are open, in all and per address, unless all people sit behind one."""

    def __init__(self, most: int, most_per_address: int, one_room: Callable[[], bool] = lambda: False) -> None:
        self.most, self.most_per_address = most, most_per_address
        self._one_room = one_room
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._open.total()

    def enter(self, address: str) -> bool:
        """Count one more stream from this address; False if it would be too many."""
        if self._open.total() >= self.most:
            return False
        if self._open[address] >= self.most_per_address and not self._one_room():
            return False
        self._open[address] += 1
        return True

    def leave(self, address: str) -> None:
        """Count one stream from this address less."""
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]


@dataclass(frozen=True)
class RequestLimits:
    """What one server counts: open streams, and requests per worker, per joining address and per login.

    Organizers' streams have a room of their own, which no number of workers can take.
    """

    streams: OpenStreams
    organizer_streams: OpenStreams
    worker: RateLimiter
    joining: RateLimiter
    login: RateLimiter

    @classmethod
    def of(cls, limits: ServerLimits, one_room: Callable[[], bool] = lambda: False) -> RequestLimits:
        """Counters that start at nothing, for these settings."""
        return cls(
            OpenStreams(limits.streams, limits.streams_per_address, one_room),
            OpenStreams(limits.organizer_streams, limits.organizer_streams),
            RateLimiter(limits.worker),
            RateLimiter(limits.joining),
            RateLimiter(limits.login),
        )


log = logging.getLogger("handful.crowd")


class ErrorMessage(BaseModel):
    """The body of every refusal."""

    error: str = Field(description="a short code that does not change")
    message: str = Field(description="a sentence for people")


RESPONSES: dict[int | str, dict[str, object]] = {
    status: {"model": ErrorMessage, "description": text}
    for status, text in {
        400: "not a request that can be understood",
        401: "no cookie of this study",
        403: "sent by another site's page",
        404: "there is no such thing",
        409: "the study has ended, the answer is not needed, or it is too late",
        413: "the body is too large",
        422: "the body is not what was expected",
        429: "too many requests",
        503: "the storage cannot take answers now",
    }.items()
}
"""The refusals of every route, for the OpenAPI description."""


def response_of(refusal: Refusal) -> JSONResponse:
    """A refusal as JSON, never to be kept by a cache."""
    headers = {"Cache-Control": "no-store", **(refusal.headers or {})}
    return JSONResponse({"error": refusal.error, "message": refusal.message}, refusal.status, headers)


def refused_page(refusal: Refusal, path: str) -> Response:
    """A refusal for somebody who opens a page: after a moment the browser tries again by itself."""
    wait = (refusal.headers or {}).get("Retry-After")
    if wait is None or path.startswith(("/api/", "/static/", "/items/")):
        return response_of(refusal)
    headers = {"Cache-Control": "no-store", "Retry-After": wait, "Refresh": wait}
    return Response(page("busy.html"), refusal.status, headers, "text/html; charset=utf-8")


@contextmanager
def explained() -> Iterator[None]:
    """Turn what is not possible into a refusal that says so."""
    try:
        yield
    except (InvalidProblem, StudyFinished) as error:
        raise Refusal(409, "not_possible", sentence(str(error))) from error


def handle_errors(app: FastAPI) -> None:
    """Let every exception that reaches the app become a response of the one shape."""

    @app.exception_handler(Refusal)
    async def refused(request: Request, refusal: Refusal) -> Response:
        return _nothing_here(request) if refusal.status == 404 else response_of(refusal)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404:
            return _nothing_here(request)
        if error.status_code == 413:
            return response_of(too_large())
        if error.status_code == 405:
            return response_of(Refusal(405, "method_not_allowed", "This address takes another method.", error.headers))
        return response_of(Refusal(error.status_code, "bad_request", "The request cannot be understood."))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return response_of(Refusal(422, "invalid", f"{where[:80] or 'the body'}: {first['msg'][:200]}"))

    @app.exception_handler(HandfulError)
    async def known(_: Request, error: HandfulError) -> Response:
        return response_of(_refusal_of(error))

    @app.exception_handler(Exception)
    async def unknown(_: Request, error: Exception) -> Response:
        return response_of(_internal())


def _nothing_here(request: Request) -> Response:
    if request.url.path.startswith("/api/") or request.method != "GET":
        return response_of(not_found())
    return Response(page("not_found.html"), 404, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")


def _refusal_of(error: HandfulError) -> Refusal:
    if isinstance(error, UnknownQuestion):
        return not_found()
    if isinstance(error, StudyFinished):
        return study_ended()
    if isinstance(error, InvalidAnswer):
        return Refusal(422, "invalid", "The answer does not fit the question.")
    if isinstance(error, StorageError):  # its cause is told once, by whoever looks after the study
        said = "Your answer could not be stored: the server's disk or database does not take it right now. Try again."
        return Refusal(503, "storage", said, {"Retry-After": "2"})
    log.error("engine", extra={"error": type(error).__name__})
    return _internal()


def _internal() -> Refusal:
    return Refusal(500, "internal", "Something went wrong here. It was noted.")


T = TypeVar("T")

THREADS = 16
"""Answers that wait for one commit together. More make no disk faster, and get into each other's way."""

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="handful")


async def in_thread(function: Callable[..., T], *args: Any, **options: Any) -> T:
    """Run in one of our threads. A client who leaves does not stop it half-way."""
    return await asyncio.get_running_loop().run_in_executor(_threads, partial(function, *args, **options))


WORKER_COOKIE = "handful"


def registry_of(request: Request) -> Registry:
    """The studies of the server that a request came to."""
    registry: Registry = request.app.state.registry
    return registry


def limits_of(request: Request) -> RequestLimits:
    """The counters of the server that a request came to."""
    limits: RequestLimits = request.app.state.limits
    return limits


# Dependencies are coroutines even where nothing is awaited: a plain function would be run in a thread of its own.
async def hosted_study_of(study: str, request: Request) -> Host:
    """The study in the path."""
    hosted = registry_of(request).studies.get(study)
    if hosted is None:
        raise not_found()
    return hosted


TheStudy = Annotated[Host, Depends(hosted_study_of)]
WorkerCookie = Annotated[str | None, Cookie(alias=WORKER_COOKIE, include_in_schema=False)]


async def worker_at(hosted: TheStudy, request: Request, cookie: WorkerCookie = None) -> Worker:
    """The worker whose cookie this is, if they have not been too fast."""
    worker = known_worker(registry_of(request).secret, hosted, cookie)
    if worker is None:
        raise not_joined()
    wait = limits_of(request).worker.wait(worker.id)
    if wait:
        raise too_fast(wait)
    return worker


TheWorker = Annotated[Worker, Depends(worker_at)]


async def has_session(request: Request) -> bool:
    """Whether this browser is the organizer's: looked at for every request, since the key may have been renewed."""
    keys = registry_of(request).keys
    cookie = request.cookies.get(keys.cookie)
    return cookie is not None and await in_thread(keys.in_session, cookie)


async def only_organizers(request: Request) -> None:
    """Refuse everybody but the organizer."""
    if not await has_session(request):
        raise not_organizer()


async def organizers_study(study: str, request: Request) -> Host:
    """The study in the path, for the organizer."""
    # First whether there is a session: so nobody else learns which studies exist.
    await only_organizers(request)
    return await hosted_study_of(study, request)


OrganizersStudy = Annotated[Host, Depends(organizers_study)]
