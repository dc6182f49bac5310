"""Limits how many requests are processed at a time: a few that read, a few that write."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

READING = frozenset({"GET", "HEAD"})

QUICK = 2
"""How many reads, and how many writes, are processed at a time. Python runs one thread at once; each further one makes
the others wait at every statement. Two hundred simultaneous reads took four times as long in forty threads.
"""

QUICK_SECONDS = 0.02
"""Seconds after which a request (a picture, an export, a wait for the writer) gives up its place among the quick ones
and goes on.
"""

PLACE = "armarium.place"
"""Where in its scope a request that was given a slot keeps the way to leave it."""

READS_IN_THREADS, WRITES_IN_THREADS = 22, 16
"""How many requests that read, and that write, may have a thread at once, including slow ones; the others wait without
one.
"""


class RequestLimits:
    """ASGI middleware: of the requests that read, and of those that write, a few are processed; the rest wait in turn.

    They wait on the event loop. One that writes takes its slot when its body has arrived (a slow sender holds up
    nobody; without a body it is not counted); all leave it when their answer begins.
    """

    def __init__(self, app: ASGIApp, reads: int = READS_IN_THREADS, writes: int = WRITES_IN_THREADS) -> None:
        self.app = app
        self._sizes = reads, writes
        # A semaphore belongs to the loop it first waited in, and tests run an application in several.
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[_Slots, _Slots]] = WeakKeyDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        reading, writing = self._find_slots()
        reads = scope["method"] in READING
        place = await reading.enter() if reads else None

        async def entering() -> Message:
            nonlocal place
            message = await receive()
            whole = message["type"] == "http.request" and not message.get("more_body", False)
            if whole and place is None:
                place = scope[PLACE] = await writing.enter()
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

    def _find_slots(self) -> tuple[_Slots, _Slots]:
        loop = asyncio.get_running_loop()
        slots = self._slots.get(loop)
        if slots is None:
            slots = self._slots[loop] = (_Slots(self._sizes[0]), _Slots(self._sizes[1]))
        return slots


def give_up_place(request: Request) -> None:
    """Let others in: *request* goes on to ask the engine itself, and those requests have places of their own."""
    place = request.scope.get(PLACE)
    if place is not None:
        place.leave()


class _Slots:
    """Slots for a number of requests, and among them for a few quick ones."""

    def __init__(self, size: int) -> None:
        self.all = asyncio.Semaphore(size)
        self.quick = asyncio.Semaphore(min(size, QUICK))

    async def enter(self) -> _Slot:
        """Wait for a slot, and for one among the quick."""
        await self.all.acquire()
        try:
            await self.quick.acquire()
        except BaseException:
            self.all.release()
            raise
        return _Slot(self)


class _Slot:
    """The slot of one request."""

    __slots__ = ("_slots", "_slow")

    def __init__(self, slots: _Slots) -> None:
        self._slots: _Slots | None = slots
        self._slow: asyncio.TimerHandle | None = asyncio.get_running_loop().call_later(
            QUICK_SECONDS, self._slow_down
        )

    def _slow_down(self) -> None:
        """Let another one in among the quick."""
        if self._slots is not None:
            self._slow = None
            self._slots.quick.release()

    def leave(self) -> None:
        """Release the slot; a second call does nothing."""
        slots, self._slots = self._slots, None
        if slots is None:
            return
        if self._slow is not None:
            self._slow.cancel()
            slots.quick.release()
        slots.all.release()
