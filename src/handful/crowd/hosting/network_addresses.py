"""Network addresses as they are written."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address


@lru_cache(maxsize=10_000)
def parsed(host: str) -> IPv4Address | IPv6Address | None:
    """The address, of IPv4 also where it is written as one of IPv6; None for anything else."""
    try:
        known = ip_address(host)
    except ValueError:
        return None
    return known.ipv4_mapped or known if isinstance(known, IPv6Address) else known
