"""Picking up one job for a lane inside a write transaction: order, conditions, and whose turn it is."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from armarium.ids import now
from armarium.jobs.claims import PATIENCE, Claim, any_holds, lane_question, next_due, select
from armarium.jobs.conditions import hindrance
from armarium.jobs.context import JobContext
from armarium.jobs.ending import Changes, Ending, end
from armarium.jobs.kinds import JobKind
from armarium.jobs.log import write_lines
from armarium.jobs.queue import loads
from armarium.jobs.store import ClaimedJob, JobStore
from armarium.store.database import raw_of

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner

RECHECK_SECONDS = 2.0
"""How soon work that the machine's condition holds is looked at again."""

FIRST_PATIENCE = 60.0
"""Seconds heavy work waits for work marked first; then it goes ahead, so that neither starves."""


@dataclass
class Lane:
    """One lane: how many jobs run at a time, which model it worked with last, and its sense of fairness."""

    name: str
    width: int
    model: str | None = None
    served: JobStore | None = None
    """The library that had the last turn."""
    picks: int = 0
    passed_over: dict[int, int] = field(default_factory=dict)
    """Store (by identity) to how often in a row its oldest job was passed over."""
    running: int = 0


@dataclass(slots=True)
class _Option:
    claim: Claim
    kind: JobKind
    watched: bool


def pick(
    runner: JobRunner, store: JobStore, lane: Lane, conn: Connection, changes: Changes
) -> ClaimedJob | None:
    """The next job of *store* for *lane*, its row marked as running; None when none may start.

    One whose body had ended has nothing to run and ends here: *changes* takes what that changes.
    """
    raw = raw_of(conn)
    while not store.closing and runner.mode != "paused":
        options = _options(runner, store, lane, raw)
        if not options:
            break
        chosen = _choose(store, lane, options)
        claim, heavy = chosen.claim, chosen.kind.heavy_in(lane.name)
        if claim.body_done:
            # Retried for the sake of its children: marked as running it would pass for one that waits for them.
            at = now()
            ended = Ending(claim.seq, claim.id, "done", claim.attempts + 1, at, at, claim.parent_id)
            changes.add(end(conn, [ended]))
            continue
        if heavy and not runner.take_heavy(store, chosen.watched):
            break
        try:
            return _take(runner, store, lane, conn, chosen)
        except BaseException:
            if heavy:
                runner.give_heavy_back()
            raise
    return None


def _take(runner: JobRunner, store: JobStore, lane: Lane, conn: Connection, chosen: _Option) -> ClaimedJob:
    """Mark the chosen job's row, and know it as picked up."""
    raw = raw_of(conn)
    claim, kind = chosen.claim, chosen.kind
    holder, until = runner.lease()
    raw.execute(
        "UPDATE job SET state = 'running', lease_holder = ?, lease_until = ?, started_at = ?, "
        "attempts = attempts + 1, reason = NULL, reason_code = NULL, not_before = NULL WHERE seq = ?",
        (holder, until, now(), claim.seq),
    )
    if claim.handed_in_by is not None:
        subject = loads(claim.subject) or {}
        data = {"type": "page_started", "document_id": subject.get("id")}
        write_lines(conn, [(claim.id, "info", "Begun.", data)])
    if not kind.first and not select(raw, lane_question(kind, lane.name), limit=1, any_holds=any_holds(raw)):
        # Found out in the same transaction, so that the lane need not begin another to learn that there is none.
        _none_left(store, lane, kind, raw)
    if claim.model is not None:
        lane.model = claim.model
    picked = ClaimedJob(claim, kind, lane.name, JobContext(runner, store, claim, kind))
    with store.lock:
        store.picked[claim.seq] = picked
    return picked


def _none_left(store: JobStore, lane: Lane, kind: JobKind, raw: sqlite3.Connection) -> None:
    """No job of *kind* may start now: the lane need not look for one until the keeper finds some."""
    store.maybe.discard((kind.name, lane.name))
    due = next_due(raw)
    if due is not None:
        store.recheck_in(due)


def _options(runner: JobRunner, store: JobStore, lane: Lane, raw: sqlite3.Connection) -> list[_Option]:
    """The head of each kind's queue, for the loaded model and for watched work too, where it may start now."""
    holds = any_holds(raw)
    watched = store.watched()
    offline = runner.offline
    options: list[_Option] = []
    for kind in runner.kinds:
        if (kind.name, lane.name) not in store.maybe:
            continue
        if kind.needs_network and offline:
            store.maybe.discard((kind.name, lane.name))
            continue
        ask = lane_question(kind, lane.name)
        found = select(raw, ask, limit=1, any_holds=holds)
        if not found:
            _none_left(store, lane, kind, raw)
            if kind.first and store.first_since is not None:
                store.first_since = None
                runner.look_again(store)
            continue
        mine = [_Option(found[0], kind, store.all_watched or found[0].id in watched)]
        if lane.model is not None and found[0].model != lane.model:
            mine += [
                _Option(claim, kind, store.all_watched)
                for claim in select(raw, ask, limit=1, model=lane.model, same_model=True, any_holds=holds)
            ]
        if watched:
            mine += [
                _Option(claim, kind, True)
                for claim in select(raw, ask, limit=1, watched=watched, any_holds=holds)
            ]
        if kind.heavy_in(lane.name):
            mine = [option for option in mine if _may_start(runner, store, option)]
            if mine and _first_waits(runner, store, raw, holds):
                mine = []
        options += mine
    return options


def _may_start(runner: JobRunner, store: JobStore, option: _Option) -> bool:
    """Whether the machine suits a heavy job now; when not, it is looked at again soon."""
    code = hindrance(
        runner.conditions.now(), heavy_running=runner.heavy_running, mode=runner.mode, watched=option.watched
    )
    if code is not None:
        store.recheck_in(RECHECK_SECONDS)
    return code is None


def _first_waits(runner: JobRunner, store: JobStore, raw: sqlite3.Connection, holds: bool) -> bool:
    """Whether work marked first still waits, so that heavy work does too (a minute at most)."""
    for kind in runner.kinds:
        if not kind.first:
            continue
        for lane in kind.lanes:
            if (kind.name, lane) in store.maybe and select(
                raw, lane_question(kind, lane), limit=1, any_holds=holds
            ):
                at = time.monotonic()
                if store.first_since is None:
                    store.first_since = at
                if at - store.first_since > FIRST_PATIENCE:
                    return False
                store.recheck_in(RECHECK_SECONDS)
                return True
    store.first_since = None
    return False


def _choose(store: JobStore, lane: Lane, options: list[_Option]) -> _Option:
    """The option that comes first; the oldest one after it was passed over too often."""

    def order(option: _Option) -> tuple[bool, bool, bool, int]:
        fits = lane.model is not None and option.claim.model == lane.model
        return (not option.watched, not option.kind.first, not fits, option.claim.seq)

    chosen = min(options, key=order)
    oldest = min(options, key=lambda option: option.claim.seq)
    if chosen.claim.seq == oldest.claim.seq:
        lane.passed_over[id(store)] = 0
        return chosen
    passed = lane.passed_over.get(id(store), 0) + 1
    if passed > PATIENCE:
        lane.passed_over[id(store)] = 0
        return oldest
    lane.passed_over[id(store)] = passed
    return chosen
