"""From a cookie to a worker and back to nobody: who joins, from which network, and who is forgotten."""

from __future__ import annotations

import hmac
from base64 import b32encode
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from handful.crowd.host import Host
from handful.crowd.people import JOINED, WITHDRAWING, Person, ask_to_forget, new_pseudonym
from handful.crowd.tokens import Secret, Worker, cookie_hash, new_cookie, tokens_key
from handful.rules import Door


@lru_cache(maxsize=10_000)
def parsed(host: str) -> IPv4Address | IPv6Address | None:
    """The address, of IPv4 also where it is written as one of IPv6; None for anything else."""
    try:
        known = ip_address(host)
    except ValueError:
        return None
    return known.ipv4_mapped or known if isinstance(known, IPv6Address) else known


def known_worker(secret: Secret, hosted: Host, cookie: str | None) -> Worker | None:
    """Whose cookie this is; None if nobody joined with it, or whoever did was forgotten."""
    key = tokens_key(secret, hosted.name, cookie)
    if key is None or cookie is None:
        return None
    person = hosted.people.linked(cookie_hash(secret, hosted.name, cookie))
    return None if person is None else Worker(person.pseudonym, key)


def new_person(
    secret: Secret,
    hosted: Host,
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


LETTERS, GROUP = 16, 4


def code_of(secret: Secret, hosted: Host, pseudonym: str) -> str:
    """The code of somebody in a study: four groups of four letters and digits."""
    letters = _letters(secret, hosted.study.name, pseudonym)
    return "-".join(letters[at : at + GROUP] for at in range(0, LETTERS, GROUP))


def person_of_code(secret: Secret, hosted: Host, code: str) -> str | None:
    """The pseudonym whose code this is, however it was typed; None if it is nobody's here."""
    typed = "".join(letter for letter in code.lower() if letter.isalnum()).encode()
    names = {person.pseudonym for person in hosted.people.all()} | set(hosted.study.state.workers.names)
    study = hosted.study.name
    return next((name for name in names if hmac.compare_digest(_letters(secret, study, name).encode(), typed)), None)


def _letters(secret: Secret, study: str, pseudonym: str) -> str:
    return b32encode(secret.derive("person", study, pseudonym))[:LETTERS].decode().lower()


def forget_person(hosted: Host, pseudonym: str, *, withdraw: bool) -> bool:
    """Forget somebody, and with `withdraw` take their answers out of the open round first.

    Whoever came from a panel is forgotten when their pay is settled: False if that is still to come.
    """
    if withdraw and hosted.open and hosted.study.state.workers.knows(pseudonym):
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


def look_after(hosted: Host) -> None:
    """Heed what other processes wrote about the people of a study, and note when it is closed."""
    hosted.people.look_again()
    for person in hosted.people.all():
        if person.state == WITHDRAWING:
            forget_person(hosted, person.pseudonym, withdraw=True)
    if not hosted.open and not hosted.over:
        hosted.over = True
        hosted.people.closed(hosted.clock())
