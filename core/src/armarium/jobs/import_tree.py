"""An import as a tree of its stages: the row `derivatives` of the list of jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from armarium.jobs.kinds import STAGE_TITLES
from armarium.jobs.sight import QueueView, open_sight

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner
    from armarium.projects.libraries import Library

DERIVATIVES = "derivatives"


def import_goes_on(sight: QueueView) -> bool:
    """Return whether the list shows the import row: a job of an import waits or runs."""
    kinds = sight.runner.kinds.import_kinds()
    if not kinds:
        return False
    marks = ", ".join("?" * len(kinds))
    return (
        sight.raw.execute(
            f"SELECT 1 FROM job WHERE state IN ('waiting', 'running') AND kind IN ({marks}) LIMIT 1", kinds
        ).fetchone()
        is not None
    )


def derivatives(sight: QueueView) -> dict[str, Any]:
    """Return the latest import of one project: the row `derivatives` with a node for each stage."""
    kinds = sight.runner.kinds
    since = _import_began(sight)
    stages = [_stage(sight, stage, since) for stage in kinds.stages]
    return _import_row(stages, sight.path)


def derivatives_of(runner: JobRunner, libraries: Iterable[Library | None]) -> dict[str, Any]:
    """Return `GET /api/activity/jobs/derivatives` over *libraries*, with their stages added up."""
    found: list[dict[str, Any]] = []
    for library in libraries:
        with open_sight(runner, library) as sight:
            found.append(derivatives(sight))
    return merged_import(found)


def _import_began(sight: QueueView) -> int | None:
    """Return the first row of the current import, or of the last one; None when there was none.

    Its stages need not lie under one job: all work of its kinds that overlaps in time belongs to an import, so what is
    counted once stays counted until the next import begins.
    """
    kinds = sight.runner.kinds.import_kinds()
    if not kinds:
        return None
    marks = ", ".join("?" * len(kinds))
    reading = sight.runner.kinds.of_stage("read-files")
    latest = _latest(sight, reading) or _latest(sight, kinds)
    (live,) = sight.raw.execute(
        f"SELECT min(seq) FROM job WHERE state IN ('waiting', 'running') AND kind IN ({marks})", kinds
    ).fetchone()
    first = min((seq for seq in (latest, live) if seq is not None), default=None)
    earlier = first
    while earlier is not None:
        first = earlier
        (earlier,) = sight.raw.execute(
            f"SELECT min(seq) FROM job WHERE kind IN ({marks}) AND seq < ?"
            " AND finished_at >= (SELECT created_at FROM job WHERE seq = ?)",
            (*kinds, first, first),
        ).fetchone()
    return first


def _latest(sight: QueueView, kinds: list[str]) -> int | None:
    marks = ", ".join("?" * len(kinds))
    (seq,) = sight.raw.execute(f"SELECT max(seq) FROM job WHERE kind IN ({marks})", kinds).fetchone()
    return None if seq is None else int(seq)


def _stage(sight: QueueView, stage: str, since: int | None) -> dict[str, Any]:
    names = sight.runner.kinds.of_stage(stage)
    title = STAGE_TITLES.get(stage, stage)
    states: Counter[str] = Counter()
    done = total = 0
    reason: str | None = None
    code: str | None = None
    if names and since is not None:
        marks = ", ".join("?" * len(names))
        finished = 0
        for state, count, own_done, own_total in sight.raw.execute(
            "SELECT state, count(*), sum(own_done), sum(own_total) FROM job "
            f"WHERE seq >= ? AND kind IN ({marks}) GROUP BY state",
            (since, *names),
        ).fetchall():
            states[state] += count
            done += own_done
            total += own_total
            finished += count if state not in ("waiting", "running") else 0
        if total == 0:
            done, total = finished, sum(states.values())
        waiting = sight.waiting(names) if states["waiting"] else []
        paused = [row for row in waiting if sight.state(row) == "paused"]
        states["paused"], states["waiting"] = len(paused), len(waiting) - len(paused)
        if states["waiting"]:
            first = next(row for row in waiting if sight.state(row) != "paused")
            reason, code = sight.reason(first, "waiting")
    lane = next((kind.lane for kind in sight.runner.kinds if kind.name in names), None)
    return _stage_node(
        stage, _combine_states(states), title, done, total, reason, code, sight.path, lane, DERIVATIVES
    )


def _combine_states(states: Counter[str]) -> str:
    """Return one state for many jobs: unfinished states take precedence over final ones."""
    for state in ("running", "waiting", "paused", "failed"):
        if states[state]:
            return state
    return "cancelled" if states["cancelled"] and not states["done"] else "done"


_REASONS = {
    "paused": ("Paused by a person; resume it to continue.", "paused"),
    "failed": ("Some of it failed; the log says what and why.", None),
}


def _stage_node(
    node_id: str,
    state: str,
    title: str,
    done: int,
    total: int,
    reason: str | None,
    code: str | None,
    path: str | None,
    lane: str | None,
    parent_id: str | None,
) -> dict[str, Any]:
    if state in _REASONS:
        reason, code = _REASONS[state]
    elif state == "done" and total == 0:
        reason = "Nothing to do."
    elif state != "waiting":
        reason, code = None, None
    live = state in ("waiting", "paused")
    return {
        "id": node_id,
        "state": state,
        "reason": reason,
        "reason_code": code,
        "done": done,
        "total": total,
        "parent_id": parent_id,
        "kind": node_id,
        "title": title,
        "lane": lane,
        "model": None,
        "subject": None,
        "thread_id": None,
        "attempts": 0,
        "started_by": None,
        "created_at": None,
        "started_at": None,
        "finished_at": None,
        "library_path": path,
        "can": {"pause": live or state == "running", "cancel": live or state == "running", "retry": False},
    }


def _import_row(stages: list[dict[str, Any]], path: str | None) -> dict[str, Any]:
    states = Counter(stage["state"] for stage in stages if stage["total"])
    done = sum(stage["done"] for stage in stages)
    total = sum(stage["total"] for stage in stages)
    first = next((stage for stage in stages if stage["state"] == "waiting"), None)
    row = _stage_node(
        DERIVATIVES,
        _combine_states(states),
        "Import",
        done,
        total,
        first["reason"] if first else None,
        first["reason_code"] if first else None,
        path,
        None,
        None,
    )
    return {**row, "children": stages, "stages": stages}


def merged_import(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge the import rows of several projects, stage by stage."""
    if len(found) == 1:
        return found[0]
    stages: list[dict[str, Any]] = []
    for group in zip(*(one["stages"] for one in found), strict=True):
        states = Counter(stage["state"] for stage in group if stage["total"])
        waiting = next((stage for stage in group if stage["state"] == "waiting"), group[0])
        stages.append(
            _stage_node(
                group[0]["id"],
                _combine_states(states),
                group[0]["title"],
                sum(stage["done"] for stage in group),
                sum(stage["total"] for stage in group),
                waiting["reason"],
                waiting["reason_code"],
                None,
                group[0]["lane"],
                DERIVATIVES,
            )
        )
    return _import_row(stages, None)
