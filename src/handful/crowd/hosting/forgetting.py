"""What is done about people beside the questions: who asked to be forgotten, and what goes when a study is over."""

from __future__ import annotations

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.people import JOINED, WITHDRAWING, ask_to_forget


def forget_person(hosted: HostedStudy, pseudonym: str, *, withdraw: bool) -> bool:
    """Forget somebody, and with `withdraw` take their answers out of the open round first.

    Whoever came from a panel is forgotten when their pay is settled: False if that is still to come.
    """
    if withdraw and hosted.open and hosted.study.fold.workers.knows(pseudonym):
        hosted.study.leave(pseudonym)
        hosted.study.let_go(pseudonym)
    desk, person = hosted.desk, hosted.people.named(pseudonym)
    if desk is not None and desk.store.person(hosted.study.name, pseudonym) is not None:
        done = ask_to_forget(desk.store, hosted.study.name, pseudonym)
        hosted.people.look_again()
        if not done and person is not None and person.state == WITHDRAWING:
            hosted.people.change(pseudonym, state=JOINED)  # they have withdrawn; the rest is noted
        desk.look()
        return done
    hosted.people.forget(pseudonym)
    return True


def look_after(hosted: HostedStudy) -> None:
    """Heed what other processes wrote about the people of a study, and note when it is closed."""
    hosted.people.look_again()
    for person in hosted.people.all():
        if person.state == WITHDRAWING:
            forget_person(hosted, person.pseudonym, withdraw=True)
    if not hosted.open and not hosted.over:
        hosted.over = True
        hosted.people.closed(hosted.clock())
