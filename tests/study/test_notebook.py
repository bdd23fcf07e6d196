"""In a notebook: everything that a cell may end with is shown, once, and nothing warns."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from handful import Certificate, Preferences, Study, notebook

SETUP = """
import warnings
warnings.simplefilter("error")
import handful
study = handful.Study(
    ["dawn", "noon", "<b>dusk</b>", "night"], k=2, feedback=handful.Preferences(), explorer="duels", budget=40
)
study.status()
"""
CELLS = {
    "status": SETUP,
    "run": "result = study.run(lambda q: q.item > q.rival, progress=True)",
    "result": "result",
    "certificate": "result.certificate",
    "price": "handful.price(8, 2, feedback=handful.Preferences(), quality=0.5, runs=2)",
    "picture": "result.plot()",
    "picture kept": "figure = result.plot()",
    "picture with pyplot in use": "import matplotlib.pyplot as plt\nresult.plot()",
}


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What each cell put out, from one run of the whole notebook."""
    folder = tmp_path_factory.mktemp("notebook")
    made = new_notebook(cells=[new_code_cell(source) for source in CELLS.values()])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        for place in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
            patch.setenv(place, str(folder))
        client = NotebookClient(made, kernel_name="python3", timeout=240, resources={"metadata": {"path": str(folder)}})
        client.execute()
    nbformat.write(made, folder / "made.ipynb")
    return {name: cell.outputs for name, cell in zip(CELLS, made.cells, strict=True)}


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's own machinery


class Reading(HTMLParser):
    """The text that a reader sees, and the tags that are left open."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def html_of(outputs: list[Any]) -> str:
    (shown,) = (output for output in outputs if output.output_type != "stream")
    html: str = shown.data["text/html"]
    return html


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("status", ["0 of 2 picked from 4", "asking", "0 of 40"]),
        ("result", ["2 chosen with 40 answers", "drawn from", "night", "Certificate", "they can never bound f(OPT)"]),
        ("certificate", ["Certificate", "they can never bound f(OPT)"]),
        ("price", ["answers for 50% of exact greedy", "80% of 2 simulated runs", "This assumes that the best"]),
    ],
)
def test_it_is_shown(cells: dict[str, list[Any]], cell: str, said: list[str]) -> None:
    reading = Reading(html_of(cells[cell]))
    assert [part for part in said if part not in " ".join(reading.text.split())] == []
    assert reading.open == []


def test_a_picture_is_shown_once(cells: dict[str, list[Any]]) -> None:
    for cell in ("picture", "picture with pyplot in use"):
        shown = [output for output in cells[cell] if "image/png" in output.get("data", {})]
        assert len(shown) == len(cells[cell]) == 1
    assert cells["picture kept"] == []


def test_progress_is_shown_to_the_end_and_without_a_warning(cells: dict[str, list[Any]]) -> None:
    reading = Reading(html_of(cells["run"]))
    assert "2 of 2 picked, 40 of 40 answers" in reading.text


def test_no_cell_warns(cells: dict[str, list[Any]]) -> None:
    said = "".join(output.text for outputs in cells.values() for output in outputs if output.output_type == "stream")
    assert "arning" not in said
    assert "ipywidgets" not in said


def test_what_items_are_called_is_escaped_and_cut() -> None:
    study = Study(["<script>alert(1)</script>", "x" * 500], 1, feedback=Preferences(), explorer="duels", budget=2)
    result = study.run(lambda q: q.item < q.rival)
    for html in (result._repr_html_(), study.status()._repr_html_(), notebook.bar(0.5, '"><script>')):
        assert "<script>" not in html
        assert "x" * 100 not in html
        assert Reading(html).open == []


def test_what_is_certified_is_drawn_as_a_bar() -> None:
    html = Certificate(ratio=0.71, value=7.1, optimum=10.0, delta=0.05)._repr_html_()
    assert "width:71.0%" in html
    assert "worth at least 71% of the best possible" in html


def test_it_has_no_colours_of_text_or_page_and_so_suits_light_and_dark(cells: dict[str, list[Any]]) -> None:
    for cell in ("status", "run", "result", "certificate", "price"):
        styles = re.findall(r'style="([^"]*)"', html_of(cells[cell]))
        assert styles
        assert not [
            style for style in styles if re.search(r"(?:^|;)color:(?!inherit)|background:(?!none|rgba|#0072B2)", style)
        ]
