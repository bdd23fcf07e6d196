"""What an organizer publishes of a study: its preregistration before the start, the report and the picks at the end."""

from __future__ import annotations

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

import segno
from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from handful.crowd.host import Host
from handful.crowd.outputs import write_picks
from handful.crowd.refusals import Refusal, not_found
from handful.crowd.registration import built_in_words, registration_now
from handful.crowd.registration import preregister as preregistered
from handful.crowd.registry import Registry
from handful.crowd.web.dependencies import OrganizersStudy, registry_of
from handful.crowd.web.downloads import attachment, file_response, report_download
from handful.crowd.web.error_responses import RESPONSES, explained
from handful.crowd.web.thread_pool import in_thread
from handful.study.preregistration import to_json
from handful.study.preregistration_page import page_of

RECORD: dict[int | str, dict[str, object]] = {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}

router = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)


@router.post("/{study}/preregister", response_class=Response, responses=RECORD)
async def preregister(hosted: OrganizersStudy) -> Response:
    """Write down what the study will do, to be published before the first answer. Again: the study as it is now.

    409 `not_possible`: the study is over, and was not registered.
    """
    with explained():
        record = await in_thread(preregistered, hosted)
    name = f"{hosted.name}-preregistration.json"
    return Response(to_json(record), media_type="application/json", headers=attachment(name))


@router.get("/{study}/preregistration.html", response_class=Response, responses=file_response("text/html"))
async def preregistration(hosted: OrganizersStudy) -> Response:
    """The preregistration as a page that stands alone; 404 before there is one."""
    registered = hosted.study.fold.registered
    if registered is None:
        raise not_found()
    record = await in_thread(registration_now, hosted)
    if record["hash"] != registered.hash:
        raise Refusal(409, "departed", "The study has changed since it was registered; use the files you kept then.")
    page = page_of(record, registered.answers, built_in_words(record))
    return Response(page, media_type="text/html", headers=attachment(f"{hosted.name}-preregistration.html"))


@router.get("/{study}/link.svg", response_class=Response, responses=file_response("image/svg+xml"))
async def link_picture(hosted: OrganizersStudy, request: Request) -> Response:
    """The link to share as a QR code, for a poster or a slide."""
    scheme = "https" if registry_of(request).settings.secure_cookies else "http"
    code = segno.make(f"{scheme}://{request.headers['host']}/s/{hosted.name}", error="m")
    picture = BytesIO()
    code.save(picture, kind="svg", scale=8, border=3, dark="#1f2b35", light="#ffffff", xmldecl=False)
    return Response(picture.getvalue(), media_type="image/svg+xml")


@router.get("/{study}/report.html", response_class=Response, responses=file_response("text/html"))
async def report(hosted: OrganizersStudy) -> Response:
    """The selection, how it came about and what may be claimed, as a page that stands alone."""
    return await report_download(hosted)


@router.get("/{study}/picks.zip", response_class=FileResponse, responses=file_response("application/zip"))
async def picks(hosted: OrganizersStudy, request: Request) -> Response:
    """The chosen items as files, numbered in the order picked: as they were uploaded, or else as they were shown."""
    path = await in_thread(_picks, hosted, registry_of(request))
    name = f"{hosted.name}-picks.zip"
    return FileResponse(path, filename=name, background=BackgroundTask(shutil.rmtree, path.parent, ignore_errors=True))


def _picks(hosted: Host, registry: Registry) -> Path:
    result = hosted.latest_result()
    if not result.chosen:
        raise Refusal(409, "nothing_chosen", "Nothing is chosen yet, so there are no files to give.")
    folder = Path(tempfile.mkdtemp(prefix="handful-picks-"))
    try:
        written = write_picks(
            hosted.collection, result, hosted.theme, registry.originals_of(hosted), folder / hosted.name
        )
        return Path(shutil.make_archive(str(folder / "picks"), "zip", folder, written.name))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
