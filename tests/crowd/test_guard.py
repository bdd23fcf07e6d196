"""What every request passes, met by hostile headers."""

from __future__ import annotations

import socket

import pytest

from handful.cli.crowd import _settings, name_of
from handful.crowd.app import listen
from handful.crowd.guard import Guard, Proxies, seen_through
from handful.crowd.settings import Settings
from handful.errors import InvalidProblem


def refusal_of(hosts: tuple[str, ...] | None = None, **headers: str) -> int | None:
    async def nothing(*_: object) -> None: ...

    told = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": told, "client": ("192.0.2.1", 5)}
    refused = Guard(nothing, Settings(hosts=hosts))._refusal(scope)
    return None if refused is None else refused.status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://["}, 403),
        ({"origin": "http://[::1", "host": "[::1"}, 403),
        ({"content_length": "9" * 5_000}, 413),
        ({"content_length": "-1"}, 413),
        ({"content_length": "\xb2"}, 413),
        ({"content_length": "12"}, None),
    ],
)
def test_hostile_headers_are_refused_and_break_nothing(headers: dict[str, str], status: int | None) -> None:
    assert refusal_of(**headers) == status


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_the_loopback_of_ipv6_is_served_and_other_names_are_refused(host: str) -> None:
    settings = _settings(host.strip("[]"), False, 30, None, None, "en")
    assert refusal_of(settings.hosts, host="[::1]:8000") is None
    assert refusal_of(settings.hosts, host="evil.example") == 400
    assert name_of(host.strip("[]")) == "[::1]"
    try:
        listening = listen(host.strip("[]"), 0)
    except Exception:
        pytest.skip("this machine has no IPv6")
    assert listening.family == socket.AF_INET6
    listening.close()


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.7", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.7", "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.7", "203.0.113.9, 10.0.0.8", "203.0.113.9"),
        ("::ffff:10.0.0.7", "203.0.113.9", "203.0.113.9"),
        ("192.0.2.5", "203.0.113.9", "192.0.2.5"),
        ("10.0.0.7", "203.0.113.9, nonsense", "10.0.0.7"),
        ("10.0.0.7", "", "10.0.0.7"),
        ("10.0.0.7", "10.0.0.8", "10.0.0.8"),
    ],
)
def test_an_address_is_believed_from_a_named_proxy_and_from_nobody_else(peer: str, forwarded: str, client: str) -> None:
    told = {"client": (peer, 5), "headers": [(b"x-forwarded-for", forwarded.encode())]}
    assert seen_through(told, Proxies(["10.0.0.0/8"]))["client"][0] == client


def test_a_proxy_that_is_no_network_is_refused_in_words() -> None:
    with pytest.raises(InvalidProblem, match="expected an address or a network"):
        Proxies(["everybody"])
