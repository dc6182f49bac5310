"""GET /api/metrics: how the engine does, in the text format of Prometheus, for the owner.

Labels are path templates, codes, lanes, states: words of the code, never an id, a name or a text.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from fastapi import Request, Response

from armarium import __version__
from armarium.actions.rights import refuse_bound
from armarium.engine import Engine
from armarium.ids import now, parse_timestamp
from armarium.jobs.queue_view import QueueView
from armarium.store.tables import json_text
from armarium.web.http import REFUSALS, CurrentEngine, CurrentOwner
from armarium.web.request_counts import WITHIN, RequestCounts
from armarium.web.routers import Router

router = Router(tags=["engine"])

TEXT = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[str, Mapping[str, str], float]
"""What follows the name of the metric (`_total`, `_bucket`), labels, value."""

_COUNTED = "SELECT kind, lane, state, count(*) FROM job GROUP BY kind, lane, state"
_OLDEST = (
    "SELECT kind, lane, min(created_at) FROM job WHERE state = 'waiting' AND (not_before IS NULL OR not_before <= ?1) "
    "AND id NOT IN (SELECT value FROM json_each(?2)) GROUP BY kind, lane"
)


@router.get(
    "/api/metrics",
    response_class=Response,
    responses={
        **REFUSALS(),
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Metrics."},
    },
    summary="Metrics for Prometheus",
)
def metrics(request: Request, engine: CurrentEngine, principal: CurrentOwner) -> Response:
    """For the owner: requests, refusals, jobs and queues of the open projects, waits for writers, workers, memory."""
    refuse_bound(principal, required="read")
    blocks = (_block(*metric) for metric in _metrics(engine, request.app.state.counts))
    return Response("".join(blocks), media_type=TEXT, headers={"Cache-Control": "no-store"})


def _block(name: str, kind: str, words: str, samples: Iterable[Sample]) -> str:
    lines = [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
    for suffix, labels, value in samples:
        inside = ",".join(f'{key}="{_escape(word)}"' for key, word in labels.items())
        lines.append(f"{name}{suffix}{{{inside}}} {value!r}" if inside else f"{name}{suffix} {value!r}")
    return "\n".join(lines) + "\n"


def _escape(word: str) -> str:
    return word.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _metrics(engine: Engine, counts: RequestCounts) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    """Yield each metric: name, type, what it says, samples."""
    yield (
        "armarium_build_info",
        "gauge",
        "The version of the engine.",
        [("", {"version": __version__, "python": platform.python_version()}, 1)],
    )
    yield from _of_requests(engine, counts)
    yield from _of_jobs(engine)
    waits = engine.state.queue.waits
    yield (
        "armarium_writer_wait_seconds",
        "summary",
        "Waits of writes for the one writer of their database.",
        [
            (suffix, {"whose": whose}, value)
            for suffix, values in (("_count", waits.counts), ("_sum", waits.seconds))
            for whose, value in values.items()
        ],
    )
    projects = len(engine.libraries.open_now())
    yield "armarium_open_projects", "gauge", "Open projects.", [("", {}, projects)]
    yield from _of_processes(engine)


def _of_requests(engine: Engine, counts: RequestCounts) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    answers = [
        ("", {"route": route, "method": method, "status": status}, count)
        for (route, method, status), count in counts.answers.copy().items()
    ]
    yield "armarium_requests_total", "counter", "Requests answered.", answers
    refusals = [("", {"code": code}, count) for code, count in counts.refusals.copy().items()]
    yield "armarium_refusals_total", "counter", "Requests refused.", refusals
    durations: list[Sample] = []
    for method, within in counts.within.copy().items():
        for end, upto in zip((*map(str, WITHIN), "+Inf"), accumulate(within), strict=True):
            durations.append(("_bucket", {"method": method, "le": end}, upto))
        durations.append(("_count", {"method": method}, upto))
        durations.append(("_sum", {"method": method}, counts.seconds[method]))
    yield "armarium_request_seconds", "histogram", "Seconds until the answer began.", durations
    words = "Requests being answered, streams too."
    yield "armarium_requests_in_progress", "gauge", words, [("", {}, engine.stay.in_hand)]


def _of_jobs(engine: Engine) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    counted: Counter[tuple[str, str]] = Counter()
    oldest: dict[str, float] = {}
    lane_of, moment = engine.kinds.lane_of, now()
    at = parse_timestamp(moment)
    for library in (None, *engine.libraries.open_now()):
        with (engine.state if library is None else library.db).read_all() as conn:
            view = QueueView(engine.jobs, library, conn)
            for kind, lane, state, count in view.raw.execute(_COUNTED):
                counted[lane_of(kind, lane), state] += count
            held_ids = json_text(sorted(view.held))
            if view.held:
                # `paused` is never stored.
                for row in view.rows(
                    "finished_at IS NULL AND id IN (SELECT value FROM json_each(?))", [held_ids]
                ):
                    lane = lane_of(row.kind, row.lane)
                    counted[lane, row.state] -= 1
                    counted[lane, view.state(row)] += 1
            for kind, lane, created in view.raw.execute(_OLDEST, (moment, held_ids)):
                lane = lane_of(kind, lane)
                oldest[lane] = max(oldest.get(lane, 0.0), (at - parse_timestamp(created)).total_seconds())
    yield (
        "armarium_jobs",
        "gauge",
        "Jobs of the engine and of open projects; ended ones are kept for thirty days.",
        [("", {"lane": lane, "state": state}, count) for (lane, state), count in counted.items()],
    )
    ages = [("", {"lane": lane}, age) for lane, age in oldest.items()]
    words = "Age of the oldest job that waits and is neither paused nor planned for later."
    yield "armarium_oldest_waiting_job_seconds", "gauge", words, ages


def _of_processes(engine: Engine) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    import psutil

    workers = engine.workers.processes()
    busy = sum(at_work for _, at_work in workers)
    yield (
        "armarium_workers",
        "gauge",
        "Worker processes.",
        [("", {"state": "busy"}, busy), ("", {"state": "idle"}, len(workers) - busy)],
    )
    memory = sum(_resident(pid) for pid, _ in workers)
    yield "armarium_workers_resident_memory_bytes", "gauge", "Memory of the workers.", [("", {}, memory)]
    process = psutil.Process()
    with process.oneshot():
        spent, resident = process.cpu_times(), process.memory_info().rss
    for name, kind, words, value in (
        ("process_resident_memory_bytes", "gauge", "Memory of the engine.", resident),
        ("process_cpu_seconds_total", "counter", "Processor time of the engine.", spent.user + spent.system),
        ("process_open_fds", "gauge", "Files the engine holds open.", process.num_fds()),
        ("process_start_time_seconds", "gauge", "When the engine started.", engine.started_at),
    ):
        yield name, kind, words, [("", {}, value)]


def _resident(pid: int) -> int:
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
