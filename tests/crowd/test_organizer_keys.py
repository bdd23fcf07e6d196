"""Keys for others: what each role opens, and what revoking one ends."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from handful import Preferences, Study
from handful.crowd.collection.items import Collection
from handful.crowd.hosting.organizer_keys import OrganizerKeys
from handful.crowd.hosting.registry import link_of
from handful.crowd.hosting.tokens import Secret
from handful.crowd.web.app import create_app
from handful.storage.keys import MemoryKeys, Role, hash_of, new_key, open_keys
from tests.crowd.clients import STUDY, Started

Serve = Callable[..., Started]

SHOWN = {"/{study}/result", "/{study}/sheet.png", "/{study}/picks.zip", "/{study}/report.html"}
SEEN = SHOWN | {
    "/{study}",
    "/{study}/agreement",
    "/{study}/export.csv",
    "/{study}/export.jsonl",
    "/{study}/link.svg",
    "/{study}/preregistration.html",
}


def visitor(server: Started, role: Role, study: str | None = None) -> tuple[httpx.Client, str]:
    """A browser with a session of a new key, and the key's id."""
    key, typed = new_key(server.registry.keys.keys, role, study)
    client = server.browser()
    assert client.post("/api/organize/login", json={"key": typed}).status_code == 204
    return client, key.id


def test_the_page_of_the_only_study_leads_to_a_new_one_for_keys_that_may_make_one(serve: Serve, tmp_path: Path) -> None:
    server = serve(storage=tmp_path / "s.db")
    keys: tuple[tuple[Role, str | None, bool], ...] = (
        ("own", None, True),
        ("own", STUDY, False),
        ("watch", None, False),
    )
    for role, study, may in keys:
        client, _ = visitor(server, role, study)
        page = client.get("/organize", follow_redirects=True)
        assert page.url.path == f"/organize/{STUDY}"
        assert ('href="/setup"' in page.text) == may
        assert (client.get("/setup").status_code == 200) == may


@pytest.mark.parametrize(("role", "open_to_it"), [("watch", SEEN), ("result", SHOWN)])
def test_every_route_of_the_organizer_checks_the_role(serve: Serve, role: Role, open_to_it: set[str]) -> None:
    server = serve(themes=("Cathedrals in Venice", "Boats"))
    client, _ = visitor(server, role)
    opened, tried = set(), 0
    for route, methods in create_app(server.registry).openapi()["paths"].items():
        path = route.removeprefix("/api/organize")
        if not route.startswith(("/api/organize", "/api/setup")) or path in ("/login", "/logout", "/{study}/events"):
            continue
        for method in methods:
            filled = re.sub(r"\{\w+\}", "1", route.replace("{study}", STUDY))
            response = client.request(method, filled, json=None if method in ("get", "delete") else {"worker": "w"})
            tried += 1
            if response.status_code != 403 or response.json()["error"] != "not_allowed":
                opened.add(f"{method} {path}")
    assert opened == {f"get {path}" for path in open_to_it}
    assert tried > 60
    with client.stream("GET", f"/api/organize/{STUDY}/events") as stream:
        assert stream.status_code == (200 if role == "watch" else 403)


def test_a_key_of_one_study_opens_no_other(serve: Serve, tmp_path: Path) -> None:
    server = serve(themes=("Cathedrals in Venice", "Boats"), storage=tmp_path / "two.db")
    client, _ = visitor(server, "own", "boats")
    assert client.get("/api/organize/boats").status_code == 200
    assert client.get(f"/api/organize/{STUDY}").json() == client.get("/api/organize/unknown").json()
    assert client.get(f"/organize/{STUDY}").status_code == 404
    assert client.get("/organize").headers["location"] == "/organize/boats"
    assert client.get("/api/organize/backup").status_code == 403  # it holds all studies, and the secret


def test_a_key_to_watch_shows_the_page_and_one_for_the_result_only_that(serve: Serve) -> None:
    server = serve()
    watching, _ = visitor(server, "watch")
    assert 'data-role="watch"' in watching.get(f"/organize/{STUDY}").text
    reading, _ = visitor(server, "result")
    page = reading.get(f"/organize/{STUDY}")
    assert page.status_code == 200
    assert "What is proved, and what it rests on" in page.text
    assert "organizer.js" not in page.text


@pytest.mark.parametrize("stored", [False, True])
def test_revoking_a_key_ends_its_sessions_and_streams_at_once(serve: Serve, tmp_path: Path, stored: bool) -> None:
    server = serve(storage=tmp_path / "study.db" if stored else None)
    other = server.organizer()
    client, id_ = visitor(server, "watch")
    ended = threading.Event()

    def listen() -> None:
        with client.stream("GET", f"/api/organize/{STUDY}/events", timeout=30) as stream:
            for _ in stream.iter_lines():
                heard.set()
        ended.set()

    heard = threading.Event()
    thread = threading.Thread(target=listen)
    thread.start()
    assert heard.wait(30)
    assert client.get(f"/api/organize/{STUDY}").status_code == 200
    # As another process would, which knows the file and nothing else.
    keys = open_keys(tmp_path / "study.db") if stored else server.registry.keys.keys
    keys.revoke(id_, time.time())
    assert client.get(f"/api/organize/{STUDY}").status_code == 401
    assert ended.wait(30)
    thread.join()
    assert other.get(f"/api/organize/{STUDY}").status_code == 200


def test_the_terminals_key_stays_until_it_is_revoked_or_the_secret_is_another() -> None:
    keys = MemoryKeys()
    first = OrganizerKeys(Secret(b"s" * 32), keys).terminal
    assert OrganizerKeys(Secret(b"s" * 32), keys).terminal == first
    keys.revoke("terminal", 5.0)
    second = OrganizerKeys(Secret(b"s" * 32), keys)
    assert second.terminal != first
    assert second.typed(first) is None
    replaced = OrganizerKeys(Secret(b"t" * 32), keys)
    assert replaced.typed(second.terminal) is None
    assert replaced.typed(replaced.terminal) is not None


def test_no_key_is_stored_as_it_is_typed(serve: Serve, tmp_path: Path) -> None:
    server = serve(storage=tmp_path / "study.db")
    _, typed = new_key(server.registry.keys.keys, "watch", None)
    content = b"".join(path.read_bytes() for path in tmp_path.glob("study.db*"))
    assert hash_of(typed) in content
    for key in (typed, server.registry.keys.terminal):
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
