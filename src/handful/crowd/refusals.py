"""How the app says no: one shape for every error, and one 404 for everything unknown."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from handful.crowd.statics import STATIC
from handful.errors import HandfulError, InvalidAnswer, StorageError, StudyFinished, UnknownQuestion

log = logging.getLogger("handful.crowd")

NOT_FOUND_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    f'<title>Nothing here</title><link rel="stylesheet" href="{STATIC}/app.css">'
    '<main class="page"><h1>There is nothing here</h1><p>Check the link you were given.</p></main></html>'
)


class ErrorMessage(BaseModel):
    """What every refusal looks like."""

    error: str = Field(description="a short code that does not change")
    message: str = Field(description="a sentence for people")


class Refusal(Exception):
    """An answer that is not 200, in the one shape."""

    def __init__(self, status: int, error: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.error, self.message, self.headers = status, error, message, headers

    def response(self) -> JSONResponse:
        """As JSON, never to be kept by a cache."""
        headers = {"Cache-Control": "no-store", **(self.headers or {})}
        return JSONResponse({"error": self.error, "message": self.message}, self.status, headers)


def not_found() -> Refusal:
    """The same for a study, a token, a picture or a page that does not exist, or is somebody else's."""
    return Refusal(404, "not_found", "There is nothing here.")


def not_joined() -> Refusal:
    return Refusal(401, "not_joined", "Join the study first: this browser has no cookie of it.")


def not_organizer() -> Refusal:
    return Refusal(401, "not_organizer", "This needs the organizer's key, which was printed when the server started.")


def closed() -> Refusal:
    return Refusal(409, "closed", "The study has ended and takes no more answers. Thank you.")


def too_large() -> Refusal:
    said = "The request is larger than anything that is expected here."
    return Refusal(413, "too_large", said, {"Connection": "close"})


def too_fast(seconds: float) -> Refusal:
    wait = max(1, math.ceil(seconds))
    return Refusal(429, "too_fast", f"Too many requests: try again in {wait} s.", {"Retry-After": str(wait)})


RESPONSES: dict[int | str, dict[str, object]] = {
    status: {"model": ErrorMessage, "description": text}
    for status, text in {
        400: "not a request that can be understood",
        401: "no cookie of this study",
        403: "sent by another site's page",
        404: "there is no such thing",
        409: "the study has ended, or it is too late",
        413: "the body is too large",
        422: "the body is not what was expected",
        429: "too many requests",
        503: "the storage cannot take answers now",
    }.items()
}


def refuse_in_one_shape(app: FastAPI) -> None:
    """Every exception that reaches the app becomes JSON of the one shape, and says nothing about the inside."""

    @app.exception_handler(Refusal)
    async def refused(request: Request, refusal: Refusal) -> Response:
        return _nothing_here(request) if refusal.status == 404 else refusal.response()

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404:
            return _nothing_here(request)
        if error.status_code == 413:
            return too_large().response()
        if error.status_code == 405:
            return Refusal(405, "method_not_allowed", "This address takes another method.", error.headers).response()
        return Refusal(error.status_code, "bad_request", "The request cannot be understood.").response()

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return Refusal(422, "invalid", f"{where[:80] or 'the body'}: {first['msg'][:200]}").response()

    @app.exception_handler(HandfulError)
    async def known(_: Request, error: HandfulError) -> Response:
        return _of(error).response()

    @app.exception_handler(Exception)
    async def unknown(_: Request, error: Exception) -> Response:
        return Refusal(500, "internal", "Something went wrong here. It was noted.").response()


def _nothing_here(request: Request) -> Response:
    if request.url.path.startswith("/api/") or request.method != "GET":
        return not_found().response()
    return Response(NOT_FOUND_PAGE, 404, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")


def _of(error: HandfulError) -> Refusal:
    if isinstance(error, UnknownQuestion):
        return not_found()
    if isinstance(error, StudyFinished):
        return closed()
    if isinstance(error, InvalidAnswer):
        return Refusal(422, "invalid", "The answer does not fit the question.")
    log.error("engine", extra={"error": type(error).__name__})
    if isinstance(error, StorageError):
        return Refusal(503, "storage", "Answers cannot be stored right now. Please try again in a minute.")
    return Refusal(500, "internal", "Something went wrong here. It was noted.")
