"""Answers about many jobs: the list a person sees, and counted rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from armarium.errors import NotFound
from armarium.ids import now, parse_timestamp, timestamp
from armarium.jobs.import_tree import DERIVATIVES, derivatives, import_goes_on, merged_import
from armarium.jobs.kinds import LANES
from armarium.jobs.models import FAILED_SHOWN_DAYS, JobRow
from armarium.jobs.queue_view import QueueView, open_view

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner
    from armarium.projects.libraries import Library

MOST_FAILED = 500
"""How many failed jobs of one project the list shows, the latest of them."""


@dataclass
class ListParts:
    """The parts of the list, in the order they are shown."""

    running: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[dict[str, Any]] = field(default_factory=list)
    paused: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    """The ids of those that run: what runs besides, on pages that are withheld, no count tells."""
    lanes_waiting: Counter[str] = field(default_factory=Counter)


def list_jobs(runner: JobRunner, libraries: Iterable[Library | None]) -> dict[str, Any]:
    """Return `GET /api/activity/jobs` over *libraries* (None stands for the engine's own jobs)."""
    parts = ListParts()
    imports: list[dict[str, Any]] = []
    for library in libraries:
        with open_view(runner, library) as view:
            _collect(view, parts)
            if import_goes_on(view):
                imports.append(derivatives(view))
    items = [merged_import(imports)] if imports else []
    for node in items:
        node.pop("children", None)
        node.pop("stages", None)
    items += [*parts.running, *_merge_rows(parts.waiting), *_merge_rows(parts.paused), *parts.failed]
    running = runner.counts(parts.begun)
    standing = runner.conditions.now()
    return {
        "items": items,
        "count": len(items),
        "paused": runner.mode == "paused",
        "mode": runner.mode,
        "lanes": [
            {"lane": lane, "width": width, "running": running[lane], "waiting": parts.lanes_waiting[lane]}
            for lane, width in LANES.items()
        ],
        "conditions": standing.as_answer(),
    }


def _collect(view: QueueView, parts: ListParts) -> None:
    for job in view.rows("state = 'running'"):
        parts.begun.add(job.id)
        node = view.node(job)
        (parts.paused if node["state"] == "paused" else parts.running).append(node)
    for (kind, lane, paused), (count, first) in _waiting_counts(view).items():
        if count <= 0:
            continue
        row = view.rows("seq = ?", (first,))[0]
        state = "paused" if paused else "waiting"
        if not paused:
            parts.lanes_waiting[view.runner.kinds.lane_of(kind, lane)] += count
        node = view.summary_row(row, count, state) if count > 1 else view.node(row)
        (parts.paused if paused else parts.waiting).append(node)
    since = timestamp(parse_timestamp(now()) - timedelta(days=FAILED_SHOWN_DAYS))
    parts.failed += [
        view.node(row)
        for row in reversed(
            view.rows(
                "state = 'failed' AND finished_at >= ? AND id NOT IN "
                "(SELECT job_id FROM job_hold WHERE cleared_at IS NOT NULL)",
                (since,),
            )[-MOST_FAILED:]
        )
    ]


def _waiting_counts(view: QueueView) -> dict[tuple[str, str | None, bool], tuple[int, int]]:
    """Return (kind, lane, paused) to (how many wait, the oldest row)."""
    counts: dict[tuple[str, str | None, bool], tuple[int, int]] = {}
    for kind, lane, count, first in view.raw.execute(
        "SELECT kind, lane, count(*), min(seq) FROM job WHERE state = 'waiting' GROUP BY kind, lane"
    ):
        counts[kind, lane, False] = (count, first)
    if not view.held:
        return counts
    held_rows = [row for job_id in view.held if (row := view.row(job_id)) and row.state == "waiting"]
    for row in held_rows:
        count, first = counts.get((row.kind, row.lane, True), (0, row.seq))
        counts[row.kind, row.lane, True] = (count + 1, min(first, row.seq))
        count, first = counts[row.kind, row.lane, False]
        counts[row.kind, row.lane, False] = (count - 1, first)
    for (kind, lane, paused), (count, first) in list(counts.items()):
        if not paused and count > 0 and any(row.seq == first for row in held_rows):
            free = next(
                row.seq
                for row in view.rows("state = 'waiting' AND kind = ? AND lane IS ?", (kind, lane))
                if row.id not in view.held
            )
            counts[kind, lane, False] = (count, free)
    return counts


def _merge_rows(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge rows of the same kind from several projects or lanes into one counted row."""
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


def targets(view: QueueView, job_id: str) -> list[JobRow]:
    """Return the jobs that a counted row or the import row stands for and that have not started; empty for any other
    id.
    """
    state, _, kind = job_id.partition(":")
    if job_id == DERIVATIVES:
        kinds = view.runner.kinds.import_kinds()
        rows = view.waiting(kinds)
        return [row for row in rows if view.state(row) in ("waiting", "paused")]
    if state in ("waiting", "paused") and kind:
        return [row for row in view.waiting([kind]) if view.state(row) == state]
    return []


def is_counted(job_id: str) -> bool:
    """Return whether *job_id* names a row that stands for several jobs."""
    return job_id == DERIVATIVES or job_id.startswith(("waiting:", "paused:"))


def no_such(job_id: str) -> NotFound:
    """Return the refusal for an id that names no job here."""
    if is_counted(job_id):
        state = "is paused" if job_id.startswith("paused:") else "is waiting"
        return NotFound(f"None of the jobs that {job_id[:80]} stands for {state} now.", code="unknown_job")
    return NotFound(
        f"No job has the id {job_id[:80]} in the open projects. Finished jobs are kept 30 days.",
        code="unknown_job",
    )


def counted_tree(views: Iterable[QueueView], job_id: str) -> dict[str, Any]:
    """Return a counted row with the jobs it stands for as children; raises NotFound when there are none."""
    nodes: list[dict[str, Any]] = []
    head: dict[str, Any] | None = None
    for view in views:
        rows = targets(view, job_id)
        if rows and head is None:
            head = view.summary_row(rows[0], 0, job_id.partition(":")[0])
        nodes += [view.node(row) for row in rows]
    if head is None:
        raise no_such(job_id)
    paths = {node["library_path"] for node in nodes}
    return {
        **head,
        "total": len(nodes),
        "library_path": paths.pop() if len(paths) == 1 else None,
        "children": nodes,
    }
