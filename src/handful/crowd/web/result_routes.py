"""The result behind a link that was shared: a page of its own, without a session, until the link is revoked."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from handful.crowd.host import Host
from handful.crowd.refusals import not_found
from handful.crowd.web.dependencies import registry_of
from handful.crowd.web.downloads import report_download, sheet_download
from handful.crowd.web.page_routes import result_page
from handful.crowd.web.thread_pool import in_thread

router = APIRouter(prefix="/r", include_in_schema=False)


async def _study_of(key: str, request: Request) -> Host:
    """The study whose result a link shows."""
    registry = registry_of(request)
    study = await in_thread(registry.keys.study_of, key)
    for hosted in registry.studies.values():
        if hosted.study.name == study:
            return hosted
    raise not_found()


SharedStudy = Annotated[Host, Depends(_study_of)]


@router.get("/{key}")
async def shared_result(key: str, hosted: SharedStudy, request: Request) -> Response:
    """What was chosen, and what may be claimed of it."""
    return await result_page(request, hosted, f"/r/{key}")


@router.get("/{key}/sheet.png")
async def sheet(hosted: SharedStudy) -> Response:
    """The contact sheet."""
    return await sheet_download(hosted)


@router.get("/{key}/report.html")
async def report(hosted: SharedStudy) -> Response:
    """The report that stands alone."""
    return await report_download(hosted)
