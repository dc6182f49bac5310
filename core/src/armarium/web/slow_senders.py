"""Closes connections that begin a request and do not continue it, so that none is held for nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_WITHIN = 30.0
"""Seconds from the first byte of a request to the end of its headers, and from a connection to its first request."""

BODY_SILENCE = 60.0
"""Seconds of silence in the middle of a body, not counting the time in which the engine itself does not read."""

TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class WatchedProtocol(H11Protocol):
    """Uvicorn's HTTP protocol, which waits forever for the rest of a request, with time limits; idle time between two
    requests is uvicorn's own matter.
    """

    _waits_for: str | None = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the time limit for the first request."""
        super().connection_made(transport)
        self._wait_for("headers", HEADERS_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the time limit."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Set the time limit for what is still to come: one for all headers, one for each silence of a body."""
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._wait_for("body", BODY_SILENCE)
        elif state is h11.IDLE and self.conn.trailing_data[0]:
            if self._waits_for != "headers":
                self._wait_for("headers", HEADERS_WITHIN)
        else:
            self._stop_waiting()

    def _wait_for(self, what: str, seconds: float) -> None:
        self._stop_waiting()
        self._waits_for = what
        self._timer = self.loop.call_later(seconds, self._too_late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._waits_for = None

    def _too_late(self) -> None:
        if self._waits_for == "body" and self.flow.read_paused:
            self._wait_for("body", BODY_SILENCE)
            return
        if self.transport is None or self.transport.is_closing():
            return
        if self.conn.our_state is h11.IDLE:
            self.transport.write(TIMED_OUT)
        self.transport.close()
