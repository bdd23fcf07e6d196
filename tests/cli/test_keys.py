"""`handful keys`, and passwords that were typed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from handful import Preferences, Study
from handful.crowd.organizer_keys import OrganizerKeys
from handful.crowd.registry import items_folder
from handful.crowd.tokens import secret_in
from tests.cli.test_studies import Handful, handful

__all__ = ["handful"]


@pytest.fixture
def keys(handful: Handful) -> OrganizerKeys:
    """The keys of a storage that was served."""
    Study(range(4), 2, feedback=Preferences(), budget=60, storage="photos.db", name="photos").close()
    return OrganizerKeys(secret_in(items_folder("photos.db")), "photos.db")


def test_keys_are_shown_and_renewed(handful: Handful, keys: OrganizerKeys) -> None:
    keys.share("photos")
    shown = json.loads(handful("keys", "show", "-s", "photos.db", "--json").out)
    assert shown == {"organizer": keys.login, "results": {"photos": keys.link("photos")}}
    assert keys.login in handful("keys", "show", "-s", "photos.db").out
    before = keys.organizer
    renewed = handful("keys", "renew", "-s", "photos.db").out
    assert keys.login in renewed
    assert not keys.opens(before)
    assert json.loads(handful("keys", "show", "-s", "photos.db", "--json").out)["organizer"] == keys.login


def test_where_nothing_was_served_there_are_no_keys(handful: Handful) -> None:
    Study(range(4), 2, feedback=Preferences(), budget=60, storage="photos.db", name="photos").close()
    refused = handful("keys", "renew", "-s", "photos.db")
    assert refused.code == 2
    assert "there is no secret" in refused.err


def test_names_are_listed_whole_however_narrow_the_terminal_is(
    handful: Handful, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "-".join(["cathedrals-in-venice"] * 5)
    Study(range(4), 2, feedback=Preferences(), budget=60, storage="photos.db", name=name).close()
    assert name in handful("list", "-s", "photos.db").out


PRINT_ARGUMENTS = """
import os, sys
from handful import cli
sys.argv = ["handful", *sys.argv[1:]]
cli.hide_typed_password()
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
