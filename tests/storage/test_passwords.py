"""Passwords in the URLs of databases are told to nobody."""

from __future__ import annotations

import pytest

from handful.errors import StorageError
from handful.storage import open_journal, passwords_in, without_password


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
