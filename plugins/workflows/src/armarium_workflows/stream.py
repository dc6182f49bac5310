"""The stream of a run: a snapshot, then its events, read from the run's own log, so that it can be resumed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

import orjson
from sqlalchemy import Connection

from armarium.api import (
    FINISHED,
    Engine,
    Library,
    Principal,
    find_withheld,
    jobs,
    log_span,
    now,
    raw_of,
    thread_lines,
)
from armarium_reading.api import MODEL_DELTA, follow_answers
from armarium_workflows.queries import find_run, nodes_of

EVERY = 0.25
"""Seconds between two queries of the log."""

QUIET = 10.0
"""Seconds of silence after which a comment shows that the stream is alive."""

AT_ONCE = 500
ALIVE = b": alive\n\n"


def frame(seq: int, kind: str, data: dict[str, Any]) -> bytes:
    """Return an event in the stream's framing."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, kind.encode(), orjson.dumps(data))


class RunStream:
    """One listener to one run."""

    def __init__(
        self,
        engine: Engine,
        library: Library,
        principal: Principal,
        thread_id: str,
        after: int | None,
        deltas: bool,
    ) -> None:
        self.engine, self.library, self.principal = engine, library, principal
        self.thread_id, self.after, self.deltas = thread_id, after, deltas
        self.shown: dict[str, tuple[int, int]] = {}
        self.waiting: str | None = None

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the framed events until the run has ended or was removed, or the caller may no longer see it."""
        with follow_answers(self.engine, self.thread_id) if self.deltas else nullcontext():
            async for event in self._events():
                yield event

    async def _events(self) -> AsyncIterator[bytes]:
        delta_at = self.engine.events.seq
        seq, ended, frames = await asyncio.to_thread(self._first)
        for piece in frames:
            yield piece
        sent_at = checked = time.monotonic()
        while not ended:
            await asyncio.sleep(EVERY)
            at = time.monotonic()
            if self.engine.events.closed or not self.engine.is_started:
                return
            if at - checked >= QUIET:
                checked = at
                if not self.engine.auth.still_valid(self.principal):
                    return
            if self.deltas:
                delta_at, deltas = await asyncio.to_thread(self._new_deltas, delta_at)
                for body in deltas:
                    yield self._event(seq, MODEL_DELTA, data=body)
            seq, ended, frames = await asyncio.to_thread(self._more, seq)
            for piece in frames:
                yield piece
                sent_at = at
            if at - sent_at >= QUIET:
                yield ALIVE
                sent_at = at
        yield self._event(seq, "end")

    def _first(self) -> tuple[int, bool, list[bytes]]:
        """Return the snapshot, and where to continue: after the last event received, otherwise from now."""
        with self.library.db.read() as conn:
            run = find_run(conn, self.thread_id)
            oldest, newest = log_span(conn)
            if run is None:
                return newest, True, []
            frames = []
            seq = newest if self.after is None else self.after
            # Lines after the number requested may have been deleted, as the oldest one stored shows.
            if self.after is not None and (self.after > newest or 0 < self.after < oldest - 1):
                frames.append(
                    frame(newest, "resync", {"seq": newest, "thread_id": self.thread_id, "kind": "resync"})
                )
                seq = newest
            state = {"run": run, "nodes": nodes_of(conn, self.thread_id)}
        frames.append(self._event(seq, "snapshot", done=run["pages_done"], total=run["pages"], data=state))
        return seq, run["status"] in FINISHED and seq >= newest, frames

    def _more(self, seq: int) -> tuple[int, bool, list[bytes]]:
        with self.library.db.read() as conn:
            run = find_run(conn, self.thread_id)
            lines = thread_lines(conn, self.thread_id, after=seq, limit=AT_ONCE)
            nodes = nodes_of(conn, self.thread_id) if run is not None else []
            lane = self._lane(conn)
        frames = [self._line(*line) for line in lines]
        seq = lines[-1][0] if lines else seq
        for node in nodes:
            counts = (node["done"], node["total"])
            if node["status"] == "running" and counts[1] and self.shown.get(node["node_id"]) != counts:
                self.shown[node["node_id"]] = counts
                frames.append(
                    self._event(
                        seq, "node_progress", node_id=node["node_id"], done=counts[0], total=counts[1]
                    )
                )
        if lane is not None and lane != self.waiting:
            frames.append(self._event(seq, "lane_waiting", message=f"Waits for the lane {lane}."))
        self.waiting = lane
        ended = run is None or (run["status"] in FINISHED and len(lines) < AT_ONCE)
        return seq, ended, frames

    def _lane(self, conn: Connection) -> str | None:
        """Return the lane that pages of the run are waiting for while none is being worked on."""
        sql = (
            f"SELECT kind, lane FROM {jobs} WHERE thread_id = ?1 AND state = 'waiting' AND handed_in_by IS NOT NULL "
            f"AND NOT EXISTS (SELECT 1 FROM {jobs} j WHERE j.thread_id = ?1 AND j.state = 'running' AND j.body_done = 0) LIMIT 1"
        )
        row = raw_of(conn).execute(sql, (self.thread_id,)).fetchone()
        return self.engine.kinds.lane_of(row[0], row[1]) if row is not None else None

    def _line(self, seq: int, at: str, row_id: str, level: str, message: str, text: str) -> bytes:
        data = orjson.loads(text)
        kind = data.pop("type", "log")
        _, _, node_id = row_id.partition(":")
        fields = {
            "node_id": node_id or None,
            "document_id": data.pop("document_id", None),
            "error": data.pop("error", None),
        }
        return self._event(seq, kind, at=at, message=message, data={**data, "level": level}, **fields)

    def _event(self, seq: int, kind: str, **fields: Any) -> bytes:
        fields = {name: value for name, value in fields.items() if value is not None}
        return frame(
            seq,
            kind,
            {"seq": seq, "at": now(), "thread_id": self.thread_id, "kind": kind, "data": {}, **fields},
        )

    def _new_deltas(self, after: int) -> tuple[int, list[dict[str, Any]]]:
        events = self.engine.events.since(after)
        if events is None:
            return self.engine.events.seq, []
        mine = [
            event.data
            for event in events
            if event.kind == MODEL_DELTA and event.data.get("thread_id") == self.thread_id
        ]
        if mine:
            ids = [delta[name] for delta in mine for name in ("document_id", "segment_id") if delta.get(name)]
            hidden = find_withheld(self.library, self.principal, ids, "show")
            mine = [
                delta
                for delta in mine
                if not {delta.get("document_id"), delta.get("segment_id")} & hidden.keys()
            ]
        return events[-1].seq if events else after, mine
