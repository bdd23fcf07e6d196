"""A person's own data, on the page where they answer; and keys, on the organizer's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Route, expect

from handful.crowd.registry import StudyPlan
from handful.rules import Door
from tests.browser.pages import STUDY, WorkersPage, look, organizers_page
from tests.crowd.clients import Started

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]


def test_somebody_withdraws_and_is_forgotten_with_their_own_code(serve: Serve, somebody: Somebody) -> None:
    served = serve()
    page = WorkersPage.joined(served, somebody()).ready()
    page.press("ArrowLeft")
    page.ready()
    (name,) = served.registry.studies[STUDY].study.state.workers.names
    page.page.click("#help")
    page.page.click("#mine summary")
    expect(page.page.locator("#my-code")).to_have_value(re.compile(r"^.{19}$"))
    look(page.page, "my-data", widths=(360, 1280))
    for value in ("forget", "withdraw"):  # once each: nothing is done yet
        page.page.click(f"button[value={value}]")
        expect(page.page.locator("#mine-said")).to_contain_text("Press again to go on.")
    assert not served.registry.studies[STUDY].study.state.workers.excludes(name)
    page.page.click("button[value=withdraw]")
    page.page.wait_for_selector("text=You are forgotten")
    look(page.page, "forgotten", widths=(360, 1280))
    assert served.registry.studies[STUDY].study.state.workers.excludes(name)
    page.page.reload()
    page.page.wait_for_selector("#welcome:visible")


def test_an_organizer_renews_the_key_and_stays_logged_in(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    page, other = organizers_page(server, somebody()), organizers_page(server, somebody())
    page.click("#renew-key")
    page.wait_for_selector("#new-key input")
    look(page, "key", whole=True, widths=(360, 1280))
    assert page.input_value("#new-key input") == f"{server.url}{server.registry.keys.login}"
    other.reload()
    other.wait_for_selector("#key")
    page.reload()
    page.wait_for_selector("#race li")


def test_a_key_is_not_renewed_twice_because_a_reply_was_lost(serve: Serve, somebody: Somebody) -> None:
    server = serve()
    page = organizers_page(server, somebody())
    before = server.registry.keys.organizer
    renewed: list[str] = []

    def lose_every_reply(route: Route) -> None:
        assert route.fetch().status == 201
        renewed.append(server.registry.keys.organizer)
        route.abort()

    page.route("**/organize/key", lose_every_reply)
    page.click("#renew-key")
    expect(page.locator("body")).to_contain_text("it is not known whether this was done")
    page.wait_for_timeout(1500)  # repeated requests come after 0.3 and 0.7 seconds
    assert renewed == [server.registry.keys.organizer]
    assert renewed != [before]


def test_invitations_are_made_as_a_file_and_counted(serve: Serve, somebody: Somebody) -> None:
    plan = StudyPlan(k=2, options=2, budget=60, door=Door("invitations"))
    page = organizers_page(serve(plan), somebody())
    page.fill("#invite-number", "3")
    with page.expect_download() as sent:
        page.click("#inviting button")
    assert Path(sent.value.path()).read_text().count(f"/s/{STUDY}#") == 3
    expect(page.locator("#invited")).to_have_text("3 open, 0 used.")
    look(page, "invitations", whole=True, widths=(360, 1280))
