"""Fetches the picture of a page published by another institution on the machine that reads it; from public
addresses only.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SECONDS = 600.0
MOST = 512 << 20
"""The largest picture, in bytes."""
PIECE = 1 << 20


class NoPicture(Exception):
    """No address provided the picture."""


def fetch_picture(urls: Sequence[str], target: Path) -> None:
    """Fetch the picture from the first of *urls* that provides it; raises NoPicture with the first error otherwise."""
    first: str | None = None
    for url in urls:
        try:
            _fetch(url, target)
        except (OSError, ValueError, http.client.HTTPException) as error:
            target.unlink(missing_ok=True)
            first = first or str(error)
        else:
            return
    raise NoPicture(f"Its picture could not be fetched from its publisher: {first or 'it names no address.'}")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirect only to another public address."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        require_public(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Plain(http.client.HTTPConnection):
    """A connection that sends nothing to a private address, whatever the name resolved to when it was checked."""

    def connect(self) -> None:
        super().connect()
        _require_public_peer(self, "http")


class _Secure(http.client.HTTPSConnection):
    """Like `_Plain`, over TLS."""

    def connect(self) -> None:
        super().connect()
        _require_public_peer(self, "https")


def _require_public_peer(connection: http.client.HTTPConnection, scheme: str) -> None:
    """Close *connection* and raise ValueError if it leads into a private network."""
    host, port = connection.sock.getpeername()[:2]
    try:
        require_public(f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}")
    except ValueError:
        connection.close()
        raise


class _PlainHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Plain, req)


class _SecureHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Secure, req)


def _fetch(url: str, target: Path) -> None:
    require_public(url)
    # A proxy of the site resolves names itself and has a private address: it decides what may be reached.
    handlers = [] if urllib.request.getproxies() else [_PlainHandler(), _SecureHandler()]
    opener = urllib.request.build_opener(_Redirects(), *handlers)
    request = urllib.request.Request(url, headers={"accept": "image/jpeg,image/png,image/*;q=0.8"})
    with opener.open(request, timeout=SECONDS) as answer, target.open("wb") as file:
        size = 0
        while piece := answer.read(PIECE):
            size += len(piece)
            if size > MOST:
                raise ValueError(f"it is larger than {MOST >> 20} MB")
            file.write(piece)


def require_public(url: str) -> None:
    """Raise ValueError for an address that is not a web address, or leads into a private network."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("its address is not a web address")
    for address in socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM):
        if not ipaddress.ip_address(str(address[4][0]).partition("%")[0]).is_global:
            raise ValueError(f"{parts.hostname} is not a public address")
