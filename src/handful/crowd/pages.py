"""Pages and pictures. The pages are shells; what changes is fetched over the JSON interface."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from handful.crowd.assets import FOR_EVER, templates
from handful.crowd.decoding import heif_is_known
from handful.crowd.guard import CONTENT_SECURITY_POLICY, has_session, hosted_study_of, in_thread, registry_of
from handful.crowd.host import Host
from handful.crowd.languages import DEFAULT, language, languages
from handful.crowd.messages import StudyLine
from handful.crowd.refusals import not_found
from handful.crowd.replies import report_download, sheet_download

router = APIRouter(include_in_schema=False)


@router.get("/")
async def front(request: Request) -> Response:
    """The list of studies; with only one, that study."""
    studies = registry_of(request).public()
    if len(studies) == 1:
        return RedirectResponse(f"/s/{studies[0].study}", 303)
    told = {line.study: told_apart(line, studies) for line in studies}
    return templates.TemplateResponse(request, "front.html", {"studies": studies, "told": told})


def told_apart(line: StudyLine, studies: Sequence[StudyLine]) -> str:
    """When a study was begun; where others have its theme, which of them it is by that."""
    day = datetime.fromtimestamp(line.began, UTC).strftime("%d %b %Y").lstrip("0")
    same = sorted(other.began for other in studies if other.theme == line.theme)
    return day if len(same) == 1 else f"{day}, {same.index(line.began) + 1} of {len(same)}"


@router.get("/s/{study}")
async def worker_page(study: str, request: Request) -> Response:
    """The page where workers answer."""
    hosted = await hosted_study_of(study, request)
    response = templates.TemplateResponse(
        request, "worker.html", {"study": hosted.name, "theme": hosted.theme, "language": hosted.settings.catalogue}
    )
    origin = None if hosted.desk is None else hosted.desk.recruitment.panel.post_origin
    if origin is not None:  # people from this panel go back by a form
        policy = CONTENT_SECURITY_POLICY.replace("form-action 'self'", f"form-action 'self' {origin}")
        response.headers["Content-Security-Policy"] = policy
    return response


@router.get("/j/{code}")
async def short_link(code: str, request: Request) -> Response:
    """To a study, by a few letters that can be read out or typed."""
    registry = registry_of(request)
    for hosted in registry.studies.values():
        if registry.short_code(hosted) == code.lower():
            return RedirectResponse(f"/s/{hosted.name}", 303)
    raise not_found()


@router.get("/organize/login")
async def login_page(request: Request) -> Response:
    """Where the key goes. The link printed at start has it after the #, which no server and no log ever sees."""
    return templates.TemplateResponse(request, "login.html", {})


@router.get("/organize")
async def organize_front(request: Request, whole: bool = False) -> Response:
    """The list of the studies; with only one, that study, unless the whole list is asked for."""
    if not await has_session(request):
        return RedirectResponse("/organize/login", 303)
    registry = registry_of(request)
    can_add = registry.storage is not None
    drafts = [draft for draft in registry.drafts if draft.opened is None] if can_add else []
    studies = registry.all()
    if not whole and not drafts and len(studies) == 1:
        return RedirectResponse(f"/organize/{studies[0].study}", 303)
    if can_add and not drafts and not studies:
        return RedirectResponse("/setup", 303)
    told = {line.study: told_apart(line, studies) for line in studies}
    shown = {"studies": studies, "told": told, "drafts": drafts, "can_add": can_add}
    return templates.TemplateResponse(request, "organize_front.html", shown)


@router.get("/setup")
async def new_study_page(request: Request) -> Response:
    """Where a study is set up. A draft is begun with the first thing that is put there."""
    return await setup_page("", request)


@router.get("/setup/{draft}")
async def setup_page(draft: str, request: Request) -> Response:
    """A study that is being set up."""
    if not await has_session(request):
        return RedirectResponse("/organize/login", 303)
    registry = registry_of(request)
    if registry.storage is None or (draft and registry.drafts.get(draft) is None):
        raise not_found()
    told = {"draft": draft, "languages": list(languages().values()), "heic": heif_is_known()}
    return templates.TemplateResponse(request, "setup.html", told)


@router.get("/setup/{draft}/preview")
async def draft_preview_page(draft: str, request: Request) -> Response:
    """The worker's page of a draft, to be looked at: nothing is counted."""
    found = registry_of(request).drafts.get(draft)
    if found is None or not await has_session(request):
        raise not_found()
    return _preview(request, found.settings.theme, f"/api/setup/{draft}", found.settings.words.language)


@router.get("/organize/{study}/preview")
async def study_preview_page(study: str, request: Request, spoken: str | None = None) -> Response:
    """The worker's page of a study with other words, to be looked at: nothing is counted."""
    hosted = await hosted_study_of(study, request)
    if not await has_session(request):
        raise not_found()
    return _preview(request, hosted.theme, f"/api/organize/{hosted.name}", spoken or hosted.settings.language)


def _preview(request: Request, theme: str, address: str, spoken: str | None) -> Response:
    shown = {"study": "", "theme": theme, "preview": f"{address}/preview"}
    catalogue = language(spoken if spoken in languages() else DEFAULT)
    return templates.TemplateResponse(request, "worker.html", {**shown, "language": catalogue})


@router.get("/organize/{study}")
async def organizer_page(study: str, request: Request) -> Response:
    """One study, live. To those without a session, studies that exist and studies that do not look the same."""
    if not await has_session(request):
        return RedirectResponse("/organize/login", 303)
    hosted, registry = await hosted_study_of(study, request), registry_of(request)
    about = {
        "study": hosted.name,
        "theme": hosted.theme,
        "languages": list(languages().values()),
        "short": registry.short_code(hosted),
        "can_add": registry.storage is not None,
    }
    return templates.TemplateResponse(request, "organizer.html", about)


async def result_page(request: Request, hosted: Host, files: str) -> Response:
    """What was chosen, for whoever may see it; `files` is where the sheet and the report are."""
    summary = await in_thread(hosted.summary)
    shown = {"theme": hosted.theme, "summary": summary, "files": files}
    return templates.TemplateResponse(request, "result.html", {**shown, "language": hosted.settings.catalogue})


@router.get("/items/{name}")
async def picture(name: str, request: Request) -> Response:
    """A picture by the hash of its content; its name can only be known from a question that shows it."""
    path = registry_of(request).picture(name)
    if path is None:
        raise not_found()
    try:
        found = await in_thread(path.stat)
    except FileNotFoundError:  # let go of at this moment
        raise not_found() from None
    return FileResponse(path, media_type="image/webp", headers={"Cache-Control": FOR_EVER}, stat_result=found)


async def _study_of(key: str, request: Request) -> Host:
    """The study whose result a link shows."""
    registry = registry_of(request)
    study = await in_thread(registry.keys.study_of, key)
    for hosted in registry.studies.values():
        if hosted.study.name == study:
            return hosted
    raise not_found()


SharedStudy = Annotated[Host, Depends(_study_of)]


@router.get("/r/{key}")
async def shared_result(key: str, hosted: SharedStudy, request: Request) -> Response:
    """What was chosen, and what may be claimed of it."""
    return await result_page(request, hosted, f"/r/{key}")


@router.get("/r/{key}/sheet.png")
async def sheet(hosted: SharedStudy) -> Response:
    """The contact sheet."""
    return await sheet_download(hosted)


@router.get("/r/{key}/report.html")
async def report(hosted: SharedStudy) -> Response:
    """The report that stands alone."""
    return await report_download(hosted)
