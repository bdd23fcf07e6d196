"""Setting up a study in the browser: files come, are processed, and become a study with the organizer's settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from handful.crowd import messages
from handful.crowd.cards import item_card
from handful.crowd.drafts import Draft, preview_of_draft
from handful.crowd.guard import RESPONSES, OrganizersStudy, in_thread, only_organizers, registry_of
from handful.crowd.intake import take_practice_picture
from handful.crowd.languages import DEFAULT, language
from handful.crowd.picks import summary_of
from handful.crowd.plan import StudyPlan, expected_minutes, plan_of, quality_of, suited
from handful.crowd.practice import practice_cards
from handful.crowd.refusals import Refusal, not_found
from handful.crowd.registry import Registry, open_draft, warm_up_for
from handful.crowd.settings import Settings
from handful.crowd.sources import PASTED as PASTED_TEXTS
from handful.errors import HandfulError, StorageError, UnknownExplorer
from handful.rules import Door
from handful.wording import sentence

CARDS = 60
MORE_CARDS = 300
PASTED = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": messages.Pasted.model_json_schema()}},
    }
}

router = APIRouter(prefix="/api/setup", tags=["setup"], responses=RESPONSES, dependencies=[Depends(only_organizers)])


async def _draft_of(draft: str, request: Request) -> Draft:
    found = registry_of(request).drafts.get(draft)
    if found is None:
        raise not_found()
    return found


TheDraft = Annotated[Draft, Depends(_draft_of)]


@router.post("", status_code=201)
async def begin(said: messages.BeginDraft, request: Request) -> messages.DraftStatus:
    """Begin a new draft. The same `id` again begins no other: whoever got no reply may repeat the request."""
    registry = registry_of(request)
    if registry.storage is None:
        raise Refusal(409, "in_memory", "This server keeps nothing on disk, so no study can be set up here.")
    with explained():
        told = messages.DraftSettings.model_validate(said.model_dump(exclude={"id"}))
        draft = await in_thread(registry.drafts.new, told, registry.clock(), said.id)
    return await _status(draft, registry)


@router.get("")
async def defaults() -> messages.DraftDefaults:
    """What a new draft would be like."""
    told = messages.DraftSettings()
    return messages.DraftDefaults(
        settings=told,
        plan=_plan(told, plan_of(told), 0),
        question=_question(told),
        consent=_consent(told),
        of_panel=_said(told, "consent.panel") if told.door == "panel" else None,
        instructions=_said(told, "instructions"),
    )


@router.get("/{draft}")
async def status(draft: TheDraft, request: Request) -> messages.DraftStatus:
    """The draft as it is: its files, what became of them, and what its settings amount to."""
    return await _status(draft, registry_of(request))


@router.get("/{draft}/items")
async def items(draft: TheDraft, after: Annotated[int, Query(ge=0)] = CARDS) -> messages.DraftCards:
    """The items after the first so many, which the status has."""
    return messages.DraftCards(cards=await in_thread(_cards, draft, after, MORE_CARDS))


@router.get("/{draft}/quality")
async def quality(draft: TheDraft) -> messages.DraftQuality:
    """What the planned answers buy, by simulation; the first time takes some seconds. Items must be there."""
    collection, told = await in_thread(lambda: draft.collection), draft.settings
    if collection is None:
        raise Refusal(409, "no_items", "There is nothing to choose from yet.")
    with explained():
        bought = await in_thread(quality_of, draft.plan, collection)
    if bought is None:
        return messages.DraftQuality(words=None, suffices=None)
    people = told.people if told.budget is None else None
    return messages.DraftQuality(words=bought.words(people), suffices=bought.suffices)


@router.post("/{draft}/dry-run")
async def begin_dry_run(draft: TheDraft) -> messages.DraftDryRun:
    """Let simulated people answer the study as it is set up, in memory: nothing of it is left."""
    with explained():
        await in_thread(draft.begin_dry_run)
    return await in_thread(_dry_run_of, draft)


@router.get("/{draft}/dry-run")
async def dry_run(draft: TheDraft) -> messages.DraftDryRun:
    """How far the dry run is, and what came of it. Other settings or items end it."""
    return await in_thread(_dry_run_of, draft)


@router.delete("/{draft}/dry-run", status_code=204)
async def end_dry_run(draft: TheDraft) -> Response:
    """End the dry run, and forget it."""
    await in_thread(draft.end_dry_run)
    return Response(status_code=204)


@router.post("/{draft}/preview")
async def preview(draft: TheDraft, request: Request) -> messages.Preview:
    """The study as people would meet it; items must be there."""
    with explained():
        return await in_thread(preview_of_draft, draft, registry_of(request).settings)


@router.patch("/{draft}")
async def change(draft: TheDraft, said: messages.DraftSettings, request: Request) -> messages.DraftStatus:
    """Keep the settings that are named; the others stay as they are, as they may have been changed elsewhere."""
    with explained():
        await in_thread(draft.change, said)
    return await _status(draft, registry_of(request))


@router.delete("/{draft}", status_code=204)
async def discard(draft: TheDraft, request: Request) -> Response:
    """Delete the draft and its files."""
    with explained():
        await in_thread(registry_of(request).drafts.discard, draft)
    return Response(status_code=204)


@router.put("/{draft}/files/{name:path}")
async def upload(draft: TheDraft, name: str, request: Request) -> messages.DraftFile:
    """Add a file, as the body of the request. A file of the same name is replaced; half a file is not kept."""
    with explained():
        draft.files_may_change()
        try:
            taken = await draft.uploads.take(name, request.stream(), draft.files_change)
        except ClientDisconnect:
            raise Refusal(400, "cut_off", "The file did not arrive whole: send it again.") from None
    return messages.DraftFile(name=taken.name, size=taken.size)


@router.delete("/{draft}/files/{name:path}", status_code=204)
async def remove(draft: TheDraft, name: str) -> Response:
    """Take a file away again."""
    with explained():
        if not await in_thread(draft.uploads.remove, name, partial(draft.files_change, name)):
            raise not_found()
    return Response(status_code=204)


@router.delete("/{draft}/items/{name:path}")
async def take_out(draft: TheDraft, name: str, request: Request) -> messages.DraftStatus:
    """Leave a prepared item out of the study; if it was chosen from the start, it no longer is."""
    with explained():
        if not await in_thread(draft.take_out, name):
            raise not_found()
    return await _status(draft, registry_of(request))


@router.post("/{draft}/texts", openapi_extra=PASTED)
async def paste(draft: TheDraft, request: Request) -> messages.DraftStatus:
    """Texts instead of files: one for each paragraph, or for each line where no line is empty."""
    # Read here and not by FastAPI, which would read it before it looks at the key.
    try:
        said = messages.Pasted.model_validate_json(await request.body())
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from None
    except ClientDisconnect:
        raise Refusal(400, "cut_off", "The texts did not arrive whole: send them again.") from None
    with explained():
        replaced = PASTED_TEXTS if draft.uploads.adds == "texts" and not said.more else None
        await in_thread(draft.uploads.paste, said.texts, said.more, partial(draft.files_change, replaced))
    return await _status(draft, registry_of(request))


@router.post("/{draft}/prepare")
async def prepare(draft: TheDraft, request: Request) -> messages.DraftStatus:
    """Process the files in the background; the draft's status says how far it is."""
    with explained():
        await in_thread(draft.prepare, partial(warm_up_for, draft))
    return await _status(draft, registry_of(request))


@router.post("/{draft}/open")
async def open_(draft: TheDraft, request: Request) -> messages.DraftStatus:
    """Make it a study, which takes answers from now on."""
    registry = registry_of(request)
    with explained():
        hosted = await in_thread(open_draft, registry, draft)
    hosted.change_signal.start()
    return await _status(draft, registry)


@contextmanager
def explained() -> Iterator[None]:
    """Turn what the organizer can mend into a refusal that says so."""
    try:
        yield
    except StorageError as error:
        raise Refusal(507, "storage", sentence(str(error))) from error
    except UnknownExplorer as error:
        raise Refusal(422, "explorer", sentence(str(error))) from error
    except HandfulError as error:
        raise Refusal(422, "refused", sentence(str(error))) from error


def _said(told: messages.DraftSettings, key: str) -> str:
    """The built-in words in the language of the study."""
    return language(told.words.language or DEFAULT).said(key)


def _question(told: messages.DraftSettings, options: int | None = None) -> str:
    """The built-in question in the language of the study, of so many as are shown at a time."""
    return _said(told, "prompt.two" if (options or told.options) == 2 else "prompt.more")


def _consent(told: messages.DraftSettings) -> str:
    """The built-in consent in the language of the study, as it is where people come by its door."""
    return language(told.words.language or DEFAULT).consent(marked=Door(told.door).caps_networks)


async def _status(draft: Draft, registry: Registry) -> messages.DraftStatus:
    return await in_thread(_status_of, draft, registry)


def _status_of(draft: Draft, registry: Registry) -> messages.DraftStatus:
    """All of one moment: while the lock is held no files come or go, and processing does not begin."""
    with draft.lock:
        return _status_now(draft, registry)


def _status_now(draft: Draft, registry: Registry) -> messages.DraftStatus:
    state = draft.state  # before the items, for processing may end in between: what is ready has items
    collection, preparing = draft.collection, draft.preparing
    if collection is not None:
        registry.show_pictures(collection)
    items = 0 if collection is None else len(collection)
    left_out = () if collection is None else collection.left_out
    registry.show_practice(draft.folder)
    return messages.DraftStatus(
        draft=draft.id,
        state=state,
        study=draft.opened,
        settings=draft.settings,
        files=[messages.DraftFile(name=file.name, size=file.size) for file in draft.uploads.files],
        prepared=0 if preparing is None else preparing.done,
        preparing=0 if preparing is None else preparing.total,
        fault=None if preparing is None else preparing.fault,
        items=items,
        adds=draft.uploads.adds,
        carried=len(draft.carried),
        inherited=draft.inherited.words_for(draft.settings),
        cards=_cards(draft, 0, CARDS),
        cards_at_once=MORE_CARDS,
        left_out=[messages.LeftOutLine(name=one.name, why=one.why, files=one.files) for one in left_out],
        practice_pictures=practice_cards(draft.folder),
        plan=_plan(draft.settings, draft.plan if collection is None else suited(draft.plan, collection), items),
        question=_question(draft.settings, None if collection is None else suited(draft.plan, collection).options),
        consent=_consent(draft.settings),
        of_panel=_said(draft.settings, "consent.panel") if draft.settings.door == "panel" else None,
        instructions=_said(draft.settings, "instructions"),
    )


def _cards(draft: Draft, after: int, number: int) -> list[messages.DraftCard]:
    """Some of the items, those that are chosen from the start before all others."""
    places = {name: place for place, name in enumerate(draft.settings.chosen, start=1)}
    found = () if draft.collection is None else draft.collection.items
    some = sorted(found, key=lambda item: places.get(item.id, len(places) + 1))[after : after + number]
    return [messages.DraftCard(id=item.id, chosen=places.get(item.id), **dict(item_card(item))) for item in some]


def _dry_run_of(draft: Draft) -> messages.DraftDryRun:
    run, collection = draft.dry_run, draft.collection
    if run is None or collection is None:
        return messages.DraftDryRun(state="none", done=0, total=0, words=None, summary=None)
    going = run.running  # before its outcome, which it has when it no longer runs
    outcome, told = run.outcome, draft.settings
    if outcome is None:
        words = None if run.fault is None else sentence(run.fault)
        state: Literal["running", "failed"] = "running" if going else "failed"
        return messages.DraftDryRun(state=state, done=run.done, total=run.total, words=words, summary=None)
    summary = summary_of(told.theme, collection, outcome.result)
    return messages.DraftDryRun(
        state="done", done=outcome.result.answers, total=run.total, words=outcome.words, summary=summary
    )


def _plan(told: messages.DraftSettings, plan: StudyPlan, items: int) -> messages.DraftPlan:
    goal = Settings().goal if told.words.goal is None else told.words.goal
    answers = plan.answers(items, solo=False)
    each = goal or -(-answers // told.people)
    pay = plan.expected.pay(plan.rule) if plan.expected is not None and told.door == "panel" else None
    return messages.DraftPlan(
        answers=answers,
        answers_each=each,
        minutes_each=expected_minutes(each, plan.rule) or 1,
        cost=None if pay is None else f"{pay}.",
        advice=_advice(told, items, answers, plan.shown(max(items, 2))),
    )


def _advice(told: messages.DraftSettings, items: int, answers: int, options: int) -> str | None:
    """What is missing or thin, in the order in which it would be mended."""
    if not told.theme.strip():
        return "Say what the selection is about: people see it above every question."
    if items and told.k >= items:
        return f"There are {items} items, so at most {items - 1} can be chosen."
    enough = -(-2 * told.k * items // options)
    if items and answers < enough:
        each = max(1, answers // told.people)
        return (
            f"{answers:,} answers are few for {told.k} of {items}: with {-(-enough // each):,} people, or more answers "
            "from each, every item is seen about twice for every pick."
        )
    return None


practice_router = APIRouter(prefix="/api", responses=RESPONSES)
BODY = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}}


@practice_router.put("/organize/{study}/practice/{name:path}", tags=["organizer"], openapi_extra=BODY)
async def of_study(hosted: OrganizersStudy, name: str, request: Request) -> messages.PracticePicture:
    """Add a picture to practise on, as the body of the request; people see it once a pair of the practice names it."""
    return await _taken(hosted.collection.folder, name, request)


@practice_router.put(
    "/setup/{draft}/practice/{name:path}",
    tags=["setup"],
    openapi_extra=BODY,
    dependencies=[Depends(only_organizers)],
)
async def of_draft(draft: TheDraft, name: str, request: Request) -> messages.PracticePicture:
    """Add a picture to practise on, as the body of the request."""
    with explained():
        draft.only_a_draft()
    return await _taken(draft.folder, name, request)


async def _taken(folder: Path, name: str, request: Request) -> messages.PracticePicture:
    try:
        data = await request.body()
    except ClientDisconnect:
        raise Refusal(400, "cut_off", "The file did not arrive whole: send it again.") from None
    with explained():
        item = await in_thread(take_practice_picture, folder, name, data)
    return next(card for card in await in_thread(_practice_cards, folder, registry_of(request)) if card.name == item.id)


def _practice_cards(folder: Path, registry: Registry) -> list[messages.PracticePicture]:
    registry.show_practice(folder)
    return practice_cards(folder)
