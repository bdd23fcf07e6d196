"""The status of a study as it is told to its organizer, on its own and after something was done."""

from __future__ import annotations

from fastapi import Request

from handful.crowd import organizer_messages
from handful.crowd.host import Host
from handful.crowd.recruitment import recruiting_status_of
from handful.crowd.status import organizer_status_of
from handful.crowd.web.dependencies import limits_of, registry_of
from handful.crowd.web.thread_pool import in_thread


async def status_now(hosted: Host, request: Request) -> organizer_messages.OrganizerStatus:
    """The status with everything in it, also of recruiting."""
    return await in_thread(_status, hosted, request)


async def status_after(hosted: Host, request: Request) -> organizer_messages.OrganizerStatus:
    """The status after something was done."""
    await in_thread(hosted.refresh_status)
    return await status_now(hosted, request)


def _status(hosted: Host, request: Request) -> organizer_messages.OrganizerStatus:
    loop = registry_of(request).panels.get(hosted.name)
    recruiting = None if loop is None else recruiting_status_of(loop)
    return organizer_status_of(hosted, len(limits_of(request).streams), recruiting)
