"""The httpx transport of the network gate: every client of the engine sends through it, and all it refuses is refused here.

Loaded with the first request: httpx is no part of what the engine needs to start.
"""

from __future__ import annotations

import ssl
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult

import httpcore
import httpx

from armarium.errors import Forbidden, TooLarge, Unavailable
from armarium.network.addresses import Reach
from armarium.network.limits import Limits

if TYPE_CHECKING:
    from armarium.network.egress import Egress

_DEADLINE: ContextVar[float] = ContextVar("deadline")
"""When the request in hand must be over, by `time.monotonic`; its waits look here, for connections outlive requests."""

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)
"""What the request in hand calls while it waits; what that raises ends the request."""

CHECK_EVERY = 0.25
"""Seconds that a request with a check waits before it calls it again."""

MOST_CONNECTIONS = 100
"""Connections that one client holds at a time."""


_certificates: weakref.WeakKeyDictionary[Egress, ssl.SSLContext] = weakref.WeakKeyDictionary()


def _certificates_of(egress: Egress) -> ssl.SSLContext:
    """What the connections of one gate judge other machines by: the system's certificates, and those that came with httpx.

    Kept, since reading them takes as long as many requests.
    """
    context = _certificates.get(egress)
    if context is None:
        context = ssl.create_default_context()
        with suppress(ImportError):
            import certifi

            context.load_verify_locations(certifi.where())
        _certificates[egress] = context
    return context


class GuardedTransport(httpx.HTTPTransport):
    """Connects only to addresses that *egress* has checked, within *limits* for each request.

    Raises, beside what `Egress.checked` refuses, Unavailable (no answer, too slow, a packed answer) and, while the body is
    read, TooLarge. Sends no cookies and follows no redirects; a client that does has each of them checked anew.

    A request with the extension `check`, a function, calls it several times a second while it waits for its answer;
    what it raises ends the request and its connection.
    """

    def __init__(self, egress: Egress, *, reach: Reach = "public", limits: Limits | None = None) -> None:
        context = _certificates_of(egress)
        super().__init__(verify=context, trust_env=False)
        self._egress = egress
        self._reach = reach
        self._limits = limits or Limits()
        # httpx has no door for a network backend; everything else of its transport is as it is.
        self._pool = httpcore.ConnectionPool(
            ssl_context=context, max_connections=MOST_CONNECTIONS, network_backend=_Backend(egress, reach)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request and read the head of its answer."""
        target = self._egress.check_url(str(request.url), self._reach)
        deadline = time.monotonic() + self._limits.seconds
        # An answer is bounded by what arrives: unpacking could make a thousandfold of it.
        request.headers["accept-encoding"] = "identity"
        waits = dict.fromkeys(("connect", "read", "write", "pool"), self._limits.silence)
        check = request.extensions.get("check")
        request.extensions = {**request.extensions, "timeout": waits}
        with _worded_failures(target), _limit_time(deadline, check):
            response = super().handle_request(request)
        if response.headers.get("content-encoding", "identity") not in ("identity", ""):
            response.close()
            raise Unavailable(f"{target.hostname} answers only packed; the engine takes answers as they are.")
        assert isinstance(response.stream, httpx.SyncByteStream)
        declared = response.headers.get("content-length", "")
        response.stream = _Body(response.stream, declared, self._limits, deadline, target, check)
        return response


class _Body(httpx.SyncByteStream):
    """The body of an answer, up to as many bytes and as long as its request may take."""

    def __init__(
        self,
        stream: httpx.SyncByteStream,
        declared: str,
        limits: Limits,
        deadline: float,
        target: SplitResult,
        check: Callable[[], None] | None,
    ) -> None:
        self._stream = stream
        self._declared = int(declared) if declared.isdigit() else 0
        self._limits = limits
        self._deadline = deadline
        self._target = target
        self._check = check

    def __iter__(self) -> Iterator[bytes]:
        most = self._limits.max_bytes
        read = 0
        chunks = iter(self._stream)
        while True:
            if max(self._declared, read) > most:
                raise TooLarge(
                    f"The answer of {self._target.hostname} is larger than {most} bytes; it was not kept.",
                    code="too_large",
                )
            with _worded_failures(self._target), _limit_time(self._deadline, self._check):
                chunk = next(chunks, None)
            if chunk is None:
                return
            read += len(chunk)
            seconds_left(self._deadline)
            if read <= most:
                yield chunk

    def close(self) -> None:
        self._stream.close()


class _Backend(httpcore.NetworkBackend):
    """Connects to addresses, never to names: to those that the gate looked up and checked itself."""

    def __init__(self, egress: Egress, reach: Reach) -> None:
        self._egress = egress
        self._reach = reach
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        last: Exception | None = None
        for address in self._egress.addresses(host, port, self._reach):
            try:
                left = _remaining(timeout)
                return _Stream(self._plain.connect_tcp(address, port, left, local_address, socket_options))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last or httpcore.ConnectError(f"{host} has no address")

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Any = None
    ) -> httpcore.NetworkStream:
        raise Forbidden("The engine's network gate opens no Unix sockets.", code="out_of_reach")

    def sleep(self, seconds: float) -> None:
        self._plain.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    """A connection whose every wait ends at the request's deadline: headers that drip do not hold it open."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        check = _CHECK.get()
        if check is None:
            return self._stream.read(max_bytes, _remaining(timeout))
        silent_until = time.monotonic() + _remaining(timeout)
        while True:
            check()
            left = silent_until - time.monotonic()
            try:
                return self._stream.read(max_bytes, _remaining(max(0.001, min(left, CHECK_EVERY))))
            except httpcore.ReadTimeout:
                if left <= CHECK_EVERY:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _remaining(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _remaining(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def seconds_left(deadline: float) -> float:
    """Seconds until *deadline*; Unavailable when it is over."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise Unavailable("The answer took too long; try again later.", code="unreachable")
    return left


def _remaining(timeout: float | None) -> float:
    left = seconds_left(_DEADLINE.get())
    return left if timeout is None else min(left, timeout)


@contextmanager
def _limit_time(deadline: float, check: Callable[[], None] | None) -> Iterator[None]:
    until, checked = _DEADLINE.set(deadline), _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(checked)
        _DEADLINE.reset(until)


@contextmanager
def _worded_failures(target: SplitResult) -> Iterator[None]:
    """Turn what the network does wrong into a sentence that names the host and nothing else of the address."""
    try:
        yield
    except (httpx.TransportError, OSError) as error:
        slow = isinstance(error, httpx.TimeoutException | TimeoutError)
        why = "does not answer in time" if slow else "cannot be reached or broke off"
        raise Unavailable(f"{target.hostname} {why}; try again later.", code="unreachable") from error
