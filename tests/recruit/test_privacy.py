"""After a whole paid study, no token and no id of a participant is anywhere but where it must be."""

from __future__ import annotations

import io
import json
import logging
import sqlite3
from pathlib import Path

import pytest

from handful.crowd.app import JsonLines
from handful.crowd.collection import Collection
from handful.recruit.payroll import Payroll
from handful.recruit.prolific import ProlificClient, RecruitingFailed
from tests.crowd.clients import STUDY
from tests.fakes.prolific import Fault
from tests.recruit.arrivals import paid_study

TOKEN = "secret-token-0123456789abcdef"
ALLOWED_TABLES = {"recruited", "recruitments", "people"}


def test_tokens_and_ids_appear_in_no_log_journal_export_error_or_table_but_their_own(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.addHandler(handler)
    level = root.level
    root.setLevel(logging.DEBUG)
    logging.getLogger("handful.crowd").setLevel(logging.DEBUG)
    storage, words = tmp_path / "venice.db", list[str]()
    try:
        with paid_study(collection, storage, monkeypatch, token=TOKEN) as paid:
            people = [paid.come() for _ in range(4)]
            for visitor, _ in people:
                visitor.arrive()
                visitor.join()
                visitor.answer_all()
            paid.settle()
            paid.fake.faults.append(Fault("", 500, times=5))
            paid.settle()
            paid.settle()
            client = ProlificClient(TOKEN, paid.fake.url)
            _, inside = paid.come()
            for call in (
                lambda: client.submission("f" * 24),
                lambda: client.approve([people[0][1].id, "e" * 24]),
                lambda: client.approve([inside.id]),  # refused with the id in the platform's words
                lambda: client.hand_in_bonuses(people[0][1].study, [("d" * 24, 5)]),
                lambda: client.stop("c" * 24),
                lambda: ProlificClient("wrong", paid.fake.url).study(people[0][1].study),
                lambda: Payroll(paid.store, STUDY, client).decide("nobody", pay=True),
            ):
                try:
                    call()
                except (RecruitingFailed, LookupError) as error:
                    words.append(repr(error))
            organizer = paid.server.organizer()
            for what in ("", "/export.csv", "/export.jsonl"):
                words.append(organizer.get(f"/api/organize/{STUDY}{what}").text)
            ids = {part for _, one in people for part in (one.participant, one.id)} | {inside.id}
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert len(words) == 10
    assert written.getvalue()
    texts = {"logs": written.getvalue(), "words": "\n".join(words)}
    for place, text in texts.items():
        assert TOKEN not in text, place
        assert [one for one in ids if one in text] == [], place
    with sqlite3.connect(storage) as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        held = {
            table: json.dumps([list(map(repr, row)) for row in database.execute(f"select * from {table}")])
            for table in tables
        }
    assert not any(TOKEN in text for text in held.values())
    assert {table for table, text in held.items() if any(one in text for one in ids)} <= ALLOWED_TABLES
    assert any(one in held["recruited"] for one in ids)  # so that the search would find one


def test_a_client_does_not_show_its_token() -> None:
    assert TOKEN not in repr(ProlificClient(TOKEN))
