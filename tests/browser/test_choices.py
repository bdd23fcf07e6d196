"""The worker's page with more than two at a time, in a real browser."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture
from playwright.sync_api import BrowserContext, expect

from handful.crowd.collection import Collection
from handful.crowd.intake import ingest
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from handful.venice import PICTURES, venice
from tests.browser.pages import STUDY, WorkersPage, answers, becomes, look
from tests.crowd.clients import Started
from tests.crowd.pictures import drawn, encoded, folder_of

Serve = Callable[..., Started]
Somebody = Callable[..., BrowserContext]

# Cards that are wholly seen, above the bar at the bottom.
SEEN = """() => [...document.querySelectorAll('#cards .card')].map((card) => {
  const [box, bar] = [card, document.querySelector('#question .bottom')].map((part) => part.getBoundingClientRect());
  return box.top >= 0 && box.bottom <= bar.top && bar.bottom <= innerHeight && box.width > 70 && box.height > 60;
})"""

# Cards whose text goes on below their button, which stays above the bar at the bottom.
TEXT_BELOW_BUTTON = """() => {
  const bar = document.querySelector('#question .bottom').getBoundingClientRect().top;
  return [...document.querySelectorAll('#cards .card')].filter((card) => {
    const [box, foot] = [card, card.querySelector('.foot')].map((part) => part.getBoundingClientRect());
    return box.top < bar && box.bottom > bar && foot.bottom < bar - 1;
  }).length;
}"""


@pytest.mark.parametrize("options", [2, 4, 6, 9])
def test_all_options_fit_the_screen_of_phone_and_desk_in_light_and_dark(
    serve: Serve, somebody: Somebody, options: int
) -> None:
    server = serve(StudyPlan(k=6, options=options, budget=90, in_flight=20))
    desk = WorkersPage.joined(server, somebody()).ready()
    expect(desk.page.locator("#cards .card")).to_have_count(options)
    desk.press("1")
    look(desk.page, f"choices-{options}", widths=(1280, 360, 320))
    for width, height in ((320, 568), (360, 640), (1280, 800)):
        desk.page.set_viewport_size({"width": width, "height": height})
        becomes(desk.page, SEEN, [True] * options)  # all are seen


def test_a_long_row_of_what_is_chosen_scrolls_on_a_phone_to_what_is_asked_about(
    serve: Serve, somebody: Somebody, postcards: Collection
) -> None:
    chosen = tuple(item.id for item in postcards.items[:9])
    server = serve(StudyPlan(k=11, options=2, budget=60, in_flight=20, chosen=chosen))
    phone = WorkersPage.joined(server, somebody(viewport={"width": 320, "height": 568})).ready()
    expect(phone.page.locator("#strip li:not(.room)")).to_have_count(9)
    expect(phone.page.locator("#strip .now")).to_be_in_viewport(ratio=1)
    assert phone.page.evaluate("document.querySelector('#strip').offsetHeight") < 60
    assert phone.page.evaluate(SEEN) == [True, True]
    look(phone.page, "choices-long-strip", widths=(360, 320))


def test_digits_arrows_clicks_and_the_enlarged_view_all_choose_among_several(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=3, options=4, budget=90, in_flight=20))
    desk = WorkersPage.joined(server, somebody()).ready()
    page = desk.page
    desk.press("3")
    before = desk.question
    page.keyboard.press("ArrowRight")
    expect(page.locator("#option-1 .choose")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#option-4 .choose")).to_be_focused()
    assert desk.question == before  # arrows only lead there
    page.keyboard.press("Enter")
    before = desk.after(before).question
    page.click("#option-2 .shown", force=True)
    before = desk.after(before).question
    page.click("#option-1 .magnify")
    expect(page.locator("#enlarged")).to_contain_text("Option 1")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#enlarged")).to_contain_text("Option 2")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#enlarged")).to_contain_text("Option 1")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#enlarged")).to_contain_text("Option 4")
    page.keyboard.press("3")
    expect(page.locator("#enlarged")).to_contain_text("Option 3")
    page.keyboard.press("5")  # there is none
    page.keyboard.press("4")
    expect(page.locator("#enlarged")).to_contain_text("Option 4")
    assert desk.question == before  # digits only show
    page.click("#choose-enlarged")
    desk.after(before)
    journal = sorted(answers(server), key=lambda line: line["told"])
    assert [line["place"] for line in journal] == ["3", "4", "2", "4"]


def test_a_choice_among_several_can_be_undone_where_it_stood(serve: Serve, somebody: Somebody) -> None:
    server = serve(StudyPlan(k=3, options=6, budget=90, in_flight=20), Settings(undo_s=60.0, redo_s=60.0))
    desk = WorkersPage.joined(server, somebody()).ready()
    first = desk.question
    pictures = desk.page.eval_on_selector_all("#cards img", "faces => faces.map((face) => face.src)")
    second = desk.press("5").question
    desk.page.keyboard.press("u")
    desk.after(second)
    assert desk.question == first
    assert desk.page.eval_on_selector_all("#cards img", "faces => faces.map((face) => face.src)") == pictures
    expect(desk.page.locator("#option-5")).to_have_class("card before")
    desk.page.keyboard.press("2")
    desk.after(first)
    (line,) = answers(server)
    assert line["answer"] in json.loads(line["options"])


def test_somebody_who_listens_hears_all_options(serve: Serve, somebody: Somebody) -> None:
    desk = WorkersPage.joined(serve(StudyPlan(k=3, options=4, budget=90)), somebody()).ready()
    spoken = desk.page.locator("#spoken")
    for number in range(1, 5):
        expect(spoken).to_contain_text(f"Option {number}: A postcard")
        group = desk.page.get_by_role("group", name=f"Option {number}")
        expect(group.get_by_role("button", name=f"Choose option {number}")).to_be_visible()


def test_the_practice_shows_three_where_more_than_two_will_be_shown(serve: Serve, somebody: Somebody) -> None:
    desk = WorkersPage.at(serve(StudyPlan(k=3, options=4, budget=90)), somebody())
    desk.says("You see four at a time")
    desk.page.click("#begin")
    desk.ready().page.keyboard.press("1")
    desk.page.click("#onward")
    desk.ready()
    expect(desk.page.locator("#cards .card")).to_have_count(3)
    desk.page.keyboard.press("2")
    desk.says("the pear adds more")
    desk.page.click("#onward")
    desk.ready()
    expect(desk.page.locator("#cards .card")).to_have_count(4)


def test_two_square_pictures_stand_one_above_the_other_on_a_phone_in_the_practice(
    serve: Serve, somebody: Somebody, tmp_path: Path
) -> None:
    items = ingest(folder_of(4, tmp_path / "photos"), tmp_path / "items")
    server = serve(StudyPlan(k=2, options=2, budget=60), items=items)
    organizer, here = server.organizer(), f"/api/organize/{STUDY}"
    for number, name in enumerate(("right.png", "wrong.png"), start=7):
        sent = organizer.put(f"{here}/practice/{name}", content=encoded(drawn(number, (300, 300)), "PNG"))
        assert sent.status_code == 200
    lesson = {"right": "right.png", "wrong": "wrong.png", "why": ""}
    assert organizer.post(f"{here}/words", json={"practice": [lesson]}).status_code == 200
    phone = WorkersPage.at(server, somebody(viewport={"width": 360, "height": 640}))
    phone.page.click("#begin")
    phone.ready()
    expect(phone.page.locator("#cards .card img")).to_have_count(2)
    look(phone.page, "practice-pictures", widths=(360,))
    phone.page.set_viewport_size({"width": 360, "height": 640})
    expect(phone.page.locator("#cards")).to_have_attribute("style", "--columns: 1;")


def test_long_texts_are_readable_on_a_phone_with_the_button_in_reach(
    serve: Serve, somebody: Somebody, sayings: Collection
) -> None:
    server = serve(StudyPlan(k=2, options=4, budget=20), themes=("Sayings",), items=sayings)
    desk = WorkersPage.joined(server, somebody(viewport={"width": 320, "height": 568}), "sayings").ready()
    for number in range(1, 5):
        desk.page.evaluate(f"document.querySelector('#option-{number}').scrollIntoView()")
        expect(desk.page.locator(f"#option-{number} .choose")).to_be_in_viewport()
        assert desk.page.evaluate(TEXT_BELOW_BUTTON) == 0
    look(desk.page, "choices-texts", widths=(1280, 360, 320))
    desk.page.click("#option-3 .choose")
    expect(desk.page.locator("#count")).to_have_text("1 of 30")


@pytest.fixture(scope="module")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Pictures as large as a camera's, with as much detail as paper has."""
    folder = tmp_path_factory.mktemp("photographs")
    with (folder / "photographs.csv").open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["image"])
        for image in venice(n=60).images[:6]:
            with Picture.open(PICTURES / f"{image.id}.webp") as picture:
                _grainy(picture.resize((2000, 1500)), folder / f"{image.id}.jpg")
            lines.writerow([f"{image.id}.jpg"])
    return ingest(folder / "photographs.csv", folder / "items")


def _grainy(picture: Picture.Image, path: Path) -> None:
    """Save a picture with noise in it: what is drawn compresses far better than what is photographed."""
    pixels = np.asarray(picture.convert("RGB"), dtype=np.int16)
    coarse = np.random.default_rng(0).normal(0, 14, (pixels.shape[0] // 2, pixels.shape[1] // 2, 1))
    grain = coarse.repeat(2, axis=0).repeat(2, axis=1)
    Picture.fromarray(np.clip(pixels + grain, 0, 255).astype(np.uint8)).save(path, quality=90)


@pytest.mark.parametrize("options", [2, 4])
def test_a_phone_on_3g_sees_its_first_question_within_three_seconds(
    serve: Serve, somebody: Somebody, photographs: Collection, options: int
) -> None:
    """1.6 Mbit/s and 150 ms to the server and back, as browsers' developer tools take for fast 3G."""
    server = serve(StudyPlan(k=2, options=options, budget=40), items=photographs)
    waited = [_first_question_on_3g(server, somebody)]
    while waited[-1] >= 3_000 and len(waited) < 4:  # the line is what is slow: a machine that is busy is not the page's
        waited.append(_first_question_on_3g(server, somebody))
    assert min(waited) < 3_000, waited


def _first_question_on_3g(server: Started, somebody: Somebody) -> float:
    """Milliseconds until a phone that was never here sees a question."""
    phone = somebody(viewport={"width": 360, "height": 640}, device_scale_factor=3, is_mobile=True, has_touch=True)
    assert phone.request.post(f"{server.url}/api/s/cathedrals-in-venice/join", data={"consent": True}).ok
    page = phone.new_page()
    line = phone.new_cdp_session(page)
    line.send("Network.enable")
    slow = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000}
    line.send("Network.emulateNetworkConditions", slow)
    page.goto(f"{server.url}/s/cathedrals-in-venice")
    page.wait_for_selector("#question:not([hidden]) #cards:not([data-question=''])")
    waited: float = page.evaluate("performance.now()")
    phone.close()
    return waited
