"""The app: routes, guards and a heartbeat around the booths of all studies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from handful.crowd import organizer_routes, page_routes, worker_routes
from handful.crowd.guards import Guard
from handful.crowd.hall import Hall
from handful.crowd.messages import Health
from handful.crowd.refusals import Refusal, refuse_in_one_shape
from handful.crowd.statics import Statics
from handful.crowd.threads import in_thread

log = logging.getLogger("handful.crowd")

SETTLE_EVERY_S = 0.5


def create_app(hall: Hall) -> FastAPI:
    """The ASGI app that serves all studies of a hall. Stopping it closes them."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        hall.start()
        heartbeat = asyncio.create_task(_settle_in_time(hall))
        try:
            yield
        finally:
            hall.stop_streams()
            heartbeat.cancel()
            await asyncio.gather(heartbeat, return_exceptions=True)
            await in_thread(hall.close)
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
    app.state.hall = hall
    refuse_in_one_shape(app)
    app.add_middleware(Guard, settings=hall.settings)
    app.include_router(worker_routes.direct)  # first: looked through in this order, for every answer
    app.include_router(worker_routes.router)
    app.include_router(organizer_routes.router)
    app.include_router(page_routes.router)

    @app.get("/healthz", tags=["server"])
    async def healthz() -> Health:
        """Whether the server runs and can still store answers."""
        if not all(booth.well for booth in hall.booths.values()):
            raise Refusal(503, "storage", "Answers cannot be stored right now.")
        return Health(status="ok")

    app.mount("/static", Statics(), name="static")
    return app


async def _settle_in_time(hall: Hall) -> None:
    """Answers stand once the time to undo them is over, also those of a worker who has left."""
    while True:
        await asyncio.sleep(SETTLE_EVERY_S)
        for booth in hall.booths.values():
            try:
                await in_thread(booth.settle)
            except Exception as error:
                log.error("settle", extra={"error": type(error).__name__})
