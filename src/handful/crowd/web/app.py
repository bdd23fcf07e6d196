"""The ASGI app: its routes, and what runs beside them for as long as it serves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count

from fastapi import FastAPI

from handful.crowd.identity import look_after
from handful.crowd.messages import Health
from handful.crowd.refusals import Refusal
from handful.crowd.registry import Registry
from handful.crowd.web import (
    continuing_routes,
    ending_routes,
    forgetting_routes,
    key_routes,
    organizer_routes,
    page_routes,
    panel_routes,
    people_routes,
    practice_routes,
    result_routes,
    setup_routes,
    words_routes,
    worker_routes,
)
from handful.crowd.web.error_responses import handle_errors
from handful.crowd.web.guard import Guard
from handful.crowd.web.rate_limits import RequestLimits
from handful.crowd.web.static_files import VersionedFiles
from handful.crowd.web.thread_pool import in_thread
from handful.errors import StorageError

log = logging.getLogger("handful.crowd")

TICK_EVERY_S = 0.5
TICKS_PER_LOOK = 6
"""For what other processes have begun: recruiting."""
PEOPLE_EVERY = 4  # ticks
RETIRE_EVERY = 7_200


def create_app(registry: Registry) -> FastAPI:
    """The app that serves all studies of a registry, and closes them when it stops."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        registry.start()
        await in_thread(registry.look_for_recruiting)
        heartbeat = asyncio.create_task(_tick_studies(registry))
        try:
            yield
        finally:
            registry.stop_streams()
            heartbeat.cancel()
            await asyncio.gather(heartbeat, return_exceptions=True)
            await in_thread(registry.close)
            log.info("stopped")

    app = FastAPI(
        title="handful",
        version="1",
        description="Answer and organize crowd studies. Every error has the same shape.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.registry = registry
    app.state.limits = RequestLimits.of(registry.settings.limits, lambda: registry.one_room)
    handle_errors(app)
    app.add_middleware(Guard, settings=registry.settings, one_room=lambda: registry.one_room)
    app.include_router(worker_routes.router)  # first: looked through in this order, for every answer
    app.include_router(panel_routes.router)
    app.include_router(panel_routes.organizers)
    app.include_router(organizer_routes.router)
    app.include_router(words_routes.router)
    app.include_router(practice_routes.router)
    app.include_router(continuing_routes.router)
    app.include_router(ending_routes.router)
    app.include_router(people_routes.router)
    app.include_router(forgetting_routes.router)
    app.include_router(key_routes.router)
    app.include_router(setup_routes.router)
    app.include_router(result_routes.router)
    app.include_router(page_routes.router)

    @app.get("/healthz", tags=["server"])
    async def healthz() -> Health:
        """Whether the server runs and can still store answers."""
        if await in_thread(registry.storage_fault) is not None:
            raise Refusal(503, "storage", "Answers cannot be stored right now.")
        return Health(status="ok")

    @app.get("/readyz", tags=["server"])
    async def readyz() -> Health:
        """Whether people can be asked now; 503 while the server starts, stops, or cannot store answers."""
        stopping = any(hosted.change_signal.stopping for hosted in registry.studies.values())
        if stopping or await in_thread(registry.storage_fault) is not None:
            raise Refusal(503, "storage", "Not ready.", {"Retry-After": "1"})
        return Health(status="ok")

    app.mount("/static", VersionedFiles(), name="static")
    for route in app.routes:  # FastAPI puts a router together when it is first looked through: not for the first person
        route.matches({"type": "http", "method": "GET", "path": "/", "root_path": "", "headers": []})
    return app


async def _tick_studies(registry: Registry) -> None:
    """Twice a second: let answers settle, also those of a worker who has left, and free what nobody holds any more."""
    failing: dict[str, str] = {}
    for tick in count(1):
        await asyncio.sleep(TICK_EVERY_S)
        if tick % TICKS_PER_LOOK == 0:
            with suppress(StorageError):  # what is wrong with it is told below
                await in_thread(registry.look_for_recruiting)
        if tick % RETIRE_EVERY == 0:
            with suppress(StorageError):
                await in_thread(registry.retire_people)
        for name, hosted in list(registry.studies.items()):
            try:
                await in_thread(hosted.tick)
                if tick % PEOPLE_EVERY == 0:
                    await in_thread(look_after, hosted)
                failing.pop(name, None)
            except StorageError:
                pass  # the study has told the cause, once
            except Exception as error:
                # Once for each cause, not twice a second for as long as it lasts.
                if failing.get(name) != str(error):
                    failing[name] = str(error)
                    log.error("tick", extra={"study": name, "error": type(error).__name__, "cause": str(error)})
