"""Two hundred change streams that nobody reads neither delay the writer nor take much memory."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from proofs.load_run import ServedEngine, serve

STREAMS, STEPS, SEGMENTS = 200, 25, 1000


def _open_stream(engine: ServedEngine, receive: int = 4096) -> socket.socket:
    """Open a stream of the engine's changes that is never read: only the system's buffers take anything."""
    place = urlsplit(engine.base_url)
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    stream.settimeout(60)
    stream.connect((place.hostname, place.port))
    lines = [f"{name}: {value}" for name, value in engine.headers.items()]
    head = "\r\n".join(["GET /api/changes/stream HTTP/1.1", f"Host: {place.netloc}", *lines, "", ""])
    stream.sendall(head.encode())
    assert b"200" in stream.recv(256)
    return stream


@pytest.mark.slow
def test_streams_that_nobody_reads_hold_nothing(tmp_path: Path) -> None:
    def act(action: str, **params: Any) -> Any:
        return engine.ask("POST", "/api/actions/invoke", {"name": action, "params": params})["result"]

    with serve(tmp_path) as engine:
        page = act("document.create", doc_type="page", name="A page")["id"]
        pass_id = act("segment.pass_create", document_id=page, name="By hand")["id"]
        shape = {
            "document_id": page,
            "pass_id": pass_id,
            "kind": "line",
            "anchor": {"rect": [0.1, 0.1, 0.8, 0.02]},
        }
        act("segment.create_many", segments=[shape] * SEGMENTS)
        streams = [_open_stream(engine) for _ in range(STREAMS)]
        try:
            before = engine.memory()
            for _ in range(STEPS):
                # Each step names a thousand segments: 40 kB, a megabyte in all, for each of two hundred listeners.
                act("segment.create_many", segments=[shape] * SEGMENTS)
            grown = engine.memory() - before
            print(f"\n{STREAMS} streams, {STEPS} steps: {grown / 2**20:.0f} MiB more")
            # All of it for all of them would be 200 MiB; the steps themselves take some.
            assert grown < 80 * 2**20
            # A listener that reads again resumes where it was.
            late = b""
            while late.count(b"event: change") < 3:
                late += streams[0].recv(65536)
        finally:
            for stream in streams:
                stream.close()
