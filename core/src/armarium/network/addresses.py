"""Which address a text denotes, and whether a request may connect to it; nothing is looked up or opened here."""

from __future__ import annotations

import ipaddress
import socket
from typing import Literal

Reach = Literal["public", "machine", "network"]
"""Where a request may go: the public network; this machine only (a local model server); or also the local network (a
server the owner set up by its address).
"""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NOT_PUBLIC = tuple(
    map(
        ipaddress.ip_network,
        # Withdrawn or reserved after the registries that `ipaddress` knows were read, or only in part.
        ("fec0::/10", "3fff::/20", "5f00::/16", "192.88.99.0/24", "64:ff9b:1::/48", "100:0:0:1::/64"),
    )
)
"""Python's `ipaddress` implements the special-purpose registries (IANA, RFC 6890); these are added: site-local
addresses (RFC 3879), documentation (RFC 9637), segment routing (RFC 9602), 6to4 relays (RFC 7526), local NAT64 (RFC
8215), dummy addresses (RFC 9780).
"""

_METADATA = {
    ipaddress.ip_address(text)
    for text in (
        *("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192"),
        *("168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"),
    )
}
"""Cloud metadata addresses, which reveal secrets of a machine or control it; some are public by every registry."""


def plain_address(text: str) -> Address | None:
    """Return the address that a text denotes, without the IPv6 wrappings (mapped, 6to4, NAT64) that could hide an IPv4
    one.
    """
    try:
        address: Address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        try:
            # Short, octal and hexadecimal spellings (127.1, 0x7f000001), which the system's resolver would accept.
            return ipaddress.IPv4Address(socket.inet_aton(text))
        except (OSError, UnicodeEncodeError):
            return None
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in ipaddress.IPv6Network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is None and int(address) >> 32 == 0 and int(address) > 1:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        return inner or address
    return address


def may_reach(address: Address, reach: Reach) -> bool:
    """Return whether a request of this reach may connect to *address*."""
    if address in _METADATA or address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    if reach == "machine":
        return address.is_loopback
    if address.is_loopback or address.is_reserved:
        return False
    if any(address in network for network in _NOT_PUBLIC):
        return False
    if reach == "network":
        return address.is_global or address.is_private
    return address.is_global
