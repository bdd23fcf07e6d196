"""Every error as a response of one shape, which says nothing about the inside of the server."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from handful.crowd.refusals import Refusal, not_found, study_ended, too_large
from handful.crowd.web.static_files import STATIC
from handful.errors import HandfulError, InvalidAnswer, InvalidProblem, StorageError, StudyFinished, UnknownQuestion
from handful.wording import sentence

log = logging.getLogger("handful.crowd")

NOT_FOUND_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    f'<title>Nothing here</title><link rel="stylesheet" href="{STATIC}/app.css">'
    '<main class="page"><h1>There is nothing here</h1><p>Check the link you were given.</p></main></html>'
)
BUSY_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><title>One moment</title>'
    "<h1>One moment</h1><p>Many people are opening this page. It loads again by itself in a few seconds.</p></html>"
)


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
    return Response(BUSY_PAGE, refusal.status, headers, "text/html; charset=utf-8")


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
    return Response(NOT_FOUND_PAGE, 404, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")


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
