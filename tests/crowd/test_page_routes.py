"""The pages as they are sent: what a browser may keep of them, and what it must ask for again."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx

from handful.crowd.messages import StudyLine
from handful.crowd.pages import told_apart
from tests.crowd.clients import PATIENCE_S, STUDY, Started

Serve = Callable[..., Started]


def test_scripts_and_styles_are_kept_by_a_browser_under_a_name_that_changes_with_them(serve: Serve) -> None:
    with httpx.Client(base_url=serve().url, timeout=PATIENCE_S) as browser:
        page = browser.get(f"/s/{STUDY}")
        assert page.headers["cache-control"] == "no-store"
        addresses = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text))
        assert len(addresses) > 10
        for address in addresses:
            assert re.match(r"/static/[0-9a-f]{12}/[a-z_]+\.(css|js|svg)$", address)
            file = browser.get(address)
            assert file.status_code == 200
            assert "immutable" in file.headers["cache-control"]


def test_scripts_of_another_release_are_not_there(serve: Serve) -> None:
    with httpx.Client(base_url=serve().url, timeout=PATIENCE_S) as browser:
        for address in ("/static/app.css", "/static/000000000000/app.css"):
            gone = browser.get(address)
            assert (gone.status_code, gone.headers["cache-control"]) == (404, "no-store")


def test_the_page_for_nothing_has_its_style(serve: Serve) -> None:
    with httpx.Client(base_url=serve().url, timeout=PATIENCE_S) as browser:
        (style,) = re.findall(r'href="([^"]+)"', browser.get("/nothing").text)
        assert browser.get(style).status_code == 200


def test_the_front_page_says_of_finished_selections_that_they_are(serve: Serve) -> None:
    server = serve(themes=("Cathedrals in Venice", "Boats"))
    boats, cathedrals = (server.registry.studies[name].study for name in ("boats", "cathedrals-in-venice"))

    def lead() -> str:
        return server.browser().get("/").text.partition('<p class="lead">')[2].partition("</p>")[0]

    assert lead().startswith("Each of these is a small selection in the making. You see")
    boats.finish("enough")
    assert lead().startswith(
        "Each of these is a small selection in the making, unless it is marked as finished. You see"
    )
    cathedrals.finish("enough")
    assert lead() == "These selections are finished: no more answers are needed."


def test_studies_of_the_same_theme_are_told_apart() -> None:
    day = 1_700_000_000.0
    lines = [StudyLine(study=f"s{n}", theme=theme, state="open", began=day + n) for n, theme in enumerate("aab")]
    assert [told_apart(line, lines) for line in lines] == ["14 Nov 2023, 1 of 2", "14 Nov 2023, 2 of 2", "14 Nov 2023"]


def test_a_short_link_leads_to_the_study_and_no_other_letters_do(serve: Serve) -> None:
    server = serve(themes=("Cathedrals in Venice", "Boats"))
    codes = {server.registry.short_code(hosted): hosted.name for hosted in server.registry.studies.values()}
    assert len(codes) == 2
    browser = server.browser()
    for code, name in codes.items():
        assert browser.get(f"/j/{code.upper()}").headers["location"] == f"/s/{name}"
        assert f'data-path="/j/{code}"' in server.organizer().get(f"/organize/{name}").text
    assert browser.get("/j/abcdef").status_code == 404
