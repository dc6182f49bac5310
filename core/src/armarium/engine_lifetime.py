"""How long a serving engine stays up: until it is asked to stop, or, in the background, until nobody needs it any more."""

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
"""Seconds between two checks whether it is time to stop."""


class EngineLifetime:
    """Counts requests, knows what work is going on, and decides when the engine may stop.

    Paused jobs do not keep it up: they continue when a person resumes them, and that command starts an engine. Nor does
    a job that was postponed beyond the idle time, such as the next snapshot.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.rest_seconds: float | None = None
        """Seconds after the last request until a background engine stops; None: it stays up until it is asked to stop.
        """
        self.serving = False
        """Whether it serves by itself, so that it can be asked to stop; not inside another program."""
        self.asked_to_go = False
        self.over = False
        """Whether it is stopping; new requests are then refused, so that nothing is begun that would not be finished.
        """
        self._kept: dict[str, str] = {}
        self.in_hand = 0
        self._last = time.monotonic()

    def begin_request(self) -> bool:
        """Count a request, which keeps the engine up until `end_request`; False when the engine is stopping and takes
        none.
        """
        if self.over:
            return False
        self.in_hand += 1
        return True

    def end_request(self) -> None:
        """Count the end of a request."""
        self.in_hand -= 1
        self._last = time.monotonic()

    def keep(self, key: str, words: str) -> None:
        """Keep the engine up until `let_go` of the same *key*, which begins with the caller's name; *words* say why."""
        self._kept[key] = words

    def let_go(self, key: str) -> None:
        """Remove what *key* stands for from the reasons to stay up; does nothing where it is not one."""
        self._kept.pop(key, None)

    def ask_to_go(self, *, only_when_idle: bool = False) -> list[str]:
        """Stop the engine after the items in progress; return the projects whose work another engine is to continue.

        Raises Conflict (at_work) when work goes on and *only_when_idle* is set, and Conflict when it does not serve by
        itself.
        """
        if not self.serving:
            raise Conflict(
                "This engine runs inside another program and ends with that one.", code="not_serving"
            )
        # A queue that a person paused does not continue; but the next engine has to open its project all the same.
        paths = [
            str(library.path) for library in self.engine.libraries.open_now() if self._is_at_work(library)
        ]
        working = self.work()
        if only_when_idle and working:
            raise Conflict(f"The engine is at work: {'; '.join(working)}.", code="at_work", work=working)
        self.asked_to_go = True
        self.engine.jobs.rest()
        return paths

    def _is_at_work(self, library: Any) -> bool:
        store = self.engine.jobs.store_of(library)
        return store is not None and goes_on(self.engine.jobs, store, within=self._seconds_left)

    @property
    def _seconds_left(self) -> float:
        return self.rest_seconds if self.rest_seconds is not None else self.engine.settings.rest_seconds

    def work(self) -> list[str]:
        """Return in words the work that goes on or will by itself, project by project."""
        return [words for queue in self.queues() if (words := _in_words(queue))]

    def queues(self) -> list[dict[str, Any]]:
        """Return each open project, and the engine itself (path null), with the state of its background work."""
        runner = self.engine.jobs
        return [
            {"path": store.path, **standing(runner, store, within=self._seconds_left)}
            for store in runner.stores()
        ]

    def rests_for(self) -> float:
        """Return the seconds since the last request ended; 0 during a request."""
        return 0.0 if self.in_hand else time.monotonic() - self._last

    def describe(self, *, besides: int = 0) -> MutableMapping[str, Any]:
        """Return why it stays up, and in how many seconds it stops when nothing else comes; *besides* requests are not
        counted.
        """
        requests, working = self.in_hand - besides, self.work()
        goes_in: float | None = None
        if self.asked_to_go:
            why = "It was asked to stop, and " + (
                "finishes the items in progress."
                if any(queue["in_hand"] for queue in self.queues())
                else "does so now."
            )
        elif self.rest_seconds is None:
            why = "It serves until it is stopped."
        elif working:
            why = f"It is at work: {'; '.join(working)}."
        elif reasons := list(self._kept.values()):
            why = f"{'; '.join(reasons[:3])}{f' and {len(reasons) - 3} more' if len(reasons) > 3 else ''}."
        elif requests:
            why = f"{requests} {'request is' if requests == 1 else 'requests are'} being answered."
        else:
            goes_in = self.rest_seconds
            why = f"Nothing is left to do; it stops {goes_in:.0f} seconds after the last request."
        return {"stays_because": why, "goes_in_seconds": goes_in, "requests": requests, "work": working}

    def is_over(self) -> bool:
        """Return whether it is time to stop. Reads the queues, so not for the event loop."""
        runner = self.engine.jobs
        if self.asked_to_go:
            # Repeated: a person who pauses or resumes a job meanwhile overwrites the request to stop it.
            runner.rest()
            return not any(store.picked for store in runner.stores())
        if self.rest_seconds is None or self._kept or self.rests_for() < self.rest_seconds:
            return False
        return not any(goes_on(runner, store, within=self._seconds_left) for store in runner.stores())

    async def ends(self) -> None:
        """Return when it is time to stop."""
        while True:
            await asyncio.sleep(min(LOOK_EVERY, self.rest_seconds or LOOK_EVERY))
            over = await asyncio.to_thread(self.is_over)
            # Requests that arrived meanwhile are answered first.
            if over and (self.asked_to_go or self.rests_for() >= (self.rest_seconds or 0.0)):
                self.over = True
                return


def _in_words(queue: MutableMapping[str, Any]) -> str:
    if not queue["goes_on"]:
        return ""
    of_project = f" ({queue['path'].rpartition('/')[2]})" if queue["path"] else ""
    if queue["in_hand"]:
        more = len(queue["in_hand"]) - 1
        return f"{queue['in_hand'][0]}{f' and {more} more' if more else ''}{of_project}"
    waiting = queue["waiting"]
    return f"{waiting} {'job waits' if waiting == 1 else 'jobs wait'}{of_project}"
