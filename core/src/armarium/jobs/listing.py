"""Answers about many jobs: the list a person sees, counted rows, the import as a tree of its stages (A 4.11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from armarium.errors import NotFound
from armarium.ids import now, parse_timestamp, timestamp
from armarium.jobs.kinds import LANES, STAGE_TITLES
from armarium.jobs.models import FAILED_SHOWN_DAYS
from armarium.jobs.sight import Row, Sight

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner
    from armarium.libraries import Library

DERIVATIVES = "derivatives"

MOST_FAILED = 500
"""How many failed jobs of one library the list shows, the latest of them."""


@dataclass
class Shown:
    """The parts of the list, in the order they are shown."""

    running: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[dict[str, Any]] = field(default_factory=list)
    paused: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    lanes_waiting: Counter[str] = field(default_factory=Counter)


def list_jobs(runner: JobRunner, libraries: Iterable[Library | None]) -> dict[str, Any]:
    """`GET /api/activity/jobs` over *libraries* (None stands for the engine's own jobs)."""
    shown = Shown()
    imports: list[dict[str, Any]] = []
    for library in libraries:
        with _database(runner, library) as raw:
            sight = Sight(runner, library, raw)
            _collect(sight, shown)
            if import_goes_on(sight):
                imports.append(derivatives(sight))
    items = [_merged_import(imports)] if imports else []
    for node in items:
        node.pop("children", None)
        node.pop("stages", None)
    items += [*shown.running, *_merged(shown.waiting), *_merged(shown.paused), *shown.failed]
    running = runner.counts()
    standing = runner.conditions.now()
    return {
        "items": items,
        "count": len(items),
        "paused": runner.mode == "paused",
        "mode": runner.mode,
        "lanes": [
            {"lane": lane, "width": width, "running": running[lane], "waiting": shown.lanes_waiting[lane]}
            for lane, width in LANES.items()
        ],
        "conditions": standing.shown(),
    }


def _database(runner: JobRunner, library: Library | None) -> Any:
    return (library.db if library is not None else runner.engine.state).read_raw()


def _collect(sight: Sight, shown: Shown) -> None:
    for one in sight.rows("state = 'running'"):
        node = sight.node(one)
        (shown.paused if node["state"] == "paused" else shown.running).append(node)
    early = [row for job_id in sight.executing if (row := sight.row(job_id)) and row.state == "waiting"]
    shown.running += [sight.node(row) for row in early]
    begun = Counter(row.kind for row in early)
    for (kind, lane, paused), (count, first) in _waiting_counts(sight).items():
        count -= begun.pop(kind, 0) if not paused else 0
        if count <= 0:
            continue
        row = sight.rows("seq = ?", (first,))[0]
        state = "paused" if paused else "waiting"
        if not paused:
            shown.lanes_waiting[sight.runner.kinds.lane_of(kind, lane)] += count
        node = sight.counted(row, count, state) if count > 1 else sight.node(row)
        (shown.paused if paused else shown.waiting).append(node)
    since = timestamp(parse_timestamp(now()) - timedelta(days=FAILED_SHOWN_DAYS))
    shown.failed += [
        sight.node(row)
        for row in reversed(
            sight.rows(
                "state = 'failed' AND finished_at >= ? AND id NOT IN "
                "(SELECT job_id FROM job_hold WHERE cleared_at IS NOT NULL)",
                (since,),
            )[-MOST_FAILED:]
        )
    ]


def _waiting_counts(sight: Sight) -> dict[tuple[str, str | None, bool], tuple[int, int]]:
    """(kind, lane, paused) to (how many wait, the oldest row)."""
    found: dict[tuple[str, str | None, bool], tuple[int, int]] = {}
    for kind, lane, count, first in sight.raw.execute(
        "SELECT kind, lane, count(*), min(seq) FROM job WHERE state = 'waiting' GROUP BY kind, lane"
    ):
        found[kind, lane, False] = (count, first)
    if not sight.held:
        return found
    held_rows = [row for job_id in sight.held if (row := sight.row(job_id)) and row.state == "waiting"]
    for row in held_rows:
        if row.id in sight.executing:
            continue
        count, first = found.get((row.kind, row.lane, True), (0, row.seq))
        found[row.kind, row.lane, True] = (count + 1, min(first, row.seq))
        count, first = found[row.kind, row.lane, False]
        found[row.kind, row.lane, False] = (count - 1, first)
    for (kind, lane, paused), (count, first) in list(found.items()):
        if not paused and count > 0 and any(row.seq == first for row in held_rows):
            free = next(
                row.seq
                for row in sight.rows("state = 'waiting' AND kind = ? AND lane IS ?", (kind, lane))
                if row.id not in sight.held
            )
            found[kind, lane, False] = (count, free)
    return found


def _merged(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the same kind from several libraries or lanes as one counted row."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for node in nodes:
        by_kind.setdefault(node["kind"], []).append(node)
    merged: list[dict[str, Any]] = []
    for kind, group in by_kind.items():
        if len(group) == 1:
            merged.append(group[0])
            continue
        total = sum(node["total"] if ":" in node["id"] and node["id"].endswith(kind) else 1 for node in group)
        paths = {node["library_path"] for node in group}
        counted = next((node for node in group if node["id"] == f"{node['state']}:{kind}"), group[0])
        merged.append(
            {
                **counted,
                "id": f"{counted['state']}:{kind}",
                "done": 0,
                "total": total,
                "parent_id": None,
                "library_path": paths.pop() if len(paths) == 1 else None,
                "can": {"pause": True, "cancel": True, "retry": False},
            }
        )
    return merged


def targets(sight: Sight, job_id: str) -> list[Row]:
    """The jobs a counted row or the import row stands for that have not started; empty for any other id."""
    state, _, kind = job_id.partition(":")
    if job_id == DERIVATIVES:
        kinds = sight.runner.kinds.import_kinds()
        rows = _of_kinds(sight, kinds)
        return [row for row in rows if sight.state(row) in ("waiting", "paused")]
    if state in ("waiting", "paused") and kind:
        return [row for row in _of_kinds(sight, [kind]) if sight.state(row) == state]
    return []


def is_counted(job_id: str) -> bool:
    """Whether *job_id* names a row that stands for several jobs."""
    return job_id == DERIVATIVES or job_id.startswith(("waiting:", "paused:"))


def _of_kinds(sight: Sight, kinds: list[str]) -> list[Row]:
    if not kinds:
        return []
    return sight.rows(f"state = 'waiting' AND kind IN ({', '.join('?' * len(kinds))})", kinds)


def no_such(job_id: str) -> NotFound:
    """The refusal for an id that names no job here."""
    if is_counted(job_id):
        lacks = "is paused" if job_id.startswith("paused:") else "waits"
        return NotFound(f"No job stands behind {job_id[:80]} now: none of them {lacks}.", code="unknown_job")
    return NotFound(
        f"No job has the id {job_id[:80]} in the open projects. Finished jobs are kept 30 days.",
        code="unknown_job",
    )


def counted_tree(sights: Iterable[Sight], job_id: str) -> dict[str, Any]:
    """A counted row with the jobs it stands for as children; NotFound when there are none."""
    nodes: list[dict[str, Any]] = []
    head: dict[str, Any] | None = None
    for sight in sights:
        rows = targets(sight, job_id)
        if rows and head is None:
            head = sight.counted(rows[0], 0, job_id.partition(":")[0])
        nodes += [sight.node(row) for row in rows]
    if head is None:
        raise no_such(job_id)
    paths = {node["library_path"] for node in nodes}
    return {
        **head,
        "total": len(nodes),
        "library_path": paths.pop() if len(paths) == 1 else None,
        "children": nodes,
    }


# The import as a tree of its stages.


def import_goes_on(sight: Sight) -> bool:
    """Whether the list shows the import row: something of an import waits or runs."""
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


def derivatives(sight: Sight) -> dict[str, Any]:
    """The latest import of one library: the row `derivatives` with a node for each stage."""
    kinds = sight.runner.kinds
    since = _import_began(sight)
    stages = [_stage(sight, stage, since) for stage in kinds.stages]
    return _import_row(stages, sight.path)


def derivatives_of(runner: JobRunner, libraries: Iterable[Library | None]) -> dict[str, Any]:
    """`GET /api/activity/jobs/derivatives` over *libraries*, their stages added up."""
    found: list[dict[str, Any]] = []
    for library in libraries:
        with _database(runner, library) as raw:
            found.append(derivatives(Sight(runner, library, raw)))
    return _merged_import(found)


def _import_began(sight: Sight) -> int | None:
    """The first row of the import that is going on, or of the last one; None when there was none.

    Its stages need not lie under one job: to an import belongs whatever work of its kinds overlaps it in time, so what
    is counted once stays counted until the next import begins.
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


def _latest(sight: Sight, kinds: list[str]) -> int | None:
    marks = ", ".join("?" * len(kinds))
    (seq,) = sight.raw.execute(f"SELECT max(seq) FROM job WHERE kind IN ({marks})", kinds).fetchone()
    return None if seq is None else int(seq)


def _stage(sight: Sight, stage: str, since: int | None) -> dict[str, Any]:
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
        waiting = _of_kinds(sight, names) if states["waiting"] else []
        paused = [row for row in waiting if sight.state(row) == "paused"]
        states["paused"], states["waiting"] = len(paused), len(waiting) - len(paused)
        if states["waiting"]:
            first = next(row for row in waiting if sight.state(row) != "paused")
            reason, code = sight.reason(first, "waiting")
    lane = next((kind.lane for kind in sight.runner.kinds if kind.name in names), None)
    return _stage_node(
        stage, _together(states), title, done, total, reason, code, sight.path, lane, DERIVATIVES
    )


def _together(states: Counter[str]) -> str:
    """One state for many jobs: what is still to come is said before what has ended."""
    for state in ("running", "waiting", "paused", "failed"):
        if states[state]:
            return state
    return "cancelled" if states["cancelled"] and not states["done"] else "done"


_REASONS = {
    "paused": ("Paused by a person; resume it to let it go on.", "paused"),
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
        _together(states),
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


def _merged_import(found: list[dict[str, Any]]) -> dict[str, Any]:
    if len(found) == 1:
        return found[0]
    stages: list[dict[str, Any]] = []
    for group in zip(*(one["stages"] for one in found), strict=True):
        states = Counter(stage["state"] for stage in group if stage["total"])
        waiting = next((stage for stage in group if stage["state"] == "waiting"), group[0])
        stages.append(
            _stage_node(
                group[0]["id"],
                _together(states),
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
