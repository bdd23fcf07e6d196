"""Where a request comes from: the address of whoever is connected, or what a proxy that we trust says of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network

from starlette.types import Scope

from handful.crowd.identity import parsed
from handful.errors import InvalidProblem

Network = IPv4Network | IPv6Network
MOST_FORWARDED = 1_000  # characters of X-Forwarded-For that are looked at, from its end


class Proxies:
    """The networks whose word about other addresses is taken."""

    def __init__(self, networks: Sequence[str] = ()) -> None:
        try:
            self._networks: tuple[Network, ...] = tuple(ip_network(network, strict=False) for network in networks)
        except ValueError as error:
            raise InvalidProblem(f"--proxy {error}: expected an address or a network, like 10.0.0.0/8") from error

    def __bool__(self) -> bool:
        return bool(self._networks)

    def __contains__(self, host: str) -> bool:
        known = parsed(host)
        return known is not None and any(known in network for network in self._networks)

    def client_of(self, peer: str, forwarded: str) -> str:
        """The last address in X-Forwarded-For that is not a proxy's own; that of `peer` unless it is a proxy.

        Whatever stands before that address was written by whoever sent the request, and proves nothing.
        """
        if peer not in self:
            return peer
        client = peer
        for host in reversed(forwarded[-MOST_FORWARDED:].split(",")):
            told = host.strip()
            if parsed(told) is None:
                return client
            client = told
            if client not in self:
                return client
        return client


def seen_through(scope: Scope, proxies: Proxies) -> Scope:
    """The scope with the address of the client, where a proxy stands between."""
    client = scope.get("client")
    if not proxies or not client or client[0] not in proxies:
        return scope
    told = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return {**scope, "client": (proxies.client_of(client[0], ",".join(told)), 0)}


def address_of(scope: Scope) -> str:
    """Where a request comes from; kept in memory only, for the limits."""
    client = scope.get("client")
    return network_of(client[0]) if client else ""


@lru_cache(maxsize=10_000)
def network_of(host: str) -> str:
    """One address per household: with IPv6 everybody has a whole network of 2⁶⁴."""
    known = parsed(host)
    if known is None or isinstance(known, IPv4Address):
        return host if known is None else str(known)
    return str(ip_network((int(known), 64), strict=False))
