"""Which address a text is, and whether a request may connect to it; nothing is looked up or opened here."""

from __future__ import annotations

import ipaddress
import socket
from typing import Literal

Reach = Literal["public", "machine", "network"]
"""Where a request may go: the public network; this machine only (a local model server); or also the local network
(a server the owner set up by its address)."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA = {
    ipaddress.ip_address(text)
    for text in ("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "fd00:ec2::254")
}
"""Addresses at which clouds tell secrets about a machine."""


def plain_address(text: str) -> Address | None:
    """The address a text is, freed of the IPv6 wrappings (mapped, 6to4, NAT64) that could hide an IPv4 one."""
    try:
        address: Address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        try:
            # Short, octal and hexadecimal spellings (127.1, 0x7f000001), which the system's resolver would take.
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
    """Whether a request of this reach may connect to *address*."""
    if address in _METADATA or address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    if reach == "machine":
        return address.is_loopback
    if address.is_loopback or address.is_reserved:
        return False
    if reach == "network":
        return address.is_global or address.is_private
    return address.is_global
