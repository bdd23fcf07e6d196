"""`handful keys`, and passwords that were typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from handful import Preferences, Study
from tests.cli.test_studies import Handful, handful

__all__ = ["handful"]


@pytest.fixture
def _photos(handful: Handful) -> None:
    Study(range(4), 2, feedback=Preferences(), budget=60, storage="photos.db", name="photos").close()


@pytest.mark.usefixtures("_photos")
def test_keys_are_made_listed_and_revoked(handful: Handful) -> None:
    made = json.loads(handful("keys", "new", "watch", "-s", "photos.db", "--study", "photos", "--json").out)
    assert made["role"] == "watch"
    shown = handful("keys", "list", "-s", "photos.db").out
    assert made["id"] in shown
    assert made["key"] not in shown
    assert handful("keys", "revoke", made["id"], "-s", "photos.db").code == 0
    (key,) = json.loads(handful("keys", "list", "-s", "photos.db", "--json").out)
    assert key["revoked"] is not None


@pytest.mark.usefixtures("_photos")
def test_a_key_for_a_study_that_is_not_there_is_refused(handful: Handful) -> None:
    refused = handful("keys", "new", "own", "-s", "photos.db", "--study", "boats")
    assert refused.code == 2
    assert "there are: photos" in refused.err


def test_names_are_listed_whole_however_narrow_the_terminal_is(
    handful: Handful, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "-".join(["cathedrals-in-venice"] * 5)
    Study(range(4), 2, feedback=Preferences(), budget=60, storage="photos.db", name=name).close()
    made = json.loads(handful("keys", "new", "watch", "-s", "photos.db", "--study", name, "--json").out)
    assert name in handful("list", "-s", "photos.db").out
    listed = handful("keys", "list", "-s", "photos.db").out
    assert name in listed
    assert made["id"] in listed


PRINT_ARGUMENTS = """
import os, sys
from handful.cli import passwords
sys.argv = ["handful", *sys.argv[1:]]
passwords.hide_typed_password()
print(open("/proc/self/cmdline").read().replace(chr(0), " "), os.environ.get("PGPASSWORD"))
"""


def test_a_typed_password_leaves_the_list_of_processes() -> None:
    command = [sys.executable, "-c", PRINT_ARGUMENTS, "list", "-s", "postgresql://me:s3%21cret@host/db"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PGPASSWORD": "x"})
    arguments, password = done.stdout.rsplit(maxsplit=1)
    assert "s3%21cret" not in arguments
    assert "postgresql://me@host/db" in arguments
    assert password == "s3!cret"
    assert "HANDFUL_DATABASE" in done.stderr
    assert "s3" not in done.stderr


def test_the_database_can_be_named_in_the_environment(handful: Handful, monkeypatch: pytest.MonkeyPatch) -> None:
    Study(range(4), 2, feedback=Preferences(), budget=60, storage="elsewhere.db", name="photos").close()
    monkeypatch.setenv("HANDFUL_DATABASE", "elsewhere.db")
    (study,) = json.loads(handful("list", "--json").out)
    assert study["name"] == "photos"
