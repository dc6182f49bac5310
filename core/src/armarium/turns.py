"""Whose turn it is: people's writes go before those of jobs, and of many requests a few are worked on at a time."""

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

QUICK = 2
"""How many reads, and how many writes, are worked on at a time. The interpreter computes in one thread at once; each more
that wants to costs the others a wait at every statement. Two hundred reads at once took four times as long in forty threads."""

QUICK_SECONDS = 0.02
"""What takes longer than this (a picture, an export, the turn to write) gives up its place among the quick, and goes on."""

READS_IN_THREADS, WRITES_IN_THREADS = 22, 16
"""How many requests that read, and that write, may have a thread at once, the slow ones too; the others wait without one."""

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


class Rooms:
    """ASGI middleware: of the requests that read, and of those that write, a few are worked on; the rest wait in turn.

    They wait on the event loop. One that writes comes in when its body is there (a slow one holds up nobody; without a
    body it is not counted); all go out when their answer begins.
    """

    def __init__(self, app: ASGIApp, reads: int = READS_IN_THREADS, writes: int = WRITES_IN_THREADS) -> None:
        self.app = app
        self._sizes = reads, writes
        # A semaphore belongs to the loop it first waited in, and tests run an application in several.
        self._rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[_Room, _Room]] = WeakKeyDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        reading, writing = self._here()
        reads = scope["method"] in READING
        place = await reading.enter() if reads else None

        async def entering() -> Message:
            nonlocal place
            message = await receive()
            whole = message["type"] == "http.request" and not message.get("more_body", False)
            if whole and place is None:
                place = await writing.enter()
            return message

        async def leaving(message: Message) -> None:
            if place is not None:
                place.leave()
            await send(message)

        try:
            await self.app(scope, receive if reads else entering, leaving)
        finally:
            if place is not None:
                place.leave()

    def _here(self) -> tuple[_Room, _Room]:
        loop = asyncio.get_running_loop()
        rooms = self._rooms.get(loop)
        if rooms is None:
            rooms = self._rooms[loop] = (_Room(self._sizes[0]), _Room(self._sizes[1]))
        return rooms


class _Room:
    """Places for so many requests, and among them for a few quick ones."""

    def __init__(self, size: int) -> None:
        self.places = asyncio.Semaphore(size)
        self.quick = asyncio.Semaphore(min(size, QUICK))

    async def enter(self) -> _Place:
        """Wait for a place, and for one among the quick."""
        await self.places.acquire()
        try:
            await self.quick.acquire()
        except BaseException:
            self.places.release()
            raise
        return _Place(self)


class _Place:
    """A request's place in a room."""

    __slots__ = ("_room", "_slow")

    def __init__(self, room: _Room) -> None:
        self._room: _Room | None = room
        self._slow: asyncio.TimerHandle | None = asyncio.get_running_loop().call_later(
            QUICK_SECONDS, self._slow_down
        )

    def _slow_down(self) -> None:
        """Let another one in among the quick."""
        if self._room is not None:
            self._slow = None
            self._room.quick.release()

    def leave(self) -> None:
        """Give the place to the next one; a second time nothing happens."""
        room, self._room = self._room, None
        if room is None:
            return
        if self._slow is not None:
            self._slow.cancel()
            room.quick.release()
        room.places.release()
