"""What is asked for when the study exists already."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from handful.crowd.changes import RequestedChanges
from handful.crowd.collection import Collection
from handful.crowd.intake import changes_since, ingest
from handful.crowd.registry import Registry, StudyPlan, open_registry
from handful.errors import InvalidProblem
from tests import forked
from tests.cli.test_serve import handful, hear_interrupts, serving, stopped
from tests.crowd.pictures import folder_of

PLAN = StudyPlan(k=3, explorer="topx", budget=60)


def again(collection: Collection, storage: Path, changes: RequestedChanges, *themes: str) -> tuple[Registry, list[str]]:
    said: list[str] = []
    return open_registry(storage, collection, themes, PLAN, changes=changes, say=said.append), said


@pytest.fixture
def storage(collection: Collection, tmp_path: Path) -> Path:
    """Where a study of boats was begun."""
    open_registry(tmp_path / "a.db", collection, ["Boats"], PLAN).close()
    return tmp_path / "a.db"


@pytest.mark.parametrize("themes", [("Boats",), (), ("Masks", " Boats ")])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (RequestedChanges(k=4), "'Boats' was begun with k = 3, and cannot change to k = 4: .* --theme, or --storage"),
        (RequestedChanges(explorer="duels"), "begun with --explorer topx, and cannot change to --explorer duels"),
        (
            RequestedChanges(explorer="topx:variant=O"),
            "begun with --explorer topx, and cannot change to --explorer topx:variant=O",
        ),
    ],
)
def test_another_k_or_explorer_is_refused(
    collection: Collection, storage: Path, changes: RequestedChanges, words: str, themes: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidProblem, match=words):
        again(collection, storage, changes, *themes)
    registry, _ = again(collection, storage, RequestedChanges(k=3, explorer="topx:variant=full", budget=60))
    assert set(registry.studies) == {"boats"}, "nothing was begun by what was refused"
    registry.close()


def test_another_theme_may_have_another_k(collection: Collection, storage: Path) -> None:
    registry, said = again(collection, storage, RequestedChanges(k=4), "Masks")
    assert (set(registry.studies), said) == ({"boats", "masks"}, [])
    registry.close()


def test_a_budget_grows_and_never_shrinks(collection: Collection, storage: Path) -> None:
    for asked, kept, words in ((90, 90, "grows from 60 to 90"), (90, 90, None), (40, 90, "keeps its budget of 90")):
        registry, said = again(collection, storage, RequestedChanges(budget=asked), "Boats")
        assert registry.studies["boats"].progress().budget == kept
        assert len(said) == (words is not None)
        assert words is None or words in said[0]
        registry.close()


def test_a_finished_study_says_that_more_comes_too_late(collection: Collection, storage: Path) -> None:
    registry, _ = again(collection, storage, RequestedChanges())
    registry.studies["boats"].study.finish()
    registry.close()
    registry, said = again(collection, storage, RequestedChanges(budget=90))
    assert "is finished, so --budget 90 comes too late" in said[0]
    registry.close()


def test_what_else_is_kept_is_said(collection: Collection, storage: Path) -> None:
    registry, said = again(collection, storage, RequestedChanges(in_flight=7, lease_s=60.0, seed=5))
    assert [line.split(" it was")[0] for line in said] == [
        "Boats: the study keeps the --in-flight 200",
        "Boats: the study keeps the --seed 0",
    ]
    registry.close()


def test_what_came_and_went_since_is_counted(tmp_path: Path) -> None:
    folder = folder_of(4, tmp_path / "photos")
    (folder / "drawing.svg").write_text("<svg/>")
    collection = ingest(folder, tmp_path / "items")
    assert changes_since(folder, collection) == (0, 0)
    first = min(folder.glob("photo*"))
    first.rename(folder / f"a-{first.name}")
    (folder / "another.svg").write_text("<svg/>")
    assert changes_since(folder, collection) == (1, 1)


def test_rows_that_came_and_went_are_counted(tmp_path: Path) -> None:
    table = tmp_path / "talks.csv"
    table.write_text("id,text\na,One\na,Two\nb,Three\n")
    collection = ingest(table, tmp_path / "items")
    assert changes_since(table, collection) == (0, 0)
    table.write_text("id,text\na,One\na,Two\nc,Three\nd,Four\n")
    assert changes_since(table, collection) == (2, 1)


def printed(*arguments: str, cwd: Path) -> str:
    """What `handful serve` says until it can be stopped."""
    process = subprocess.Popen(
        [*forked.handful(), "serve", *arguments, "--port", "0"],
        cwd=cwd,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        preexec_fn=hear_interrupts,
    )
    assert process.stdout is not None
    said = ""
    while "Ctrl-C" not in said and (line := process.stdout.readline()):
        said += line
    stopped(process)
    return said


def test_the_command_says_what_is_not_as_it_was_asked_for(tmp_path: Path) -> None:
    folder_of(5, tmp_path / "photos")
    with serving("photos", "-k", "2", "--theme", "A", "--budget", "40", cwd=tmp_path):
        pass
    refused = handful("serve", "photos", "-k", "3", "--theme", "A", "--port", "0", cwd=tmp_path)
    assert refused.returncode == 2
    assert "'A' was begun with k = 2" in refused.stderr
    next((tmp_path / "photos").glob("photo*")).unlink()
    said = printed("photos", "--theme", "A", "--budget", "50", "-k", "2", cwd=tmp_path)
    assert "the folder has changed since: 1 gone; a study keeps the items it began with" in said
    assert "the budget grows from 40 to 50 answers" in said
    assert "share  " in said
    from handful import Study

    with Study.open(tmp_path / "photos.db", "a") as study:
        study.finish()
    said = printed("photos", "--theme", "A", cwd=tmp_path)
    assert "2 of 5, finished with 0 picked after 0 answers: A" in said
    assert "share  " not in said


def test_alone_another_k_is_refused_with_the_one_it_was(tmp_path: Path) -> None:
    folder_of(5, tmp_path / "holiday")
    with serving("holiday", "--solo", "-k", "2", cwd=tmp_path):
        pass
    refused = handful("serve", "holiday", "--solo", "-k", "3", "--port", "0", cwd=tmp_path)
    assert refused.returncode == 2
    assert "'holiday' was begun with k = 2" in refused.stderr
