"""The organizer's key and links to results: what each opens, and what renewing or revoking one ends."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from handful import Preferences, Study
from handful.crowd.app import create_app
from handful.crowd.collection import Collection
from handful.crowd.organizer_keys import OrganizerKeys
from handful.crowd.registry import link_of
from handful.crowd.tokens import Secret, new_session
from handful.storage import backup, make_storage
from tests.crowd.clients import STUDY, Started

Serve = Callable[..., Started]
HERE = f"/api/organize/{STUDY}"
SECRET = Secret(b"s" * 32)


def test_every_route_of_the_organizer_needs_a_session(serve: Serve) -> None:
    server = serve(themes=("Cathedrals in Venice", "Boats"))
    stranger, tried = server.browser(), 0
    stranger.cookies.set(server.registry.keys.cookie, new_session(Secret(b"x" * 32), "1", 1e12))
    for route, methods in create_app(server.registry).openapi()["paths"].items():
        path = route.removeprefix("/api/organize")
        if not route.startswith(("/api/organize", "/api/setup")) or path in ("/login", "/logout"):
            continue
        for method in methods:
            filled = re.sub(r"\{\w+\}", "1", route.replace("{study}", STUDY))
            response = stranger.request(method, filled, json=None if method in ("get", "delete") else {"worker": "w"})
            tried += 1
            assert (response.status_code, response.json()["error"]) == (401, "not_organizer"), (method, route)
    assert tried > 50


@pytest.mark.parametrize("stored", [False, True])
def test_renewing_the_key_ends_sessions_and_streams_at_once(serve: Serve, tmp_path: Path, stored: bool) -> None:
    server = serve(storage=tmp_path / "study.db" if stored else None)
    client, before = server.organizer(), server.registry.keys.organizer
    ended, heard = threading.Event(), threading.Event()

    def listen() -> None:
        with client.stream("GET", f"{HERE}/events", timeout=30) as stream:
            for _ in stream.iter_lines():
                heard.set()
        ended.set()

    thread = threading.Thread(target=listen)
    thread.start()
    assert heard.wait(30)
    assert client.get(HERE).status_code == 200
    # As another process would, which knows the file and the secret.
    keys = OrganizerKeys(server.registry.secret, tmp_path / "study.db") if stored else server.registry.keys
    keys.renew()
    assert client.get(HERE).status_code == 401
    assert ended.wait(30)
    thread.join()
    assert client.post("/api/organize/login", json={"key": before}).status_code == 401
    assert server.organizer().get(HERE).status_code == 200


def test_who_renews_the_key_on_the_page_stays_and_everybody_else_is_logged_out(serve: Serve) -> None:
    server = serve()
    mine, other = server.organizer(), server.organizer()
    before = server.registry.keys.organizer
    renewed = mine.post("/api/organize/key")
    assert renewed.status_code == 201
    assert renewed.json()["link"] == f"/organize/login#{server.registry.keys.organizer}"
    assert server.registry.keys.organizer != before
    assert [mine.get(HERE).status_code, other.get(HERE).status_code] == [200, 401]
    assert other.post("/api/organize/key").status_code == 401


def test_a_study_has_one_link_to_its_result_until_it_is_revoked(serve: Serve) -> None:
    server = serve(themes=("Cathedrals in Venice", "Boats"))
    organizer, anybody = server.organizer(), server.browser()
    assert organizer.get(f"{HERE}/share").json() == {"link": None}
    link = organizer.post(f"{HERE}/share").json()["link"]
    assert organizer.post(f"{HERE}/share").json() == organizer.get(f"{HERE}/share").json() == {"link": link}
    assert organizer.post("/api/organize/boats/share").json()["link"] != link
    page = anybody.get(link)
    assert (page.status_code, len(anybody.cookies)) == (200, 0), "without a session"
    assert "Cathedrals in Venice" in page.text
    assert anybody.post("/api/organize/login", json={"key": link.removeprefix("/r/")}).status_code == 401
    assert anybody.get(f"/r/{server.registry.keys.organizer}").status_code == 404
    assert organizer.delete(f"{HERE}/share").status_code == 204
    assert anybody.get(link).status_code == 404
    assert organizer.get(f"{HERE}/share").json() == {"link": None}
    assert organizer.post(f"{HERE}/share").json()["link"] != link, "what was revoked stays so"
    assert anybody.get(link).status_code == 404


def check_keys(keys: OrganizerKeys, again: Callable[[], OrganizerKeys]) -> None:
    """What is kept of keys; `again` looks at the same place like another process."""
    first = keys.organizer
    assert len(first) == 24
    assert again().organizer == first
    keys.renew()
    assert again().organizer == keys.organizer != first
    assert not again().opens(first)
    keys.share("a")
    keys.share("b")
    links = {name: again().link(name) for name in ("a", "b", "c")}
    assert links["c"] is None
    assert links["a"] != links["b"]
    assert [again().study_of((links[name] or "").removeprefix("/r/")) for name in "ab"] == ["a", "b"]
    again().revoke("a")
    assert keys.link("a") is None
    assert keys.study_of((links["a"] or "").removeprefix("/r/")) is None
    assert keys.link("b") == links["b"]


def test_keys_are_kept_in_every_storage(storage: str) -> None:
    make_storage(storage)
    check_keys(OrganizerKeys(SECRET, storage), lambda: OrganizerKeys(SECRET, storage))


def test_keys_are_kept_in_memory() -> None:
    keys = OrganizerKeys(SECRET)
    check_keys(keys, lambda: keys)


def test_another_secret_makes_other_keys(tmp_path: Path) -> None:
    make_storage(tmp_path / "s.db")
    keys, others = (OrganizerKeys(secret, tmp_path / "s.db") for secret in (SECRET, Secret(b"t" * 32)))
    keys.share("a")
    assert not others.opens(keys.organizer)
    assert not others.in_session(keys.session(100.0))
    assert others.link("a") != keys.link("a")


def test_a_backup_knows_which_keys_were_renewed_and_revoked(storage: str, tmp_path: Path) -> None:
    make_storage(storage)
    keys = OrganizerKeys(SECRET, storage)
    keys.renew()
    keys.share("a")
    keys.share("b")
    keys.revoke("b")
    copied = OrganizerKeys(SECRET, backup(storage, tmp_path / "copy.db"))
    assert (copied.organizer, copied.link("a"), copied.link("b")) == (keys.organizer, keys.link("a"), None)


def test_no_key_is_stored_as_it_is_typed(serve: Serve, tmp_path: Path) -> None:
    server = serve(storage=tmp_path / "study.db")
    keys = server.registry.keys
    keys.renew()
    keys.share(STUDY)
    content = b"".join(path.read_bytes() for path in tmp_path.glob("study.db*"))
    for key in (keys.organizer, (keys.link(STUDY) or "").removeprefix("/r/")):
        assert len(key) == 24
        assert key.encode() not in content


NAMES = ['a"b\r\nSet-Cookie: x=1', "Größe; Path=/", "a/b?c#d", "..", "login", "日本", "x" * 150]


@pytest.mark.parametrize("name", NAMES)
def test_a_study_with_any_name_can_be_served_and_downloaded(
    serve: Serve, collection: Collection, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "study.db"
    Study(collection.ids, 2, feedback=Preferences(), budget=60, storage=file, name=name).close()
    server = serve(themes=(), storage=file)
    link = link_of(name)
    assert list(server.registry.studies) == [link]
    person = server.person(link)
    person.answer()
    export = server.organizer().get(f"/api/organize/{link}/export.csv")
    assert export.status_code == 200
    assert export.headers["content-disposition"] == f'attachment; filename="{link}.csv"'
    assert "set-cookie" not in export.headers
    assert len({link_of(other) for other in NAMES}) == len(NAMES)
