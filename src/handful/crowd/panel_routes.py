"""Arriving from a panel and going back there; and what the organizer decides about recruited people."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request, Response

from handful.crowd import messages
from handful.crowd.guard import (
    RESPONSES,
    WORKER_COOKIE,
    OrganizersStudy,
    TheStudy,
    address_of,
    in_thread,
    limits_of,
    registry_of,
)
from handful.crowd.host import Host
from handful.crowd.recruitment import plan_for, recruiting_status_of
from handful.crowd.refusals import Refusal, not_found, too_fast
from handful.crowd.tokens import chance_of, cookie_from
from handful.errors import HandfulError
from handful.recruit.desk import PanelLoop
from handful.recruit.ledger import Participant, Store
from handful.recruit.payroll import Payroll, begin_on_prolific

VISIT_COOKIE = "handful_visit"
COOKIE_S = 30 * 24 * 3600

router = APIRouter(prefix="/api", tags=["worker"], responses=RESPONSES)
organizers = APIRouter(prefix="/api/organize", tags=["organizer"], responses=RESPONSES)


def set_worker_cookie(response: Response, name: str, cookie: str, study: str, secure: bool) -> None:
    """A cookie that only this study's calls carry."""
    response.set_cookie(
        name, cookie, max_age=COOKIE_S, path=f"/api/s/{study}", httponly=True, samesite="lax", secure=secure
    )


def has_arrived(hosted: Host, request: Request) -> bool:
    """Whether this browser came from the study's panel."""
    return _visitor(hosted, request) is not None


def _visitor(hosted: Host, request: Request) -> Participant | None:
    cookie = request.cookies.get(VISIT_COOKIE)
    if hosted.desk is None or cookie is None:
        return None
    return hosted.desk.of_chance(chance_of(registry_of(request).secret, hosted.name, cookie, "visit"))


async def cookie_of_visit(hosted: Host, request: Request) -> tuple[str | None, str | None]:
    """The name and the worker's cookie of somebody who came from a panel; None where people come without one."""
    if hosted.desk is None and not hosted.comes_by("panel"):
        return None, None
    secret, person = registry_of(request).secret, _visitor(hosted, request)
    known = None if person is None else hosted.people.named(person.pseudonym)
    if (
        hosted.desk is None
        or person is None
        or person.chance is None
        or (known is None and hosted.study.state.workers.knows(person.pseudonym))  # forgotten
    ):
        raise Refusal(409, "preview", "This study is for people who come from its panel; here nothing is counted.")
    if person.inside:
        await in_thread(hosted.desk.consent, person)
    return person.pseudonym, cookie_from(secret, hosted.name, person.chance)


@router.post("/s/{study}/arrive")
async def arrive(hosted: TheStudy, said: messages.Arrive, request: Request, response: Response) -> messages.Arrived:
    """Come from a panel, with the parameters of the address it gave. Whoever came before goes on, on any device."""
    desk = hosted.desk
    if desk is None:
        return messages.Arrived(state="preview")
    wait = limits_of(request).joining.wait(address_of(request.scope))
    if wait:
        raise too_fast(wait)
    registry = registry_of(request)
    arrival = await in_thread(desk.arrive, said.parameters, hosted.open)
    person = arrival.person
    if person is not None and person.chance is not None and arrival.state != "preview":
        secure = registry.settings.secure_cookies
        visit = cookie_from(registry.secret, hosted.name, person.chance, "visit")
        set_worker_cookie(response, VISIT_COOKIE, visit, hosted.name, secure)
        if person.consented is not None:
            cookie = cookie_from(registry.secret, hosted.name, person.chance)
            set_worker_cookie(response, WORKER_COOKIE, cookie, hosted.name, secure)
    return messages.Arrived(state=arrival.state, ending=arrival.ending)


@router.post("/s/{study}/refuse")
async def refuse(hosted: TheStudy, request: Request) -> messages.Arrived:
    """Do not agree: nothing is asked, and the panel is told so. For people from a panel, before they join."""
    desk, person = hosted.desk, _visitor(hosted, request)
    if desk is None or person is None or person.consented is not None:
        raise not_found()
    await in_thread(desk.end, person, "refused")
    ending = desk.after(person.pseudonym, done=False, has_questions=False, study_open=hosted.open)
    return messages.Arrived(state="ended", ending=ending)


@organizers.post("/{study}/recruiting/decide")
async def decide(hosted: OrganizersStudy, said: messages.Decide, request: Request) -> messages.Recruiting:
    """Settle what waits for the organizer: pay a person or leave it; say whether a bonus was paid."""
    loop = _loop(hosted, request)
    if said.who is not None:
        await _paid(loop, lambda payroll: payroll.decide(str(said.who), said.pay))
    elif said.line is not None:
        await _paid(loop, lambda payroll: payroll.decide_bonus(int(said.line or 0), said.pay))
    return await _after(loop)


@organizers.post("/{study}/recruiting/prolific")
async def recruit_on_prolific(
    hosted: OrganizersStudy, said: messages.RecruitOnProlific, request: Request
) -> messages.Recruiting:
    """Receive people from Prolific. Nothing is done there: the reply says step by step what the organizer does."""
    registry = registry_of(request)
    if registry.storage is None:
        raise Refusal(409, "in_memory", "This server keeps nothing on disk, so nobody can be paid through it.")
    storage = registry.storage

    def begun() -> None:
        begin_on_prolific(Store(storage), hosted.study.name, said.address, plan_for(hosted, said))

    try:
        await in_thread(begun)
    except HandfulError as error:
        raise Refusal(409, "platform", str(error)) from None
    await in_thread(registry.look_for_recruiting)
    return await _after(_loop(hosted, request))


@organizers.post("/{study}/recruiting/bonus")
async def bonus(hosted: OrganizersStudy, said: messages.PromiseBonus, request: Request) -> messages.Recruiting:
    """Promise somebody a bonus: it is written down now, and paid by the next reconciliation, once.

    The same `id` again promises nothing more: whoever got no reply may repeat the request.
    """
    loop = _loop(hosted, request)
    await _paid(loop, lambda payroll: payroll.promise_bonus(said.who, said.cents, said.reason, said.id))
    return await _after(loop)


@organizers.post("/{study}/recruiting/reconcile")
async def reconcile(hosted: OrganizersStudy, request: Request) -> messages.Recruiting:
    """Bring both sides to agree now."""
    loop = _loop(hosted, request)
    await in_thread(loop.once)
    return await _after(loop)


def _loop(hosted: Host, request: Request) -> PanelLoop:
    loop = registry_of(request).panels.get(hosted.name)
    if loop is None:
        raise not_found()
    return loop


async def _paid(loop: PanelLoop, call: Callable[[Payroll], object]) -> None:
    """Make a call on the payroll; its refusals in words."""
    if loop.client is None:
        raise Refusal(409, "no_platform", loop.trouble or "This panel has no interface that could be called.")
    try:
        await in_thread(call, loop.payroll)
    except HandfulError as error:
        raise Refusal(409, "platform", str(error)) from None


async def _after(loop: PanelLoop) -> messages.Recruiting:
    loop.soon()
    await in_thread(loop.desk.look)
    return await in_thread(recruiting_status_of, loop)
