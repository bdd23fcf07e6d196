"""The keys of organizers, in each storage."""

from __future__ import annotations

from pathlib import Path

import pytest

from handful.errors import InvalidProblem, StorageError
from handful.storage import backup, open_journal, passwords_in, without_password
from handful.storage.keys import Keys, MemoryKeys, hash_of, new_key, open_keys


def check_keys(keys: Keys) -> None:
    assert keys.all() == []
    assert keys.get("watch") is None
    key, typed = new_key(keys, "watch", "a study", now=5.0)
    other, _ = new_key(keys, "own", None, now=6.0)
    assert keys.all() == [key, other]
    assert keys.get(key.id) == key
    assert (key.study, key.role, key.hash, key.made, key.revoked) == ("a study", "watch", hash_of(typed), 5.0, None)
    keys.revoke(key.id, 7.0)
    keys.revoke(key.id, 8.0)  # the first time counts
    revoked = keys.get(key.id)
    assert revoked is not None
    assert revoked.revoked == 7.0
    assert not revoked.allows("result", "a study")
    with pytest.raises(StorageError, match="handful keys list"):
        keys.revoke("unknown", 9.0)
    with pytest.raises(InvalidProblem, match="one of the roles"):
        new_key(keys, "admin", None)  # type: ignore[arg-type]


def test_keys_are_kept_in_every_storage(storage: str) -> None:
    open_journal(storage, "a study", mode="create").close()
    check_keys(open_keys(storage))


def test_keys_are_kept_in_memory() -> None:
    check_keys(MemoryKeys())


def test_a_backup_keeps_keys_and_that_one_was_revoked(storage: str, tmp_path: Path) -> None:
    open_journal(storage, "a study", mode="create").close()
    keys = open_keys(storage)
    key, _ = new_key(keys, "watch", None)
    keys.revoke(key.id, 5.0)
    assert open_keys(backup(storage, tmp_path / "copy.db")).all() == keys.all() != []


def test_a_role_opens_what_is_below_it_and_nothing_of_another_study() -> None:
    key, _ = new_key(MemoryKeys(), "watch", "a")
    assert [key.allows(role, "a") for role in ("own", "watch", "result")] == [False, True, True]
    assert not key.allows("result", "b")
    assert not key.allows("result", None)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@host/db",
        "postgresql+psycopg://me:s3cret@host:5432/db?sslmode=require",
        "--storage=postgres://:s3cret@host/db",
        "postgresql://me@host/db?password=s3cret&sslmode=require",
    ],
)
def test_a_password_is_left_out_of_whatever_is_said(url: str) -> None:
    assert passwords_in(url) == {"s3cret"}
    said = without_password(f"no study in {url} is about these items, see '{url}'")
    assert "s3cret" not in said
    assert "host" in said
    assert without_password(said) == said


@pytest.mark.parametrize("password", ["a/b", "a?b", "a#b", "a'b", "5432/b", "a@b"])
def test_a_password_that_a_url_should_not_have_is_left_out_too(password: str) -> None:
    url = f"postgresql://me:{password}@host:5432/db?application_name=x"
    assert passwords_in(url) == {password}
    assert without_password(f"see {url}") == "see postgresql://me@host:5432/db?application_name=x"


def test_what_is_no_password_stays() -> None:
    for text in ("http://127.0.0.1:8000/s/a@b", "postgresql://me@host:5432/db?application_name=a@b"):
        assert without_password(text) == text
        assert passwords_in(text) == set()


def test_no_error_of_a_database_tells_its_password() -> None:
    for url in (
        "postgresql://me:s3cret@127.0.0.1:1/db",
        "postgresql://me@127.0.0.1:1/db?password=s3cret",
        "mysql://me:s3cret@h/db",
    ):
        with pytest.raises(StorageError) as caught:
            open_journal(url, "a", mode="read")
        assert "s3cret" not in str(caught.value)
