"""What an organizer publishes: the preregistration, the report, the picks, and links to the result."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from hashlib import sha256
from html import unescape
from io import BytesIO
from pathlib import Path

import httpx

from handful.cli.crowd import collection_of
from handful.crowd.registry import StudyPlan
from handful.crowd.settings import Settings
from tests.crowd.clients import STUDY, Started, started
from tests.crowd.pictures import folder_of
from tests.crowd.test_setup_routes import begin, empty_server, opened, photos, prepared, send

Serve = Callable[..., Started]
HERE = f"/api/organize/{STUDY}"


def finished(serve: Serve, tmp_path: Path) -> Started:
    server = serve(StudyPlan(k=2, budget=30, options=2), storage=tmp_path / "a.db")
    server.person().answer()
    server.registry.studies[STUDY].study.finish("enough")
    return server


def test_the_report_stands_alone_with_every_picture_in_it(serve: Serve, tmp_path: Path) -> None:
    response = finished(serve, tmp_path).organizer().get(f"{HERE}/report.html")
    assert response.headers["content-disposition"] == f'attachment; filename="{STUDY}.html"'
    page = response.text
    assert page.count("data:image/webp;base64,") == 2 + page.count("runner-up</div>")
    assert page.count("runner-up</div>") == 1, "the other pick was filled in"
    assert "http://" not in page
    assert 'src="/' not in page
    assert "Cathedrals in Venice" in page
    assert "one person took part" in page


def test_every_page_and_file_says_the_same_of_the_picks(serve: Serve, tmp_path: Path) -> None:
    server = finished(serve, tmp_path)
    organizer, hosted = server.organizer(), server.registry.studies[STUDY]
    result = hosted.study.result()
    told = organizer.get(f"{HERE}/result").json()
    page = unescape(organizer.get(f"{HERE}/report.html").text)
    link = organizer.post(f"{HERE}/share").json()["link"]
    shared = unescape(server.browser().get(link).text)
    archive = zipfile.ZipFile(BytesIO(organizer.get(f"{HERE}/picks.zip").content))
    kept = archive.read(f"{STUDY}/result.txt").decode()
    assert organizer.get(HERE).json()["picks"] == told["picks"]
    assert [pick["filled"] for pick in told["picks"]] == [False, True]
    assert [pick["cut_short"] for pick in told["picks"]] == [True, False]
    assert told["assumptions"] == list(result.certificate.assumptions)
    for pick, line in zip(result.picks, told["picks"], strict=True):
        assert line["sentences"] == list(pick.sentences(hosted.collection.name_of))
        assert f"<strong>{line['name']}</strong>" in page
        for sentence in line["sentences"]:
            assert sentence in page
            assert sentence in shared
            assert sentence in kept
    for mark in ("cut short", "filled in"):
        assert f"{mark}</span>" in shared
        assert f"{mark}</em>" in page
    assert "<details" in shared
    assert str(result.certificate) in shared
    assert str(result.certificate) in page
    assert str(result.certificate) in kept


def test_picks_come_as_they_were_uploaded(tmp_path: Path) -> None:
    with empty_server(tmp_path / "a.db") as server:
        organizer = server.organizer()
        draft = begin(organizer)
        files = photos(4)
        send(organizer, draft, files)
        prepared(organizer, draft)
        study = opened(organizer, draft)
        assert organizer.get(f"/api/organize/{study}/picks.zip").status_code == 409, "nothing is chosen yet"
        server.person(study).answer()
        organizer.post(f"/api/organize/{study}/close")
        archive = zipfile.ZipFile(BytesIO(organizer.get(f"/api/organize/{study}/picks.zip").content))
        names = [name for name in archive.namelist() if name.endswith(".jpg")]
        assert len(names) == 2
        assert {archive.read(name) for name in names} <= set(files.values())


def _picks_of(organizer: httpx.Client, study: str) -> set[bytes]:
    organizer.post(f"/api/organize/{study}/close")
    archive = zipfile.ZipFile(BytesIO(organizer.get(f"/api/organize/{study}/picks.zip").content))
    return {archive.read(name) for name in archive.namelist() if name.endswith((".jpg", ".webp"))}


def test_picks_that_come_from_an_earlier_study_come_as_they_were_uploaded_there(tmp_path: Path) -> None:
    with empty_server(tmp_path / "a.db") as server:
        organizer = server.organizer()
        draft = begin(organizer)
        files = photos(4)
        send(organizer, draft, files)
        prepared(organizer, draft)
        study = opened(organizer, draft)
        server.person(study).answer()
        assert _picks_of(organizer, study) <= set(files.values())
        for _ in range(2):  # also from the new study's own
            draft = organizer.post(f"/api/organize/{study}/new-study", json={"chosen": []}).json()["draft"]
            prepared(organizer, draft)
            study = opened(organizer, draft)
            server.person(study).answer()
            assert len(_picks_of(organizer, study)) == 2
            assert _picks_of(organizer, study) <= set(files.values())


def test_picks_of_a_folder_that_is_still_there_are_its_own_files(tmp_path: Path) -> None:
    folder = folder_of(4, tmp_path / "photos")
    collection = collection_of(folder, str(tmp_path / "a.db"))
    assert collection is not None
    with started(collection, StudyPlan(k=2, budget=30, options=2), storage=tmp_path / "a.db") as server:
        server.person().answer()
        given = _picks_of(server.organizer(), STUDY)
    assert len(given) == 2
    assert given <= {path.read_bytes() for path in folder.iterdir()}


def test_picks_of_a_folder_come_as_they_were_shown(serve: Serve, tmp_path: Path) -> None:
    archive = zipfile.ZipFile(BytesIO(finished(serve, tmp_path).organizer().get(f"{HERE}/picks.zip").content))
    assert sum(name.endswith(".webp") for name in archive.namelist()) == 2


def test_a_shared_link_shows_the_result_and_nothing_else_until_it_is_revoked(serve: Serve, tmp_path: Path) -> None:
    server = finished(serve, tmp_path)
    organizer = server.organizer()
    link = organizer.post(f"{HERE}/share").json()
    anybody = server.browser()
    page = anybody.get(link["link"])
    assert (page.status_code, len(anybody.cookies)) == (200, 0), "without a session"
    assert "/organize/" not in page.text
    for file, kind in (("sheet.png", "image/png"), ("report.html", "text/html; charset=utf-8")):
        assert anybody.get(f"{link['link']}/{file}").headers["content-type"] == kind
    assert anybody.get(f"/r/{server.registry.keys.organizer}").status_code == 404, "a key that opens more"
    assert organizer.delete(f"{HERE}/share").status_code == 204
    for file in ("", "/sheet.png", "/report.html"):
        assert anybody.get(f"{link['link']}{file}").status_code == 404


def test_the_report_names_the_digest_of_the_exported_journal(serve: Serve, tmp_path: Path) -> None:
    organizer = finished(serve, tmp_path).organizer()
    digest = sha256(organizer.get(f"{HERE}/export.jsonl").content).hexdigest()
    assert f"<code>{digest}</code>" in organizer.get(f"{HERE}/report.html").text


def test_the_code_of_the_link_is_an_svg_of_our_own(serve: Serve) -> None:
    response = serve().organizer().get(f"{HERE}/link.svg")
    assert response.headers["content-type"] == "image/svg+xml"
    assert response.text.startswith("<svg")
    assert "script" not in response.text


def test_a_preregistration_from_the_page_names_what_people_see_and_read(serve: Serve, tmp_path: Path) -> None:
    server = serve(StudyPlan(k=2, budget=30, options=2), storage=tmp_path / "a.db")
    organizer = server.organizer()
    assert organizer.get(f"{HERE}/preregistration.html").status_code == 404
    record = organizer.post(f"{HERE}/preregister").json()
    assert record["words"]["theme"] == "Cathedrals in Venice"
    collection = server.registry.studies[STUDY].collection
    assert {one.pop("name"): one for one in record["items"]["each"]} == collection.digests()
    assert (record["language"], "language" in record["words"]) == ("en", False)
    page = organizer.get(f"{HERE}/preregistration.html").text
    assert record["hash"] in page
    assert record["words"]["question"] is None
    assert "Which one would improve the selection more?" in page, "the question in full, although it is built in"
    effects = organizer.get(f"{HERE}/words").json()["effects"]
    assert list(effects) == ["all"], "said once, and not at each word"
    assert "preregistered" in effects["all"]
    organizer.post(f"{HERE}/words", json={"question": "Which is worse?"})
    now = organizer.post(f"{HERE}/preregister").json()
    assert now["hash"] != record["hash"], "what people read has changed since"


def test_pictures_that_differ_have_digests_that_differ(serve: Serve) -> None:
    digests = serve().registry.studies[STUDY].collection.digests()
    for digest in ("uploaded", "sha256"):
        assert len({one[digest] for one in digests.values()}) == len(digests) > 2


def test_who_has_given_all_that_was_asked_for_holds_nothing_until_they_ask_to_go_on(serve: Serve) -> None:
    server = serve(StudyPlan(k=2, budget=60, options=2), Settings(goal=3, undo_s=0, redo_s=0))
    person, hosted = server.person(), server.registry.studies[STUDY]
    person.answer()
    assert len(person.answer()["questions"]) == 1, "nothing is handed out ahead of what they are asked for"
    last = person.post("answer", {"token": person.token, "side": "left"}).json()
    assert (last["state"], last["questions"], last["progress"]["answered"]) == ("waiting", [], 3)
    assert len(hosted.study.state.leases) == 0
    looked = person.http.get(f"/api/s/{STUDY}/look").json()
    assert (looked["state"], looked["progress"]["answered"]) == ("waiting", 3), "the page was only opened again"
    assert len(hosted.study.state.leases) == 0
    assert len(person.next()["questions"]) == 2
    person.answer()


def test_who_gives_the_last_answer_of_all_is_not_asked_to_go_on(serve: Serve) -> None:
    server = serve(StudyPlan(k=1, budget=25, options=2), Settings(goal=13, undo_s=5, redo_s=5))
    first, last = server.person(), server.person()
    for _ in range(12):
        first.answer()
        last.answer()
    if not last.work["questions"]:
        first, last = last, first
    assert not last.work["progress"]["enough"], "one is missing"
    last.answer()  # and can still be undone, so that the study waits
    assert last.work["progress"]["enough"]
    assert first.next()["progress"]["enough"], "nobody is asked for more"


def test_people_who_took_part_see_the_result_if_the_organizer_agrees_and_once_it_has_ended(serve: Serve) -> None:
    server = serve(StudyPlan(k=2, budget=30, options=2), Settings(undo_s=0, redo_s=0))
    person, organizer = server.person(), server.organizer()
    person.answer()
    here = f"/api/s/{STUDY}"
    assert organizer.post(f"{HERE}/words", json={"show_result": True}).json()["show_result"] is True
    assert person.http.get(f"{here}/summary").status_code == 404, "it has not ended"
    organizer.post(f"{HERE}/close")
    assert person.http.get(here).json()["show_result"] is True
    assert len(person.http.get(f"{here}/summary").json()["picks"]) == 2
    assert person.http.get(f"{here}/sheet.png").status_code == 200
    assert server.browser().get(f"{here}/summary").status_code == 401, "who did not take part"
    organizer.post(f"{HERE}/words", json={"show_result": False})
    assert person.http.get(f"{here}/summary").status_code == 404
