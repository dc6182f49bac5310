"""Which surfaces are connected: a name, a transport and counts, in memory only (GET /api/clients)."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from armarium.ids import parse_timestamp, timestamp

NAME_LENGTH = 80
CLIENTS = 1000


class ConnectedClients:
    """Presence, not authorization: the names are what callers state in X-Service-Client.

    Written only from the event loop, so it needs no lock; a reader takes a copy.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._seen: dict[tuple[str, str, str | None], list[float]] = {}

    def saw(self, client: str, transport: str, agent: str | None = None) -> None:
        """Count one request of *client* over *transport* (uds or tcp); *agent* is the name of its token, if an agent's."""
        now = self._clock()
        entry = self._seen.get((client, transport, agent))
        if entry is None:
            while len(self._seen) >= CLIENTS:
                self._seen.pop(min(self._seen, key=lambda name: self._seen[name][2]))
            self._seen[client, transport, agent] = [1, now, now]
        else:
            entry[0] += 1
            entry[2] = now

    def list_clients(self) -> list[dict[str, Any]]:
        """Return `{client, transport, agent, requests, first_seen, last_seen}`, most recently seen first."""
        rows = sorted(self._seen.items(), key=lambda item: -item[1][2])
        return [
            {
                "client": client,
                "transport": transport,
                "agent": agent,
                "requests": int(requests),
                "first_seen": moment(first),
                "last_seen": moment(last),
            }
            for (client, transport, agent), (requests, first, last) in rows
        ]


def moment(seconds: float) -> str:
    """Format a point in time (seconds since the epoch) as the API does."""
    return timestamp(datetime.fromtimestamp(seconds, UTC))


def seconds_of(text: str) -> float:
    """Return a stored timestamp in seconds since the epoch."""
    return parse_timestamp(text).timestamp()
