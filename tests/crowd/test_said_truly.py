"""Where items cannot be stored or taken, one sentence says so, and the exit code is that of a storage that fails."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handful.cli.crowd import LEFT_OUT
from handful.crowd.collection import Collection
from handful.crowd.intake import ingest
from handful.crowd.registry import StudyPlan
from handful.errors import StorageError
from tests import forked
from tests.cli.test_serve import _environment, handful
from tests.crowd.clients import STUDY, started
from tests.crowd.pictures import folder_of

Remount = Callable[[str], None]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Remount]]:
    """A file system of a hundred kilobytes, and how to mount it otherwise."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=100k", "handful", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mounted).returncode:
        pytest.skip("only root can make a small file system")
    yield folder, lambda how: subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True) and None
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def serve(photos: Path, where: Path) -> tuple[int, list[str]]:
    command = [*forked.handful(), "serve", str(photos), "--theme", "X", "-k", "2", "--port", "0"]
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False, env=_environment())
    return done.returncode, [line for line in done.stderr.splitlines() if line and "compiling" not in line]


def test_a_disk_that_fills_during_intake_gets_one_sentence_and_leaves_no_collection(
    disk: tuple[Path, Remount], tmp_path: Path
) -> None:
    folder, remount = disk
    photos = folder_of(30, tmp_path / "photos")
    code, said = serve(photos, folder)
    assert (code, len(said)) == (3, 1)
    assert said[0] == (
        "handful: the items cannot be stored in photos.db.items: No space left on device; "
        "free some space, and start again"
    )
    assert not (folder / "photos.db.items" / "manifest.json").exists()
    remount("size=10m")
    assert len(ingest(photos, folder / "photos.db.items")) == 30, "with room, the same folder is used"


def test_a_folder_that_is_read_only_gets_one_sentence(disk: tuple[Path, Remount], tmp_path: Path) -> None:
    folder, remount = disk
    remount("ro")
    code, said = serve(folder_of(3, tmp_path / "photos"), folder)
    assert (code, len(said)) == (3, 1)
    assert said[0].endswith("Read-only file system; choose a folder that can be written")


def test_whoever_is_no_root_is_told_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    photos = folder_of(2, tmp_path / "photos")
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(StorageError, match=r"cannot be stored in .*: No space left on device; free some space"):
        ingest(photos, tmp_path / "items")


@pytest.mark.parametrize("options", [2, 3])
def test_the_command_line_and_the_page_export_the_same(collection: Collection, tmp_path: Path, options: int) -> None:
    storage = tmp_path / "a.db"
    with started(collection, StudyPlan(k=2, budget=30, options=options), storage=storage) as server:
        person = server.person()
        question = person.work["questions"][0]
        said = {"side": "left"} if options == 2 else {"option": question["options"][0]["id"]}
        assert person.post("answer", {"token": person.token, "ms": 900, **said}).status_code == 200
        paged = server.organizer().get(f"/api/organize/{STUDY}/export.csv").text
    typed = handful("export", STUDY, "--storage", str(storage), cwd=tmp_path).stdout
    assert typed.splitlines()[0] == paged.splitlines()[0]
    assert typed.splitlines()[0].endswith(",ms")
    assert typed.splitlines()[1].split(",")[:3] == paged.splitlines()[1].split(",")[:3]


def test_every_file_that_was_left_out_is_named(tmp_path: Path) -> None:
    from handful.cli import crowd

    folder_of(2, tmp_path / "photos")
    for n in range(12):
        (tmp_path / "photos" / f"drawing {n}.svg").write_text("<svg/>")
    found = crowd.collection_of(tmp_path / "photos", str(tmp_path / "a.db"))
    assert found is not None
    named = (found.folder / LEFT_OUT).read_text()
    assert sorted(re.findall(r"drawing \d+", named)) == sorted(f"drawing {n}" for n in range(12))
