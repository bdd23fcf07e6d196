"""People are known outside the journal, and forgotten to the last byte."""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from handful import Preferences, Study
from handful.crowd.people import KEPT_S, Invitations, People, Person, invitation_of, new_pseudonym, retire_tags
from handful.errors import InvalidProblem, StorageError
from handful.storage import list_studies
from handful.storage.sql import database_at

WHO = "participant-5f3c9a1e77"
SESSION = "session-0b1d7e42aa"


def person(at: int = 0, **fields: object) -> Person:
    return Person(new_pseudonym(), link=secrets.token_bytes(16), joined=float(at), **fields)  # type: ignore[arg-type]


@pytest.fixture
def made(storage: str) -> str:
    """A storage with a study."""
    with Study(["a", "b", "c"], 1, feedback=Preferences(), budget=10, storage=storage, name="study"):
        pass
    return storage


def test_people_are_known_again_by_cookie_name_and_panel_id(made: str) -> None:
    people = People("study", made)
    one, two = person(1, panel="prolific", participant=WHO, session=SESSION), person(2)
    people.add(two)
    people.add(one)
    for known in (people, People("study", made)):
        assert known.all() == [one, two]
        assert known.linked(one.link or b"") == one
        assert known.of_panel("prolific", WHO) == one
        assert known.named(two.pseudonym) == two
        assert known.linked(b"nobody's") is None
    assert People("another", made).all() == []


def test_one_person_is_one_worker(made: str) -> None:
    people = People("study", made)
    people.add(one := person(panel="prolific", participant=WHO))
    with pytest.raises(StorageError, match="known in study 'study' by this already"):
        people.add(person(panel="prolific", participant=WHO))
    with pytest.raises(StorageError, match="already"):
        people.add(Person(new_pseudonym(), link=one.link))
    assert People("study", made).all() == [one]


def test_another_process_sees_what_has_changed(made: str) -> None:
    here, there = People("study", made), People("study", made)
    assert not there.look_again()
    here.add(one := person())
    assert there.look_again()
    assert there.all() == [one]
    here.change(one.pseudonym, state="finished")
    assert there.look_again()
    assert [known.state for known in there.all()] == ["finished"]
    assert not there.look_again()


def test_a_study_in_memory_knows_its_people_too() -> None:
    people = People("study")
    people.add(one := person())
    assert people.linked(one.link or b"") == one
    assert people.forget(one.pseudonym)
    assert not people.forget(one.pseudonym)
    assert people.all() == []
    assert not people.look_again()


def test_a_network_tag_is_the_same_for_one_study_alone(made: str) -> None:
    people = People("study", made)
    assert people.tag_of("192.0.2.0/24") == People("study", made).tag_of("192.0.2.0/24")
    assert people.tag_of("192.0.2.0/24") != people.tag_of("192.0.3.0/24")
    assert people.tag_of("192.0.2.0/24") != People("another", made).tag_of("192.0.2.0/24")


def test_tags_and_their_key_go_a_week_after_closing(made: str) -> None:
    people = People("study", made)
    people.add(person(network=people.tag_of("192.0.2.0/24")))
    people.closed(1000.0)
    people.closed(2000.0)  # it was closed before that
    assert retire_tags(made, 1000.0 + KEPT_S - 1) == []
    assert People("study", made).all()[0].network is not None
    assert retire_tags(made, 1000.0 + KEPT_S) == ["study"]
    after = People("study", made)
    assert [known.network for known in after.all()] == [None]
    assert after.tag_of("192.0.2.0/24") is None
    assert retire_tags(made, 1e12) == []


def test_where_nobody_took_part_there_is_nothing_to_forget(made: str, tmp_path: Path) -> None:
    assert retire_tags(made, 1e12) == []
    assert retire_tags(tmp_path / "none.db", 1e12) == []
    assert [study.name for study in list_studies(made)] == ["study"]


def test_of_somebody_forgotten_not_a_byte_is_left(tmp_path: Path) -> None:
    storage = tmp_path / "journal.db"
    with Study(["a", "b", "c"], 1, feedback=Preferences(), budget=10, storage=storage, name="study") as study:
        people = People("study", storage)
        # Enough of them that rows move from page to page.
        crowd = [person(at, panel="prolific", participant=f"other-{at:04}" + "x" * 40) for at in range(60)]
        for one in crowd[:30]:
            people.add(one)
        people.add(them := person(99, panel="prolific", participant=WHO, session=SESSION))
        for one in crowd[30:]:
            people.add(one)
        people.change(them.pseudonym, state="finished")
        study.ask()
        assert any(WHO.encode() in file.read_bytes() for file in tmp_path.iterdir())
        assert people.forget(them.pseudonym)
        needles = [WHO.encode(), SESSION.encode(), them.link or b"", them.pseudonym.encode()]
        for file in tmp_path.iterdir():
            content = file.read_bytes()
            assert not any(needle in content for needle in needles), file
        assert len(People("study", storage)) == 60


@pytest.mark.postgres
def test_of_somebody_forgotten_postgresql_keeps_nothing_in_its_tables(postgres_storage: str, postgres_url: str) -> None:
    with Study(["a", "b"], 1, feedback=Preferences(), budget=10, storage=postgres_storage, name="study"):
        pass
    people = People("study", postgres_storage)
    people.add(them := person(panel="prolific", participant=WHO))
    people.add(person(panel="prolific", participant="other"))
    engine = create_engine(postgres_storage)
    found = text("SELECT position(:needle in pg_read_binary_file(pg_relation_filepath('people')))")

    def place_of(needle: str) -> int:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("CHECKPOINT"))
            return int(connection.execute(found, {"needle": needle.encode()}).scalar_one())

    assert place_of(WHO) > 0
    people.forget(them.pseudonym)
    assert place_of(WHO) == 0
    assert place_of("other") > 0
    engine.dispose()


def test_an_invitation_lets_one_person_in(made: str) -> None:
    invitations = Invitations("study", made)
    (number, code), (second, other) = invitations.make(2, 10.0)
    assert (number, second) == (1, 2)
    assert invitations.use(code, "wa") == "wa"
    assert invitations.use(code.upper(), "wb") == "wa"
    assert invitations.use("nonsense", "wb") is None
    assert invitations.revoke([1, 2], 11.0) == 1
    assert invitations.use(other, "wb") is None
    assert invitations.use(code, "wc") == "wa"
    assert [one.state for one in invitations.all()] == ["used", "revoked"]
    assert invitations.make(1, 12.0)[0][0] == 3
    assert Invitations("another", made).use(code, "wa") is None


def test_the_invitation_of_somebody_forgotten_lets_nobody_in(made: str) -> None:
    people, invitations = People("study", made), Invitations("study", made)
    ((_, code),) = invitations.make(1, 10.0)
    people.add(one := person(1))
    assert invitations.use(code, one.pseudonym) == one.pseudonym
    people.forget(one.pseudonym)
    assert invitations.use(code, "wb") is None


def test_nobody_is_invited_before_an_invitation_was_made(made: str) -> None:
    assert invitation_of("study", made, "guess") is None


def test_an_invitation_is_looked_up_while_somebody_else_writes(made: str) -> None:
    ((number, code),) = Invitations("study", made).make(1, 10.0)
    with ThreadPoolExecutor(1) as pool, database_at(made).writing():
        found = pool.submit(invitation_of, "study", made, code).result(timeout=15)
    assert found is not None
    assert (found.number, found.state) == (number, "open")


def test_of_many_who_come_with_one_invitation_at_once_one_gets_in(made: str) -> None:
    (_, code), *_ = Invitations("study", made).make(1, 10.0)
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda name: Invitations("study", made).use(code, name), [f"w{at}" for at in range(8)]))
    assert len(set(got)) == 1


def test_invitations_are_made_in_sensible_numbers(made: str) -> None:
    with pytest.raises(InvalidProblem, match="1 to 100,000 at a time, got 0"):
        Invitations("study", made).make(0, 0.0)
