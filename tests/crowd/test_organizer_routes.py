"""What the organizer sees and does."""

from __future__ import annotations

import csv
import io
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from PIL import Image

from handful.crowd.collection import load_collection
from handful.crowd.intake import ingest
from handful.crowd.outputs import backup_file
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import ServerLimits, Settings
from handful.errors import StorageError
from handful.rules import FasterThan, Rule
from tests.crowd.clients import PATIENCE_S, STUDY, Started, started

Serve = Callable[..., Started]
UNHURRIED = Settings(limits=ServerLimits.none())
HERE = f"/api/organize/{STUDY}"


def answered(server: Started, number: int) -> None:
    person = server.person()
    for at in range(number):
        person.answer(("left", "right")[at % 2], ms=100 + at)


def test_the_key_opens_the_pages_and_logging_out_closes_them(serve: Serve) -> None:
    server = serve()
    organizer = server.organizer()
    assert organizer.get(f"/organize/{STUDY}").status_code == 200
    assert organizer.get(HERE).json()["theme"] == "Cathedrals in Venice"
    assert organizer.post("/api/organize/logout").status_code == 204
    assert organizer.get(HERE).status_code == 401
    assert organizer.get(f"/organize/{STUDY}").headers["location"] == "/organize/login"


def test_the_status_tells_items_workers_budget_and_what_may_be_claimed(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    answered(server, 15)
    status = server.organizer().get(HERE).json()
    assert (status["answers"], status["budget"], status["round"], status["k"]) == (15, 60, 1, 3)
    assert len(status["items"]) == 8
    assert sum(line["leader"] for line in status["items"]) == 1
    means = [line["mean"] for line in status["items"] if line["mean"] is not None]
    assert means == sorted(means, reverse=True)
    known = next(line for line in status["items"] if line["mean"] is not None)
    assert 0 <= known["lower"] < known["mean"] <= known["upper"] <= 1
    (worker,) = status["workers"]
    assert (worker["answers"], worker["skips"], worker["excluded"]) == (15, 0, False)
    assert worker["left_share"] == round(8 / 15, 3)
    assert worker["median_ms"] == 107
    assert status["answers_per_minute"] == 15
    assert status["active_workers"] == 1
    assert status["certificate"]


def test_the_pace_is_the_median_that_the_rule_looks_at_and_not_what_a_browser_tells(serve: Serve) -> None:
    fast = Rule(None, None, (FasterThan(ms=500, after=3),), share=1.0)
    server = serve(StudyPlan(k=3, explorer="topx", budget=60, in_flight=20, rule=fast), UNHURRIED)
    study = server.registry.studies[STUDY].study
    for took in (417, 90_000, 300):
        (question,) = study.ask(1, worker="w1")
        study.tell(question.id, True, "w1", {"side": "left", "ms": 100}, duration=took)
    (line,) = server.organizer().get(HERE).json()["workers"]
    assert (line["median_ms"], line["why"]) == (417, "median answer in 417 ms")


def test_shares_are_told_of_the_open_round_and_of_the_last_once_all_is_picked(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    study = server.registry.studies[STUDY].study

    def lines() -> dict[str, tuple[int, int]]:
        told = server.organizer().get(HERE).json()["workers"]
        return {line["worker"]: (line["answers"], line["round_answers"]) for line in told}

    def answer(worker: str, times: int) -> None:
        for _ in range(times):
            (question,) = study.ask(1, worker=worker)
            study.tell(question.id, True, worker)

    answer("w1", 20)
    assert study.status().round == 2
    answer("w2", 3)
    answer("w1", 2)
    assert lines() == {"w1": (22, 2), "w2": (3, 3)}
    answer("w2", 15)
    answer("w1", 20)
    assert study.status().finished
    assert lines() == {"w1": (42, 20), "w2": (18, 0)}


def test_the_summary_so_far_is_in_the_order_of_the_picks(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    answered(server, 60)
    status = server.organizer().get(HERE).json()
    chosen = server.registry.studies[STUDY].study.result().chosen
    assert [line["id"] for line in status["chosen"]] == list(chosen)
    assert [line["chosen"] for line in status["chosen"]] == [1, 2, 3]
    assert [line["pick"] for line in status["rounds"]] == list(chosen)
    assert sum(line["answers"] for line in status["rounds"]) == 60
    assert status["state"] == "finished"
    assert "all 3 items are picked" in status["ended"]


def test_texts_without_a_name_are_called_by_how_they_begin(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "sayings.csv").write_text("text\nHaste makes waste\nAll is well\nStill waters run deep\n")
    texts = ingest(tmp_path / "sayings.csv", tmp_path / "items")
    server = serve(StudyPlan(k=1, budget=4, options=2), items=texts)
    person = server.person()
    while person.answer()["state"] == "questions":
        pass
    told = server.organizer().get(f"/api/organize/{STUDY}").json()
    names = {line["id"]: line["name"] for line in (*told["chosen"], *told["items"])}
    assert names == {"row 2": "“Haste makes waste”", "row 3": "“All is well”", "row 4": "“Still waters run deep”"}
    assert [names[one["pick"]] for one in told["rounds"]] == [one["name"] for one in told["rounds"]] != []


def test_how_far_people_agree_is_told_with_what_it_does_not_mean(serve: Serve) -> None:
    server = serve(StudyPlan(k=2, budget=200, in_flight=20, options=2), Settings(undo_s=0, limits=ServerLimits.none()))
    organizer = server.organizer()
    assert organizer.get(f"{HERE}/agreement").json()["sentences"] == []
    for _ in range(5):
        answered(server, 8)
    told = organizer.get(f"{HERE}/agreement").json()
    assert told["people"] == 5
    assert 0 <= told["interval"][0] <= told["share"] <= told["interval"][1] <= 1
    assert "That does not say how carefully they looked" in told["sentences"][0]


def test_the_page_is_told_of_changes_without_reloading(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    person, organizer = server.person(), server.organizer()
    with organizer.stream("GET", f"{HERE}/events") as stream:
        told = (json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: "))
        assert next(told)["answers"] == 0
        person.answer()
        assert next(told)["answers"] == 1


def test_closing_ends_the_study_and_the_workers_streams(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    answered(server, 5)
    organizer = server.organizer()
    with httpx.stream("GET", f"{server.url}/api/s/{STUDY}/events", timeout=20) as stream:
        lines = stream.iter_lines()
        assert "event: work" in (next(lines), next(lines), next(lines))
        assert organizer.post(f"{HERE}/close").json()["state"] == "finished"
        names = [line for line in lines if line.startswith("event: ")]
    assert names[-1] == "event: closed"


def test_excluding_a_worker_takes_their_answers_out_and_restoring_puts_them_back(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    answered(server, 12)
    organizer = server.organizer()
    worker = organizer.get(HERE).json()["workers"][0]["worker"]
    without = organizer.post(f"{HERE}/exclude", json={"worker": worker, "reason": "one side only"}).json()
    assert without["workers"][0]["excluded"]
    assert sum(line["answers"] for line in without["items"]) == 0
    again = organizer.post(f"{HERE}/restore", json={"worker": worker}).json()
    assert not again["workers"][0]["excluded"]
    assert sum(line["answers"] for line in again["items"]) > 0
    assert organizer.post(f"{HERE}/exclude", json={"worker": "w0"}).status_code == 404


def test_restoring_somebody_who_withdrew_is_refused_in_words(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    answered(server, 2)
    organizer = server.organizer()
    worker = organizer.get(HERE).json()["workers"][0]["worker"]
    assert organizer.post(f"{HERE}/leave", json={"worker": worker}).status_code == 200
    refused = organizer.post(f"{HERE}/restore", json={"worker": worker})
    assert (refused.status_code, refused.json()["error"]) == (409, "not_possible")
    assert "withdrew: their answers count no more" in refused.json()["message"]


def test_nobody_is_excluded_for_having_withdrawn_who_did_not(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    answered(server, 2)
    organizer = server.organizer()
    worker = organizer.get(HERE).json()["workers"][0]["worker"]
    refused = organizer.post(f"{HERE}/exclude", json={"worker": worker, "reason": "withdrew"})
    assert refused.status_code == 409
    assert "say in other words why" in refused.json()["message"]
    assert not organizer.get(HERE).json()["workers"][0]["excluded"]


def test_what_a_finished_study_cannot_do_is_said(serve: Serve) -> None:
    server = serve()
    organizer = server.organizer()
    organizer.post(f"{HERE}/close")
    refused = organizer.post(f"{HERE}/pause")
    assert (refused.status_code, refused.json()["error"]) == (409, "closed")


def test_the_export_has_a_line_per_answer_as_it_stands_and_the_journal_has_all(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    person = server.person()
    token = person.token
    person.answer("left", ms=5)
    person.post("undo", {"token": token, "side": "right"})
    organizer = server.organizer()
    exported = organizer.get(f"{HERE}/export.csv")
    assert exported.headers["content-disposition"] == f'attachment; filename="{STUDY}.csv"'
    (line,) = csv.DictReader(io.StringIO(exported.text))
    assert (line["question"], line["round"], line["side"], line["ms"]) == ("q0", "1", "left", "5")
    assert (line["standing"], line["excluded"], line["repeat"]) == ("provisional", "0", "0")
    assert int(line["answer"]) == (line["item_side"] == "right")
    ids = {item.id for item in server.registry.studies[STUDY].collection}
    assert {line["item"], line["rival"]} < ids
    lines = [json.loads(line) for line in organizer.get(f"{HERE}/export.jsonl").text.splitlines()]
    kinds = [line["kind"] for line in lines]
    assert kinds[0] == "created"
    assert {"asked", "told", "revised", "noted"} <= set(kinds)


def test_the_contact_sheet_can_be_downloaded_once_something_is_chosen(serve: Serve) -> None:
    server = serve(settings=UNHURRIED)
    organizer = server.organizer()
    assert organizer.get(f"{HERE}/sheet.png").json()["error"] == "nothing_chosen"
    answered(server, 30)
    sheet = organizer.get(f"{HERE}/sheet.png")
    with Image.open(io.BytesIO(sheet.content)) as picture:
        assert picture.format == "PNG"
        assert picture.width > 500


def test_a_backup_made_while_running_can_be_served(
    serve: Serve, collection: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    storage = tmp_path / "study.db"
    server = serve(settings=UNHURRIED, storage=storage)
    person = server.person()
    for _ in range(7):
        person.answer()
    saved = server.organizer().get("/api/organize/backup")
    with zipfile.ZipFile(io.BytesIO(saved.content)) as archive:
        archive.extractall(tmp_path / "restored")
    person.answer()
    again = load_collection(tmp_path / "restored" / "handful.db.items")
    with started(again, themes=(), storage=tmp_path / "restored" / "handful.db") as restored:
        hosted = restored.registry.studies[STUDY]
        assert hosted.theme == "Cathedrals in Venice"
        assert hosted.study.status().answers == 7
        with httpx.Client(base_url=restored.url, cookies=person.http.cookies, timeout=PATIENCE_S) as same_browser:
            assert same_browser.get(f"/api/s/{STUDY}/next").json()["state"] == "questions"
        assert restored.registry.secret == server.registry.secret
    assert not [said for said in caplog.messages if "its end" in said], "it came with where its studies end"


def test_a_backup_does_not_overwrite(tmp_path: Path, serve: Serve) -> None:
    server = serve(storage=tmp_path / "study.db")
    target = tmp_path / "backup.zip"
    assert backup_file(tmp_path / "study.db", server.registry.folder, target) == target
    with pytest.raises(StorageError, match="not overwritten"):
        backup_file(tmp_path / "study.db", server.registry.folder, target)


def test_health_is_told(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(StudyPlan(k=2, explorer="topx", budget=20))
    assert httpx.get(server.url + "/healthz", timeout=PATIENCE_S).json() == {"status": "ok"}
    assert set(server.organizer().get("/healthz").json()) == {"status"}
    hosted = server.registry.studies[STUDY]

    def fails() -> None:
        hosted.storage_works = False
        raise StorageError("the disk is full")

    monkeypatch.setattr(hosted, "tick", fails)
    deadline = time.monotonic() + PATIENCE_S
    while httpx.get(server.url + "/healthz", timeout=PATIENCE_S).status_code != 503:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_excluding_somebody_would_mean_is_said_before_it_is_done(serve: Serve) -> None:
    server = serve(StudyPlan(k=3, explorer="topx", budget=60, in_flight=20), Settings(undo_s=0, redo_s=0))
    person = server.person()
    for _ in range(25):
        person.answer()
    organizer, study = server.organizer(), server.registry.studies[STUDY].study
    (worker,) = study.state.workers.names
    meant = organizer.get(f"{HERE}/exclude", params={"worker": worker}).json()
    assert meant["rounds"] == [1]
    assert (meant["answers"], meant["leaving"]) == (25, 5)
    assert "1 decided round with answers of theirs stands: 1. To decide without them, begin a new" in meant["words"]
    assert "claim nothing" in meant["words"]
    assert study.state.workers.excluded == []  # a preview changes nothing
    assert organizer.get(f"{HERE}/exclude", params={"worker": "nobody"}).status_code == 404
    assert server.browser().get(f"{HERE}/exclude", params={"worker": worker}).status_code == 401
    organizer.post(f"{HERE}/exclude", json={"worker": worker, "reason": "one stranger"})
    assert study.state.workers.any_excluded_by_hand
    assert person.next()["state"] == "finished"
    assert "exclud" in organizer.post(f"{HERE}/close").json()["certificate"]
