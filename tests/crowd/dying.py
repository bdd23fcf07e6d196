"""Dying at every step of making, opening, changing and erasing: `python -m tests.crowd.dying FOLDER [EVERY] [URL]`.

A step is a change of the file system or a commit of the database. A process that has imported everything forks for each
step: the child does the work and kills itself there; another one then starts a server on what is left and looks whether
it is whole. What the first said it had done must be there. With the URL of a PostgreSQL each step has a schema there,
otherwise an SQLite file; the items are in a folder of the step's own, which both processes work in.
"""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

from PIL import Image
from sqlalchemy import NullPool, create_engine, event, make_url, text
from sqlalchemy.engine import Engine

from handful.crowd import registry as registries
from handful.crowd.changes import RequestedChanges, change_words
from handful.crowd.drafts import Draft
from handful.crowd.guard import Registry
from handful.crowd.intake import ingest, practice_pictures, take_practice_picture
from handful.crowd.messages import DraftSettings
from handful.crowd.people import Person
from handful.crowd.plan import ExpectedPeople

ID = b"participant-1234567"
TOLD = DraftSettings.model_validate({"theme": "Cathedrals", "k": 2, "words": {"thanks": "Merci"}})
LATER = TOLD.model_copy(update={"theme": "Churches"})
NAMES = ("a.png", "b.png", "c.png", "d.png")
PRACTISED = ("good.png", "poor.png", "unused.png")
PICTURED = DraftSettings.model_validate(
    {
        "theme": "Cathedrals",
        "k": 2,
        "words": {"practice": [{"right": PRACTISED[0], "wrong": PRACTISED[1], "why": "it is sharp"}]},
    }
)
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"}
Told = Callable[[str], None]


def by_the_page(storage: str, done: Told) -> None:
    """A draft is made, changed and opened, another one deleted, words are changed and somebody is erased."""
    registry = registries.open_registry(storage, None, ())
    registry.drafts.discard(_draft(registry, done))
    done("discarded")
    draft = _draft(registry, done)
    draft.change(LATER)
    done("renamed")
    hosted = registries.open_draft(registry, draft)
    done("opened")
    change_words(hosted, {"thanks": "Danke", "welcome": "Hallo"})
    done("changed")
    hosted.people.add(Person("w1", link=b"x" * 16, panel="prolific", participant=ID.decode()))
    done("came")
    hosted.people.forget("w1")
    done("erased")
    registry.close()


def _draft(registry: Registry, done: Told) -> Draft:
    draft = registry.drafts.new(TOLD, 0.0)
    done("begun")
    draft.uploads.paste("one\ntwo\nthree\nfour")
    _prepare(draft)
    return draft


def _prepare(draft: Draft) -> None:
    draft.prepare()
    while draft.state == "preparing":
        time.sleep(0.001)


def with_pictures(storage: str, done: Told) -> None:
    """A draft gets pictures, and pictures of its own to practise on; one that nobody names goes when it is opened."""
    registry = registries.open_registry(storage, None, ())
    draft = registry.drafts.new(PICTURED, 0.0)
    done("begun")
    for name in NAMES:
        asyncio.run(draft.uploads.take(name, _chunks(name), lambda: None))
        done(name)
    for name in PRACTISED:
        take_practice_picture(draft.folder, name, _png(name))
        done(name)
    _prepare(draft)
    done("prepared")
    registries.open_draft(registry, draft)
    done("opened")
    registry.close()


def look_at_the_pictures(storage: str, done: set[str]) -> None:
    """What was stored is there; if it was not opened it can be prepared and opened now, and lacks nothing then."""
    registry = registries.open_registry(storage, None, ())
    assert "opened" not in done or list(registry.studies) == ["cathedrals"]
    if not registry.studies and "prepared" not in done:
        assert "begun" not in done or len(list(registry.drafts)) == 1
        for draft in registry.drafts:
            there = {upload.name for upload in draft.uploads.files}
            assert {*NAMES} & done <= there <= {*NAMES}
            practised = set(practice_pictures(draft.folder).ids)
            assert {*PRACTISED} & done <= practised <= {*PRACTISED}
    elif not registry.studies:
        (draft,) = registry.drafts
        assert draft.state == "ready"
        registries.open_draft(registry, draft)
    for hosted in registry.studies.values():
        folder = hosted.collection.folder
        practised = practice_pictures(folder)
        assert (hosted.theme, {*hosted.collection.ids}) == ("Cathedrals", {*NAMES})
        assert {*PRACTISED[:2]} == {*practised.ids}
        assert hosted.settings.practice is not None
        for one in (hosted.collection, practised):
            for item in one:
                assert all((folder / picture).stat().st_size > 0 for picture in one.pictures(item))
    registry.close()
    assert not list(Path.cwd().rglob("*unfinished*")), "nothing is left half-way"


async def _chunks(name: str) -> AsyncIterator[bytes]:
    whole = _png(name)
    yield whole[:50]
    yield whole[50:]


def _png(name: str) -> bytes:
    into = io.BytesIO()
    Image.new("RGB", (8, 6), (37 * sum(name.encode()) % 256, 9 * len(name), 90)).save(into, "PNG")
    return into.getvalue()


def look_at_the_page(storage: str, done: set[str]) -> None:
    registry = registries.open_registry(storage, None, ())
    drafts = list(registry.drafts)
    assert len(drafts) <= 1 + ("discarded" not in done), "a draft that was never made"
    assert all(draft.settings in (TOLD, LATER) for draft in drafts)
    if "renamed" in done:
        (draft,) = drafts
        assert draft.settings == LATER
        assert draft.state == ("opened" if registry.studies else "ready")
    assert "opened" not in done or list(registry.studies) == ["churches"]
    for hosted in registry.studies.values():
        said = hosted.settings.thanks, hosted.settings.welcome
        assert (hosted.theme, len(hosted.collection)) == ("Churches", 4)
        assert said == ("Danke", "Hallo") if "changed" in done else said in (("Merci", None), ("Danke", "Hallo"))
        assert hosted.expected == ExpectedPeople(20, 30)
        person = hosted.people.named("w1")
        assert person is None or person.participant == (ID.decode() if "erased" not in done else None)
    registry.close()
    if "erased" in done:
        assert all(
            ID not in path.read_bytes() for path in (*Path.cwd().rglob("*"), *_tables(storage)) if path.is_file()
        )
    assert not list(Path.cwd().rglob("*unfinished*")), "nothing is left half-way"


def _tables(storage: str) -> list[Path]:
    """The files of all tables of a schema, as PostgreSQL has written them."""
    if "://" not in storage:
        return []
    with create_engine(storage, poolclass=NullPool).connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("CHECKPOINT"))
        data = connection.execute(text("SHOW data_directory")).scalar_one()
        found = connection.execute(
            text(
                "SELECT pg_relation_filepath(c.oid) FROM pg_class c, pg_class t "
                "WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'i') "
                "AND c.oid IN (t.oid, t.reltoastrelid)"
            )
        )
        files = [Path(data, name) for name in found.scalars() if name is not None]
    assert len(files) > 5, "there are tables to be looked at"
    return files


def by_the_command_line(storage: str, done: Told) -> None:
    """A study of a table of texts is begun, with words and people to come."""
    registry = _command_line(storage)
    done("begun")
    registry.close()


def _command_line(storage: str) -> Registry:
    items = ingest(Path.cwd().parent / "texts.csv", registries.items_folder(storage))
    plan = registries.StudyPlan(k=2, expected=ExpectedPeople(20, 30))
    return registries.open_registry(
        storage, items, ["Churches!"], plan, changes=RequestedChanges(words={"thanks": "Merci"})
    )


def look_at_the_command_line(storage: str, done: set[str]) -> None:
    """The same command again goes on with the same study, which lacks nothing."""
    registry = _command_line(storage)
    (hosted,) = registry.studies.values()
    assert (hosted.theme, hosted.settings.thanks, hosted.expected) == ("Churches!", "Merci", ExpectedPeople(20, 30))
    registry.close()


def steps(
    act: Callable[[str, Told], None], look: Callable[[str, set[str]], None], folder: Path, every: int, url: str | None
) -> int:
    """Die at each step, and look; gives how many steps there were. At the last one it is done."""
    step, last = every, False
    while not last:
        name = f"{act.__name__}_{step}"
        (folder / name).mkdir(parents=True)
        os.chdir(folder / name)
        storage = "a.db" if url is None else _schema(url, name)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _dying_at(step)
            act(storage, partial(_tell, writing))
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as told:
            done = set(told.read().split())
        _, ended = os.waitpid(child, 0)
        last = ended == 0
        assert last or os.WTERMSIG(ended) == signal.SIGKILL, f"step {step} ended with {ended}"
        looking = os.fork()
        if looking == 0:
            try:
                look(storage, done)
            except BaseException as error:
                print(f"{act.__name__}, killed at step {step} after {sorted(done)}: {error!r}", file=sys.stderr)
                raise
            os._exit(0)
        _, ended = os.waitpid(looking, 0)
        if ended != 0:
            sys.exit(f"what was left at step {step} is not whole")
        step += every
    return step - every


def _schema(url: str, name: str) -> str:
    with create_engine(url, poolclass=NullPool).begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    return make_url(url).update_query_dict({"options": f"-csearch_path={name}"}).render_as_string(hide_password=False)


def _tell(pipe: int, what: str) -> None:
    os.write(pipe, f"{what}\n".encode())


def _dying_at(step: int) -> None:
    left = [step]

    def tick() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(what: str, given: tuple[object, ...]) -> None:
        writes = what == "open" and isinstance(given[1], str) and set(given[1]) & set("wxa+")
        if what in CHANGES or writes:
            tick()

    sys.addaudithook(heard)
    event.listen(Engine, "commit", lambda _: tick())


def main(folder: str, every: str = "1", url: str | None = None) -> None:
    root = Path(folder).resolve()
    (root / "texts.csv").write_text("text\none\ntwo\nthree\nfour\n")
    registries.warm_up = lambda _: None  # type: ignore[attr-defined]
    ways = {
        by_the_page: look_at_the_page,
        by_the_command_line: look_at_the_command_line,
        with_pictures: look_at_the_pictures,
    }
    for act, look in ways.items():
        print(act.__name__, steps(act, look, root, int(every), url))


if __name__ == "__main__":
    main(*sys.argv[1:])
