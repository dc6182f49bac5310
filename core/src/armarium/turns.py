"""Whose turn it is: people's writes go before those of jobs, and waiting writes leave threads for reads."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

READING = frozenset({"GET", "HEAD"})

PASSED_OVER = 16
"""How many writes of people may go before the first waiting one of a job; then it has its turn, so that neither starves."""

MISSED = 4
"""How often a waiting thread may find that another was quicker."""

WRITES_IN_THREADS = 16
"""How many requests that write may have a thread at once; one of them writes. The others wait without one."""

_background = threading.local()


def work_in_background() -> None:
    """Say that this thread runs jobs: its writes let those of people go first."""
    _background.here = True


class _Turn:
    """One waiting thread."""

    __slots__ = ("given", "missed", "signal", "told")

    def __init__(self) -> None:
        self.signal = threading.Lock()
        self.signal.acquire()
        self.told = False
        self.given = False
        self.missed = 0


class WriterQueue:
    """A lock that goes to people in the order they came, and to jobs when no person waits or has gone often enough.

    Who asks at the moment it is let go may have it before those who wait: they have to be woken first, and the writer
    would stand idle. A waiter that lost it so a few times is handed it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = False
        self._people: deque[_Turn] = deque()
        self._jobs: deque[_Turn] = deque()
        self._passed = 0

    def acquire(self, timeout: float) -> bool:
        """Wait for the turn, *timeout* seconds at most; whether it came."""
        job = getattr(_background, "here", False)
        waiting = self._jobs if job else self._people
        with self._lock:
            if not self._held and not (job and self._people):
                self._held = True
                return True
            turn = _Turn()
            waiting.append(turn)
        deadline = time.monotonic() + timeout
        while True:
            told = turn.signal.acquire(timeout=max(0.0, deadline - time.monotonic()))
            with self._lock:
                if turn.given:
                    return True
                if not self._held:
                    self._held = True
                    waiting.remove(turn)
                    return True
                turn.told = False
                turn.missed += 1
                if not told:
                    waiting.remove(turn)
                    return False

    def release(self) -> None:
        """Let the next one have it."""
        with self._lock:
            overdue = bool(self._jobs) and self._passed >= PASSED_OVER
            waiting = self._jobs if overdue or not self._people else self._people
            self._passed = 0 if waiting is self._jobs or not self._jobs else self._passed + 1
            self._held = False
            if not waiting:
                return
            turn = waiting[0]
            if overdue or turn.missed >= MISSED:
                waiting.popleft()
                turn.given = self._held = True
            if not turn.told:
                turn.told = True
                turn.signal.release()


class WriteRoom:
    """ASGI middleware: of the requests that write, a few have threads; the rest wait on the event loop, in turn.

    A request comes in when its body is there (a slow one holds up nobody) and goes out when its answer begins. One
    without a body is not counted.
    """

    def __init__(self, app: ASGIApp, size: int = WRITES_IN_THREADS) -> None:
        self.app = app
        self._size = size
        # A semaphore belongs to the loop it first waited in, and tests run an application in several.
        self._rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in READING:
            await self.app(scope, receive, send)
            return
        room = self._room()
        inside = came = False

        async def entering() -> Message:
            nonlocal inside, came
            message = await receive()
            whole = message["type"] == "http.request" and not message.get("more_body", False)
            if whole and not came:
                came = True
                await room.acquire()
                inside = True
            return message

        async def leaving(message: Message) -> None:
            nonlocal inside
            if inside:
                inside = False
                room.release()
            await send(message)

        try:
            await self.app(scope, entering, leaving)
        finally:
            if inside:
                room.release()

    def _room(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        room = self._rooms.get(loop)
        if room is None:
            room = self._rooms[loop] = asyncio.Semaphore(self._size)
        return room
