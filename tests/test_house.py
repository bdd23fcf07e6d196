"""The house is in order: what is pinned, what is documented, what the pages load, what the tests stand on."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import sqlalchemy
from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
PAGES = [path for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")) if path.exists()]
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Loads(HTMLParser):
    """Collects the addresses that a page loads by itself, that is without the links one may follow."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(LOADING.get(tag, ""))
        if address:
            self.addresses.append(address)


def loaded_from_elsewhere(site: Path) -> list[str]:
    """Every address on another host that a page or a style sheet of the site would load."""
    found = []
    for page in site.rglob("*.html"):
        loads = Loads()
        loads.feed(page.read_text())
        found += [address for address in loads.addresses if urlsplit(address).netloc]
    for sheet in site.rglob("*.css"):
        found += re.findall(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')]*)""", sheet.read_text())
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder


@pytest.fixture
def site_url(site: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_constraints_pin_exact_versions_and_name_no_host() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.+]*", line)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_command_in_the_documentation_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^\s*\$?\s*)make ([a-z-]+)", page.read_text(), re.MULTILINE))
    assert named <= targets


def missing_tests(table: str) -> list[str]:
    """What the last column of a table names, files below `tests/` and the beginnings of tests, that is not there."""
    missing = []
    for line in table.splitlines():
        tests = ""
        for name in re.findall(r"`([^`]+)`", line.rstrip("|").rpartition("|")[2]):
            if name.endswith(".py"):
                file = ROOT / "tests" / name
                tests = file.read_text() if file.exists() else ""
                found = file.exists()
            else:
                found = f"def test_{name.removesuffix('…')}" in tests
            if not found:
                missing.append(name)
    return missing


def test_every_test_that_the_table_of_attacks_names_exists() -> None:
    table = (ROOT / "docs/under-attack.md").read_text().split("## Campaigns")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 20
    assert all("`" in row.rstrip("|").rpartition("|")[2] for row in rows)
    assert missing_tests("\n".join(rows)) == []
    assert missing_tests("| a | `crowd/test_guard.py`: `nobody_wrote_this…` |") == ["nobody_wrote_this…"]


def test_every_page_of_the_documentation_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text().split("nav:")[1]
    pages = [str(path.relative_to(ROOT / "docs")) for path in ROOT.glob("docs/**/*.md")]
    assert [page for page in pages if page not in navigation] == []


def test_the_changelog_says_nothing_twice() -> None:
    beginnings = [line[:60] for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if len(line) >= 60]
    assert {line for line in beginnings if beginnings.count(line) > 1} == set()


def test_the_documentation_loads_nothing_from_another_host(site: Path) -> None:
    assert loaded_from_elsewhere(site) == []


def test_a_script_or_a_font_from_another_host_would_be_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<script src="//cdn.example/x.js"></script><a href="https://fine.example">')
    (tmp_path / "a.css").write_text("@font-face { src: url('https://fonts.example/x.woff2') }")
    assert loaded_from_elsewhere(tmp_path) == ["//cdn.example/x.js", "https://fonts.example/x.woff2"]


def test_a_browser_reads_and_searches_the_documentation_on_a_closed_network(browser: Browser, site_url: str) -> None:
    asked: list[str] = []
    with browser.new_context() as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(site_url, wait_until="networkidle")
        page.locator("input.md-search__input").press_sequentially("noisy")
        page.locator(".md-search-result__item").first.wait_for()
    assert asked
    assert [address for address in asked if not address.startswith((site_url, "data:", "blob:"))] == []


def test_the_test_runs_own_postgres_keeps_what_it_is_told(postgres_url: str) -> None:
    engine = sqlalchemy.create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("create temporary table answers (value double precision)"))
        connection.execute(sqlalchemy.text("insert into answers values (0.5)"))
        assert connection.execute(sqlalchemy.text("select value from answers")).scalar_one() == 0.5
    engine.dispose()
