"""Picking up work for one lane inside a write transaction: the order of A 4.11, conditions, and whose turn it is."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from armarium.ids import now
from armarium.jobs.claims import PATIENCE, Claim, any_holds, next_due, select, wanted
from armarium.jobs.conditions import hindrance
from armarium.jobs.kinds import JobKind
from armarium.jobs.store import JobStore, Picked

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner

MOST_AT_ONCE = 256
"""How many small jobs of one kind a lane picks up in one transaction at most."""

SLICE_SECONDS = 0.02
"""How long the jobs picked up together should take; a longer kind is picked up one by one."""

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


class Pace:
    """How long jobs of each kind took lately; so small ones are picked up many at a time."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._batch: dict[str, int] = {}

    def batch(self, kind: JobKind) -> int:
        """How many jobs of *kind* to pick up together: one until it is known to be quick, then at most double."""
        seconds = self._seconds.get(kind.name)
        if kind.heavy or seconds is None:
            return 1
        fits = int(SLICE_SECONDS / max(seconds, 1e-6))
        return max(1, min(fits, MOST_AT_ONCE, 2 * self._batch.get(kind.name, 1)))

    def quick(self, kind: JobKind) -> bool:
        """Whether jobs of *kind* are known to be over in a few milliseconds."""
        return not kind.heavy and self._seconds.get(kind.name, 1.0) < SLICE_SECONDS / 4

    def note(self, kind: JobKind, jobs: int, seconds: float) -> None:
        """*jobs* of *kind* took *seconds* together."""
        each = seconds / max(jobs, 1)
        before = self._seconds.get(kind.name)
        # Slower counts at once, quicker little by little: a slow job must not hold many behind it.
        self._seconds[kind.name] = each if before is None or each > before else 0.7 * before + 0.3 * each
        self._batch[kind.name] = jobs


def pick(runner: JobRunner, store: JobStore, lane: Lane, raw: sqlite3.Connection) -> list[Picked]:
    """Jobs of *store* for *lane*, marked in the row (the first) and in memory (all); empty when none may start."""
    if store.closing or runner.mode == "paused":
        return []
    options = _options(runner, store, lane, raw)
    if not options:
        return []
    chosen = _choose(store, lane, options)
    if chosen.kind.heavy_in(lane.name) and not runner.take_heavy(store, chosen.watched):
        return []
    try:
        picked = _take(runner, store, lane, raw, chosen)
    except BaseException:
        if chosen.kind.heavy_in(lane.name):
            runner.give_heavy_back()
        raise
    if chosen.claim.model is not None:
        lane.model = chosen.claim.model
    if not chosen.kind.first:
        # Found out in the same transaction, so that the lane need not begin another to learn that there is none.
        skip = store.skip(chosen.kind.name)
        if not select(raw, wanted(chosen.kind, lane.name), limit=1, skip=skip, any_holds=any_holds(raw)):
            _none_left(store, lane, chosen.kind, raw)
    return picked


def _none_left(store: JobStore, lane: Lane, kind: JobKind, raw: sqlite3.Connection) -> None:
    """No job of *kind* may start now: the lane need not look for one until the keeper finds some."""
    store.maybe.discard((kind.name, lane.name))
    due = next_due(raw)
    if due is not None:
        store.recheck_in(due)


def _take(
    runner: JobRunner, store: JobStore, lane: Lane, raw: sqlite3.Connection, chosen: _Option
) -> list[Picked]:
    """The chosen job and, when its kind is quick, as many of the same kind and model as fit a time slice."""
    claims = [chosen.claim]
    batch = 1 if chosen.claim.interruptions or chosen.claim.body_done else runner.pace.batch(chosen.kind)
    if batch > 1:
        more = select(
            raw,
            wanted(chosen.kind, lane.name),
            limit=batch,
            skip=store.skip(chosen.kind.name) | {chosen.claim.seq},
            model=chosen.claim.model,
            same_model=True,
            any_holds=any_holds(raw),
        )
        claims += [c for c in more if not c.interruptions and not c.body_done][: batch - 1]
    # A quick job is not worth a commit of its own to say that it runs: its end is written soon, its first effect
    # says so too, and a crash only runs it again. The first of its kind after a start, and one that was interrupted,
    # are marked, so that a job which brings the engine down is counted. One whose body had ended has nothing to run:
    # were it marked, a crash would leave it running for ever, as one that waits for its children.
    marked = not chosen.claim.body_done and (
        bool(chosen.claim.interruptions) or not runner.pace.quick(chosen.kind)
    )
    if marked:
        holder, until = runner.lease()
        raw.execute(
            "UPDATE job SET state = 'running', lease_holder = ?, lease_until = ?, started_at = ?, "
            "attempts = attempts + 1, reason = NULL, reason_code = NULL, not_before = NULL WHERE seq = ?",
            (holder, until, now(), chosen.claim.seq),
        )
    picked = [
        Picked(claim, chosen.kind, lane.name, marked=marked and place == 0)
        for place, claim in enumerate(claims)
    ]
    with store.lock:
        store.picked.update((one.claim.seq, one) for one in picked)
    return picked


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
        ask = wanted(kind, lane.name)
        skip = store.skip(kind.name)
        found = select(raw, ask, limit=1, skip=skip, any_holds=holds)
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
                for claim in select(
                    raw, ask, limit=1, skip=skip, model=lane.model, same_model=True, any_holds=holds
                )
            ]
        if watched:
            mine += [
                _Option(claim, kind, True)
                for claim in select(raw, ask, limit=1, skip=skip, watched=watched, any_holds=holds)
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
            if (kind.name, lane) in store.maybe and select(raw, wanted(kind, lane), limit=1, any_holds=holds):
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
