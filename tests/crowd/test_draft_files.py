"""The files and texts of a study that is being set up: what was taken stays, and what is refused changes nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from handful.crowd.collection import uploads
from handful.crowd.collection.uploads import Uploads
from handful.errors import InvalidCollection, StorageError
from tests.crowd.clients import Started
from tests.crowd.test_setup_routes import begin, photos, prepared, send, server

__all__ = ["server"]


def test_what_is_refused_leaves_a_prepared_draft_as_it_was(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    send(organizer, draft, {"folder/photo.jpg": photos(5)["photo 4.jpg"], **photos(3)})
    before = prepared(organizer, draft)
    for name in ("é" * 150, "folder", "pasted texts.csv"):
        assert organizer.put(f"/api/setup/{draft}/files/{name}", content=b"x").status_code == 422, name
    assert organizer.delete(f"/api/setup/{draft}/files/none.jpg").status_code == 404
    pasted = organizer.post(f"/api/setup/{draft}/texts", json={"texts": "one\ntwo"})
    assert (pasted.status_code, pasted.json()["message"]) == (
        422,
        "Texts cannot be added to files: start over to use them.",
    )
    after: dict[str, Any] = organizer.get(f"/api/setup/{draft}").json()
    assert after == before
    assert (after["state"], after["items"]) == ("ready", 4)


def test_files_are_not_taken_beside_pasted_texts(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    organizer.post(f"/api/setup/{draft}/texts", json={"texts": "one\ntwo"})
    assert organizer.put(f"/api/setup/{draft}/files/a.jpg", content=b"x").status_code == 422
    assert prepared(organizer, draft)["items"] == 2


def test_texts_that_are_pasted_at_once_are_all_kept(tmp_path: Path) -> None:
    kept = Uploads(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: kept.paste(f"text {number}"), range(40)))
    lines = (tmp_path / uploads.PASTED).read_text(encoding="utf-8").splitlines()
    assert sorted(line.split(",")[1] for line in lines[1:]) == sorted(f'"text {number}"' for number in range(40))


def test_texts_that_are_sent_again_are_not_added_twice(tmp_path: Path) -> None:
    kept = Uploads(tmp_path)
    kept.paste("one\ntwo\ntwo")
    kept.paste("three")
    before = (tmp_path / uploads.PASTED).read_text(encoding="utf-8")
    assert len(before.splitlines()) == 5, "a text that is there twice is left out later, when it can be said"
    for texts in ("one\ntwo\ntwo", "three"):
        kept.paste(texts)
        assert (tmp_path / uploads.PASTED).read_text(encoding="utf-8") == before
    for _ in range(2):
        kept.paste("two\nfour")
        lines = (tmp_path / uploads.PASTED).read_text(encoding="utf-8").splitlines()
        assert lines == [*before.splitlines(), '"row 6","two"', '"row 7","four"']


def test_pasted_texts_have_the_limits_of_an_upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Uploads(tmp_path)
    kept.paste("one\ntwo")
    before = (tmp_path / uploads.PASTED).read_bytes()
    for limit, value, error in (
        ("MAX_ENTRIES", 2, InvalidCollection),
        ("MAX_PICTURE_BYTES", 20, InvalidCollection),
        ("SPARE_BYTES", 10**18, StorageError),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(uploads, limit, value)
            with pytest.raises(error):
                kept.paste("three")
        assert (tmp_path / uploads.PASTED).read_bytes() == before
    assert len(kept.files) == 1


def test_a_text_keeps_its_name_whichever_others_come_or_go(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer, chosen=["row 4"])
    organizer.post(f"/api/setup/{draft}/texts", json={"texts": "one\ntwo\nthree\tand a tab\nfour\nfive"})
    prepared(organizer, draft)
    assert organizer.delete(f"/api/setup/{draft}/items/row 2").status_code == 200
    organizer.post(f"/api/setup/{draft}/texts", json={"texts": "six"})
    texts = {card["id"]: card["text"] for card in prepared(organizer, draft)["cards"]}
    assert texts == {
        "row 3": "two",
        "row 4": "three\tand a tab",
        "row 5": "four",
        "row 6": "five",
        "row 7": "six",
    }


async def _one_chunk() -> AsyncIterator[bytes]:
    yield b"a picture"


def test_a_file_that_arrives_while_a_study_is_opened_holds_up_nobody_else(tmp_path: Path) -> None:
    kept, held, free = Uploads(tmp_path), threading.Event(), threading.Event()

    def opening() -> None:
        with kept.lock:
            held.set()
            free.wait(20)

    async def others_go_on() -> None:
        taking = asyncio.create_task(kept.take("a.jpg", _one_chunk(), lambda: None))
        for _ in range(100):
            await asyncio.sleep(0.001)
            assert not taking.done()
        assert not free.is_set(), "nothing but this lets the lock go"
        free.set()
        assert (await taking).name == "a.jpg"

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(opening)
        held.wait(20)
        try:
            asyncio.run(asyncio.wait_for(others_go_on(), 30))
        finally:
            free.set()
        done.result()
    assert [path.name for path in tmp_path.iterdir()] == ["a.jpg"]


def test_a_file_whose_request_is_given_up_is_kept_whole_or_leaves_nothing(tmp_path: Path) -> None:
    kept, reached, free = Uploads(tmp_path), threading.Event(), threading.Event()

    def still() -> None:
        reached.set()
        free.wait(20)

    async def given_up() -> None:
        taking = asyncio.create_task(kept.take("a.jpg", _one_chunk(), still))
        await asyncio.to_thread(reached.wait, 20)
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking
        free.set()
        await asyncio.to_thread(lambda: kept.lock.acquire() and kept.lock.release())

    asyncio.run(given_up())
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.jpg", b"a picture")]


@pytest.mark.parametrize(("method", "what"), [("DELETE", "dry-run"), ("GET", "quality"), ("PUT", "files/a.jpg")])
def test_a_draft_whose_study_is_being_opened_holds_up_nobody_else(server: Started, method: str, what: str) -> None:
    organizer, somebody = server.organizer(), server.browser()
    name = begin(organizer)
    (draft,) = server.registry.drafts
    with ThreadPoolExecutor(1) as pool:
        with draft.lock:
            waiting = pool.submit(organizer.request, method, f"/api/setup/{name}/{what}")
            for _ in range(30):
                assert somebody.get("/api/studies", timeout=10).status_code == 200
                time.sleep(0.01)
            assert what == "quality" or not waiting.done()
        assert waiting.result().status_code in (200, 204, 409)


class _Name(str):
    """A file's name; while it is looked at another file arrives."""

    def lower(self) -> str:
        self.meanwhile()
        return super().lower()

    meanwhile: Callable[[], None]


def test_what_can_be_added_is_known_while_files_arrive(tmp_path: Path) -> None:
    kept = Uploads(tmp_path)
    asked = 0

    def arrives() -> None:
        nonlocal asked
        asked += 1
        kept._sizes[f"{asked}.png"] = 1

    for name in ("a.jpg", "b.jpg"):
        watched = _Name(name)
        watched.meanwhile = arrives
        kept._sizes[watched] = 1
    assert kept.adds == "files"
    assert asked == 2
    assert len(kept.files) == 4
