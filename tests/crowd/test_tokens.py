"""Tokens and cookies: nobody can make, read, move or reuse them."""

from __future__ import annotations

import hmac
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.crowd.organizer_keys import OrganizerKeys
from handful.crowd.tokens import Secret, Worker, key_in_session, new_cookie, new_session, secret_in, tokens_key
from handful.errors import StorageError

SECRET = Secret(b"s" * 32)


def someone(study: str = "a", secret: Secret = SECRET) -> Worker:
    key = tokens_key(secret, study, new_cookie(secret, study))
    assert key is not None
    return Worker("w1", key)


@given(st.integers(0, 2**40))
def test_a_token_means_its_question_to_its_worker_and_nothing_to_others(number: int) -> None:
    worker, other = someone(), someone()
    token = worker.token(f"q{number}")
    assert worker.question(token) == f"q{number}"
    assert other.question(token) is None


@given(st.integers(0, 1000), st.integers(0, 27), st.sampled_from("ABCabc019-_"))
def test_a_token_with_one_letter_changed_means_nothing(number: int, at: int, letter: str) -> None:
    worker = someone()
    token = worker.token(f"q{number}")
    forged = token[:at] + letter + token[at + 1 :]
    assert forged == token or worker.question(forged) is None


@given(st.text(max_size=80))
def test_any_other_text_is_neither_a_token_nor_a_cookie_nor_a_session(text: str) -> None:
    assert someone().question(text) is None
    assert tokens_key(SECRET, "a", text) is None
    assert key_in_session(SECRET, text, 0.0) is None


def test_tokens_do_not_tell_which_question_they_mean() -> None:
    worker = someone()
    tokens = [worker.token(f"q{n}") for n in range(200)]
    assert len({token[:4] for token in tokens}) > 190
    assert len({token[-4:] for token in tokens}) > 190


def test_a_cookie_is_of_one_study_and_one_database() -> None:
    cookie = new_cookie(SECRET, "a")
    assert tokens_key(SECRET, "a", cookie) is not None
    assert tokens_key(SECRET, "b", cookie) is None
    assert tokens_key(Secret(b"t" * 32), "a", cookie) is None
    assert tokens_key(SECRET, "a", None) is None


def test_sides_are_a_fair_coin_and_stay_as_they_are() -> None:
    worker = someone()
    left = [worker.item_is_left(f"q{n}") for n in range(2000)]
    assert 880 < sum(left) < 1120
    assert left == [worker.item_is_left(f"q{n}") for n in range(2000)]
    other = someone()
    assert 850 < sum(a == other.item_is_left(f"q{n}") for n, a in enumerate(left)) < 1150


def test_a_session_names_its_key_ends_and_cannot_be_prolonged() -> None:
    session = new_session(SECRET, "2", until=1000.0)
    assert key_in_session(SECRET, session, 999.0) == "2"
    assert key_in_session(SECRET, session, 1000.0) is None
    assert key_in_session(Secret(b"t" * 32), session, 999.0) is None
    longer = new_session(SECRET, "2", until=9000.0)
    assert key_in_session(SECRET, longer[:11] + session[11:], 1500.0) is None


def test_the_key_may_be_typed_with_spaces_and_capitals() -> None:
    keys = OrganizerKeys(SECRET)
    assert keys.opens(f" {keys.organizer[:6].upper()} {keys.organizer[6:]}\n")
    assert not keys.opens(keys.organizer[:-1])
    assert not keys.opens("")


def test_the_secret_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    made = secret_in(tmp_path / "items")
    assert secret_in(tmp_path / "items") == made
    assert secret_in(tmp_path / "others") != made
    assert stat.S_IMODE((tmp_path / "items" / "secret").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_secret_is_refused_and_never_yields_a_key(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "secret").write_bytes(content)
    with pytest.raises(StorageError, match=f"has {len(content)} bytes, expected 32"):
        secret_in(tmp_path)
    assert (tmp_path / "secret").read_bytes() == content


def test_a_secret_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            secret_in(tmp_path)
    assert list(tmp_path.iterdir()) == []
    made = secret_in(tmp_path)
    assert secret_in(tmp_path) == made
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_secret_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    made = secret_in(tmp_path)
    (tmp_path / "secret").chmod(0o644)
    assert secret_in(tmp_path) == made
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


@given(st.binary(min_size=1, max_size=100), st.lists(st.binary(max_size=80), max_size=4))
def test_what_is_sealed_is_sealed_by_hmac(key: bytes, parts: list[bytes]) -> None:
    text = b"".join(len(part).to_bytes(4) + part for part in parts)
    assert Secret(key).derive("a", *parts) == hmac.digest(key, (1).to_bytes(4) + b"a" + text, "sha256")
