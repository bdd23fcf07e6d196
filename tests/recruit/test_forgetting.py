"""Forgetting people from a panel: no id is left, nobody loses pay by it, and asking early is heeded later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from handful import cli
from handful.cli import people
from handful.cli import recruit as _registers_more
from handful.crowd.collection import Collection
from handful.crowd.identity import look_after
from handful.crowd.languages import language
from handful.crowd.people import DAY_S, WITHDRAWING, People, ask_to_forget, forget_settled, keep_for, retire
from handful.recruit.ledger import Participant, Store
from handful.recruit.panel import Identity, Panel
from handful.recruit.payroll import Payroll, counts_of
from handful.recruit.recruitment import Recruitment
from tests.crowd.clients import STUDY as SERVED
from tests.fakes.prolific import FakeProlific
from tests.recruit.arrivals import PLAN, paid_study
from tests.recruit.conftest import STUDY
from tests.recruit.test_payroll import come, end


def holds(storage: Path, *ids: str) -> bool:
    """Whether a file of the database holds one of these ids."""
    files = [file for file in storage.parent.iterdir() if file.is_file() and file.name.startswith(storage.name)]
    return any(one.encode() in file.read_bytes() for file in files for one in ids)


def test_who_is_paid_and_forgotten_leaves_no_id_and_stays_counted(
    published: Payroll, fake: FakeProlific, storage: Path
) -> None:
    (ann, there), (bob, _) = come(published, fake), come(published, fake)
    end(published, fake, ann)
    published.reconcile()
    published.reconcile()
    assert there.status == "APPROVED"
    assert holds(storage, there.participant)
    assert ask_to_forget(published.store, STUDY, ann.pseudonym)
    assert not holds(storage, there.participant, there.id)
    assert published.store.to_forget(STUDY) == []
    published.reconcile()
    assert not holds(storage, there.participant, there.id)  # the platform's list brings nothing back
    assert counts_of(published.store.people(STUDY)) == {"paid": 1, "inside": 1}
    assert published.store.person(STUDY, bob.pseudonym) is not None


def test_while_pay_is_open_asking_is_noted_and_done_once_it_is_settled(
    published: Payroll, fake: FakeProlific, storage: Path
) -> None:
    person, there = come(published, fake)
    assert not ask_to_forget(published.store, STUDY, person.pseudonym)
    end(published, fake, person)
    published.promise_bonus(person.pseudonym, 150)
    assert forget_settled(published.store, STUDY) == []
    published.reconcile()
    published.reconcile()
    assert (there.status, there.bonuses) == ("APPROVED", [150])
    assert holds(storage, there.id)
    assert forget_settled(published.store, STUDY) == [person.pseudonym]
    assert not holds(storage, there.participant, there.id)


def test_people_are_erased_by_the_panels_id_and_only_when_paid(
    published: Payroll, fake: FakeProlific, storage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert people
    assert _registers_more
    monkeypatch.setenv("PROLIFIC_TOKEN", fake.token)
    monkeypatch.setenv("PROLIFIC_URL", fake.url)
    person, there = come(published, fake)
    end(published, fake, person)
    erased = CliRunner().invoke(cli.app, ["people", "erase", STUDY, there.participant, "-s", str(storage)])
    assert erased.exit_code == 0, erased.output
    assert "their pay is open" in erased.output
    assert "give - instead" in erased.output
    assert holds(storage, there.id)
    for _ in range(2):
        CliRunner().invoke(cli.app, ["recruit", "reconcile", STUDY, "-s", str(storage)])
    assert there.status == "APPROVED"
    assert not holds(storage, there.participant, there.id)
    again = CliRunner().invoke(cli.app, ["people", "erase", STUDY, "-", "-s", str(storage)], input=there.participant)
    assert again.exit_code != 0
    listed = CliRunner().invoke(cli.app, ["recruit", "pay-list", STUDY, "-s", str(storage)])
    assert person.pseudonym not in listed.output


def test_the_server_forgets_who_withdrew_when_they_are_paid(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = tmp_path / "venice.db"
    with paid_study(collection, storage, monkeypatch) as paid:
        ann, there = paid.come()
        ann.arrive()
        ann.join()
        ann.answer_all()
        (person,) = paid.store.people(SERVED)
        People(SERVED, storage).change(person.pseudonym, state=WITHDRAWING)
        look_after(paid.server.registry.studies[SERVED])
        paid.settle()
        assert there.status == "APPROVED"
        (known,) = paid.loop.desk.people()
        assert known.who == Identity(person.pseudonym)
        assert known.chance is None
        assert not holds(storage, there.participant, there.id)


def test_who_asks_while_the_study_runs_goes_on_until_paid_and_is_a_stranger_then(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = tmp_path / "venice.db"
    with paid_study(collection, storage, monkeypatch) as paid:
        ann, there = paid.come()
        ann.arrive()
        ann.join()
        ann.answer()
        here = f"/api/s/{SERVED}"
        hosted = paid.server.registry.studies[SERVED]
        (known,) = hosted.people.all()
        code = ann.http.get(f"{here}/me").json()["code"]
        assert ann.http.post(f"{here}/forget", json={"code": code}).json() == {"done": False}
        assert ann.next()["questions"]  # their pay is open: nobody loses it by asking
        ann.answer_all()
        paid.settle()
        assert there.status == "APPROVED"
        assert hosted.open
        for path in ("next", "me"):
            assert ann.http.get(f"{here}/{path}").status_code == 401, "the cookie leads to nobody"
        assert ann.http.post(f"{here}/join", json={"consent": True}).status_code == 409
        assert len(hosted.people) == 0
        assert hosted.study.state.workers.answers_of(known.pseudonym) == PLAN.answers_each
        assert known.link is not None
        assert known.link not in storage.read_bytes()
        assert not holds(storage, there.participant, there.id)


@pytest.mark.parametrize(
    ("changes", "settled"),
    [
        ({}, False),
        ({"status": "AWAITING REVIEW", "outcome": "timed_out", "decision": "leave"}, False),
        ({"status": "RETURNED", "outcome": "returned"}, True),
        ({"status": "RETURNED", "outcome": "finished"}, False),
        ({"status": "RETURNED", "outcome": "finished", "decision": "leave"}, True),
        ({"status": "RETURNED", "outcome": "finished", "decision": "pay"}, False),
        ({"status": "REJECTED", "outcome": "finished"}, False),
        ({"verified": None, "outcome": "finished"}, False),
        ({"verified": False}, True),
    ],
)
def test_pay_is_settled_when_nothing_more_can_come_of_it(
    published: Payroll, changes: dict[str, object], settled: bool
) -> None:
    person = Participant("p1", Identity("a", "b"), verified=True, status="ACTIVE")
    changed = replace(person, **changes)  # type: ignore[arg-type]
    assert changed.settled(published.recruitment(), []) is settled
    by_hand = replace(published.recruitment(), on_prolific=False)
    assert changed.settled(by_hand, []) is (changed.outcome is not None)


def test_when_the_retention_is_over_ids_of_a_panel_that_is_paid_by_hand_stay_until_somebody_asks(storage: Path) -> None:
    People(STUDY, storage).closed(0.0)
    keep_for(storage, STUDY, 1)
    store = Store(storage)
    store.keep(Recruitment(STUDY, Panel("a school", "PID")))
    person, _ = store.arrive(STUDY, Identity("their-own-id"), None)
    assert person is not None
    store.change(STUDY, person.pseudonym, outcome="finished")
    assert retire(storage, 2 * DAY_S) == [STUDY]
    assert forget_settled(store, STUDY) == []
    assert holds(storage, "their-own-id")
    assert ask_to_forget(store, STUDY, person.pseudonym)
    assert not holds(storage, "their-own-id")


def test_when_the_retention_is_over_ids_on_prolific_go_once_the_pay_is_settled(
    published: Payroll, fake: FakeProlific, storage: Path
) -> None:
    People(STUDY, storage).closed(0.0)
    keep_for(storage, STUDY, 1)
    person, there = come(published, fake)
    end(published, fake, person)
    assert retire(storage, 2 * DAY_S) == [STUDY]
    assert holds(storage, there.id)
    published.reconcile()
    published.reconcile()
    assert forget_settled(published.store, STUDY) == [person.pseudonym]
    assert not holds(storage, there.participant, there.id)


def test_the_consent_promises_no_more_than_is_done() -> None:
    told = language("en").said("consent.panel")
    assert "If you ask us to forget you, it is deleted as soon as your pay is settled." in told
