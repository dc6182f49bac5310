"""How a measurement is taken: engine and peer in turns, several rounds, the median of the rounds' ratios.

Machines are noisy, and noise in a round affects both sides. So each round gives one ratio, and the reported ratio is
their median; the figures beside it are for orientation and promise nothing.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Bound = Literal["at most", "at least"]


@dataclass(frozen=True)
class Result:
    """One measured ratio, engine over peer, with the figures it comes from."""

    row: int
    """The row of the table in ``README.md`` that it belongs to."""
    what: str
    unit: str
    engine: float
    peer: float
    peer_name: str
    ratio: float
    bound: Bound = "at most"
    limit: float | None = None
    """The limit of the ratio; None for a figure that is only stated."""
    note: str = ""
    rounds: list[float] = field(default_factory=list)
    """The ratio of every round."""

    @property
    def is_within_limit(self) -> bool | None:
        """Whether the ratio keeps its limit; None without one."""
        if self.limit is None:
            return None
        return self.ratio <= self.limit if self.bound == "at most" else self.ratio >= self.limit

    def sentence(self) -> str:
        """Return the result as one line for a person."""
        verdict = {True: "kept", False: "MISSED", None: "stated"}[self.is_within_limit]
        limit = f" ({self.bound} {self.limit:g}: {verdict})" if self.limit is not None else ""
        return (
            f"{self.what}: {self.ratio:.2f}x{limit}, engine {figure(self.engine)} {self.unit}, "
            f"{self.peer_name} {figure(self.peer)} {self.unit}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {
            "row": self.row,
            "what": self.what,
            "unit": self.unit,
            "engine": self.engine,
            "peer": self.peer,
            "peer_name": self.peer_name,
            "ratio": self.ratio,
            "bound": self.bound,
            "limit": self.limit,
            "met": self.is_within_limit,
            "note": self.note,
            "rounds": self.rounds,
        }


def compare(
    row: int,
    what: str,
    *,
    engine: Callable[[], float],
    peer: Callable[[], float],
    peer_name: str,
    unit: str,
    rounds: int,
    limit: float | None = None,
    bound: Bound = "at most",
    note: str = "",
) -> Result:
    """Call *engine* and *peer* in turns; each returns the figure of one round (seconds, requests a second, …).

    One unmeasured round warms up both; they take turns in going first.
    """
    engine()
    peer()
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(rounds):
        for side in (engine, peer) if number % 2 else (peer, engine):
            gc.collect()
            (ours if side is engine else theirs).append(side())
    ratios = [mine / their for mine, their in zip(ours, theirs, strict=True)]
    return Result(
        row,
        what,
        unit,
        statistics.median(ours),
        statistics.median(theirs),
        peer_name,
        statistics.median(ratios),
        bound,
        limit,
        note,
        [round(ratio, 3) for ratio in ratios],
    )


def seconds(work: Callable[[], object]) -> float:
    """Return how long *work* takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def figure(value: float) -> str:
    """Format a figure with three significant digits."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
