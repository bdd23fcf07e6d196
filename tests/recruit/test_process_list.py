"""What everybody on a machine can read, the list of processes, shows no token and no id of a participant."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import click
import httpx
import pytest
import typer.main

from handful import cli
from handful.recruit.ledger import Store
from tests.cli.test_serve import serving
from tests.crowd.child import THEME
from tests.crowd.clients import STUDY
from tests.crowd.pictures import folder_of
from tests.fakes.prolific import FakePlatform, FakeProlific
from tests.recruit.arrivals import ADDRESS, Visitor, pasted

TOKEN = "secret-token-0123456789abcdef"
HANDFUL = "from handful.cli import main; main()"
LOOK_EVERY_S = 0.05
PEOPLE = 2


@contextmanager
def watched() -> Iterator[set[str]]:
    """The command lines of all processes of this machine, looked at again and again."""
    seen, done = set[str](), threading.Event()

    def look() -> None:
        while not done.wait(LOOK_EVERY_S):
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(process.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
                except OSError:  # it has ended
                    continue

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        done.set()
        looking.join()


@pytest.mark.slow  # a dozen processes of the command line
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="this system has no /proc")
def test_no_token_and_no_id_is_in_the_process_list_during_and_after_a_whole_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: str, said: str | None = None) -> str:
        command = [sys.executable, "-c", HANDFUL, *words, "-s", "v.db"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, input=said)
        assert done.returncode in (0, 1), done.stderr  # 1: something waits for the organizer
        return done.stdout + done.stderr

    folder_of(6, tmp_path / "photos")
    planted = "planted-0123456789"
    with FakeProlific(FakePlatform(), token=TOKEN) as fake, watched() as seen:
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        monkeypatch.setenv("PROLIFIC_URL", fake.url)
        options = ("--theme", THEME, "-k", "2", "--budget", "40", "--goal", "3", "--storage", "v.db", "--door", "panel")
        with serving("photos", *options, cwd=tmp_path) as (share, _, _):
            plan = ("--people", str(PEOPLE), "--answers-each", "3")
            said = run("recruit", "prolific", STUDY, "--address", ADDRESS, *plan)
            made = Store(tmp_path / "v.db").recruitment(STUDY)
            assert made is not None
            study = fake.platform.publish(pasted(made)).id
            there = [fake.platform.take_place(study) for _ in range(PEOPLE)]
            ids = {part for one in there if one is not None for part in (one.participant, one.id)}
            for one in there:
                assert one is not None
                address = urlsplit(share)
                with httpx.Client(base_url=f"{address.scheme}://{address.netloc}", timeout=60) as browser:
                    visitor = Visitor(browser, dict(parse_qsl(urlsplit(fake.platform.address(one)).query)), {})
                    while visitor.arrive()["state"] != "inside":  # until the server has found that people are recruited
                        time.sleep(LOOK_EVERY_S)
                    visitor.join()
                    while visitor.work["ending"] is None:
                        if visitor.work["questions"]:
                            visitor.answer()
                        else:  # until the server has found which study there they come from
                            time.sleep(LOOK_EVERY_S)
                            visitor.next()
                fake.platform.come_back(one, "CODE")
            people = Store(tmp_path / "v.db").people(STUDY)
            said += run("recruit", "bonus", STUDY, people[0].pseudonym, "0.50")
            while any(one is not None and one.status != "APPROVED" for one in there) or not any(
                one is not None and one.bonuses for one in there
            ):
                said += run("recruit", "reconcile", STUDY)
            said += run("recruit", "status", STUDY, "--ledger")
            run("recruit", "pay-list", STUDY, "-o", "pay.csv")
            said += run("people", "erase", STUDY, "-", said=people[1].who.participant)
        said += run("recruit", "reconcile", STUDY)
        command = [sys.executable, "-S", "-c", "import sys; sys.stdin.read()", planted]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            while not any(planted in line for line in seen):  # so that the search would find one
                time.sleep(LOOK_EVERY_S)
            process.communicate()
    listed = "\n".join(seen)
    for words in (
        "serve",
        *(f"recruit {name}" for name in ("prolific", "bonus", "reconcile", "status", "pay-list")),
        "people erase",
    ):
        assert f"main() {words} " in listed, words  # each was there to be seen
    secrets = {TOKEN, *ids}
    assert [one for one in secrets if one in listed] == []
    assert [one for one in secrets if one in said] == []
    assert all(one in (tmp_path / "pay.csv").read_text() for one in ids)
    files = {file.name: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert [name for name, content in files.items() if TOKEN.encode() in content] == []


def test_a_token_is_taken_from_the_environment_alone() -> None:
    for module in pkgutil.iter_modules(cli.__path__):
        importlib.import_module(f"{cli.__name__}.{module.name}")

    def options(command: click.Command) -> Iterator[str]:
        for parameter in command.params:
            yield from (parameter.name or "", *parameter.opts)
        for other in getattr(command, "commands", {}).values():
            yield from options(other)

    found = list(options(typer.main.get_command(cli.app)))
    assert "--address" in found
    assert [name for name in found if "token" in name.lower()] == []
