"""Fetches the picture of a page that another institution publishes, where the page is read; from public addresses alone."""

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
"""Bytes of a picture."""
PIECE = 1 << 20


class NoPicture(Exception):
    """No address gave the picture."""


def fetch_picture(urls: Sequence[str], target: Path) -> None:
    """The picture from the first of *urls* that gives it; NoPicture with what the first said otherwise."""
    first: str | None = None
    for url in urls:
        try:
            _fetch(url, target)
        except (OSError, ValueError, http.client.HTTPException) as error:
            target.unlink(missing_ok=True)
            first = first or str(error)
        else:
            return
    raise NoPicture(
        f"Its picture could not be fetched where it is published: {first or 'it names no address.'}"
    )


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Goes where it is sent on only if that is public too."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        require_public(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetch(url: str, target: Path) -> None:
    require_public(url)
    opener = urllib.request.build_opener(_Redirects())
    request = urllib.request.Request(url, headers={"accept": "image/jpeg,image/png,image/*;q=0.8"})
    with opener.open(request, timeout=SECONDS) as answer, target.open("wb") as file:
        taken = 0
        while piece := answer.read(PIECE):
            taken += len(piece)
            if taken > MOST:
                raise ValueError(f"it is larger than {MOST >> 20} MB")
            file.write(piece)


def require_public(url: str) -> None:
    """ValueError for an address that is none of the web's, or leads into a private network."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("its address is none of the web")
    for found in socket.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM):
        if not ipaddress.ip_address(str(found[4][0]).partition("%")[0]).is_global:
            raise ValueError(f"{parts.hostname} is no public address")
