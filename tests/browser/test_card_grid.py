"""In how many columns the cards of a question stand, by the shapes of their pictures and the room there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from handful.crowd.intake import ingest
from handful.crowd.registry import StudyPlan
from tests.browser.conftest import PATIENCE_MS
from tests.browser.pages import WorkersPage, look
from tests.crowd.clients import Started
from tests.crowd.pictures import drawn, encoded

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]

GRID = Path(__file__).parents[2] / "src/handful/crowd/static/card_grid.js"
PHONE, TURNED, DESK = (360, 640), (740, 360), (1280, 800)
# Width and height of the grid in such a window, and its gap.
ROOM = {PHONE: (336, 406, 7.2), TURNED: (703, 210, 11.1), DESK: (1216, 562, 19.2)}
PORTRAIT, LANDSCAPE, SQUARE = (800, 1200), (1200, 800), (900, 900)


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page with the script that arranges cards."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.route("http://cards.test/", lambda route: route.fulfill(body="", content_type="text/html"))
    page.route("http://cards.test/grid.js", lambda route: route.fulfill(path=GRID, content_type="text/javascript"))
    page.goto("http://cards.test/")
    yield page
    context.close()


def arranged(page: Page, count: int, shape: tuple[int, int], window: tuple[int, int]) -> tuple[int, bool]:
    """The columns of so many pictures of one shape, and whether their buttons lie on them."""
    page.set_viewport_size({"width": window[0], "height": window[1]})
    width, height, gap = ROOM[window]
    cards = [{"kind": "picture", "width": shape[0], "height": shape[1], "caption": ""}] * count
    grid = page.evaluate(
        "async ([cards, room, gap]) => (await import('/grid.js')).arranged(cards, room, gap)",
        [cards, {"width": width, "height": height}, gap],
    )
    return grid["columns"], grid["compact"]


@pytest.mark.parametrize(
    ("window", "shape", "count", "columns"),
    [
        pytest.param(PHONE, LANDSCAPE, 9, 3, id="nine without an empty cell rather than slightly larger"),
        pytest.param(PHONE, LANDSCAPE, 6, 2, id="six in two columns, far larger than in three"),
        pytest.param(PHONE, PORTRAIT, 3, 2, id="an empty cell where pictures are much larger"),
        pytest.param(TURNED, PORTRAIT, 9, 5, id="nine in two rows where one has no room for numbers and magnifiers"),
        pytest.param(DESK, PORTRAIT, 6, 3, id="six in two rows rather than slightly larger in one"),
        pytest.param(DESK, SQUARE, 4, 2, id="four in two rows rather than slightly larger in one"),
        pytest.param(DESK, PORTRAIT, 4, 4, id="four in a row where that is far larger"),
        pytest.param(DESK, LANDSCAPE, 3, 3, id="three in a row, not two and one"),
        pytest.param(DESK, LANDSCAPE, 9, 3, id="nine in three rows"),
    ],
)
def test_pictures_are_large_in_an_even_grid(
    page: Page, window: tuple[int, int], shape: tuple[int, int], count: int, columns: int
) -> None:
    assert arranged(page, count, shape, window) == (columns, True)


def test_of_two_on_a_phone_only_tall_pictures_stand_side_by_side_under_their_buttons(page: Page) -> None:
    assert arranged(page, 2, PORTRAIT, PHONE) == (2, True)
    assert arranged(page, 2, SQUARE, PHONE) == (1, False)
    assert arranged(page, 2, LANDSCAPE, PHONE) == (1, False)
    assert arranged(page, 2, PORTRAIT, DESK) == (2, False)


def test_two_tall_pictures_are_larger_than_four_on_a_phone(serve: Serve, somebody: Somebody, tmp_path: Path) -> None:
    folder = tmp_path / "tall"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.png").write_bytes(encoded(drawn(number, (400, 600)), "PNG"))
    server = serve(StudyPlan(k=2, options=2, budget=60), items=ingest(folder, tmp_path / "items"))
    phone = WorkersPage.joined(server, somebody(viewport={"width": 360, "height": 640})).ready()
    widths = phone.page.eval_on_selector_all(
        "#cards .shown", "faces => faces.map(({ clientWidth: w, clientHeight: h }) => Math.min(w, (h * 2) / 3))"
    )
    assert min(widths) > 160
    look(phone.page, "choices-two-tall", widths=(1280, 360, 320))
    phone.page.set_viewport_size({"width": 360, "height": 640})
    phone.page.locator("#option-2").click(position={"x": 80, "y": 200})
    expect(phone.page.locator("#count")).to_have_text("1 of 30")
