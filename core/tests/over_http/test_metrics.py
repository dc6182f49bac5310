"""GET /api/metrics: what the owner's Prometheus reads, checked by the parser of its own client library."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from armarium.ids import new_id, timestamp
from armarium.jobs.models import job
from armarium.projects.libraries import Library
from armarium.web.request_counts import MOST_CODES, REFUSED, RequestCounts

from .conftest import AppClient

Values = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read(ask: AppClient) -> tuple[str, Callable[..., float]]:
    """Return the text, and a function that looks up the value of a sample."""
    reply = ask("GET", "/api/metrics")
    assert (reply.status, reply.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    text = reply.body.decode()
    values: Values = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        assert family.type != "unknown"
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in values
            values[key] = sample.value
    return text, lambda name, **labels: values.get((name, frozenset(labels.items())), 0.0)


def test_requests_are_counted_by_route_and_refusals_by_code(ask: AppClient, project: Library) -> None:
    for name in ("one", "two"):
        ask("POST", f"/api/actions/audit/{name}/undo", json={}, library=project.path)
    ask("GET", "/api/health")
    ask("GET", "/api/registry", token="wrong")
    ask("GET", "/no/such/route")
    ask("BREW", "/api/health")
    ask("GET", "/api/snapshots", library=project.path, query="limit=many")
    text, value = read(ask)
    undo = "/api/actions/audit/{audit_id}/undo"
    assert value("armarium_requests_total", route=undo, method="POST", status="4xx") == 2
    assert value("armarium_requests_total", route="/api/health", method="GET", status="2xx") == 1
    assert value("armarium_requests_total", route="", method="GET", status="4xx") == 2
    assert value("armarium_requests_total", route="", method="other", status="4xx") == 1
    codes = ("invalid_token", "not_found", "method_not_allowed")
    assert [value("armarium_refusals_total", code=code) for code in codes] == [1, 1, 1]
    # How many answers were counted is how many lie below infinity, and each interval holds those before it.
    for method in ("GET", "POST"):
        ends = ("0.005", "0.1", "30.0", "+Inf")
        upto = [value("armarium_request_seconds_bucket", method=method, le=end) for end in ends]
        assert upto == sorted(upto)
        assert upto[-1] == value("armarium_request_seconds_count", method=method) > 0
    assert value("armarium_open_projects") == 1
    assert value("process_resident_memory_bytes") > 1e7
    # Neither names nor ids nor paths of projects are in it.
    for told in (project.path.name, "Proben", project.uuid, "/one/", "wrong"):
        assert told not in text


def test_codes_that_a_plugin_makes_up_do_not_fill_the_memory() -> None:
    counts = RequestCounts()
    for number in range(2 * MOST_CODES):
        counts.note({"method": "GET", REFUSED: f"made_up_{number}"}, 400, time.perf_counter())
    assert len(counts.refusals) == MOST_CODES + 1
    assert counts.refusals["other"] == MOST_CODES


def put_job(
    library: Library, state: str, *, lane: str | None, age: float = 0.0, later: float | None = None
) -> str:
    at = datetime.now(UTC)
    row: dict[str, Any] = {column.name: 0 for column in job.c if not column.nullable}
    row |= {
        "id": new_id(),
        "kind": "of.a.removed.plugin",
        "lane": lane,
        "state": state,
        "title": "Secret",
        "args": {},
    }
    row |= {"created_at": timestamp(at - timedelta(seconds=age)), "attempts": 0}
    row["not_before"] = None if later is None else timestamp(at + timedelta(seconds=later))
    row["finished_at"] = timestamp(at) if state in ("done", "failed") else None
    del row["seq"]
    with library.db.write() as conn:
        conn.execute(job.insert(), row)
    return str(row["id"])


def test_jobs_are_counted_by_lane_and_state_with_the_age_of_the_oldest_that_could_begin(
    ask: AppClient, project: Library
) -> None:
    put_job(project, "waiting", lane="images", age=50.0)
    put_job(project, "waiting", lane="images", age=900.0, later=900.0)
    paused = put_job(project, "waiting", lane="images", age=500.0)
    put_job(project, "done", lane=None)
    put_job(project, "failed", lane="remote")
    assert (
        ask("PUT", f"/api/activity/jobs/{paused}/paused", json={"paused": True}, library=project.path).status
        == 200
    )
    text, value = read(ask)
    found = {
        (lane, state): value("armarium_jobs", lane=lane, state=state)
        for lane, state in (
            ("images", "waiting"),
            ("images", "paused"),
            ("cpu", "done"),
            ("remote", "failed"),
        )
    }
    assert found == {
        ("images", "waiting"): 2,
        ("images", "paused"): 1,
        ("cpu", "done"): 1,
        ("remote", "failed"): 1,
    }
    assert 50 <= value("armarium_oldest_waiting_job_seconds", lane="images") < 400
    assert "Secret" not in text


def test_waits_for_the_writer_are_counted_also_after_the_project_was_closed(
    ask: AppClient, project: Library
) -> None:
    name = {"whose": "people"}
    before = read(ask)[1]("armarium_writer_wait_seconds_count", **name)
    writing = threading.Event()

    def wait() -> None:
        writing.set()
        with project.db.write():
            pass

    with project.db.write():
        waiting = threading.Thread(target=wait)
        waiting.start()
        writing.wait(60.0)
        while not project.db.queue._people:
            time.sleep(0.001)
    waiting.join(60.0)
    ask.engine.libraries.release(project.path)
    value = read(ask)[1]
    assert value("armarium_writer_wait_seconds_count", **name) == before + 1
    assert value("armarium_writer_wait_seconds_sum", **name) > 0
    assert value("armarium_open_projects") == 0


@pytest.mark.parametrize("role", ["editor", "viewer", "owner of one project"])
def test_metrics_are_for_an_owner_of_the_whole_engine(
    ask: AppClient, project: Library, device: Callable[..., str], role: str
) -> None:
    token = device("owner", [str(project.path)]) if role.startswith("owner") else device(role)
    assert ask("GET", "/api/metrics", token=token).status == 403
    assert ask("GET", "/api/metrics", token=None).status == 401
    assert ask("GET", "/api/metrics", token=device("owner")).status == 200
