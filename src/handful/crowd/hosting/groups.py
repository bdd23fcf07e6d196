"""People of one study taken together: those of one network, or those who came in a span of time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from handful.crowd.hosting.worker_statistics import AnswerStatistics
from handful.crowd.people import People, Person
from handful.errors import InvalidProblem
from handful.study.excluding import Excluding
from handful.study.study import Study

LABEL = 8
"""Letters of a network's tag that name it: they say nothing about an address."""


@dataclass(frozen=True)
class Group:
    """Who came from this network, and between these times; what is None is no condition."""

    network: str | None = None
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True)
class NetworkCount:
    """What came from one network. `first` and `last` are when its first person came and when its last answer did."""

    network: str
    people: int
    answers: int
    excluded: int
    first: float
    last: float | None


def label_of(tag: bytes) -> str:
    """What a network is called: the beginning of its tag."""
    return tag.hex()[:LABEL]


def networks_of(study: Study, people: People, statistics: AnswerStatistics) -> list[NetworkCount]:
    """Every network that people came from, the one with most answers first."""
    members: dict[str, list[Person]] = defaultdict(list)
    for person in people.all():
        if person.network is not None:
            members[label_of(person.network)].append(person)
    workers, counts = study.fold.workers, []
    for label, theirs in members.items():
        names = [person.pseudonym for person in theirs]
        last = max(statistics.of(name).last for name in names)
        answers, excluded = sum(map(workers.answers_of, names)), sum(map(workers.excludes, names))
        first = min(person.joined for person in theirs)
        counts.append(NetworkCount(label, len(names), answers, excluded, first, last or None))
    return sorted(counts, key=lambda one: (-one.answers, -one.people, one.network))


def members_of(group: Group, study: Study, people: People, statistics: AnswerStatistics) -> list[str]:
    """The names of who is in the group. Somebody came when they joined, or else with their first answer.

    Where a time is given, those of whom neither is known are not in it.
    """
    if group == Group():
        raise InvalidProblem("say whom to exclude: a network, a span of time, or both")
    if group.since is not None and group.until is not None and group.until <= group.since:
        raise InvalidProblem("the span of time ends before it begins: give the earlier time first")
    known = {person.pseudonym: person for person in people.all()}
    if group.network is not None and group.network not in {_network(person) for person in known.values()}:
        raise InvalidProblem(
            f"nobody is known to have come from network {group.network!r}: the list of networks names all of them; "
            "they are forgotten 7 days after a study is closed"
        )
    chosen = []
    for name in dict.fromkeys([*known, *study.fold.workers.names]):
        person = known.get(name)
        if group.network is not None and (person is None or _network(person) != group.network):
            continue
        # 0 where it is not known: of older studies, and of whoever has neither joined nor answered
        came = (0.0 if person is None else person.joined) or statistics.of(name).since or None
        if _came_within(group, came):
            chosen.append(name)
    return chosen


def _came_within(group: Group, came: float | None) -> bool:
    """Whether somebody came between the times of the group; of whom it is not known, no time is believed."""
    if group.since is None and group.until is None:
        return True
    if came is None:
        return False
    return (group.since is None or group.since <= came) and (group.until is None or came <= group.until)


def preview_of(group: Group, study: Study, people: People, statistics: AnswerStatistics) -> Excluding:
    """What excluding the group would mean."""
    return study.excluding(members_of(group, study, people, statistics))


def _network(person: Person) -> str | None:
    return None if person.network is None else label_of(person.network)
