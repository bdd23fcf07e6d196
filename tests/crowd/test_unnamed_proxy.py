"""Many people on one private address are taken for one household: the organizer is told to name the proxy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from handful.crowd.hosting.startup import StudyPlan
from handful.crowd.hosting.unnamed_proxy import MANY, PrivateVisitors
from handful.study.doors import Door
from tests.crowd.clients import STUDY, Person, Started
from tests.crowd.test_people import OFTEN

Serve = Callable[..., Started]
PLAN = StudyPlan(k=3, explorer="topx", budget=400, in_flight=100, door=Door())


def warning_after(server: Started, people: int, **headers: str) -> str | None:
    for _ in range(people):
        browser = server.browser()
        browser.headers.update(headers)
        Person(browser)
    warning: str | None = server.organizer().get(f"/api/organize/{STUDY}").json()["warning"]
    return warning


def test_many_people_through_a_proxy_that_was_not_named_give_a_warning(serve: Serve) -> None:
    server = serve(PLAN, OFTEN)
    assert warning_after(server, MANY - 1, **{"X-Forwarded-For": "192.0.2.1"}) is None
    assert "--proxy" in str(warning_after(server, 1, **{"X-Forwarded-For": "192.0.2.1"}))


def test_a_named_proxy_gives_no_warning(serve: Serve) -> None:
    server = serve(PLAN, replace(OFTEN, proxies=("127.0.0.1",)))
    assert warning_after(server, MANY, **{"X-Forwarded-For": "192.0.2.1"}) is None


def test_one_room_gives_no_warning(serve: Serve) -> None:
    server = serve(replace(PLAN, door=Door("room")), OFTEN)
    assert warning_after(server, MANY, **{"X-Forwarded-For": "192.0.2.1"}) is None


@pytest.mark.parametrize(
    ("host", "forwarded", "warned"),
    [
        ("192.168.1.1", False, True),
        ("::ffff:10.0.0.1", False, True),
        ("127.0.0.1", False, False),
        ("127.0.0.1", True, True),
        ("8.8.8.8", True, False),
        ("somewhere", True, False),
    ],
)
def test_only_private_addresses_are_suspected(host: str, forwarded: bool, warned: bool) -> None:
    visitors = PrivateVisitors("s")
    for _ in range(MANY):
        visitors.joined(host, forwarded=forwarded)
    assert (visitors.warning is not None) == warned


def test_the_log_says_so_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    import logging

    monkeypatch.setattr(logging.getLogger("handful.crowd"), "propagate", True)
    visitors = PrivateVisitors("s")
    for _ in range(5 * MANY):
        visitors.joined("10.0.0.1", forwarded=True)
    said = {id(record): record.levelname for record in caplog.records}  # one record may be caught on two ways
    assert list(said.values()) == ["WARNING"]
