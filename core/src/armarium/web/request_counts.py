"""What is counted of every request: by route, method and class of answer, refusals by code, and how long answers take."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

REFUSED = "armarium.refused"
"""Where in its scope a request that was refused keeps the code of the refusal."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

WITHIN = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds: the upper ends of the intervals in which answers are counted."""

MOST_CODES = 1_000
"""Codes of refusals counted apart. Codes are constants; a plugin that makes them up must not fill the memory."""


class RequestCounts:
    """Counts since the engine started. Written on the event loop only; read anywhere, through copies.

    The time of an answer ends where it begins to be sent: a stream of changes stays open for days.
    """

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, str, str]] = Counter()
        """By path template (empty: none matched), method and class of status (`2xx`)."""
        self.refusals: Counter[str] = Counter()
        self.within: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(WITHIN) + 1))
        """By method: answers by the interval of `WITHIN` in which their seconds lie; the last has no end."""
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def note(self, scope: Mapping[str, Any], status: int, began: float) -> None:
        """Count the answer to *scope*, whose request arrived at *began* (`time.perf_counter`)."""
        seconds = time.perf_counter() - began
        method = scope["method"] if scope["method"] in METHODS else "other"
        self.answers[getattr(scope.get("route"), "path", ""), method, f"{status // 100}xx"] += 1
        self.within[method][bisect_left(WITHIN, seconds)] += 1
        self.seconds[method] += seconds
        if status >= 400:
            code = scope.get(REFUSED) or str(status)
            self.refusals[code if code in self.refusals or len(self.refusals) < MOST_CODES else "other"] += 1
