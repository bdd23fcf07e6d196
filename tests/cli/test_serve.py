"""`handful serve` and `handful backup`, as somebody types them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from PIL import Image
from typer.testing import CliRunner

from handful.cli import (
    app,
    crowd,  # noqa: F401  (registers them)
)
from handful.cli.crowd import STOPPING, seconds_per_answer
from handful.errors import HandfulError
from tests import forked
from tests.cli.starting import end_at_once
from tests.crowd.clients import PATIENCE_S, Person
from tests.crowd.pictures import drawn, encoded, folder_of

STOPPED_ALONE = "Stopped. Everything is stored; to see it again: handful serve holiday --solo --port 0\n"


def handful(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*forked.handful(), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=_environment(),
    )


def _environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}


@contextmanager
def serving(*arguments: str, cwd: Path) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """The worker's link, the organizer's link, and the process."""
    command = [*forked.handful(), "serve", "--explorer", "topx", *arguments, "--port", "0"]
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(),
        preexec_fn=hear_interrupts,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        printed = ""
        while "Ctrl-C" not in printed:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            printed += line
        assert "--solo" in arguments or re.search(rf"kept in +{re.escape(str(cwd))}/\S+\.db\n", printed)
        share = re.search(r"(?:share|open) +(\S+)", printed)
        organize = re.search(r"organize +(\S+)", printed)
        assert share
        assert (organize is None) == ("--solo" in arguments)
        yield share[1], organize[1] if organize else "", process
    finally:
        stopped(process)


def hear_interrupts() -> None:
    """Tests that run in the background may have been told not to."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def stopped(process: subprocess.Popen[str]) -> None:
    """Stop it as Ctrl-C does. On a machine's first run it may have to finish compiling, which takes a while."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=180)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise


def unexpected(errors: str) -> list[str]:
    """What is no notice of a machine's first run."""
    return [line for line in errors.splitlines() if "compiling" not in line]


def person_at(link: str, cookies: httpx.Cookies | None = None) -> Person:
    url, study = link.split("/s/")
    return Person(httpx.Client(base_url=url, timeout=PATIENCE_S, cookies=cookies), study)


def test_one_command_serves_a_folder_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    folder_of(6, tmp_path / "photos")
    (tmp_path / "photos" / "drawing.svg").write_text("<svg/>")
    arguments = ("photos", "-k", "2", "--theme", "Cathedrals in Venice", "--budget", "40", "--log", "log.jsonl")
    with serving(*arguments, cwd=tmp_path) as (link, organize, process):
        assert link.endswith("/s/cathedrals-in-venice")
        person = person_at(link)
        for _ in range(5):
            person.answer()
        cookies = person.http.cookies
        person.http.close()
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=180)
        assert (process.returncode, unexpected(errors)) == (0, [])
        assert rest.startswith(f"\n{STOPPING}")
        assert "handful serve photos.db" in rest
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert sum(line.get("route") == "/api/s/{study}/answer" for line in lines) == 5
    with serving("photos.db", cwd=tmp_path) as (again, same_key, _):
        assert same_key.split("#")[1] == organize.split("#")[1]
        with httpx.Client(base_url=again.split("/s/")[0], cookies=cookies, timeout=PATIENCE_S) as same_browser:
            work = same_browser.get("/api/s/cathedrals-in-venice/next").json()
        assert work["progress"]["answered"] == 5


def test_an_explorer_with_options_is_served_and_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of(5, tmp_path / "photos")
    monkeypatch.chdir(tmp_path)
    end_at_once(monkeypatch)
    words = ["serve", "photos", "-k", "3", "--theme", "A", "--explorer", "topx:l=3", "--port", "0"]
    for _ in range(2):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
    other = CliRunner().invoke(app, [*words[:-3], "topx:l=4", *words[-2:]])
    assert "topx:l=3" in str(other.exception)


def choose_all(person: Person) -> int:
    """Answer until nothing is left; gives how many answers that took."""
    given = 0
    while person.work["state"] == "questions":
        assert len(person.work["questions"]) <= 2
        person.answer()
        given += 1
    assert person.work["state"] == "finished"
    return given


def read_until(words: str, process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    printed = ""
    while words not in printed:
        line = process.stdout.readline()
        assert line, printed
        printed += line
    return printed


def test_alone_one_ends_with_a_folder_of_the_picks_and_a_sheet(tmp_path: Path) -> None:
    folder_of(6, tmp_path / "holiday")
    with serving("holiday", "--solo", "-k", "2", cwd=tmp_path) as (link, _, process):
        person = person_at(link)
        assert person.http.get(f"/api/s/{person.study}").json()["consent"] is None
        assert choose_all(person) == 2 * 6
        assert "in holiday-best" in read_until("Ctrl-C", process)
        summary = person.http.get(f"/api/s/{person.study}/summary").json()
        assert len(summary["chosen"]) == 2
        assert person.http.get(f"/api/s/{person.study}/sheet.png").status_code == 200
        person.http.close()
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=180)
        assert (process.returncode, rest, unexpected(errors)) == (0, f"\n{STOPPING}{STOPPED_ALONE}", [])
    folder = tmp_path / "holiday-best"
    picks = sorted(path.name for path in folder.iterdir())
    assert picks[0].startswith("1-photo")
    assert picks[1].startswith("2-photo")
    original = tmp_path / "holiday" / picks[0].removeprefix("1-")
    assert (folder / picks[0]).read_bytes() == original.read_bytes()
    with Image.open(folder / "contact-sheet.png") as sheet:
        assert sheet.width > 1000

    with serving("holiday", "--solo", "-k", "2", cwd=tmp_path) as (link, _, process):
        url, name = link.split("/s/")
        with httpx.Client(base_url=url, timeout=PATIENCE_S) as stranger:  # another browser, which never answered
            assert stranger.get(f"/s/{name}").status_code == 200
            assert stranger.get(f"/api/s/{name}/summary").json() == summary
            assert stranger.get(f"/api/s/{name}/sheet.png").status_code == 200
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=180)
        assert (process.returncode, rest, unexpected(errors)) == (0, f"\n{STOPPING}{STOPPED_ALONE}", [])
    assert not (tmp_path / "holiday-best-2").exists()


def test_four_pictures_take_one_and_a_half_times_as_long_as_two() -> None:
    assert seconds_per_answer(4) == 1.5 * seconds_per_answer(2)
    assert seconds_per_answer(2) < seconds_per_answer(3) < seconds_per_answer(9)


def test_alone_one_may_stop_and_go_on(tmp_path: Path) -> None:
    folder_of(5, tmp_path / "holiday")
    with serving("holiday", "--solo", "-k", "2", cwd=tmp_path) as (link, _, process):
        person = person_at(link)
        person.answer()
        person.http.close()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=180)
        assert "to go on: handful serve holiday --solo" in rest
    assert not (tmp_path / "holiday-best").exists()
    with serving("holiday", "--solo", cwd=tmp_path) as (link, _, process):
        person = person_at(link)  # in another browser: what the first one held is not waited for
        choose_all(person)
        person.http.close()
        process.send_signal(signal.SIGINT)  # at once: the picks are kept all the same
        rest, _ = process.communicate(timeout=180)
        assert "in holiday-best" in rest
    assert (tmp_path / "holiday-best" / "contact-sheet.png").exists()


def test_the_terminal_says_when_a_study_is_finished(tmp_path: Path) -> None:
    folder_of(4, tmp_path / "photos")
    with serving("photos", "-k", "1", "--theme", "A [b]", "--budget", "8", cwd=tmp_path) as (link, _, process):
        person = person_at(link)
        assert choose_all(person) == 8
        assert "Finished: A [b] (1 picked after 8 answers)" in read_until("Finished", process)
        person.http.close()


def test_alone_another_host_is_left_aside_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["serve", "nowhere", "--solo", "--host", "0.0.0.0", "--port", "0"])
    assert "so --host 0.0.0.0 is left aside" in done.stdout


def test_the_built_in_consent_in_another_language_is_printed_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from handful.crowd.languages import language

    folder_of(4, tmp_path / "photos")
    (tmp_path / "own.txt").write_text("I was asked.")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("handful.crowd.app.Server.run_until_interrupted", lambda *given: given[2]())

    def printed(*typed: str) -> str:
        done = CliRunner().invoke(app, ["serve", "photos", "-k", "1", "--port", "0", "--door", "room", *typed])
        assert done.exit_code == 0, done.output
        return done.stdout

    text = language("ar").consent(marked=False)
    said = printed("--theme", "A", "--language", "ar", "--storage", "a.db")
    assert text in said
    assert "By serving the study you accept this text" in said
    assert text not in printed("--theme", "B", "--language", "ar", "--consent", "own.txt", "--storage", "b.db")
    assert "accept this text" not in printed("--theme", "C", "--storage", "c.db")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder with a study that is being served, and the port."""
    folder = tmp_path_factory.mktemp("served")
    folder_of(4, folder / "photos")
    with serving("photos", "-k", "2", "--theme", "A", cwd=folder) as (link, _, _process):
        yield folder, link.split(":")[2].split("/")[0]


def test_a_running_study_can_be_backed_up(running: tuple[Path, str]) -> None:
    folder, _ = running
    done = handful("backup", "photos.db", "-o", "b.zip", cwd=folder)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(folder / "b.zip") as archive:
        assert {"handful.db", "handful.db.items/manifest.json", "handful.db.items/secret"} <= set(archive.namelist())


def test_two_servers_cannot_share_a_study(running: tuple[Path, str]) -> None:
    folder, _ = running
    done = handful("serve", "photos.db", "--port", "0", cwd=folder)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said(running: tuple[Path, str]) -> None:
    folder, port = running
    arguments = ("--theme", "B", "--storage", "other.db", "--port", port, "-k", "2")
    done = handful("serve", "photos", *arguments, cwd=folder)
    assert done.returncode == 2
    assert "choose another --port" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nowhere", "--theme", "A"), "there is no nowhere"),
        (("photos", "--theme", " "), "give a --theme"),
        (("photos", "--theme", "A", "-k", "9"), "k = 9 is more than there are files or rows, 3"),
        (("photos", "--theme", "A", "-k", "3"), "to choose 3 of 3 items leaves nothing to choose"),
        (("photos", "--theme", "A", "-k", "2", "--explorer", "nonsense"), "no explorer named 'nonsense'"),
        (("photos", "--theme", "A", "-k", "2", "--explorer", "certified"), "certified asks for values"),
        (("photos", "--theme", "A", "--consent", "nowhere.txt"), "cannot be read as text"),
        (("photos", "--theme", "A", "--storage", "mysql://x"), "no storage for"),
        (("photos", "--theme", "A", "--public-url", "example"), "is not an address"),
        (("photos", "--theme", "A", "-k", "2", "--log", "no/such/folder/log"), "cannot be written"),
    ],
)
def test_what_cannot_be_served_is_refused_with_a_word_on_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], expected: str
) -> None:
    folder_of(3, tmp_path / "photos")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["serve", *arguments, "--port", "0"])
    assert isinstance(done.exception, HandfulError)
    assert expected in str(done.exception)
    assert not (tmp_path / "photos.db.items").exists(), "items were processed for nothing"


@pytest.mark.parametrize(
    ("names", "expected"),
    [(("a.jpg", "broken.jpg"), "found 1 usable item"), (("a.jpg", "same.jpg", "b.jpg"), "to choose 2 of 2 items")],
)
def test_what_is_refused_after_its_items_were_processed_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("photos").mkdir()
    for number, name in enumerate(names):
        data = b"no picture" if name == "broken.jpg" else encoded(drawn(0 if name == "same.jpg" else number))
        (tmp_path / "photos" / name).write_bytes(data)
    Path("photos.db.backup").write_text("somebody's")
    done = CliRunner().invoke(app, ["serve", "photos", "--theme", "A", "-k", str(len(names) - 1), "--port=0"])
    assert isinstance(done.exception, HandfulError)
    assert expected in str(done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photos", "photos.db.backup"]


def test_a_practice_picture_that_is_missing_is_refused_before_a_study_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(3, tmp_path / "photos")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.toml").write_text('[[practice]]\nright = "hall.jpg"\nwrong = "a spoon"\n')
    done = CliRunner().invoke(app, ["serve", "photos", "--theme", "A", "-k", "2", "--words", "words.toml", "--port=0"])
    assert isinstance(done.exception, HandfulError)
    assert "the practice names hall.jpg" in str(done.exception)
    assert not (tmp_path / "photos.db").exists(), "a study was left behind"
