"""How long a serving engine stays: until it is asked to go, or, in the background, until nobody needs it any more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from armarium.errors import Conflict
from armarium.jobs.outlook import goes_on, standing

if TYPE_CHECKING:
    from armarium.engine import Engine

LOOK_EVERY = 1.0
"""Seconds between two looks whether it is time to go."""


class EngineLifetime:
    """Counts requests, knows what work is going on, and says when the engine may go.

    Jobs that are paused, all or one by one, do not keep it: they go on when a person says so, and whoever says it starts
    an engine. Nor does a job that was put off beyond the time of rest, such as the next snapshot.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.rest_seconds: float | None = None
        """How long after the last request an engine in the background goes; None: it stays until it is asked to go."""
        self.serving = False
        """Whether it serves by itself, so that it can be asked to go; not inside another program."""
        self.asked_to_go = False
        self.over = False
        """Whether it goes now; what comes in then is sent away, so that nothing is begun that would not be finished."""
        self._kept: dict[str, str] = {}
        self._in_hand = 0
        self._last = time.monotonic()

    def begin_request(self) -> bool:
        """Count a request, which keeps the engine until `end_request`; False when the engine goes and takes none."""
        if self.over:
            return False
        self._in_hand += 1
        return True

    def end_request(self) -> None:
        """The request is over."""
        self._in_hand -= 1
        self._last = time.monotonic()

    def keep(self, key: str, words: str) -> None:
        """Have the engine stay until `let_go` of the same *key*, which begins with the name of who asks; *words* say why."""
        self._kept[key] = words

    def let_go(self, key: str) -> None:
        """What *key* stands for keeps the engine no longer; harmless where it did not."""
        self._kept.pop(key, None)

    def ask_to_go(self, *, only_when_idle: bool = False) -> list[str]:
        """Have the engine go after the items in hand; the projects whose work another engine is to carry on.

        Conflict (at_work) when work goes on and *only_when_idle* was said; Conflict when it does not serve by itself.
        """
        if not self.serving:
            raise Conflict(
                "This engine runs inside another program and ends with that one.", code="not_serving"
            )
        # Of a queue that a person paused nothing goes on; but it is another engine's to hold from now on.
        left = [
            str(library.path) for library in self.engine.libraries.open_now() if self._is_at_work(library)
        ]
        working = self.work()
        if only_when_idle and working:
            raise Conflict(f"The engine is at work: {'; '.join(working)}.", code="at_work", work=working)
        self.asked_to_go = True
        self.engine.jobs.rest()
        return left

    def _is_at_work(self, library: Any) -> bool:
        store = self.engine.jobs.store_of(library)
        return store is not None and goes_on(self.engine.jobs, store, within=self._seconds_left)

    @property
    def _seconds_left(self) -> float:
        return self.rest_seconds if self.rest_seconds is not None else self.engine.settings.rest_seconds

    def work(self) -> list[str]:
        """The work that goes on or will by itself, in words, project by project."""
        return [words for one in self.queues() if (words := _in_words(one))]

    def queues(self) -> list[dict[str, Any]]:
        """Each open project, and the engine itself (path null), with how its background work stands."""
        runner = self.engine.jobs
        return [
            {"path": store.path, **standing(runner, store, within=self._seconds_left)}
            for store in runner.stores()
        ]

    def rests_for(self) -> float:
        """Seconds since the last request ended; 0 while one is in hand."""
        return 0.0 if self._in_hand else time.monotonic() - self._last

    def describe(self, *, besides: int = 0) -> MutableMapping[str, Any]:
        """Why it stays, and in how many seconds it goes when nothing else comes; *besides* requests are not counted."""
        requests, working = self._in_hand - besides, self.work()
        goes_in: float | None = None
        if self.asked_to_go:
            why = "It was asked to stop, and " + (
                "finishes what is in hand." if any(q["in_hand"] for q in self.queues()) else "does so now."
            )
        elif self.rest_seconds is None:
            why = "It serves until it is stopped."
        elif working:
            why = f"It is at work: {'; '.join(working)}."
        elif kept := list(self._kept.values()):
            why = f"{'; '.join(kept[:3])}{f' and {len(kept) - 3} more' if len(kept) > 3 else ''}."
        elif requests:
            why = f"{requests} {'request is' if requests == 1 else 'requests are'} being answered."
        else:
            goes_in = self.rest_seconds
            why = f"Nothing is left to do; it goes {goes_in:.0f} seconds after the last request."
        return {"stays_because": why, "goes_in_seconds": goes_in, "requests": requests, "work": working}

    def is_over(self) -> bool:
        """Whether it is time to go. Looks into the queues, so not for the event loop."""
        runner = self.engine.jobs
        if self.asked_to_go:
            # Said again: a person who pauses or resumes a job meanwhile takes back what a body was told.
            runner.rest()
            return not any(store.picked for store in runner.stores())
        if self.rest_seconds is None or self._kept or self.rests_for() < self.rest_seconds:
            return False
        return not any(goes_on(runner, store, within=self._seconds_left) for store in runner.stores())

    async def ends(self) -> None:
        """Come back when it is time to go."""
        while True:
            await asyncio.sleep(min(LOOK_EVERY, self.rest_seconds or LOOK_EVERY))
            over = await asyncio.to_thread(self.is_over)
            # Whoever asked meanwhile is answered first.
            if over and (self.asked_to_go or self.rests_for() >= (self.rest_seconds or 0.0)):
                self.over = True
                return


def _in_words(queue: MutableMapping[str, Any]) -> str:
    if not queue["goes_on"]:
        return ""
    where = f" ({queue['path'].rpartition('/')[2]})" if queue["path"] else ""
    if queue["in_hand"]:
        more = len(queue["in_hand"]) - 1
        return f"{queue['in_hand'][0]}{f' and {more} more' if more else ''}{where}"
    waiting = queue["waiting"]
    return f"{waiting} {'job waits' if waiting == 1 else 'jobs wait'}{where}"
