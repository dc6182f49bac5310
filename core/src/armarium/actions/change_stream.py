"""The change stream: numbered events, retained for a while so that a listener can resume where it left off."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

KEPT = 10_000
"""How many events a listener may be behind before it is asked to reload everything."""

KEPT_BYTES = 2 * 1024 * 1024
"""Their total size in bytes: a single import step may name a thousand ids."""

AT_ONCE = 64
"""How many events a slow listener may hold, so that it does not keep alive what the stream has dropped."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `kind` is `change`, `job` or, made for one listener, `resync`."""

    seq: int
    kind: str
    body: bytes
    """Its data as JSON, serialised once for all listeners; a tenth of the memory of the objects."""
    library_path: str | None

    @property
    def data(self) -> dict[str, Any]:
        """The data of the event."""
        event: dict[str, Any] = orjson.loads(self.body)
        return event


class ChangeStream:
    """Numbered events of one engine, for any number of listeners, from any thread."""

    def __init__(self) -> None:
        # Start at the current time, so that numbers of an earlier process are always smaller.
        self._seq = int(time.time() * 1000) * 100
        self._floor = self._seq
        self._kept: deque[Event] = deque()
        self._bytes = 0
        self._lock = threading.Lock()
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self.closed = False

    @property
    def seq(self) -> int:
        """The number of the newest event."""
        return self._seq

    def publish(self, kind: str, data: dict[str, Any], library_path: str | None = None) -> int:
        """Send an event to every listener; return its number."""
        body = orjson.dumps(data)
        with self._lock:
            self._seq += 1
            seq = self._seq
            number = b'{"seq":%d' % seq
            self._keep(Event(seq, kind, number + (b"," + body[1:] if data else b"}"), library_path))
            listeners = list(self._listeners)
        for loop, wake in listeners:
            self._wake(loop, wake)
        return seq

    def _keep(self, event: Event) -> None:
        """Append an event and drop the oldest ones beyond the limits; the newest always stays."""
        self._kept.append(event)
        self._bytes += len(event.body)
        while len(self._kept) > 1 and (len(self._kept) > KEPT or self._bytes > KEPT_BYTES):
            self._bytes -= len(self._kept.popleft().body)

    def close(self) -> None:
        """End every subscription."""
        self.closed = True
        for loop, wake in list(self._listeners):
            self._wake(loop, wake)

    @staticmethod
    def _wake(loop: asyncio.AbstractEventLoop, wake: asyncio.Event) -> None:
        try:
            loop.call_soon_threadsafe(wake.set)
        except RuntimeError:
            # The listener's loop has ended; it unsubscribes by itself.
            return

    def since(self, after: int, most: int | None = None) -> list[Event] | None:
        """Return at most *most* events after number *after*, oldest first; None when some of them have been dropped."""
        with self._lock:
            oldest = self._kept[0].seq if self._kept else self._seq + 1
            if after < self._floor or after > self._seq or (after + 1 < oldest):
                return None
            # The numbers have no gaps, so count from the nearer end instead of comparing each event.
            behind = self._seq - after
            if behind > len(self._kept) // 2:
                first = after + 1 - oldest
                return list(islice(self._kept, first, None if most is None else first + most))
            newest = list(islice(reversed(self._kept), behind))[::-1]
            return newest if most is None else newest[:most]

    async def subscribe(
        self, after: int | None = None, *, quiet: float = 10.0
    ) -> AsyncIterator[Event | None]:
        """Yield events as they arrive, starting after number *after* (None: from now on).

        Yields None after *quiet* seconds without an event, so that the caller can send a sign of life; yields `resync`
        first when *after* is too old.
        """
        wake = asyncio.Event()
        listener = (asyncio.get_running_loop(), wake)
        with self._lock:
            self._listeners.add(listener)
        try:
            position = self._seq if after is None else after
            while not self.closed:
                wake.clear()
                events = self.since(position, AT_ONCE)
                if events is None:
                    position = self._seq
                    yield Event(position, "resync", b'{"seq":%d}' % position, None)
                    continue
                for event in events:
                    position = event.seq
                    yield event
                if not events:
                    try:
                        await asyncio.wait_for(wake.wait(), quiet)
                    except TimeoutError:
                        yield None
        finally:
            with self._lock:
                self._listeners.discard(listener)
