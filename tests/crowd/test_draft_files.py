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

from handful.crowd import sources
from handful.crowd.sources import Uploads
from handful.errors import InvalidCollection, StorageError
from tests.crowd.clients import Started
from tests.crowd.pictures import drawn, encoded
from tests.crowd.test_setup_routes import begin, empty_server, opened, photos, prepared, send, server

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


def test_a_file_below_another_file_is_refused_and_what_was_prepared_stays(server: Started, tmp_path: Path) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    send(organizer, draft, photos(3))
    before = prepared(organizer, draft)
    for name in ("photo 0.jpg/below.jpg", "photo 0.jpg/far/below.jpg"):
        refused = organizer.put(f"/api/setup/{draft}/files/{name}", content=b"x")
        assert (refused.status_code, "is a file already" in refused.json()["message"]) == (422, True)
    assert organizer.get(f"/api/setup/{draft}").json() == before


def test_a_file_and_a_folder_of_one_name_that_come_at_once_do_not_both_stay(tmp_path: Path) -> None:
    kept = Uploads(tmp_path)

    async def come() -> None:
        async def slowly() -> AsyncIterator[bytes]:
            yield b"x"
            await kept.take("photo/below.jpg", once(), lambda: None)
            yield b"y"

        async def once() -> AsyncIterator[bytes]:
            yield b"z"

        await kept.take("photo", slowly(), lambda: None)

    with pytest.raises(InvalidCollection, match="is a folder already"):
        asyncio.run(come())
    assert [file.name for file in kept.files] == ["photo/below.jpg"]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["below.jpg"]


def test_a_pasted_text_that_is_too_long_is_cut_named_and_can_be_taken_out(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    long = "word " * 30_000
    for _ in range(2):  # as where the first reply was lost
        assert organizer.post(f"/api/setup/{draft}/texts", json={"texts": f"{long}\n\none\n\ntwo"}).status_code == 200
    told = prepared(organizer, draft)
    assert [card["text"] for card in told["cards"]] == [long[:5_000], "one", "two"]
    assert told["left_out"] == [{"name": "row 2", "why": "was cut after 5,000 characters", "files": 0}]
    assert organizer.delete(f"/api/setup/{draft}/items/row 2").json()["items"] == 2
    organizer.post(f"/api/setup/{draft}/texts", json={"texts": "three"})
    assert [card["text"] for card in prepared(organizer, draft)["cards"]] == ["one", "two", "three"]


def test_what_is_chosen_from_the_start_goes_with_its_file(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer, k=3)
    here = f"/api/setup/{draft}"
    send(organizer, draft, photos(6))
    prepared(organizer, draft)
    refused = organizer.patch(here, json={"chosen": ["none.jpg"]})
    assert (refused.status_code, "no such item" in refused.json()["message"]) == (422, True)
    assert organizer.patch(here, json={"chosen": ["photo 0.jpg", "photo 1.jpg"]}).status_code == 200
    organizer.delete(f"{here}/files/photo 0.jpg")
    assert organizer.get(here).json()["settings"]["chosen"] == ["photo 1.jpg"]
    send(organizer, draft, {"photo 1.jpg": encoded(drawn(9))})
    assert prepared(organizer, draft)["settings"]["chosen"] == ["photo 1.jpg"], "it was replaced"
    send(organizer, draft, {"photo 1.jpg": b"no picture"})
    assert prepared(organizer, draft)["settings"]["chosen"] == []
    opened(organizer, draft)


def test_a_text_is_not_chosen_because_another_had_its_name(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    here = f"/api/setup/{draft}"
    for texts, replacing in (("one\ntwo\nthree", {}), ("four\nfive\nsix", {"more": False})):
        organizer.post(f"{here}/texts", json={"texts": texts, **replacing})
        assert prepared(organizer, draft)["settings"]["chosen"] == []
        organizer.patch(here, json={"chosen": ["row 3"]})
    organizer.delete(f"{here}/files/{sources.PASTED}")
    organizer.post(f"{here}/texts", json={"texts": "seven\neight\nnine"})
    assert prepared(organizer, draft)["settings"]["chosen"] == []


def test_a_draft_that_was_left_with_a_chosen_item_that_is_gone_is_mended_at_the_next_start(tmp_path: Path) -> None:
    storage = tmp_path / "handful.db"
    with empty_server(storage) as server:
        organizer = server.organizer()
        id_ = begin(organizer)
        send(organizer, id_, photos(4))
        prepared(organizer, id_)
        draft = server.registry.drafts.get(id_)
        assert draft is not None
        draft.settings = draft.settings.model_copy(update={"chosen": ["gone.jpg"]})
        draft.save()  # as if it had died once the items were stored, and before the draft was
    with empty_server(storage) as server:
        organizer = server.organizer()
        assert organizer.get(f"/api/setup/{id_}").json()["settings"]["chosen"] == []
        opened(organizer, id_)


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
    lines = (tmp_path / sources.PASTED).read_text(encoding="utf-8").splitlines()
    assert sorted(line.split(",")[1] for line in lines[1:]) == sorted(f'"text {number}"' for number in range(40))


def test_texts_that_are_sent_again_are_not_added_twice(tmp_path: Path) -> None:
    kept = Uploads(tmp_path)
    kept.paste("one\ntwo\ntwo")
    kept.paste("three")
    before = (tmp_path / sources.PASTED).read_text(encoding="utf-8")
    assert len(before.splitlines()) == 5, "a text that is there twice is left out later, when it can be said"
    for texts in ("one\ntwo\ntwo", "three"):
        kept.paste(texts)
        assert (tmp_path / sources.PASTED).read_text(encoding="utf-8") == before
    for _ in range(2):
        kept.paste("two\nfour")
        lines = (tmp_path / sources.PASTED).read_text(encoding="utf-8").splitlines()
        assert lines == [*before.splitlines(), '"row 6","two"', '"row 7","four"']


def test_pasted_texts_have_the_limits_of_an_upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Uploads(tmp_path)
    kept.paste("one\ntwo")
    before = (tmp_path / sources.PASTED).read_bytes()
    for limit, value, error in (
        ("MAX_ENTRIES", 2, InvalidCollection),
        ("MAX_PICTURE_BYTES", 20, InvalidCollection),
        ("SPARE_BYTES", 10**18, StorageError),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(sources, limit, value)
            with pytest.raises(error):
                kept.paste("three")
        assert (tmp_path / sources.PASTED).read_bytes() == before
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
        free.set()
        with pytest.raises(asyncio.CancelledError):
            await taking

    asyncio.run(given_up())
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.jpg", b"a picture")]


@pytest.mark.parametrize(("operation", "size", "status"), [("disk_usage", 10, 200), ("unlink", 11, 422)])
def test_a_disk_that_is_slow_holds_up_nobody_but_the_upload(
    server: Started, monkeypatch: pytest.MonkeyPatch, operation: str, size: int, status: int
) -> None:
    """A disk that writes out much else may take a minute to say how full it is, or to make or delete a file."""
    reached, free = threading.Event(), threading.Event()
    where: Any = sources.shutil if operation == "disk_usage" else Path
    real = getattr(where, operation)

    def slow(*args: Any, **options: Any) -> Any:
        reached.set()
        free.wait()
        return real(*args, **options)

    organizer, somebody = server.organizer(), server.browser()
    draft = begin(organizer)
    monkeypatch.setattr(where, operation, slow)
    monkeypatch.setattr(sources, "MAX_PICTURE_BYTES", 10)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(organizer.put, f"/api/setup/{draft}/files/a.jpg", content=b"x" * size)
        try:
            reached.wait()
            assert somebody.get("/api/studies").status_code == 200
            assert not sent.done()
        finally:
            free.set()
        assert sent.result().status_code == status


@pytest.mark.parametrize(("method", "what"), [("DELETE", "dry-run"), ("GET", "quality"), ("PUT", "files/a.jpg")])
def test_a_draft_whose_study_is_being_opened_holds_up_nobody_else(server: Started, method: str, what: str) -> None:
    organizer, somebody = server.organizer(), server.browser()
    name = begin(organizer)
    (draft,) = server.registry.drafts
    with ThreadPoolExecutor(1) as pool:
        with draft.lock:
            waiting = pool.submit(organizer.request, method, f"/api/setup/{name}/{what}")
            for _ in range(30):
                assert somebody.get("/api/studies").status_code == 200
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
