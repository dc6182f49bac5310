"""The httpx transport of the network gate: every client of the engine sends through it, with all of its refusals.

Loaded with the first request: the engine does not need httpx to start.
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
"""When the current request must be over, by `time.monotonic`; read while waiting, because connections outlive requests.
"""

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)
"""What the current request calls while it waits; an exception from it ends the request."""

CHECK_EVERY = 0.25
"""Seconds between two calls of a request's check."""

MOST_CONNECTIONS = 100
"""Connections that one client holds at a time."""


_certificates: weakref.WeakKeyDictionary[Egress, ssl.SSLContext] = weakref.WeakKeyDictionary()


def _certificates_of(egress: Egress) -> ssl.SSLContext:
    """Return the TLS context of one gate: the system's certificates, and those that came with httpx.

    Cached, since reading them takes as long as many requests.
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

    Raises, besides the refusals of `Egress.check_url`, Unavailable (no answer, too slow, a compressed answer) and,
    while the body is read, TooLarge. Sends no cookies and follows no redirects; a client that does has each of them
    checked again.

    A request with the extension `check`, a function, calls it several times a second while it waits for its answer; an
    exception from it ends the request and its connection.
    """

    def __init__(self, egress: Egress, *, reach: Reach = "public", limits: Limits | None = None) -> None:
        context = _certificates_of(egress)
        super().__init__(verify=context, trust_env=False)
        self._egress = egress
        self._reach = reach
        self._limits = limits or Limits()
        # httpx has no public parameter for a network backend; the rest of its transport is unchanged.
        self._pool = httpcore.ConnectionPool(
            ssl_context=context, max_connections=MOST_CONNECTIONS, network_backend=_Backend(egress, reach)
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request and read the head of its answer."""
        target = self._egress.check_url(str(request.url), self._reach)
        deadline = time.monotonic() + self._limits.seconds
        # The limit applies to the bytes received: decompressing could multiply them by a thousand.
        request.headers["accept-encoding"] = "identity"
        waits = dict.fromkeys(("connect", "read", "write", "pool"), self._limits.silence)
        check = request.extensions.get("check")
        request.extensions = {**request.extensions, "timeout": waits}
        with _worded_failures(target), _limit_time(deadline, check):
            response = super().handle_request(request)
        if response.headers.get("content-encoding", "identity") not in ("identity", ""):
            response.close()
            raise Unavailable(
                f"{target.hostname} answers only compressed; the engine takes answers as they are."
            )
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
    """Connects only to addresses, never to names: to those that the gate resolved and checked itself."""

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
                seconds = _count_seconds_left(timeout)
                return _Stream(self._plain.connect_tcp(address, port, seconds, local_address, socket_options))
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
    """A connection whose every wait ends at the request's deadline, so that slowly sent headers do not hold it open."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        check = _CHECK.get()
        if check is None:
            return self._stream.read(max_bytes, _count_seconds_left(timeout))
        silent_until = time.monotonic() + _count_seconds_left(timeout)
        while True:
            check()
            seconds = silent_until - time.monotonic()
            try:
                return self._stream.read(
                    max_bytes, _count_seconds_left(max(0.001, min(seconds, CHECK_EVERY)))
                )
            except httpcore.ReadTimeout:
                if seconds <= CHECK_EVERY:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _count_seconds_left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _count_seconds_left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def seconds_left(deadline: float) -> float:
    """Return the seconds until *deadline*; raises Unavailable when it has passed."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise Unavailable("The answer took too long; try again later.", code="unreachable")
    return seconds


def _count_seconds_left(timeout: float | None) -> float:
    seconds = seconds_left(_DEADLINE.get())
    return seconds if timeout is None else min(seconds, timeout)


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
    """Turn network errors into a sentence that names the host and nothing else of the address."""
    try:
        yield
    except (httpx.TransportError, OSError) as error:
        raise Unavailable(_tell_failure(str(target.hostname), error), code="unreachable") from error


def _tell_failure(host: str, error: BaseException) -> str:
    """Say what kept *host* from answering, by what *error* came from."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    for one in chain:
        if isinstance(one, ssl.SSLCertVerificationError):
            return f"{host} shows a certificate that is not trusted here ({one.verify_message})."
        if isinstance(one, ssl.SSLError):
            return f"{host} does not speak TLS as it should; perhaps its address begins with http, not https."
        if isinstance(one, ConnectionRefusedError):
            return f"{host} cannot be reached: nothing answers at this port."
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return f"{host} does not answer in time; try again later."
    return f"{host} cannot be reached, or broke off; try again later."
