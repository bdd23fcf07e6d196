"""Pictures of the organizer's own to practise on, while a study is set up and while it runs."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Depends, Request
from starlette.requests import ClientDisconnect

from handful.crowd import setup_messages
from handful.crowd.intake import take_practice_picture
from handful.crowd.practice import practice_cards
from handful.crowd.refusals import Refusal
from handful.crowd.registry import Registry
from handful.crowd.web.dependencies import OrganizersStudy, only_organizers, registry_of
from handful.crowd.web.error_responses import RESPONSES
from handful.crowd.web.setup_routes import TheDraft, explained
from handful.crowd.web.thread_pool import in_thread

router = APIRouter(prefix="/api", responses=RESPONSES)
BODY = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}}


@router.put("/organize/{study}/practice/{name:path}", tags=["organizer"], openapi_extra=BODY)
async def of_study(hosted: OrganizersStudy, name: str, request: Request) -> setup_messages.PracticePicture:
    """Add a picture to practise on, as the body of the request; people see it once a pair of the practice names it."""
    return await _taken(hosted.collection.folder, name, request)


@router.put(
    "/setup/{draft}/practice/{name:path}",
    tags=["setup"],
    openapi_extra=BODY,
    dependencies=[Depends(only_organizers)],
)
async def of_draft(draft: TheDraft, name: str, request: Request) -> setup_messages.PracticePicture:
    """Add a picture to practise on, as the body of the request."""
    with explained():
        draft.only_a_draft()
    return await _taken(draft.folder, name, request)


async def _taken(folder: Path, name: str, request: Request) -> setup_messages.PracticePicture:
    try:
        data = await request.body()
    except ClientDisconnect:
        raise Refusal(400, "cut_off", "The file did not arrive whole: send it again.") from None
    with explained():
        item = await in_thread(take_practice_picture, folder, name, data)
    return next(card for card in await in_thread(_cards, folder, registry_of(request)) if card.name == item.id)


def _cards(folder: Path, registry: Registry) -> list[setup_messages.PracticePicture]:
    registry.show_practice(folder)
    return practice_cards(folder)
