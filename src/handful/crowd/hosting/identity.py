"""From a cookie to a worker: the journal's name for somebody is random, and only the table of people ties the two."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, ip_network

from handful.crowd.hosting.hosted_study import HostedStudy
from handful.crowd.hosting.network_addresses import parsed
from handful.crowd.hosting.tokens import Secret, Worker, cookie_hash, new_cookie, tokens_key
from handful.crowd.people import Person, new_pseudonym
from handful.study.doors import Door


def known_worker(secret: Secret, hosted: HostedStudy, cookie: str | None) -> Worker | None:
    """Whose cookie this is; None if nobody joined with it, or whoever did was forgotten."""
    key = tokens_key(secret, hosted.name, cookie)
    if key is None or cookie is None:
        return None
    person = hosted.people.linked(cookie_hash(secret, hosted.name, cookie))
    return None if person is None else Worker(person.pseudonym, key)


def new_person(
    secret: Secret,
    hosted: HostedStudy,
    address: str,
    pseudonym: str | None = None,
    visit: str | None = None,
) -> tuple[str, Worker]:
    """Keep one more person, under a random name; gives their cookie.

    Whoever came from a panel has a cookie (`visit`) and a name from its desk, both random.
    """
    cookie = visit or new_cookie(secret, hosted.name)
    if (known := known_worker(secret, hosted, cookie)) is not None:
        return cookie, known  # in another browser
    door = hosted.door
    tag = None if door is None or not door.caps_networks else hosted.people.tag_of(network_of(address, door))
    name = pseudonym or new_pseudonym()
    hosted.people.add(Person(name, cookie_hash(secret, hosted.name, cookie), network=tag, joined=hosted.clock()))
    worker = known_worker(secret, hosted, cookie)
    assert worker is not None
    return cookie, worker


@lru_cache(maxsize=10_000)
def network_of(address: str, door: Door) -> str:
    """The network that an address is in, as wide as the door says."""
    known = parsed(address)
    if known is None:
        return address
    bits = door.ipv4 if isinstance(known, IPv4Address) else door.ipv6
    return str(ip_network((int(known), bits) if known.version == 6 else f"{known}/{bits}", strict=False))
