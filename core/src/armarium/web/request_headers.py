"""What a request says of its caller in its headers: a name for itself, a secret, whether something forwarded it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, MutableMapping

from armarium.auth.authenticate import COOKIE
from armarium.auth.presence import NAME_LENGTH


def client_name(value: bytes | None) -> str | None:
    """Return a caller's name for itself, cut to 80 characters; a header that is not UTF-8 is read as Latin-1."""
    if not value:
        return None
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    return "".join(letter for letter in text if letter.isprintable())[:NAME_LENGTH].strip() or None


def read_secret(headers: MutableMapping[bytes, bytes]) -> tuple[str | None, bool]:
    """Return (the secret a request presents, whether it came in the cookie); a header takes precedence over the cookie."""
    authorization = headers.get(b"authorization")
    if authorization is not None:
        scheme, _, secret = authorization.partition(b" ")
        if scheme.lower() == b"bearer" and secret.strip():
            return secret.strip().decode("latin-1"), False
        return None, False
    cookies = headers.get(b"cookie")
    if cookies is not None and COOKIE.encode() in cookies:
        for part in cookies.split(b";"):
            name, _, value = part.strip().partition(b"=")
            if name == COOKIE.encode() and value:
                return value.decode("latin-1"), True
    return None, False


PROXY_HEADERS = frozenset({b"forwarded", b"via", b"x-real-ip"})


def is_proxied(headers: Iterable[bytes]) -> bool:
    """Return whether something forwarded the request (a Forwarded, Via, X-Real-IP or X-Forwarded-* header is present)."""
    return any(name in PROXY_HEADERS or name.startswith(b"x-forwarded-") for name in headers)


_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(?P<port>[0-9]{1,5}))?", re.ASCII)


def is_loopback_host(host: str) -> bool:
    """Return whether a Host header names this machine: localhost, 127.0.0.0/8 or [::1], any case, with or without a
    port.
    """
    match = _HOST.fullmatch(host.lower())
    if match is None:
        return False
    name, port = match["name"], match["port"]
    if port is not None and not 0 < int(port) < 65536:
        return False
    if name == "localhost":
        return True
    try:
        if name.startswith("["):
            address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.IPv6Address(name[1:-1])
            if address.version == 6 and address.ipv4_mapped is not None:
                address = address.ipv4_mapped
        else:
            address = ipaddress.IPv4Address(name)
    except ValueError:
        return False
    return address.is_loopback
