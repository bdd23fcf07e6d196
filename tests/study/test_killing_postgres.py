"""kill -9 with a journal in PostgreSQL. A module of its own: it runs beside those on a file."""

from __future__ import annotations

from tests.study.test_killing import kill_again_and_again


def test_fifteen_kills_lose_nothing_in_postgres(postgres_storage: str) -> None:
    kill_again_and_again(postgres_storage, kills=15, seed=2)
