"""Keys are made, listed and revoked from a study's page."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from tests.crowd.clients import STUDY, Started

Serve = Callable[..., Started]
KEYS = f"/api/organize/{STUDY}/keys"


def with_key(server: Started, link: str) -> httpx.Client:
    browser = server.browser()
    assert (
        browser.post(
            "/api/organize/login", json={"key": link.removeprefix("/r/").removeprefix("/organize/login#")}
        ).status_code
        == 204
    )
    return browser


def test_a_key_made_on_the_page_opens_what_its_role_may_see_until_it_is_revoked(serve: Serve) -> None:
    server = serve()
    owner = server.organizer()
    made = {role: owner.post(KEYS, json={"role": role}).json() for role in ("own", "watch", "result")}
    opens = {role: with_key(server, key["link"]) for role, key in made.items()}
    here = f"/api/organize/{STUDY}"
    seen = {role: (one.get(here).status_code, one.post(f"{here}/pause").status_code) for role, one in opens.items()}
    assert seen == {"own": (200, 200), "watch": (200, 403), "result": (403, 403)}
    listed = owner.get(KEYS).json()
    assert {key["id"] for key in listed} == {"terminal", *(key["id"] for key in made.values())}
    assert all(key["link"] is None for key in listed)
    assert owner.delete(f"{KEYS}/{made['watch']['id']}").status_code == 204
    assert opens["watch"].get(here).status_code == 401
    assert made["watch"]["id"] not in {key["id"] for key in owner.get(KEYS).json()}


def test_who_owns_one_study_neither_sees_nor_makes_keys_of_all(serve: Serve) -> None:
    server = serve()
    one = with_key(server, server.organizer().post(KEYS, json={"role": "own"}).json()["link"])
    assert [key["here"] for key in one.get(KEYS).json()] == [True]
    assert one.post(KEYS, json={"role": "watch", "all_studies": True}).status_code == 403
    assert one.delete(f"{KEYS}/terminal").status_code == 404


def test_nobody_locks_themselves_out(serve: Serve) -> None:
    refused = serve().organizer().delete(f"{KEYS}/terminal")
    assert (refused.status_code, refused.json()["error"]) == (409, "own_key")


def test_only_who_owns_a_study_sees_its_keys(serve: Serve) -> None:
    server = serve()
    watching = with_key(server, server.organizer().post(KEYS, json={"role": "watch"}).json()["link"])
    assert [watching.get(KEYS).status_code, watching.post(KEYS, json={"role": "own"}).status_code] == [403, 403]
    assert server.browser().get(KEYS).status_code == 401
