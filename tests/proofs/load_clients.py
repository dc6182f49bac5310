"""The clients of a load test, in a process of their own: each sends a request, pauses as people and agents do, and
repeats.

``python load_clients.py PLAN.json`` runs the clients of a plan (`Plan`) and prints their figures as JSON
(`ClientFigures`). Each client keeps one connection and has one request under way. A time is from the first byte sent to
the last one received.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds until a client gives up; then it is unknown whether a write was made."""

BURST_EVERY, BURST_SHARE, BURST_LENGTH = 20.0, 0.25, 4
"""Every 20 seconds each fourth client sends four requests without a pause, as when a page is opened."""

MIX = {
    "one document": 26,
    "segments of a page": 14,
    "children of a folder": 14,
    "text of a page": 10,
    "view of a folder": 6,
    "one segment": 6,
    "state of the import": 4,
    "new document": 8,
    "correction": 5,
    "segment changed": 5,
    "document renamed": 2,
}
"""The mix of requests, in hundredths. A correction and a change also read first, so of 100 requests 70 only read, and
80 do with those.
"""


@dataclass
class Plan:
    """What the clients do. *pause* is the mean wait between two requests of one client, 0 for none (a closed loop).

    *herd*: all send their bursts at the same moment, as if one event had caused them, instead of each at its own.
    """

    host: str
    port: int
    headers: dict[str, str]
    first: int
    clients: int
    seconds: float
    pause: float
    herd: bool
    shared: str
    folders: list[str]
    pages: list[dict[str, Any]]
    contested: list[str]
    job: str


@dataclass
class ClientFigures:
    """The clients' figures: milliseconds by kind of request, what was acknowledged, and what was unexpected."""

    times: dict[str, list[float]] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    corrected: list[str] = field(default_factory=list)
    """Ids of the readings whose creation was acknowledged."""
    changed: dict[str, int] = field(default_factory=dict)
    """Each contested segment with the number of acknowledged changes."""
    renamed: int = 0
    stale: int = 0
    """Changes refused (409) because somebody else was first: that is what the expected version is for."""
    locked: int = 0
    unanswered: int = 0
    odd: list[str] = field(default_factory=list)
    lateness: list[float] = field(default_factory=list)
    """Milliseconds by which this process itself woke too late: what its own machine adds to the times."""


class Refused(Exception):
    """An answer without success, which is recorded already."""


class Client:
    """One connection, one request at a time."""

    def __init__(self, plan: Plan, number: int, met: ClientFigures) -> None:
        self.plan = plan
        self.met = met
        self.random = random.Random(number)
        self.folder = plan.folders[number % len(plan.folders)]
        self.name = f"client {number}"
        self.turn = 0
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        lines = [f"{name}: {value}" for name, value in plan.headers.items()]
        self._headers = "\r\n".join(
            [f"Host: {plan.host}:{plan.port}", *lines, f"X-Service-Client: {self.name}"]
        )

    async def live(self, began: float) -> None:
        """Send requests until the time is over."""
        until = began + self.plan.seconds
        # The clients do not all start at the same moment.
        await asyncio.sleep(self.random.random() * max(self.plan.pause, 0.05))
        burst_at = began + (5.0 if self.plan.herd else self.random.random() * BURST_EVERY)
        while time.monotonic() < until:
            asks = 1
            if self.plan.pause and time.monotonic() >= burst_at:
                burst_at += BURST_EVERY
                asks = BURST_LENGTH if self.random.random() < BURST_SHARE else 1
            for _ in range(asks):
                await self.ask_something()
            if self.plan.pause:
                wait = self.random.uniform(0.5, 1.5) * self.plan.pause
                await asyncio.sleep(
                    max(0.0, min(wait, burst_at - time.monotonic(), until - time.monotonic()))
                )
        if self._streams is not None:
            self._streams[1].close()

    async def ask_something(self) -> None:
        """Send one request of the mix."""
        self.turn += 1
        kind = self.random.choices(list(MIX), list(MIX.values()))[0]
        page = self.random.choice(self.plan.pages)
        try:
            match kind:
                case "one document":
                    await self.get(
                        kind, f"/api/documents/{self.random.choice([self.plan.shared, page['id']])}"
                    )
                case "segments of a page":
                    await self.get(kind, f"/api/segments/document/{page['id']}")
                case "children of a folder":
                    await self.get(kind, f"/api/documents?parent_id={self.folder}&limit=20")
                case "text of a page":
                    await self.get(kind, f"/api/segments/document/{page['id']}/text")
                case "view of a folder":
                    await self.get(kind, f"/api/documents/{self.folder}/view?limit=20")
                case "one segment":
                    await self.get(kind, f"/api/segments/{self.random.choice(page['lines'])}")
                case "state of the import":
                    await self.get(kind, f"/api/activity/jobs/{self.plan.job}")
                case "new document":
                    body = {
                        "doc_type": "folder",
                        "name": f"{self.name}, {self.turn}",
                        "parent_id": self.folder,
                    }
                    self.met.made.append((await self.send(kind, "POST", "/api/documents", body))["id"])
                case "correction":
                    await self.correct(kind, self.random.choice(page["lines"]))
                case "segment changed":
                    await self.change(kind, self.random.choice(self.plan.contested))
                case "document renamed":
                    body = {"name": f"{self.name}, {self.turn}"}
                    await self.send(kind, "PATCH", f"/api/documents/{self.plan.shared}", body)
                    self.met.renamed += 1
        except Refused:
            return

    async def correct(self, kind: str, line: str) -> None:
        """Read a line, and correct it on condition that the reading still counts."""
        seen = await self.get("readings of a line", f"/api/segments/{line}/readings")
        body = {
            "text": f"{self.name}, {self.turn}",
            "expected_counting_id": seen["counting"]["transcription"]["representation_id"],
        }
        made = await self.send(kind, "POST", f"/api/segments/{line}/correct", body, stale=True)
        if made is not None:
            self.met.corrected.append(made["id"])

    async def change(self, kind: str, segment: str) -> None:
        """Read a segment that others change too, and increment it on condition that its version is still the same."""
        seen_segment = (await self.get("one segment", f"/api/segments/{segment}"))["segment"]
        body = {
            "segment_id": segment,
            "expected_version": seen_segment["version"],
            "kind_raw": str(int(seen_segment["kind_raw"] or 0) + 1),
        }
        if await self.send(kind, "PUT", f"/api/segments/{segment}", body, stale=True) is not None:
            self.met.changed[segment] = self.met.changed.get(segment, 0) + 1

    async def get(self, kind: str, path: str) -> Any:
        return await self.send(kind, "GET", path)

    async def send(
        self, kind: str, method: str, path: str, body: object = None, *, stale: bool = False
    ) -> Any:
        """Return the answer; None for a change that came too late, where *stale* allows that. Raises Refused otherwise."""
        began = time.monotonic()
        try:
            status, answer = await asyncio.wait_for(self._exchange(method, path, body), PATIENCE)
        except (OSError, EOFError, ValueError, TimeoutError) as error:
            self._streams = None
            self.met.unanswered += 1
            self.met.odd.append(
                f"{method} {path}: {type(error).__name__} after {time.monotonic() - began:.1f} s"
            )
            raise Refused from error
        self.met.times.setdefault(kind, []).append((time.monotonic() - began) * 1000)
        if status < 300:
            return json.loads(answer)
        if stale and status == 409:
            self.met.stale += 1
            return None
        self.met.locked += b"is locked" in answer or b'"busy"' in answer
        self.met.odd.append(f"{method} {path}: {status} {answer[:200].decode(errors='replace')}")
        raise Refused

    async def _exchange(self, method: str, path: str, body: object) -> tuple[int, bytes]:
        if self._streams is None or self._streams[0].at_eof():
            # The server closes a connection that was idle for some seconds.
            self._streams = await asyncio.open_connection(self.plan.host, self.plan.port)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        more = f"\r\nContent-Type: application/json\r\nContent-Length: {len(data)}" if data else ""
        writer.write(f"{method} {path} HTTP/1.1\r\n{self._headers}{more}\r\n\r\n".encode() + data)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head[9:12])
        length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        return status, await reader.readexactly(length)


async def lateness(met: ClientFigures, until: float) -> None:
    """Record by how much this process wakes too late, ten times a second."""
    while time.monotonic() < until:
        wanted = time.monotonic() + 0.1
        await asyncio.sleep(0.1)
        met.lateness.append((time.monotonic() - wanted) * 1000)


async def run_clients(plan: Plan) -> ClientFigures:
    """Run the clients of *plan* to their end."""
    met = ClientFigures()
    began = time.monotonic()
    clients = [Client(plan, number, met) for number in range(plan.first, plan.first + plan.clients)]
    await asyncio.gather(lateness(met, began + plan.seconds), *(client.live(began) for client in clients))
    return met


if __name__ == "__main__":
    met = asyncio.run(run_clients(Plan(**json.loads(Path(sys.argv[1]).read_text()))))
    json.dump(asdict(met), sys.stdout)
