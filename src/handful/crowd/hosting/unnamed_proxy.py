"""Noticing that everybody seems to come from one private address: probably a proxy that was not named."""

from __future__ import annotations

import logging
from collections import Counter
from ipaddress import ip_network

from handful.crowd.hosting.network_addresses import parsed

log = logging.getLogger("handful.crowd")

MANY = 20
PRIVATE = [ip_network(one) for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fe80::/10")]
WARNING = (
    "Many people came from one private address, so a proxy seems to stand before this server. Limits and the cap on "
    "networks take all of them for one household. Start the server with --proxy and the proxy's address; or choose "
    "the door room if they sit in one room."
)


class PrivateVisitors:
    """How many people joined from each private address, known in memory only."""

    def __init__(self, study: str) -> None:
        self._study = study
        self._joined: Counter[str] = Counter()
        self.warning: str | None = None

    def joined(self, host: str, *, forwarded: bool) -> None:
        """Somebody joined from this address; `forwarded`: the request named another one, in vain.

        People on this machine itself, such as simulated ones, come through no proxy unless a request says so.
        """
        if self.warning is not None or not _may_be_a_proxy(host, forwarded):
            return
        self._joined[host] += 1
        if self._joined[host] >= MANY:
            self.warning = WARNING
            log.warning("many people on one private address: name the proxy", extra={"study": self._study})


def _may_be_a_proxy(host: str, forwarded: bool) -> bool:
    known = parsed(host)
    if known is None:
        return False
    return (known.is_loopback and forwarded) or any(known in network for network in PRIVATE)
