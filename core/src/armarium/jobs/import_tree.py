"""An import as a tree of its stages: the row `derivatives` of the list of jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from armarium.jobs.kinds import STAGE_TITLES
from armarium.jobs.queue_view import OF_KINDS, QueueView, open_view
from armarium.store.tables import json_text

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner
    from armarium.projects.libraries import Library

DERIVATIVES = "derivatives"


def import_goes_on(view: QueueView) -> bool:
    """Return whether the list shows the import row: a job of an import waits or runs."""
    going = f"SELECT 1 FROM job WHERE state IN ('waiting', 'running') AND {OF_KINDS} LIMIT 1"
    kinds = json_text(view.runner.kinds.import_kinds())
    return view.raw.execute(going, (kinds,)).fetchone() is not None


def derivatives(view: QueueView) -> dict[str, Any]:
    """Return the latest import of one project: the row `derivatives` with a node for each stage."""
    kinds = view.runner.kinds
    since = _import_began(view)
    stages = [_stage(view, stage, since) for stage in kinds.stages]
    return _import_row(stages, view.path)


def derivatives_of(runner: JobRunner, libraries: Iterable[Library | None]) -> dict[str, Any]:
    """Return `GET /api/activity/jobs/derivatives` over *libraries*, with their stages added up."""
    imports: list[dict[str, Any]] = []
    for library in libraries:
        with open_view(runner, library) as view:
            imports.append(derivatives(view))
    return merged_import(imports)


def _import_began(view: QueueView) -> int | None:
    """Return the first row of the current import, or of the last one; None when there was none.

    Its stages need not lie under one job: all work of its kinds that overlaps in time belongs to an import, so what is
    counted once stays counted until the next import begins.
    """
    kinds = json_text(view.runner.kinds.import_kinds())
    reading = json_text(view.runner.kinds.of_stage("read-files"))
    latest = _find_latest_job(view, reading) or _find_latest_job(view, kinds)
    (live,) = view.raw.execute(
        f"SELECT min(seq) FROM job WHERE state IN ('waiting', 'running') AND {OF_KINDS}", (kinds,)
    ).fetchone()
    first = min((seq for seq in (latest, live) if seq is not None), default=None)
    earlier = first
    while earlier is not None:
        first = earlier
        (earlier,) = view.raw.execute(
            f"SELECT min(seq) FROM job WHERE {OF_KINDS} AND seq < ?"
            " AND finished_at >= (SELECT created_at FROM job WHERE seq = ?)",
            (kinds, first, first),
        ).fetchone()
    return first


def _find_latest_job(view: QueueView, kinds: str) -> int | None:
    (seq,) = view.raw.execute(f"SELECT max(seq) FROM job WHERE {OF_KINDS}", (kinds,)).fetchone()
    return None if seq is None else int(seq)


def _stage(view: QueueView, stage: str, since: int | None) -> dict[str, Any]:
    names = view.runner.kinds.of_stage(stage)
    title = STAGE_TITLES.get(stage, stage)
    states: Counter[str] = Counter()
    done = total = 0
    waits: tuple[str | None, str | None] = (None, None)
    if names and since is not None:
        finished = 0
        for state, count, own_done, own_total in view.raw.execute(
            "SELECT state, count(*), sum(own_done), sum(own_total) FROM job "
            f"WHERE seq >= ? AND {OF_KINDS} GROUP BY state",
            (since, json_text(names)),
        ).fetchall():
            states[state] += count
            done += own_done
            total += own_total
            finished += count if state not in ("waiting", "running") else 0
        if total == 0:
            done, total = finished, sum(states.values())
        waiting = view.waiting(names) if states["waiting"] else []
        paused = [row for row in waiting if view.state(row) == "paused"]
        states["paused"], states["waiting"] = len(paused), len(waiting) - len(paused)
        if states["waiting"]:
            first = next(row for row in waiting if view.state(row) != "paused")
            waits = view.reason(first, "waiting")
    lane = next((kind.lane for kind in view.runner.kinds if kind.name in names), None)
    return _stage_node(
        stage, _combine_states(states), title, done, total, waits, view.path, lane, DERIVATIVES
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


_OF_JOBS = ("model", "subject", "thread_id", "started_by", "created_at", "started_at", "finished_at")
"""What only a single job has."""


def _stage_node(
    node_id: str,
    state: str,
    title: str,
    done: int,
    total: int,
    waits: tuple[str | None, str | None],
    path: str | None,
    lane: str | None,
    parent_id: str | None,
) -> dict[str, Any]:
    """Return a node for many jobs; *waits*: the reason and its code, if they wait."""
    reason, code = waits if state == "waiting" else _REASONS.get(state, (None, None))
    if state == "done" and total == 0:
        reason = "Nothing to do."
    live = state in ("waiting", "paused", "running")
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
        **dict.fromkeys(_OF_JOBS),
        "attempts": 0,
        "library_path": path,
        "can": {"pause": live, "cancel": live, "retry": False},
    }


def _add_up(
    nodes: Sequence[dict[str, Any]],
    node_id: str,
    title: str,
    path: str | None,
    lane: str | None = None,
    parent_id: str | None = None,
) -> dict[str, Any]:
    """Return one node for *nodes*: their counts, their combined state, and why the first that waits does."""
    states = Counter(node["state"] for node in nodes if node["total"])
    done, total = (sum(node[count] for node in nodes) for count in ("done", "total"))
    waits = next(((n["reason"], n["reason_code"]) for n in nodes if n["state"] == "waiting"), (None, None))
    return _stage_node(node_id, _combine_states(states), title, done, total, waits, path, lane, parent_id)


def _import_row(stages: list[dict[str, Any]], path: str | None) -> dict[str, Any]:
    return {**_add_up(stages, DERIVATIVES, "Import", path), "children": stages, "stages": stages}


def merged_import(imports: list[dict[str, Any]]) -> dict[str, Any]:
    """Merge the import rows of several projects, stage by stage."""
    if len(imports) == 1:
        return imports[0]
    stages = [
        _add_up(group, group[0]["id"], group[0]["title"], None, group[0]["lane"], DERIVATIVES)
        for group in zip(*(row["stages"] for row in imports), strict=True)
    ]
    return _import_row(stages, None)
