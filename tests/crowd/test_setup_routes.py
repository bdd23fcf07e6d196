"""Setting up a study in the browser, over HTTP."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from handful.crowd import drafts, pages, sources
from handful.crowd.app import listen, serving
from handful.crowd.collection import load_collection
from handful.crowd.drafts import DRAFT
from handful.crowd.registry import open_draft, open_registry
from handful.crowd.tokens import Worker
from handful.errors import StorageError
from handful.study import Study
from tests.crowd.clients import PATIENCE_S, Person, Started
from tests.crowd.pictures import drawn, encoded, folder_of

SETTINGS: dict[str, Any] = {"theme": "Cathedrals", "k": 2, "people": 3, "options": 2, "words": {"goal": 10}}


@contextmanager
def empty_server(storage: Path) -> Iterator[Started]:
    """A server without a collection, as `handful serve` alone starts it."""
    registry = open_registry(storage, None, ())
    with serving(registry, listen("127.0.0.1", 0)) as (running, url), ExitStack() as browsers:
        yield Started(url, registry, running.limits, browsers)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Started]:
    with empty_server(tmp_path / "handful.db") as running:
        yield running


def begin(organizer: httpx.Client, **settings: Any) -> str:
    response = organizer.post("/api/setup", json=SETTINGS | settings)
    assert response.status_code == 201, response.text
    return str(response.json()["draft"])


def send(organizer: httpx.Client, draft: str, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        response = organizer.put(f"/api/setup/{draft}/files/{name}", content=data)
        assert response.status_code == 200, response.text


def photos(number: int) -> dict[str, bytes]:
    return {f"photo {n}.jpg": encoded(drawn(n)) for n in range(number)}


def prepared(organizer: httpx.Client, draft: str) -> dict[str, Any]:
    assert organizer.post(f"/api/setup/{draft}/prepare").status_code == 200
    return until(organizer, draft, lambda told: told["state"] != "preparing")


def until(organizer: httpx.Client, draft: str, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    deadline = time.monotonic() + 2 * PATIENCE_S
    while time.monotonic() < deadline:
        told: dict[str, Any] = organizer.get(f"/api/setup/{draft}").json()
        if reached(told):
            return told
        time.sleep(0.05)
    raise AssertionError(told)


def opened(organizer: httpx.Client, draft: str) -> str:
    response = organizer.post(f"/api/setup/{draft}/open", timeout=120)
    assert response.status_code == 200, response.text
    return str(response.json()["study"])


def test_photos_become_a_study_that_people_answer(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    send(organizer, draft, {**photos(5), "notes.txt": b"not a picture"})
    told = prepared(organizer, draft)
    assert (told["state"], told["items"]) == ("ready", 5)
    assert [one["name"] for one in told["left_out"]] == ["notes.txt"]
    assert told["plan"]["answers"] == 30
    assert told["plan"]["advice"] is None
    assert organizer.get(told["cards"][0]["thumbnail"]).headers["content-type"] == "image/webp"
    study = opened(organizer, draft)
    assert study == "cathedrals"
    work = Person(server.browser(), study).work
    assert work["state"] == "questions"
    assert server.browser().get(work["questions"][0]["left"]["image"]).status_code == 200


@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
@pytest.mark.parametrize(("options", "people"), [(2, "10 people"), (None, "5 people")])
def test_too_few_answers_are_told_by_how_many_are_shown_at_a_time(
    server: Started, options: int | None, people: str
) -> None:
    organizer = server.organizer()
    draft = begin(organizer, options=options, people=1, words={"goal": 1})
    send(organizer, draft, photos(5))
    assert f"with {people}, or more answers" in prepared(organizer, draft)["plan"]["advice"]


def test_files_are_added_and_single_ones_stay_taken_out(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    assert organizer.get(f"/api/setup/{draft}").json()["adds"] == "anything"
    first = photos(4)
    send(organizer, draft, {**first, "again.jpg": first["photo 1.jpg"]})
    told = prepared(organizer, draft)
    assert (told["items"], told["adds"]) == (4, "files")
    taken = organizer.delete(f"/api/setup/{draft}/items/again.jpg").json()
    assert taken["items"] == 3, "photo 1.jpg is the same picture"
    send(organizer, draft, {"photo 4.jpg": photos(5)["photo 4.jpg"]})
    names = [card["id"] for card in prepared(organizer, draft)["cards"]]
    assert names == [f"photo {n}.jpg" for n in (0, 2, 3, 4)]
    send(organizer, draft, {"photo 1.jpg": first["photo 1.jpg"]})
    assert prepared(organizer, draft)["items"] == 5, "what was taken out can be put in again"


def test_a_draft_is_never_told_ready_without_its_items(server: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    organizer, ended = server.organizer(), threading.Event()
    id_ = begin(organizer)
    send(organizer, id_, photos(4))
    draft = server.registry.drafts.get(id_)
    assert draft is not None
    may_end, show = threading.Event(), server.registry.show_practice

    def ending_meanwhile(folder: Path) -> None:  # called while the status is put together
        may_end.set()
        assert ended.wait(30)
        show(folder)

    ingest = drafts.ingest
    monkeypatch.setattr(drafts, "ingest", lambda *a, **named: may_end.wait(30) and ingest(*a, **named))
    draft.prepare(ended.set)
    monkeypatch.setattr(server.registry, "show_practice", ending_meanwhile)
    told = organizer.get(f"/api/setup/{id_}").json()
    assert (told["state"], told["items"]) == ("preparing", 0)
    told = organizer.get(f"/api/setup/{id_}").json()
    assert (told["state"], told["items"]) == ("ready", 4)


@pytest.mark.filterwarnings("ignore::handful.errors.SmallBudget")
def test_every_item_can_be_looked_at_before_the_study_is_opened(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    assert organizer.get(f"/api/setup/{draft}/items").json() == {"cards": []}
    organizer.post(f"/api/setup/{draft}/texts", json={"texts": "\n".join(f"text {n}" for n in range(400))})
    told = prepared(organizer, draft)
    assert (told["items"], len(told["cards"]), told["cards_at_once"]) == (400, 60, 300)
    parts = [organizer.get(f"/api/setup/{draft}/items?after={after}").json()["cards"] for after in (60, 360)]
    assert [len(part) for part in parts] == [300, 40]
    shown = [card["text"] for part in (told["cards"], *parts) for card in part]
    assert shown == [f"text {n}" for n in range(400)]
    assert organizer.get(f"/api/setup/{draft}/items?after=-1").status_code == 422


def test_texts_are_added_and_single_ones_stay_taken_out(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    organizer.post(f"/api/setup/{draft}/texts", json={"texts": "one\ntwo, too\nthree"})
    assert prepared(organizer, draft)["adds"] == "texts"
    organizer.delete(f"/api/setup/{draft}/items/row 3")
    organizer.post(f"/api/setup/{draft}/texts", json={"texts": "four"})
    assert [card["text"] for card in prepared(organizer, draft)["cards"]] == ["one", "three", "four"]
    organizer.post(f"/api/setup/{draft}/texts", json={"texts": "five\nsix", "more": False})
    assert [card["text"] for card in prepared(organizer, draft)["cards"]] == ["five", "six"]


def test_without_the_key_nothing_can_be_set_up_or_seen(server: Started) -> None:
    draft, stranger = begin(server.organizer()), server.browser()
    for method, path in (
        ("GET", ""), ("POST", ""), ("GET", f"/{draft}"), ("PATCH", f"/{draft}"), ("DELETE", f"/{draft}"),
        ("PUT", f"/{draft}/files/a.jpg"), ("POST", f"/{draft}/prepare"), ("POST", f"/{draft}/open"),
    ):  # fmt: skip
        assert stranger.request(method, f"/api/setup{path}", json=SETTINGS).status_code == 401
    assert stranger.get("/setup").headers["location"] == "/organize/login"


def test_a_stranger_cannot_have_a_large_body_read(server: Started) -> None:
    draft, stranger = begin(server.organizer()), server.browser()
    large = {"texts": "x" * 2_000_000}
    assert stranger.post(f"/api/setup/{draft}/texts", json=large).status_code == 401, "before the body is looked at"
    assert stranger.post("/api/setup", json=large).status_code == 413
    assert stranger.patch(f"/api/setup/{draft}", json=large).status_code == 413


def test_a_file_that_comes_after_the_files_were_taken_is_not_acknowledged(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    send(organizer, draft, photos(3))

    def slow() -> Iterator[bytes]:
        yield b"x" * 1_000
        prepared(server.organizer(), draft)
        opened(server.organizer(), draft)
        yield b"x"

    late = organizer.put(f"/api/setup/{draft}/files/late.jpg", content=slow(), timeout=120)
    assert (late.status_code, "has been opened" in late.json()["message"]) == (422, True)
    assert [file["name"] for file in organizer.get(f"/api/setup/{draft}").json()["files"]] == sorted(photos(3))


def test_words_and_settings_are_the_studys_own_and_outlive_the_server(tmp_path: Path) -> None:
    words = {"question": "どちらがよいですか？", "consent": "", "thanks": "ありがとう", "goal": 7, "listed": False}
    with empty_server(tmp_path / "a.db") as server:
        organizer = server.organizer()
        draft = begin(organizer, words=words, theme="大聖堂")
        send(organizer, draft, photos(4))
        prepared(organizer, draft)
        study = opened(organizer, draft)
        answering = Person(server.browser(), study)
        answering.answer()
    with empty_server(tmp_path / "a.db") as server:
        about = server.browser().get(f"/api/s/{study}").json()
        assert (about["theme"], about["question"], about["thanks"]) == ("大聖堂", "どちらがよいですか？", "ありがとう")
        assert (about["consent"], about["goal"]) == (None, 7)
        assert server.browser().get("/api/studies").json() == []
        assert server.organizer().get(f"/api/organize/{study}").json()["answers"] == 1


def test_two_studies_have_collections_of_their_own(server: Started) -> None:
    organizer = server.organizer()
    first, second = begin(organizer), begin(organizer, theme="Boats")
    send(organizer, first, photos(4))
    organizer.post(f"/api/setup/{second}/texts", json={"texts": "one\ntwo\nthree"})
    for draft in (first, second):
        prepared(organizer, draft)
    assert (opened(organizer, first), opened(organizer, second)) == ("cathedrals", "boats")
    assert {name: len(hosted.collection) for name, hosted in server.registry.studies.items()} == {
        "cathedrals": 4,
        "boats": 3,
    }


def test_a_zip_and_a_csv_are_taken_like_from_a_folder(server: Started) -> None:
    organizer = server.organizer()
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        for name, data in photos(3).items():
            out.writestr(name, data)
    draft = begin(organizer)
    send(organizer, draft, {"all.zip": archive.getvalue()})
    assert prepared(organizer, draft)["items"] == 3
    draft = begin(organizer)
    table = "image,caption\nphoto 0.jpg,First\nphoto 1.jpg,Second\n"
    send(organizer, draft, {**photos(2), "items.csv": table.encode()})
    assert [card["caption"] for card in prepared(organizer, draft)["cards"]] == ["First", "Second"]


def test_an_upload_that_stops_half_way_leaves_nothing_and_can_be_sent_again(
    server: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, over = threading.Event(), threading.Event()
    take = sources.Uploads.take

    async def watched(self: sources.Uploads, name: str, chunks: AsyncIterator[bytes], still: Any) -> sources.Upload:
        async def told() -> AsyncIterator[bytes]:
            async for chunk in chunks:
                yield chunk
                begun.set()  # asked for more: what came is written

        try:
            return await take(self, name, told(), still)
        finally:
            over.set()

    monkeypatch.setattr(sources.Uploads, "take", watched)
    organizer = server.organizer()
    draft = begin(organizer)
    folder = server.registry.folder / draft / "uploads"
    unfinished: list[Path] = []

    def half() -> Iterator[bytes]:
        yield b"x" * 100_000
        begun.wait()
        unfinished.extend(folder.iterdir())
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        organizer.put(f"/api/setup/{draft}/files/photo.jpg", content=half())
    over.wait()  # as long as the disk takes: were it never noticed, the limit of every test would end this one
    assert len(unfinished) == 1
    assert list(folder.iterdir()) == []
    send(organizer, draft, photos(2))
    assert prepared(organizer, draft)["items"] == 2


def test_names_cannot_lead_out_of_the_folder(server: Started, tmp_path: Path) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    for name in ("..%2F..%2F..%2Fevil.jpg", "%2Fetc%2Fevil.jpg", "a%2F..%2F..%2F..%2Fevil.jpg", "a%00b.jpg"):
        organizer.put(f"/api/setup/{draft}/files/{name}", content=b"x")
    inside = server.registry.folder / draft / "uploads"
    assert all(path.is_relative_to(inside) for path in tmp_path.rglob("*evil*"))
    assert organizer.delete(f"/api/setup/{draft}/files/..%2Fdraft.json").status_code == 404
    assert (server.registry.folder / draft / DRAFT).exists()


def test_what_is_too_much_is_refused_with_a_sentence(server: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_PICTURE_BYTES", 1_000)
    organizer = server.organizer()
    draft = begin(organizer)
    response = organizer.put(f"/api/setup/{draft}/files/big.jpg", content=b"x" * 2_000)
    assert response.status_code == 422
    assert "larger than" in response.json()["message"]
    monkeypatch.setattr(sources, "SPARE_BYTES", 10**18)
    response = organizer.put(f"/api/setup/{draft}/files/a.jpg", content=b"x")
    assert response.status_code == 507
    assert "disk is nearly full" in response.json()["message"]
    assert organizer.get(f"/api/setup/{draft}").json()["files"] == []


def test_what_is_missing_is_said_before_opening(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    assert "no items yet" in organizer.post(f"/api/setup/{draft}/open").json()["message"]
    send(organizer, draft, photos(1))
    assert "at least 2" in prepared(organizer, draft)["fault"]
    send(organizer, draft, {"another.jpg": encoded(drawn(9)), "third.jpg": encoded(drawn(10))})
    assert prepared(organizer, draft)["items"] == 3
    organizer.patch(f"/api/setup/{draft}", json=SETTINGS | {"theme": " "})
    assert "nothing to ask about" in organizer.post(f"/api/setup/{draft}/open").json()["message"]
    organizer.patch(f"/api/setup/{draft}", json=SETTINGS | {"k": 3})
    assert "smaller" in organizer.post(f"/api/setup/{draft}/open").json()["message"]
    assert server.registry.studies == {}


def test_a_change_leaves_what_it_does_not_name(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    organizer.patch(f"/api/setup/{draft}", json={"theme": "Bridges"})
    kept = organizer.patch(f"/api/setup/{draft}", json={"words": {"thanks": "Thank you"}}).json()["settings"]
    assert (kept["theme"], kept["k"], kept["words"]["goal"], kept["words"]["thanks"]) == ("Bridges", 2, 10, "Thank you")
    assert organizer.patch(f"/api/setup/{draft}", json={"words": {"thanks": None}}).json()["settings"] == kept | {
        "words": kept["words"] | {"thanks": None}
    }


def test_an_opened_draft_cannot_be_changed_or_deleted(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    send(organizer, draft, photos(3))
    prepared(organizer, draft)
    study = opened(organizer, draft)
    assert opened(organizer, draft) == study, "opening again changes nothing"
    assert organizer.patch(f"/api/setup/{draft}", json=SETTINGS).status_code == 422
    assert organizer.put(f"/api/setup/{draft}/files/a.jpg", content=b"x").status_code == 422
    assert organizer.delete(f"/api/setup/{draft}").status_code == 422


def test_a_draft_that_is_begun_again_because_no_reply_came_is_one(server: Started) -> None:
    organizer = server.organizer()
    said = SETTINGS | {"id": "0123456789abcdef01"}
    first, again = (organizer.post("/api/setup", json=said).json()["draft"] for _ in range(2))
    assert first == again == said["id"]
    assert len(list(server.registry.drafts)) == 1
    assert organizer.post("/api/setup", json=SETTINGS | {"id": "../etc"}).status_code == 422


def test_a_deleted_draft_leaves_nothing(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    send(organizer, draft, photos(2))
    prepared(organizer, draft)
    assert organizer.delete(f"/api/setup/{draft}").status_code == 204
    assert not (server.registry.folder / draft).exists()
    assert organizer.get(f"/api/setup/{draft}").status_code == 404


DYING = """
import os, sys, time
from pathlib import Path
from handful.crowd import drafts, host
from handful.crowd import registry as startup
from handful.crowd.messages import DraftSettings

storage, photos, moment = sys.argv[1:]
registry = startup.open_registry(storage, None, ())
told = {"theme": "Cathedrals", "k": 2, "words": {"thanks": "Merci"}}
draft = registry.drafts.new(DraftSettings.model_validate(told), 0.0)
for photo in Path(photos).iterdir():
    (draft.uploads.folder / photo.name).write_bytes(photo.read_bytes())
draft.prepare()
while draft.state == "preparing":
    time.sleep(0.05)
die = lambda *_, **__: os._exit(9)
startup.warm_up = lambda _: None
if moment == "before its name is stored":
    drafts.put_draft = die
elif moment == "before the study is stored":
    first, startup.new_study = startup.new_study, lambda *a, **w: die() if w else first(*a)
elif moment == "before its theme is stored":
    startup.Host = die
else:
    host.Host.say_words = die
startup.open_draft(registry, draft)
"""
NOT_YET = ("before its name is stored", "before the study is stored")


@pytest.mark.parametrize("moment", [*NOT_YET, "before its theme is stored", "before its words are stored"])
def test_dying_while_a_study_is_opened_leaves_it_whole_or_a_draft(tmp_path: Path, moment: str) -> None:
    folder_of(3, tmp_path / "photos")
    storage = tmp_path / "a.db"
    died = subprocess.run([sys.executable, "-c", DYING, str(storage), str(tmp_path / "photos"), moment], check=False)
    assert died.returncode == 9
    registry = open_registry(storage, None, ())
    try:
        (draft,) = registry.drafts
        if moment in NOT_YET:
            assert registry.studies == {}
            assert (draft.opened, draft.state) == (None, "ready")
            assert open_draft(registry, draft).theme == "Cathedrals"
        hosted = registry.studies["cathedrals"]
        assert (hosted.theme, hosted.settings.thanks, len(hosted.collection)) == ("Cathedrals", "Merci", 3)
    finally:
        registry.close()


def test_a_backup_holds_the_collections_of_all_studies(server: Started, tmp_path: Path) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    send(organizer, draft, photos(3))
    prepared(organizer, draft)
    opened(organizer, draft)
    archive = zipfile.ZipFile(BytesIO(organizer.get("/api/organize/backup").content))
    archive.extractall(tmp_path / "restored")
    restored = load_collection(tmp_path / "restored" / "handful.db.items" / draft)
    assert len(restored) == 3
    with empty_server(tmp_path / "restored" / "handful.db") as other:
        assert list(other.registry.studies) == ["cathedrals"]


def test_words_can_change_while_people_answer(server: Started) -> None:
    organizer = server.organizer()
    draft = begin(organizer)
    send(organizer, draft, photos(3))
    prepared(organizer, draft)
    study = opened(organizer, draft)
    assert organizer.post(f"/api/organize/{study}/words", json={"thanks": "Danke"}).status_code == 200
    about = server.browser().get(f"/api/s/{study}").json()
    assert (about["thanks"], about["goal"]) == ("Danke", 10), "what is not named stays"
    stored = Study.open(server.registry.storage or "", study, read_only=True)
    assert stored.setup.problem.k == 2


def test_a_server_in_memory_sets_nothing_up(serve: Callable[..., Started]) -> None:
    response = serve().organizer().post("/api/setup", json=SETTINGS)
    assert response.status_code == 409
    assert response.json()["error"] == "in_memory"


def test_a_server_without_items_needs_a_storage() -> None:
    with pytest.raises(Exception, match="needs a storage"):
        open_registry(None, None, ())


def test_a_draft_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "a.db.items" / "abc"
    folder.mkdir(parents=True)
    (folder / DRAFT).write_text("{")
    with pytest.raises(StorageError, match="restore it, or delete it"):
        open_registry(tmp_path / "a.db", None, ())


def _opened(organizer: httpx.Client, **settings: Any) -> str:
    """The name of a study of four texts."""
    draft = begin(organizer, **settings)
    pasted = organizer.post(f"/api/setup/{draft}/texts", json={"texts": "one\ntwo\nthree\nfour"})
    assert pasted.status_code == 200, pasted.text
    prepared(organizer, draft)
    return opened(organizer, draft)


def test_door_and_checks_are_set_up_in_the_browser_and_invitations_made_there(server: Started) -> None:
    organizer = server.organizer()
    name = _opened(organizer, door="invitations", checks=True)
    hosted = server.registry.studies[name]
    assert hosted.study.setup.door is not None
    assert hosted.study.setup.door.kind == "invitations"
    assert hosted.study.setup.rule is not None
    made = organizer.post(f"/api/organize/{name}/invitations", json={"number": 2})
    assert made.status_code == 201
    links = [line["link"] for line in made.json()["links"]]
    code = links[0].partition("#")[2]
    somebody, stranger = server.browser(), server.browser()
    said = {"consent": True, "practice": ["apple", "pear"]}
    assert stranger.post(f"/api/s/{name}/join", json=said).status_code == 403
    assert somebody.post(f"/api/s/{name}/join", json=said | {"invitation": code}).status_code == 200
    assert organizer.get(f"/api/organize/{name}/invitations").json() == {"open": 1, "used": 1, "revoked": 0}
    status = organizer.get(f"/api/organize/{name}").json()
    assert (status["door"], status["checked"]) == ("invitations", True)
    assert any("by invitations" in one for one in status["circumstances"])


def test_an_open_link_has_no_invitations_and_people_may_come_another_way_later(server: Started) -> None:
    organizer = server.organizer()
    name = _opened(organizer)
    assert organizer.post(f"/api/organize/{name}/invitations", json={"number": 2}).status_code == 409
    status = organizer.post(f"/api/organize/{name}/door", json={"kind": "invitations"}).json()
    assert (status["door"], status["stuck"]) == ("invitations", None)
    assert (
        "then the organizer changed how people come: people came by invitations, each for one person"
        in (status["circumstances"])
    )
    assert organizer.post(f"/api/organize/{name}/invitations", json={"number": 2}).status_code == 201


def test_what_a_checks_card_says_is_the_organizers_to_say(server: Started) -> None:
    organizer = server.organizer()
    name = _opened(organizer, checks=True, words={"goal": 10, "instruction": "Take me."})
    hosted = server.registry.studies[name]
    assert {hosted.showing.deck.card(_nobody(), at).text for at in hosted.showing.deck.instructed} == {"Take me."}
    assert organizer.post(f"/api/organize/{name}/words", json={"instruction": "Me, please."}).status_code == 200
    assert {hosted.showing.deck.card(_nobody(), at).text for at in hosted.showing.deck.instructed} == {"Me, please."}


def _nobody() -> Worker:
    return Worker("w", b"k")


def test_one_number_of_minutes_is_said_before_the_start_in_the_cost_and_to_people(server: Started) -> None:
    organizer = server.organizer()
    paid = {"door": "panel", "checks": True, "per_hour": 900, "words": {"goal": 24}}
    draft = begin(organizer, **paid)
    send(organizer, draft, photos(4))
    plan = prepared(organizer, draft)["plan"]
    assert plan["minutes_each"] == 4  # 60 s, and 24 answers, 3 checks first and 2 later of 6 s
    assert "4 minutes each" in plan["cost"]
    assert organizer.post(f"/api/setup/{draft}/preview").json()["about"]["minutes"] == 4
    study = organizer.post(f"/api/setup/{draft}/open").json()["study"]
    assert server.browser().get(f"/api/s/{study}").json()["minutes"] == 4
    unpaid = organizer.post("/api/setup", json=SETTINGS | {"words": {"goal": 100_000}}).json()
    assert unpaid["plan"]["minutes_each"] == 1001  # no more is reckoned with than anybody gives


@pytest.mark.parametrize("known", [True, False])
def test_the_page_names_heic_only_where_it_is_taken(
    server: Started, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    monkeypatch.setattr(pages, "heif_is_known", lambda: known)
    said = "JPEG, PNG, WebP, GIF and HEIC pictures" if known else "JPEG, PNG, WebP and GIF pictures"
    assert said in server.organizer().get("/setup").text


def test_the_built_in_question_is_of_as_many_as_will_be_shown(server: Started) -> None:
    organizer = server.organizer()
    assert organizer.get("/api/setup").json()["question"] == "Which one would improve the selection most?"
    draft = begin(organizer, options=None)
    organizer.post(f"/api/setup/{draft}/texts", json={"texts": "one\ntwo\nthree"})
    told = prepared(organizer, draft)
    assert told["question"] == "Which one would improve the selection more?", "of texts, two are shown"


def test_two_servers_of_one_machine_do_not_log_each_other_out(tmp_path: Path) -> None:
    with ExitStack() as running, httpx.Client(timeout=PATIENCE_S) as browser:
        servers = [running.enter_context(empty_server(tmp_path / f"{name}.db")) for name in "ab"]
        for server in servers:
            said = browser.post(f"{server.url}/api/organize/login", json={"key": server.registry.keys.organizer})
            assert said.status_code == 204
        assert [browser.get(f"{server.url}/api/setup").status_code for server in servers] == [200, 200]
        browser.post(f"{servers[0].url}/api/organize/logout")
        assert [browser.get(f"{server.url}/api/setup").status_code for server in servers] == [401, 200]
