"""Picks a job for a lane inside a write transaction: order, conditions, and fairness."""

from __future__ import annotations

import sqlite3
import time
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from armarium.ids import now
from armarium.jobs.claims import PATIENCE, Claim, any_holds, next_due, select
from armarium.jobs.conditions import hindrance
from armarium.jobs.context import JobContext
from armarium.jobs.ending import Changes, Ending, end
from armarium.jobs.kinds import GROUPING_LANES, JobKind
from armarium.jobs.log import write_lines
from armarium.jobs.queue import loads
from armarium.jobs.store import ClaimedJob, JobStore
from armarium.store.database import raw_of

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner

RECHECK_SECONDS = 2.0
"""Seconds after which work held back by the machine's condition is considered again."""

FIRST_PATIENCE = 60.0
"""Seconds heavy work waits for work marked first; then it goes ahead, so that neither starves."""

MOST_AHEAD = 31
"""How many quick jobs a lane picks up together with one, so that their rows are written in one transaction."""

QUICK_SECONDS = 0.005
"""Seconds; a body that ends within this time is quick, and more jobs of its kind are picked up at once."""

TOGETHER_SECONDS = 0.05
"""Seconds the end of a quick job may wait to be written together with others."""

LATE_SECONDS = 0.5
"""Seconds after which jobs that were picked up ahead and have not begun are put back, because one before them was not
quick.
"""


@dataclass
class Lane:
    """One lane: how many jobs run at a time, which model it used last, and the state for fairness."""

    name: str
    width: int
    model: str | None = None
    served: JobStore | None = None
    """The project that had the last turn."""
    picks: int = 0
    passed_over: dict[int, int] = field(default_factory=dict)
    """Store (by identity) to the number of times in a row its oldest job was passed over."""
    running: int = 0
    quick: dict[str, int] = field(default_factory=dict)
    """Kind to the number of its jobs that may be picked up ahead; doubled as long as they are quick."""
    ahead: deque[tuple[JobStore, ClaimedJob]] = field(default_factory=deque)
    """Jobs that were picked up ahead and have not begun. Any thread of the lane may begin them."""
    late_at: float = 0.0
    """When these are put back."""
    ended: list[tuple[JobStore, Ending, ClaimedJob]] = field(default_factory=list)
    """Jobs whose bodies have ended, to be written with the next pick."""
    write_at: float = 0.0
    """When they are written if jobs are still in `ahead`."""

    def learn(self, kind: JobKind, seconds: float, how: Ending) -> bool:
        """Record how long a body took; return whether it was quick."""
        quick = seconds < QUICK_SECONDS and how.state == "done" and how.reason_code is None
        before = self.quick.get(kind.name, 0)
        self.quick[kind.name] = min(2 * before + 1, MOST_AHEAD) if quick else 0
        return quick

    def take_ended(self) -> list[tuple[JobStore, Ending, ClaimedJob]]:
        """Return the ends to be written and forget them here."""
        ended, self.ended = self.ended, []
        return ended


@dataclass(slots=True)
class _Option:
    claim: Claim
    kind: JobKind
    watched: bool


def pick(
    runner: JobRunner, store: JobStore, lane: Lane, conn: Connection, changes: Changes, *, alone: bool = False
) -> list[ClaimedJob]:
    """Return the next job of *store* for *lane*, its row marked as running; none when none may start.

    Together with those that follow it, where *alone* (only this store wants the lane) and the last jobs of its kind
    were quick. A job whose body had ended already has nothing to run and ends here; *changes* receives the
    consequences.
    """
    raw = raw_of(conn)
    while not store.closing and runner.mode != "paused":
        options = _options(runner, store, lane, raw)
        if not options:
            break
        chosen = _choose(store, lane, options)
        claim, heavy = chosen.claim, chosen.kind.heavy_in(lane.name)
        if claim.body_done:
            # Retried for the sake of its children: marked as running, it would look like one that waits for them.
            at = now()
            ended = Ending(
                claim.seq, claim.id, "done", claim.attempts + 1, claim.started_at or at, at, claim.parent_id
            )
            changes.add(end(conn, [ended]))
            continue
        if heavy and not runner.take_heavy(store, chosen.watched):
            break
        try:
            following = _select_following(store, lane, raw, chosen, options) if alone else []
            return _take(runner, store, lane, conn, chosen.kind, [claim, *following])
        except BaseException:
            if heavy:
                runner.give_heavy_back()
            raise
    return []


def _select_following(
    store: JobStore, lane: Lane, raw: sqlite3.Connection, chosen: _Option, options: list[_Option]
) -> list[Claim]:
    """Return the jobs that follow the chosen one and are expected to be quick, where nothing else waits for the lane.

    An interrupted job is picked up alone: if it is what kills the engine, that must not count against others.
    """
    claim, kind = chosen.claim, chosen.kind
    count = lane.quick.get(kind.name, 0)
    if not count or lane.name not in GROUPING_LANES or not kind.may_be_grouped or claim.interruptions:
        return []
    if any(option.claim.seq < claim.seq or option.kind is not kind for option in options):
        return []
    watched = store.list_watched() if chosen.watched and not store.all_watched else ()
    claims = select(
        raw,
        kind,
        lane.name,
        limit=count + 1,
        model=claim.model,
        same_model=True,
        watched=watched,
        any_holds=any_holds(raw),
    )
    return [
        candidate
        for candidate in claims
        if candidate.seq != claim.seq and not candidate.interruptions and not candidate.body_done
    ]


def _take(
    runner: JobRunner,
    store: JobStore,
    lane: Lane,
    conn: Connection,
    kind: JobKind,
    claims: list[Claim],
) -> list[ClaimedJob]:
    """Mark the rows of the chosen jobs as running, and register them as picked up."""
    raw = raw_of(conn)
    holder, until = runner.lease()
    at = now()
    raw.executemany(
        "UPDATE job SET state = 'running', lease_holder = ?, lease_until = ?, started_at = COALESCE(started_at, ?), "
        "attempts = attempts + 1, reason = NULL, reason_code = NULL, not_before = NULL WHERE seq = ?",
        [(holder, until, at, claim.seq) for claim in claims],
    )
    begun = [
        (
            claim.id,
            "info",
            "Begun.",
            {"type": "page_started", "document_id": (loads(claim.subject) or {}).get("id")},
        )
        for claim in claims
        if claim.handed_in_by is not None
    ]
    if begun:
        write_lines(conn, begun)
    if not kind.first and not select(raw, kind, lane.name, limit=1, any_holds=any_holds(raw)):
        # Determined in the same transaction, so that the lane need not begin another one to learn that there is none.
        _none_left(store, lane, kind, raw)
    if claims[0].model is not None:
        lane.model = claims[0].model
    picked = [ClaimedJob(claim, kind, lane.name, JobContext(runner, store, claim, kind)) for claim in claims]
    with store.lock:
        store.picked.update((claimed.claim.seq, claimed) for claimed in picked)
    return picked


def _none_left(store: JobStore, lane: Lane, kind: JobKind, raw: sqlite3.Connection) -> None:
    """Record that no job of *kind* may start now: the lane need not look for one until the keeper finds some."""
    store.maybe.discard((kind.name, lane.name))
    due = next_due(raw)
    if due is not None:
        store.recheck_in(due)


def _options(runner: JobRunner, store: JobStore, lane: Lane, raw: sqlite3.Connection) -> list[_Option]:
    """Return the head of each kind's queue, also for the loaded model and for watched work, where it may start now."""
    holds = any_holds(raw)
    watched = store.list_watched()
    offline = runner.offline
    options: list[_Option] = []
    for kind in runner.kinds:
        if (kind.name, lane.name) not in store.maybe:
            continue
        if kind.needs_network and offline:
            store.maybe.discard((kind.name, lane.name))
            continue
        next_of = partial(select, raw, kind, lane.name, limit=1, any_holds=holds)
        claims = next_of()
        if not claims:
            _none_left(store, lane, kind, raw)
            if kind.first and store.first_since is not None:
                store.first_since = None
                runner.look_again(store)
            continue
        mine = [_Option(claims[0], kind, store.all_watched or claims[0].id in watched)]
        if lane.model is not None and claims[0].model != lane.model:
            same_model = next_of(model=lane.model, same_model=True)
            mine += [_Option(claim, kind, store.all_watched) for claim in same_model]
        if watched:
            mine += [_Option(claim, kind, True) for claim in next_of(watched=watched)]
        if kind.heavy_in(lane.name):
            mine = [option for option in mine if _may_start(runner, store, option)]
            if mine and _first_waits(runner, store, raw, holds):
                mine = []
        options += mine
    return options


def _may_start(runner: JobRunner, store: JobStore, option: _Option) -> bool:
    """Return whether the machine allows a heavy job now; when not, it is checked again soon."""
    code = hindrance(
        runner.conditions.now(), heavy_running=runner.heavy_running, mode=runner.mode, watched=option.watched
    )
    if code is not None:
        store.recheck_in(RECHECK_SECONDS)
    return code is None


def _first_waits(runner: JobRunner, store: JobStore, raw: sqlite3.Connection, holds: bool) -> bool:
    """Return whether work marked first still waits, so that heavy work waits too (a minute at most)."""
    for kind in runner.kinds:
        if not kind.first:
            continue
        for lane in kind.lanes:
            if (kind.name, lane) in store.maybe and select(raw, kind, lane, limit=1, any_holds=holds):
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
    """Return the best option; the oldest one after it was passed over too often."""

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
