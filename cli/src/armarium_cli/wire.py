"""HTTP to an engine over a Unix socket, TCP or TLS, with the standard library, which loads fast."""

from __future__ import annotations

import http.client
import json
import secrets
import select
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack
from urllib.parse import urlencode, urlsplit

Answer = tuple[int, bytes]
"""Status and body."""


class Payload(TypedDict, total=False):
    """What is sent with a request: the query, a body that is a `Form` or else JSON, and headers."""

    query: Mapping[str, Any] | None
    body: Any
    headers: Mapping[str, str]


RESTED = 2.0
"""Seconds after which a new connection is made: an engine closes idle ones after five."""


@dataclass(frozen=True)
class Form:
    """A body of files and text fields (multipart/form-data): files as (field, file name, bytes)."""

    files: Sequence[tuple[str, str, bytes]]
    words: Mapping[str, str] = field(default_factory=dict)
    boundary: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def content_type(self) -> str:
        """Return the value of the Content-Type header."""
        return f"multipart/form-data; boundary={self.boundary}"

    def encode_body(self) -> bytes:
        """Return the body."""
        parts = [(f'name="{name}"', value.encode()) for name, value in self.words.items()]
        for name, filename, data in self.files:
            called = filename.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
            parts.append((f'name="{name}"; filename="{called}"', data))
        return (
            b"".join(
                f"--{self.boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode()
                + data
                + b"\r\n"
                for head, data in parts
            )
            + f"--{self.boundary}--\r\n".encode()
        )


class Unreached(ConnectionError):
    """Nobody listens there (any more), so nothing of the request was sent."""


class _UnixConnection(http.client.HTTPConnection):
    """A connection to a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


class Wire:
    """One kept-alive connection to an engine; requests go one after another."""

    def __init__(self, *, uds: str | None, base_url: str, headers: Mapping[str, str]) -> None:
        place = urlsplit(base_url)
        self._headers = dict(headers)
        self._used = time.monotonic()
        kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
        self._connection = _UnixConnection(uds) if uds else kind(place.hostname or "", place.port)

    def request(self, method: str, path: str, **sent: Unpack[Payload]) -> Answer:
        """Send a request and read the whole answer.

        Raises Unreached when nobody listens, OSError or http.client.HTTPException when there is no answer.
        """
        query, body = sent.get("query"), sent.get("body")
        target = path + (f"?{urlencode(_words(query))}" if query else "")
        headers = {**self._headers, **sent.get("headers", {})}
        data = None
        if isinstance(body, Form):
            data = body.encode_body()
            headers["Content-Type"] = body.content_type
        elif body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if time.monotonic() - self._used > RESTED or self._is_ended():
            self._connection.close()
        try:
            try:
                return self._send_once(method, target, data, headers)
            except (ConnectionError, http.client.BadStatusLine):
                # An idle connection may have been closed; a read is repeated once, a write is not.
                if method != "GET" or self._connection.sock is None:
                    raise
                self._connection.close()
                return self._send_once(method, target, data, headers)
        except BaseException:
            self._connection.close()
            raise
        finally:
            self._used = time.monotonic()

    def _is_ended(self) -> bool:
        """Return whether the engine closed the connection: between two answers nothing else can be read from it."""
        sock = self._connection.sock
        return sock is not None and bool(select.select([sock], [], [], 0)[0])

    def _send_once(self, method: str, target: str, data: bytes | None, headers: Mapping[str, str]) -> Answer:
        if self._connection.sock is None:
            try:
                self._connection.connect()
            except OSError as error:
                raise Unreached(error.errno, error.strerror) from error
        self._connection.request(method, target, body=data, headers=dict(headers))
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _words(query: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a query as an engine reads them; absent ones are left out."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in query.items()
        if value is not None
    }
