"""What somebody with bad intentions tries, and what becomes of it."""

from __future__ import annotations

import json
import logging
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from handful.crowd.app import JsonLines
from handful.crowd.assets import STATIC
from handful.crowd.guard import CONTENT_SECURITY_POLICY
from handful.crowd.intake import ingest
from handful.crowd.settings import Rate, ServerLimits, Settings
from handful.crowd.tokens import Secret, Worker, new_cookie, new_session, tokens_key
from tests.crowd.clients import PATIENCE_S, STUDY, Started

Serve = Callable[..., Started]
NOT_FOUND = {"error": "not_found", "message": "There is nothing here."}


def answers(server: Started) -> int:
    return server.registry.studies[STUDY].study.status().answers


def test_a_forged_token_is_nothing(serve: Serve) -> None:
    server = serve()
    person = server.person()
    key = tokens_key(Secret(b"x" * 32), STUDY, new_cookie(Secret(b"x" * 32), STUDY))
    assert key is not None
    forger = Worker("w1", key)
    for token in (forger.token("q0"), "q0", "0", "A" * 28, person.token[:-1] + "~", "../../etc/passwd"):
        refused = person.post("answer", {"token": token, "side": "left"})
        assert (refused.status_code, refused.json()) == (404, NOT_FOUND)
        assert person.post("skip", {"token": token, "reason": "other"}).status_code == 404
        assert person.post("undo", {"token": token, "side": "left"}).status_code == 404
    assert answers(server) == 0


def test_a_token_is_of_no_use_to_another_worker(serve: Serve) -> None:
    server = serve()
    owner, thief = server.person(), server.person()
    refused = thief.post("answer", {"token": owner.token, "side": "left"})
    assert (refused.status_code, refused.json()) == (404, NOT_FOUND)
    assert answers(server) == 0


def test_a_token_is_of_no_use_in_another_study(serve: Serve) -> None:
    server = serve(themes=("Cathedrals in Venice", "Boats"))
    owner, elsewhere = server.person(), server.person("boats")
    assert elsewhere.post("answer", {"token": owner.token, "side": "left"}).status_code == 404
    cookie = owner.http.cookies["handful"]
    moved = httpx.get(f"{server.url}/api/s/boats/next", headers={"Cookie": f"handful={cookie}"}, timeout=PATIENCE_S)
    assert moved.json()["error"] == "not_joined"


def test_a_replayed_answer_counts_once_even_when_sent_at_the_same_time(serve: Serve) -> None:
    from concurrent.futures import ThreadPoolExecutor

    server = serve(settings=Settings(limits=ServerLimits.none()))
    person = server.person()
    body = {"token": person.token, "side": "left"}
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: person.post("answer", body).json()["answer"], range(24)))
    assert sorted(reply["repeated"] for reply in replies) == [False] + [True] * 23
    assert answers(server) == 1


def test_the_client_is_not_asked_which_pair_it_saw(serve: Serve) -> None:
    person = serve().person()
    forged = {"token": person.token, "side": "left", "item": "photo 1.jpg"}
    assert person.post("answer", forged).json()["error"] == "invalid"
    for side in ("LEFT", "both", 1, None, ["left"]):
        assert person.post("answer", {"token": person.token, "side": side}).status_code == 422


def test_without_the_cookie_nothing_is_answered(serve: Serve) -> None:
    server = serve()
    person = server.person()
    stranger = server.browser()
    for cookie in (None, "", "nonsense", "A" * 44, new_cookie(Secret(b"x" * 32), STUDY)):
        headers = {} if cookie is None else {"Cookie": f"handful={cookie}"}
        body = {"token": person.token, "side": "left"}
        refused = stranger.post(f"/api/s/{STUDY}/answer", json=body, headers=headers)
        assert (refused.status_code, refused.json()["error"]) == (401, "not_joined")
    assert answers(server) == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_another_site_cannot_answer_or_organize(serve: Serve, headers: dict[str, str]) -> None:
    server = serve()
    person, organizer = server.person(), server.organizer()
    refused = person.post("answer", {"token": person.token, "side": "left"}, headers=headers)
    assert (refused.status_code, refused.json()["error"]) == (403, "cross_origin")
    for action in ("close", "pause", "open"):
        assert organizer.post(f"/api/organize/{STUDY}/{action}", headers=headers).status_code == 403
    key = {"key": server.registry.keys.organizer}
    assert organizer.post("/api/organize/login", json=key, headers=headers).status_code == 403
    assert answers(server) == 0
    server.person().answer()
    (person,) = organizer.get(f"/api/organize/{STUDY}").json()["workers"]
    asked = organizer.get(f"/api/organize/{STUDY}/exclude", params={"worker": person["worker"]})
    assert asked.status_code == 200, "what excluding somebody would mean"
    (person,) = organizer.get(f"/api/organize/{STUDY}").json()["workers"]
    assert not person["excluded"]
    assert server.registry.studies[STUDY].state == "open"


def test_our_own_pages_may(serve: Serve) -> None:
    server = serve()
    person = server.person()
    headers = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
    assert person.post("answer", {"token": person.token, "side": "left"}, headers=headers).status_code == 200


def test_a_form_of_another_site_cannot_even_be_read(serve: Serve) -> None:
    server = serve()
    person = server.person()
    body = json.dumps({"token": person.token, "side": "left"})
    sent = person.http.post(f"/api/s/{STUDY}/answer", content=body, headers={"Content-Type": "text/plain"})
    assert sent.status_code == 422
    assert answers(server) == 0


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_what_a_form_of_another_site_could_send_is_not_taken(serve: Serve, kind: str) -> None:
    server = serve()
    person = server.person()
    body = json.dumps({"token": person.token, "side": "left"})
    refused = person.http.post(f"/api/s/{STUDY}/answer", content=body, headers={"Content-Type": kind} if kind else {})
    assert (refused.status_code, refused.json()["error"]) == (422, "invalid")
    assert answers(server) == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"token": 1, "side": "left"}',
        b'{"token": "x", "side": "up"}',
    ],
)
def test_a_body_that_makes_no_sense_is_refused_in_the_one_shape(serve: Serve, body: bytes) -> None:
    person = serve().person()
    kind = {"Content-Type": "application/json; charset=utf-8"}
    refused = person.http.post(f"/api/s/{STUDY}/answer", content=body, headers=kind)
    assert (refused.status_code, refused.json()["error"]) == (422, "invalid")


def test_a_body_that_is_too_deep_to_be_read_is_refused_in_the_same_shape(serve: Serve) -> None:
    refused = (
        serve()
        .person()
        .http.post(f"/api/s/{STUDY}/answer", content=b"[" * 5000, headers={"Content-Type": "application/json"})
    )
    assert (refused.status_code, refused.json()["error"]) == (400, "bad_request")


def test_a_get_changes_nothing(serve: Serve) -> None:
    server = serve()
    organizer = server.organizer()
    for action in ("open", "pause", "close", "restore"):
        assert organizer.get(f"/api/organize/{STUDY}/{action}").status_code == 405
    for action in ("join", "answer", "skip", "undo"):
        assert organizer.get(f"/api/s/{STUDY}/{action}").status_code == 405
    assert server.registry.studies[STUDY].state == "open"


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/s/unknown",
        "/s/..%2f..%2fetc%2fpasswd",
        "/items/unknown.webp",
        "/items/secret",
        "/items/manifest.json",
        "/items/..%2fsecret",
        "/items/%2e%2e/secret",
        "/static/../app.py",
        f"{STATIC}/..%2fapp.py",
        f"{STATIC}/%2e%2e%2fseals.py",
        f"{STATIC}/",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2fseals.py",
        "/static/",
        "/static",
        "/docs",
        "/redoc",
        "/.git/config",
    ],
)
def test_everything_unknown_looks_the_same(serve: Serve, path: str) -> None:
    server = serve()
    with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1]))) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        reply = b""
        while part := line.recv(65_536):
            reply += part
    head, body = reply.decode().split("\r\n\r\n", 1)
    assert head.startswith("HTTP/1.1 404")
    assert body == httpx.get(server.url + "/another-unknown-page", timeout=PATIENCE_S).text


@pytest.mark.parametrize(
    "path", ["/api/s/unknown", "/api/s/unknown/next", "/api/s/unknown/events", "/api/nothing", "/api/"]
)
def test_everything_unknown_in_the_interface_looks_the_same(serve: Serve, path: str) -> None:
    response = httpx.get(serve().url + path, timeout=PATIENCE_S)
    assert (response.status_code, response.json()) == (404, NOT_FOUND)


def test_without_the_key_studies_that_exist_look_like_those_that_do_not(serve: Serve) -> None:
    server = serve()
    for known, unknown in (
        (f"/api/organize/{STUDY}", "/api/organize/unknown"),
        (f"/api/organize/{STUDY}/export.csv", "/api/organize/unknown/export.csv"),
        (f"/api/organize/{STUDY}/events", "/api/organize/unknown/events"),
        (f"/organize/{STUDY}", "/organize/unknown"),
    ):
        one, other = (
            httpx.get(server.url + known, timeout=PATIENCE_S),
            httpx.get(server.url + unknown, timeout=PATIENCE_S),
        )
        assert one.status_code in (401, 303)
        assert (one.status_code, one.text) == (other.status_code, other.text)
        assert one.headers.get("location") == other.headers.get("location")
    forged = {"Cookie": f"{server.registry.keys.cookie}={new_session(Secret(b'x' * 32), '1', time.time() + 100)}"}
    assert httpx.get(f"{server.url}/api/organize/{STUDY}", headers=forged, timeout=PATIENCE_S).status_code == 401
    assert httpx.post(f"{server.url}/api/organize/{STUDY}/close", timeout=PATIENCE_S).status_code == 401
    assert httpx.get(f"{server.url}/api/organize/backup", timeout=PATIENCE_S).status_code == 401


def test_the_key_cannot_be_guessed_by_trying(serve: Serve) -> None:
    server = serve(settings=Settings(limits=ServerLimits(login=Rate(0.01, 3))))
    tried = [
        httpx.post(server.url + "/api/organize/login", json={"key": f"guess {n}"}, timeout=PATIENCE_S) for n in range(5)
    ]
    assert [response.status_code for response in tried] == [401, 401, 401, 429, 429]
    right = httpx.post(
        server.url + "/api/organize/login", json={"key": server.registry.keys.organizer}, timeout=PATIENCE_S
    )
    assert right.status_code == 429


@pytest.mark.parametrize("chunked", [False, True])
def test_an_oversized_body_is_refused_before_it_is_read(serve: Serve, chunked: bool) -> None:
    server = serve()
    person = server.person()

    def parts():  # type: ignore[no-untyped-def]
        for _ in range(50):
            yield b" " * 10_000

    body = parts() if chunked else b" " * 500_000
    headers = {"Content-Type": "application/json"}
    refused = person.http.post(f"/api/s/{STUDY}/answer", content=body, headers=headers)
    assert (refused.status_code, refused.json()["error"]) == (413, "too_large")
    assert person.next()["state"] == "questions"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"token": "\\ud800", "side": "left"}', b"\xff\xfe", b"9" * 9000, b"[" * 9000]
)
def test_a_body_that_is_not_json_is_refused_in_the_one_shape(serve: Serve, body: bytes) -> None:
    person = serve().person()
    refused = person.http.post(f"/api/s/{STUDY}/answer", content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code in (400, 404, 422)
    assert set(refused.json()) == {"error", "message"}


def test_every_response_says_what_a_browser_may_do_with_it(serve: Serve) -> None:
    server = serve()
    organizer = server.organizer()
    for path in ("/", f"/s/{STUDY}", "/organize/login", f"/organize/{STUDY}", "/nothing", "/api/studies", "/healthz"):
        headers = organizer.get(path).headers
        assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
        assert "x-powered-by" not in headers
        assert not any(name.startswith("access-control-") for name in headers)


def test_nothing_tells_about_the_inside(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    person = server.person()
    hosted = server.registry.studies[STUDY]

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("/secret/path/in/a/message")

    monkeypatch.setattr(hosted, "work", broken)
    failed = person.http.get(f"/api/s/{STUDY}/next")
    assert failed.status_code == 500
    assert failed.json() == {"error": "internal", "message": "Something went wrong here. It was noted."}
    described = httpx.get(server.url + "/api/openapi.json", timeout=PATIENCE_S).text
    assert not re.search(r"photo \d|\.py\b|/src/|\d+\.\d+\.\d+", described.replace("3.1.0", ""))


EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def test_captions_texts_and_themes_cannot_become_markup(serve: Serve, tmp_path: Path) -> None:
    table = tmp_path / "evil.csv"
    quoted = EVIL.replace('"', '""')
    texts = (f"one {quoted}", f"two {quoted}", "three", "four")
    table.write_text("text,caption\n" + "".join(f'"{text}","{quoted}"\n' for text in texts))
    server = serve(items=ingest(table, tmp_path / "items"), themes=(f"A {EVIL}", "B"))
    name = next(iter(server.registry.studies))
    organizer = server.organizer()
    for path in ("/", f"/s/{name}", "/organize", f"/organize/{name}"):
        page = organizer.get(path)
        assert page.headers["content-type"].startswith("text/html")
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
    assert "&lt;script&gt;" in organizer.get(f"/s/{name}").text
    told = server.person(name)
    assert EVIL in told.work["questions"][0]["left"]["caption"]
    reply = told.http.get(f"/api/s/{name}/next")
    assert reply.headers["content-type"] == "application/json"


def test_formulas_are_harmless_in_the_export(serve: Serve, tmp_path: Path) -> None:
    table = tmp_path / "formulas.csv"
    table.write_text('id,text\n"=cmd()",one\n"+A1",two\n"@SUM(A1)",three\n"-2+3",four\n')
    server = serve(items=ingest(table, tmp_path / "items"))
    person = server.person()
    for _ in range(6):
        person.answer()
    lines = server.organizer().get(f"/api/organize/{STUDY}/export.csv").text.splitlines()
    assert len(lines) == 7
    for line in lines[1:]:
        item, rival = line.split(",")[2:4]
        assert item[0] == rival[0] == "'"


def test_a_name_that_is_not_ours_is_refused_where_only_this_machine_may_look(serve: Serve) -> None:
    server = serve(settings=Settings(hosts=("127.0.0.1", "localhost")))
    assert httpx.get(server.url + "/healthz", timeout=PATIENCE_S).status_code == 200
    rebound = httpx.get(server.url + "/healthz", headers={"Host": "evil.example"}, timeout=PATIENCE_S)
    assert (rebound.status_code, rebound.json()["error"]) == (400, "bad_host")


def test_one_address_cannot_flood_the_server_or_hold_all_streams(serve: Serve) -> None:
    limits = ServerLimits(address=Rate(1, 20), streams_per_address=2)
    server = serve(settings=Settings(limits=limits))
    client = server.browser()
    url = f"/api/s/{STUDY}/events"
    with client.stream("GET", url) as one, client.stream("GET", url) as two:
        assert (one.status_code, two.status_code) == (200, 200)
        assert client.get(url).status_code == 429
    assert [client.get("/healthz").status_code for _ in range(30)][-1] == 429


def test_the_log_holds_no_address_token_cookie_or_name(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("handful.crowd").propagate = True
    server = serve()
    with caplog.at_level(logging.INFO, logger="handful.crowd"):
        person = server.person()
        token, cookie = person.token, person.http.cookies["handful"]
        person.answer()
        person.http.get("/my-private-page?name=Anna")
        deadline = (
            time.monotonic() + PATIENCE_S
        )  # a request is logged once it is over, when its reply may have been read
        while "unknown" not in {getattr(record, "route", "") for record in caplog.records}:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    lines = [JsonLines().format(record) for record in caplog.records]
    logged = [json.loads(line) for line in lines]
    assert {"/api/s/{study}/answer", "/api/s/{study}/join", "unknown"} <= {one.get("route") for one in logged}
    worker = server.registry.studies[STUDY].study.state.workers.names[0]
    for private in (token, cookie, worker, "127.0.0.1", "Anna", "my-private-page"):
        assert private not in "\n".join(lines)


def test_the_journal_holds_no_token_cookie_or_address(serve: Serve, tmp_path: Path) -> None:
    server = serve(storage=tmp_path / "study.db")
    person = server.person()
    token, cookie = person.token, person.http.cookies["handful"]
    person.answer()
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("study.db*") if path.is_file())
    assert b"joined" in stored
    for private in (token, cookie, cookie[:20], "127.0.0.1"):
        assert private.encode() not in stored
