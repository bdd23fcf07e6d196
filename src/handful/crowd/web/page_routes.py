"""OpenPages and pictures. The pages are shells; what changes is fetched over the JSON interface."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, RedirectResponse
from fastapi.templating import Jinja2Templates
from markupsafe import Markup

from handful.crowd.collection.decoder_process import heif_is_known
from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.languages import DEFAULT, language, languages
from handful.crowd.messages import StudyLine
from handful.crowd.refusals import not_found
from handful.crowd.setting_bounds import BOUNDS
from handful.crowd.web.dependencies import hosted_study_of, key_of, registry_of
from handful.crowd.web.guard import CONTENT_SECURITY_POLICY
from handful.crowd.web.static_files import FOR_EVER, RETRYING, STATIC
from handful.crowd.web.thread_pool import in_thread
from handful.storage.keys import Key

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(directory=Path(__file__).parent / "templates")
templates.env.globals["static"] = STATIC
templates.env.globals["bounds"] = BOUNDS
templates.env.filters["spelled"] = lambda number: f"{number:.6f}".rstrip("0").rstrip(".")
templates.env.globals["language"] = language(DEFAULT)
templates.env.globals["retrying"] = Markup(RETRYING)


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
    """The list of the studies that the key opens; with only one, that study, unless the whole list is asked for."""
    key = await key_of(request)
    if key is None:
        return RedirectResponse("/organize/login", 303)
    registry = registry_of(request)
    owner = _may_add(request, key)
    drafts = [draft for draft in registry.drafts if draft.opened is None] if owner else []
    studies = [line for line in registry.all() if key.study in (None, _name_of(request, line.study))]
    if not whole and not drafts and len(studies) == 1:
        return RedirectResponse(f"/organize/{studies[0].study}", 303)
    if owner and not drafts and not studies:
        return RedirectResponse("/setup", 303)
    told = {line.study: told_apart(line, studies) for line in studies}
    shown = {"studies": studies, "told": told, "drafts": drafts, "key": key, "can_add": owner}
    return templates.TemplateResponse(request, "organize_front.html", shown)


@router.get("/setup")
async def new_study_page(request: Request) -> Response:
    """Where a study is set up. A draft is begun with the first thing that is put there."""
    return await setup_page("", request)


@router.get("/setup/{draft}")
async def setup_page(draft: str, request: Request) -> Response:
    """A study that is being set up."""
    key = await key_of(request)
    if key is None:
        return RedirectResponse("/organize/login", 303)
    registry = registry_of(request)
    if not _may_add(request, key) or (draft and registry.drafts.get(draft) is None):
        raise not_found()
    told = {"draft": draft, "languages": list(languages().values()), "heic": heif_is_known()}
    return templates.TemplateResponse(request, "setup.html", told)


@router.get("/setup/{draft}/preview")
async def draft_preview_page(draft: str, request: Request) -> Response:
    """The worker's page of a draft, to be looked at: nothing is counted."""
    key, registry = await key_of(request), registry_of(request)
    found = registry.drafts.get(draft)
    if key is None or not key.allows("own", None) or found is None:
        raise not_found()
    return _preview(request, found.settings.theme, f"/api/setup/{draft}", found.settings.words.language)


@router.get("/organize/{study}/preview")
async def study_preview_page(study: str, request: Request, spoken: str | None = None) -> Response:
    """The worker's page of a study with other words, to be looked at: nothing is counted."""
    key, hosted = await key_of(request), await hosted_study_of(study, request)
    if key is None or not key.allows("own", hosted.study.name):
        raise not_found()
    return _preview(request, hosted.theme, f"/api/organize/{hosted.name}", spoken or hosted.settings.language)


def _preview(request: Request, theme: str, address: str, spoken: str | None) -> Response:
    shown = {"study": "", "theme": theme, "preview": f"{address}/preview"}
    catalogue = language(spoken if spoken in languages() else DEFAULT)
    return templates.TemplateResponse(request, "worker.html", {**shown, "language": catalogue})


@router.get("/organize/{study}")
async def organizer_page(study: str, request: Request) -> Response:
    """One study, live, or with a key of the role result what was chosen.

    To those without the key, studies that exist and studies that do not look the same.
    """
    key = await key_of(request)
    if key is None:
        return RedirectResponse("/organize/login", 303)
    hosted = await hosted_study_of(study, request)
    if key.study not in (None, hosted.study.name):
        raise not_found()
    about = {"study": hosted.name, "theme": hosted.theme, "key": key, "languages": list(languages().values())}
    about |= {"short": registry_of(request).short_code(hosted), "can_add": _may_add(request, key)}
    if key.role == "result":
        return await result_page(request, hosted, f"/api/organize/{hosted.name}", leave=True)
    return templates.TemplateResponse(request, "organizer.html", about)


async def result_page(request: Request, hosted: HostedStudy, files: str, *, leave: bool = False) -> Response:
    """What was chosen, for whoever may see it; `files` is where the sheet and the report are."""
    summary = await in_thread(hosted.summary)
    shown = {"theme": hosted.theme, "summary": summary, "files": files, "leave": leave}
    return templates.TemplateResponse(request, "result.html", {**shown, "language": hosted.settings.catalogue})


def _may_add(request: Request, key: Key) -> bool:
    """Whether this key may set up another study here."""
    return key.allows("own", None) and registry_of(request).storage is not None


def _name_of(request: Request, link: str) -> str:
    return registry_of(request).studies[link].study.name


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
