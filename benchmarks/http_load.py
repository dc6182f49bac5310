"""A low-cost client: fixed bytes over kept-alive connections, so that the server is what is measured."""

from __future__ import annotations

import selectors
import socket
import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Server:
    """Where a server listens and what every request carries."""

    port: int
    headers: dict[str, str] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    """Addresses the server made for the measurement, by name."""


def requests_a_second(
    server: Server, method: str, path: str, body: bytes = b"", *, count: int, connections: int = 4
) -> float:
    """Send *count* requests as `latencies` does; return how many a second were answered."""
    begun = time.perf_counter()
    latencies(server, method, path, body, count=count, connections=connections)
    return count / (time.perf_counter() - begun)


def latencies(
    server: Server, method: str, path: str, body: bytes = b"", *, count: int, connections: int = 4
) -> list[float]:
    """Send *count* requests over *connections* connections, one at a time on each; return the seconds of each.

    Raises RuntimeError with the answer when one is not a 2xx.
    """
    message = _message(server, method, path, body)
    selector = selectors.DefaultSelector()
    sockets = [_connect(server.port) for _ in range(connections)]
    left, waiting = count, 0
    sent: dict[socket.socket, float] = {}
    spent = []
    for sock in sockets:
        selector.register(sock, selectors.EVENT_READ, bytearray())
        sent[sock] = time.perf_counter()
        sock.sendall(message)
        left, waiting = left - 1, waiting + 1
    while waiting:
        for key, _ in selector.select():
            data: bytearray = key.data
            sock = key.fileobj  # type: ignore[assignment]
            part = sock.recv(262_144)
            if not part:
                raise RuntimeError("the server closed the connection in the middle of the measurement")
            data += part
            if not _complete(data):
                continue
            data.clear()
            waiting -= 1
            spent.append(time.perf_counter() - sent[sock])
            if left > 0:
                sent[sock] = time.perf_counter()
                sock.sendall(message)
                left, waiting = left - 1, waiting + 1
    for sock in sockets:
        sock.close()
    selector.close()
    return spent


def fetch(server: Server, method: str, path: str, body: bytes = b"") -> bytes:
    """Return the body of one answer; raises RuntimeError when it is not a 2xx."""
    held = bytearray()
    with _connect(server.port) as sock:
        sock.sendall(_message(server, method, path, body))
        while not _complete(held):
            part = sock.recv(262_144)
            if not part:
                raise RuntimeError(f"the server closed the connection: {bytes(held[:300])!r}")
            held += part
    return bytes(held[held.find(b"\r\n\r\n") + 4 :])


def _connect(port: int) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), timeout=60)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _message(server: Server, method: str, path: str, body: bytes) -> bytes:
    headers = {"Host": f"127.0.0.1:{server.port}", "Accept": "application/json"} | server.headers
    if body:
        headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode() + body


def _complete(held: bytearray) -> bool:
    """Return whether a whole answer with a Content-Length has arrived."""
    end = held.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = bytes(held[:end]).lower()
    if not head.startswith(b"http/1.1 2"):
        raise RuntimeError(f"the server refused: {bytes(held[:600])!r}")
    at = head.find(b"content-length:")
    if at < 0:
        raise RuntimeError(f"the answer has no Content-Length: {bytes(held[:300])!r}")
    length = int(head[at + 15 :].split(b"\r\n", 1)[0])
    return len(held) >= end + 4 + length
