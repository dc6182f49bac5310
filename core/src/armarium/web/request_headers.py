"""What a request says in its headers: of its caller a name, a secret, whether something forwarded it; the host it means."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from armarium.auth.authenticate import COOKIE
from armarium.auth.presence import NAME_LENGTH

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


@dataclass(frozen=True)
class PublicAddress:
    """The address under which a reverse proxy on this machine offers the engine: what browsers send in Host and Origin."""

    scheme: str
    host: bytes

    @classmethod
    def of(cls, url: str | None) -> PublicAddress | None:
        """Return the address that the setting `public_url` states; None where there is none."""
        parts = urlsplit(url or "")
        return cls(parts.scheme, parts.netloc.lower().encode()) if parts.netloc else None

    @property
    def origin(self) -> bytes:
        """The origin of the engine's own pages there."""
        return self.scheme.encode() + b"://" + self.host


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


def forwarded_for(headers: MutableMapping[bytes, bytes]) -> str | None:
    """Return for whom the proxy says it asks: the last of X-Forwarded-For, which it added itself; None where it does not."""
    return headers.get(b"x-forwarded-for", b"").rpartition(b",")[2].strip().decode("latin-1") or None
