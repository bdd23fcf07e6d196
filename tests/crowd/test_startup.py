"""From a storage, a collection and themes to the studies that are served."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from handful import Preferences, Study, Values
from handful.crowd.collection import Collection
from handful.crowd.host import StoredStudy, history_of
from handful.crowd.registry import Registry, StudyPlan, items_folder, open_registry, slug_of
from handful.crowd.statistics import WorkerStatistics
from handful.crowd.status import organizer_status_of
from handful.errors import InvalidProblem, ItemsChanged

PLAN = StudyPlan(k=2, explorer="topx", budget=40)


def opened(collection: Collection, storage: Path, *themes: str, said: list[str] | None = None) -> Registry:
    return open_registry(storage, collection, themes, PLAN, say=(said if said is not None else []).append)


@pytest.mark.parametrize(
    ("theme", "address"),
    [
        ("Cathedrals in Venice", "cathedrals-in-venice"),
        ("  Été à Venise!  ", "ete-a-venise"),
        ("日本", "study"),
        ("../../etc", "etc"),
        ("<script>", "script"),
        ("login", "login-2"),
        ("backup", "backup-2"),
        ("x" * 300, "x" * 60),
    ],
)
def test_a_theme_has_an_address_that_is_plain(theme: str, address: str) -> None:
    assert slug_of(theme) == address


def test_two_themes_never_share_an_address() -> None:
    assert slug_of("A!", {"a"}) == "a-2"
    assert slug_of("A?", {"a", "a-2"}) == "a-3"


def test_studies_are_taken_up_again_by_their_theme_and_new_ones_begun(collection: Collection, tmp_path: Path) -> None:
    storage = tmp_path / "a.db"
    first = opened(collection, storage, "Boats", "Boats!")
    assert {name: hosted.theme for name, hosted in first.studies.items()} == {"boats": "Boats", "boats-2": "Boats!"}
    first.close()
    second = opened(collection, storage, "Boats!", "Masks")
    assert {hosted.theme for hosted in second.studies.values()} == {"Boats", "Boats!", "Masks"}
    second.close()
    third = opened(collection, storage)
    assert set(third.studies) == {"boats", "boats-2", "masks"}
    third.close()


def test_what_a_journal_tells_is_known_when_the_study_is_open(collection: Collection, tmp_path: Path) -> None:
    storage = tmp_path / "a.db"
    with Study(collection.ids, 1, feedback=Preferences(), budget=30, storage=storage, name="boats") as study:
        study.note("theme", "Boats")
        for n in range(9):
            (question,) = study.ask(1, f"w{n % 2}")
            study.tell(question.id, True, f"w{n % 2}", {"side": "left", "ms": 100 * n})
    stored = StoredStudy(storage, "boats", collection.ids, time.time)
    with stored.open() as study:
        known, read = history_of(study, stored), history_of(study, None)
        assert [note.data for note in known.notes] == [note.data for note in read.notes] == ["Boats"]
        for worker in ("w0", "w1"):
            assert known.statistics.of(worker) == read.statistics.of(worker) != WorkerStatistics()
        assert known.statistics.timeline.points() == read.statistics.timeline.points() != []


def test_studies_about_other_things_are_left_alone(collection: Collection, tmp_path: Path) -> None:
    storage = tmp_path / "a.db"
    Study(["x", "y", "z"], 1, feedback=Preferences(), budget=9, explorer="topx", storage=storage, name="others").close()
    values = Study(
        collection.ids, 1, feedback=Values(noise=1), budget=9, explorer="topx", storage=storage, name="values"
    )
    values.close()
    with pytest.raises(ItemsChanged, match="give a --theme"):
        opened(collection, storage)
    said: list[str] = []
    registry = opened(collection, storage, "Boats", said=said)
    assert set(registry.studies) == {"boats"}
    assert said == ["study 'values' asks for values, and people can only compare: it is left out"]
    registry.close()


def test_only_the_results_of_another_version_are_served(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = tmp_path / "a.db"
    with monkeypatch.context() as then:
        then.setattr("handful.setup.VERSION", "0.0.9")
        before = opened(collection, storage, "Boats", "Masks")
        before.studies["masks"].study.finish("enough")
        chosen = before.studies["masks"].study.result().chosen
        before.close()
    said: list[str] = []
    registry = opened(collection, storage, "Boats", said=said)
    (masks, boats) = registry.studies["masks"], registry.studies["boats-2"]  # a new one
    assert len(registry.studies) == 2
    assert masks.study.result().chosen == chosen
    assert organizer_status_of(masks).state == "finished"
    for hosted in (masks, boats):
        hosted.tick()
    (left_out,) = said
    assert left_out.startswith("study 'boats' was made by handful 0.0.9, with rules ")
    assert left_out.endswith("and only that version goes on with it: it is left out")
    registry.close()


def test_nothing_stays_locked_when_opening_fails(collection: Collection, tmp_path: Path) -> None:
    storage = tmp_path / "a.db"
    opened(collection, storage, "Boats").close()
    with pytest.raises(InvalidProblem):
        open_registry(storage, collection, ["Masks"], StudyPlan(k=100, explorer="topx"))
    opened(collection, storage).close()


def test_workers_are_counted_again_after_a_restart(collection: Collection, tmp_path: Path) -> None:
    storage = tmp_path / "a.db"
    registry = opened(collection, storage, "Boats")
    study = registry.studies["boats"].study
    for number, question in enumerate(study.ask(6, worker="w1")):
        study.tell(question.id, True, "w1", {"side": "left" if number < 2 else "right", "ms": 100 * number})
    study.exclude("w1")
    registry.close()
    again = opened(collection, storage)
    (line,) = organizer_status_of(again.studies["boats"]).workers
    assert (line.worker, line.answers, line.left_share, line.median_ms, line.excluded) == ("w1", 6, 0.333, 250, True)
    again.close()


def test_a_small_budget_is_told(collection: Collection, tmp_path: Path) -> None:
    said: list[str] = []
    registry = open_registry(
        tmp_path / "a.db", collection, ["Boats"], StudyPlan(k=2, explorer="topx", budget=8), say=said.append
    )
    registry.close()
    assert len(said) == 1
    assert said[0].startswith("Boats: the budget gives the first round 4 answers for 8 candidates")


def test_the_collection_lives_beside_the_database() -> None:
    assert items_folder("photos.db") == items_folder("sqlite:///photos.db") == Path("photos.db.items")
    assert items_folder(Path("/data/photos.db")) == Path("/data/photos.db.items")
    assert items_folder("postgresql://me:secret@host/crowd?sslmode=require") == Path("crowd.items")


def test_a_study_began_with_its_first_record_however_it_was_read(collection: Collection, tmp_path: Path) -> None:
    storage = tmp_path / "a.db"
    with Study(
        collection.ids, 2, feedback=Preferences(), budget=20, storage=storage, name="s", clock=lambda: 1_000.0
    ) as study:
        began = next(study.records()).time
    stored = StoredStudy(storage, "s", collection.ids, lambda: 9_000.0)
    with stored.open() as study:
        assert history_of(study, stored).began == began, "nothing has happened since"
        study.note("topic", "later")
    with stored.open() as study:
        assert history_of(study, stored).began == history_of(study, None).began == began
