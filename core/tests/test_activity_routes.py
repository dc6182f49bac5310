"""Every route of /api/activity, with each of its refusals."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from chores import Gate, chores_plugin

from armarium.engine import Engine
from armarium.errors import Invalid
from armarium.jobs.activity import record_activity
from armarium.jobs.conditions import Conditions
from armarium.jobs.queue import NewJob, enqueue, enqueue_many
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.libraries import Library
from armarium_testing.fixtures import http_client

JOBS = "/api/activity/jobs"


class RestedMachine:
    """A machine that delays nothing."""

    def memory_free(self) -> float | None:
        return 0.9

    def degrees_below_limit(self) -> float | None:
        return None

    def on_battery(self) -> bool | None:
        return None

    def seconds_since_input(self) -> float | None:
        return None


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open.set()


@pytest.fixture
def chores(make_engine: Callable[..., Engine], gate: Gate) -> Engine:
    engine = make_engine(plugins=[chores_plugin(gate)])
    engine.jobs.conditions = Conditions(RestedMachine())
    return engine


def make_project(engine: Engine, place: Path) -> Library:
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    return engine.libraries.get(place)


@pytest.fixture
def project(chores: Engine, tmp_path: Path) -> Library:
    return make_project(chores, tmp_path / "One.library")


@pytest.fixture
def other(chores: Engine, project: Library, tmp_path: Path) -> Library:
    return make_project(chores, tmp_path / "Two.library")


@pytest.fixture
def web(chores: Engine, project: Library) -> Iterator[Any]:
    """The owner's client, naming the project."""
    yield from http_client(chores, project)


@pytest.fixture
def bare(chores: Engine) -> Iterator[Any]:
    """The owner's client, naming no project."""
    yield from http_client(chores)


def put(
    engine: Engine,
    library: Library | None,
    kind: str,
    args: Mapping[str, Any],
    *,
    parent_id: str | None = None,
    started_by: Any = LOCAL_OWNER,
    **more: Any,
) -> str:
    db = library.db if library is not None else engine.state
    with db.write() as conn:
        new = NewJob(kind, args, **{"title": kind} | more)
        job_id = enqueue(conn, new, parent_id=parent_id, started_by=started_by)
    engine.jobs.wake(library)
    return job_id


def expect_refusal(answer: Any, status: int, code: str | None = None) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    assert body["detail"].endswith(".")
    if code is not None:
        assert body["code"] == code
    return body


class TestList:
    def test_an_empty_queue(self, web: Any) -> None:
        body = web.get(JOBS).json()
        assert body["items"] == []
        assert (body["count"], body["paused"], body["mode"]) == (0, False, "automatic")
        assert {lane["lane"]: lane["width"] for lane in body["lanes"]} == {
            "local-model": 1, "cpu": 2, "images": 2, "network": 4, "remote": 2, "database": 1, "recipes": 1,
        }  # fmt: skip
        assert body["conditions"] == {"memory": False, "heat": False, "battery": False, "in_use": False}

    def test_running_waiting_paused_failed_in_this_order(
        self, web: Any, chores: Engine, project: Library, gate: Gate
    ) -> None:
        failed = put(chores, project, "chore-refused", {"items": 1})
        chores.jobs.run_until_idle(project)
        running = put(chores, project, "chore-gated", {"items": 1})
        assert gate.reached.wait(60)
        web.put(f"{JOBS}/mode", json={"mode": "paused"})
        waiting = [put(chores, project, "chore-items", {"items": n}) for n in range(3)]
        one = put(chores, project, "chore-heavy", {"items": 1})
        paused = put(chores, project, "chore-nothing", {})
        assert web.put(f"{JOBS}/{paused}/paused", json={"paused": True}).json()["state"] == "paused"
        items = web.get(JOBS).json()["items"]
        assert [i["state"] for i in items] == ["running", "waiting", "waiting", "paused", "failed"]
        assert [i["id"] for i in items[::3]] == [running, paused]
        assert items[-1]["id"] == failed
        assert len(waiting) == 3
        counted = next(i for i in items if i["id"] == "waiting:chore-items")
        assert (counted["total"], counted["done"], counted["reason_code"]) == (3, 0, "paused-globally")
        single = next(i for i in items if i["id"] == one)
        assert single["kind"] == "chore-heavy"
        assert single["lane"] == "local-model"
        assert single["library_path"] == str(project.path)
        assert single["started_by"] == LOCAL_OWNER.name
        lanes = {lane["lane"]: lane for lane in web.get(JOBS).json()["lanes"]}
        assert (lanes["cpu"]["running"], lanes["cpu"]["waiting"]) == (1, 3)
        gate.open.set()

    def test_several_paused_jobs_of_a_kind_are_one_row(
        self, web: Any, chores: Engine, project: Library
    ) -> None:
        ids = [put(chores, project, "chore-items", {"items": n}) for n in range(4)]
        for job_id in ids[:3]:
            web.put(f"{JOBS}/{job_id}/paused", json={"paused": True})
        items = web.get(JOBS).json()["items"]
        assert [(i["id"], i["state"], i["total"]) for i in items] == [
            (ids[3], "waiting", 1),
            ("paused:chore-items", "paused", 3),
        ]

    def test_without_a_project_every_open_one_and_the_engines_own(
        self, bare: Any, web: Any, chores: Engine, project: Library, other: Library
    ) -> None:
        bare.put(f"{JOBS}/paused", json={"paused": True})
        for library in (project, other):
            for n in range(2):
                put(chores, library, "chore-items", {"items": n})
        own = put(chores, None, "chore-nothing", {})
        items = bare.get(JOBS).json()["items"]
        assert {(i["id"], i["total"], i["library_path"]) for i in items} == {
            ("waiting:chore-items", 4, None),
            (own, 1, None),
        }
        assert web.get(JOBS).json()["items"][0]["total"] == 2

    def test_a_token_sees_only_the_projects_it_reaches(
        self, chores: Engine, project: Library, other: Library
    ) -> None:
        from armarium.jobs.routes import _places

        bound = Principal("machine", "agent", "editor", libraries=frozenset({str(other.path)}))
        assert _places(chores, bound, None) == [other]


class TestOne:
    def test_the_job_and_everything_under_it(self, web: Any, chores: Engine, project: Library) -> None:
        job_id = put(chores, project, "chore-tree", {"children": 2, "items": 3})
        chores.jobs.run_until_idle(project)
        node = web.get(f"{JOBS}/{job_id}").json()
        assert (node["state"], node["done"], node["total"], len(node["children"])) == ("done", 6, 6, 2)
        assert {child["parent_id"] for child in node["children"]} == {job_id}
        assert node["can"] == {"pause": False, "cancel": False, "retry": False}
        for name in ("thread_id", "model", "subject", "attempts", "created_at", "started_at", "finished_at"):
            assert name in node

    def test_a_person_who_looks_is_watching(self, web: Any, chores: Engine, project: Library) -> None:
        job_id = put(chores, project, "chore-items", {"items": 1})
        web.get(f"{JOBS}/{job_id}")
        store = chores.jobs.store_of(project)
        assert store is not None
        assert store.list_watched() == [job_id]

    def test_a_counted_row_contains_the_jobs_that_it_counts(
        self, web: Any, chores: Engine, project: Library
    ) -> None:
        ids = [put(chores, project, "chore-items", {"items": n}) for n in range(2)]
        node = web.get(f"{JOBS}/waiting:chore-items").json()
        assert [child["id"] for child in node["children"]] == ids
        assert node["total"] == 2

    def test_unknown_ids(self, web: Any) -> None:
        for job_id in ("0" * 32, "waiting:chore-items", "paused:chore-items", "waiting:none"):
            expect_refusal(web.get(f"{JOBS}/{job_id}"), 404, "unknown_job")
            expect_refusal(web.get(f"{JOBS}/{job_id}/log"), 404, "unknown_job")
            expect_refusal(web.put(f"{JOBS}/{job_id}/paused", json={"paused": True}), 404, "unknown_job")
            expect_refusal(web.post(f"{JOBS}/{job_id}/cancel"), 404, "unknown_job")
            expect_refusal(web.post(f"{JOBS}/{job_id}/retry"), 404, "unknown_job")
        for state, words in (("waiting", "is waiting"), ("paused", "is paused")):
            assert web.get(f"{JOBS}/{state}:chore-items").json()["detail"].endswith(f"{words} now.")
        expect_refusal(web.post(f"{JOBS}/derivatives/cancel"), 404, "unknown_job")
        expect_refusal(web.get(f"{JOBS}/{'x' * 201}"), 422, "invalid_request")


class TestDecisions:
    def test_pause_and_undo(self, web: Any, chores: Engine, project: Library) -> None:
        job_id = put(chores, project, "chore-items", {"items": 1})
        answer = web.put(f"{JOBS}/{job_id}/paused", json={"paused": True})
        body = answer.json()
        assert (body["id"], body["state"]) == (job_id, "paused")
        assert answer.headers["X-Service-Audit-Id"] == body["audit_id"]
        with project.db.read() as conn:
            name = conn.exec_driver_sql(
                "SELECT action_name FROM audit WHERE id = ?", (body["audit_id"],)
            ).scalar()
        assert name == "job.pause"
        assert web.post(f"/api/actions/audit/{body['audit_id']}/undo").status_code == 200
        assert web.get(f"{JOBS}/{job_id}").json()["state"] == "waiting"

    def test_counted_rows_apply_to_each(self, web: Any, chores: Engine, project: Library) -> None:
        ids = [put(chores, project, "chore-items", {"items": n}) for n in range(3)]
        body = web.put(f"{JOBS}/waiting:chore-items/paused", json={"paused": True}).json()
        assert (body["id"], body["state"], body["applied"]) == ("waiting:chore-items", "paused", 3)
        body = web.put(f"{JOBS}/paused:chore-items/paused", json={"paused": False}).json()
        assert body["applied"] == 3
        expect_refusal(web.post(f"{JOBS}/waiting:chore-items/retry"), 409, "already_waiting")
        body = web.post(f"{JOBS}/waiting:chore-items/cancel").json()
        assert (body["state"], body["applied"]) == ("cancelled", 3)
        assert {web.get(f"{JOBS}/{identity}").json()["state"] for identity in ids} == {"cancelled"}

    def test_counted_rows_reach_every_open_project(
        self, bare: Any, chores: Engine, project: Library, other: Library
    ) -> None:
        for library in (project, other):
            put(chores, library, "chore-items", {"items": 1})
        assert bare.post(f"{JOBS}/waiting:chore-items/cancel").json()["applied"] == 2

    def test_cancel_and_retry(self, web: Any, chores: Engine, project: Library) -> None:
        job_id = put(chores, project, "chore-items", {"items": 1})
        expect_refusal(web.post(f"{JOBS}/{job_id}/retry"), 409, "already_waiting")
        assert web.post(f"{JOBS}/{job_id}/cancel").json()["state"] == "cancelled"
        body = web.post(f"{JOBS}/{job_id}/retry").json()
        assert body["state"] == "waiting"
        assert body["audit_id"]

    def test_a_page_of_a_run(self, web: Any, chores: Engine, project: Library) -> None:
        page = put(chores, project, "chore-page", {"items": 1}, thread_id="run-1")
        for answer in (
            web.put(f"{JOBS}/{page}/paused", json={"paused": True}),
            web.post(f"{JOBS}/{page}/cancel"),
            web.post(f"{JOBS}/{page}/retry"),
        ):
            assert expect_refusal(answer, 409, "handed_in_by_run")["run_id"] == "run-1"
        put(chores, project, "chore-page", {"items": 1})
        expect_refusal(web.post(f"{JOBS}/waiting:chore-page/cancel"), 409, "handed_in_by_run")

    def test_a_remote_job_is_not_retried(self, web: Any, chores: Engine, project: Library) -> None:
        far = put(chores, project, "chore-far", {"items": 1})
        web.post(f"{JOBS}/{far}/cancel")
        expect_refusal(web.post(f"{JOBS}/{far}/retry"), 409, "remote_job")
        here = put(chores, project, "chore-far", {"items": 1}, lane="cpu")
        web.post(f"{JOBS}/{here}/cancel")
        can = [web.get(f"{JOBS}/{one}").json()["can"]["retry"] for one in (far, here)]
        assert can == [False, True]

    def test_clear_failed_over_every_open_project(
        self, bare: Any, web: Any, chores: Engine, project: Library, other: Library
    ) -> None:
        for library in (project, other):
            put(chores, library, "chore-refused", {"items": 1})
            chores.jobs.run_until_idle(library)
        body = bare.post(f"{JOBS}/clear-failed").json()
        assert body["cleared"] == 2
        assert body["audit_id"]
        assert bare.get(JOBS).json()["items"] == []
        assert web.post(f"{JOBS}/clear-failed").json()["cleared"] == 0

    def test_pause_and_mode_are_engine_wide(self, bare: Any, chores: Engine) -> None:
        body = bare.put(f"{JOBS}/mode", json={"mode": "started"}).json()
        assert (body["mode"], body["paused"]) == ("started", False)
        assert bare.put(f"{JOBS}/paused", json={"paused": True}).json()["mode"] == "paused"
        assert bare.get(JOBS).json()["paused"] is True
        body = bare.put(f"{JOBS}/paused", json={"paused": False}).json()
        assert (body["mode"], body["paused"]) == ("started", False)
        chores.undo(None, [body["audit_id"]], LOCAL_OWNER)
        assert bare.get(JOBS).json()["mode"] == "paused"

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            ("mode", {"mode": "asleep"}),
            ("mode", {}),
            ("paused", {"paused": "perhaps"}),
            ("paused", {"paused": True, "more": 1}),
            (f"{'0' * 32}/paused", {}),
        ],
    )
    def test_bodies_that_do_not_fit(self, web: Any, path: str, body: dict[str, Any]) -> None:
        expect_refusal(web.put(f"{JOBS}/{path}", json=body), 422, "invalid_request")

    def test_without_a_token(self, web: Any) -> None:
        for method, path in (("GET", ""), ("GET", "/x"), ("PUT", "/mode"), ("POST", "/x/cancel")):
            expect_refusal(web.request(method, f"{JOBS}{path}", headers={"Authorization": ""}), 401)

    def test_a_viewer_may_look_and_not_decide(self, chores: Engine, project: Library) -> None:
        from armarium.errors import Forbidden

        viewer = Principal("person", "V", "viewer")
        job_id = put(chores, project, "chore-items", {"items": 1})
        for name, params in (
            ("job.pause", {"job_id": job_id, "paused": True}),
            ("job.cancel", {"job_id": job_id}),
            ("job.retry", {"job_id": job_id}),
            ("job.clear_failed", {}),
            ("background.pause", {"paused": True}),
            ("background.mode", {"mode": "started"}),
        ):
            with pytest.raises(Forbidden):
                chores.run(project, name, params, viewer)

    def test_a_project_that_is_not_there(self, web: Any, project: Library, tmp_path: Path) -> None:
        missing = {"X-Service-Library-Path": quote(str(tmp_path / "No.library"))}
        for method, path in (("GET", JOBS), ("GET", "/api/activity"), ("POST", f"{JOBS}/clear-failed")):
            expect_refusal(web.request(method, path, headers=missing), 404, "library_not_found")


class TestDerivatives:
    def test_nothing_was_imported(self, web: Any) -> None:
        node = web.get(f"{JOBS}/derivatives").json()
        assert (node["id"], node["state"], node["total"]) == ("derivatives", "done", 0)
        assert [stage["id"] for stage in node["children"]] == [
            "read-files",
            "thumbnails",
            "display-pictures",
            "text-layers",
            "embeddings",
        ]

    def test_the_import_is_a_tree_of_its_stages(self, web: Any, chores: Engine, project: Library) -> None:
        web.put(f"{JOBS}/paused", json={"paused": True})
        reading = put(chores, project, "chore-read", {"items": 2}, total=2)
        with project.db.write() as conn:
            enqueue_many(
                conn, [NewJob("chore-first", {"items": 1}, "thumb") for _ in range(3)], parent_id=reading
            )
        node = web.get(f"{JOBS}/derivatives").json()
        stages = {stage["id"]: stage for stage in node["stages"]}
        assert node["state"] == "waiting"
        assert stages["read-files"]["state"] == "waiting"
        assert (stages["thumbnails"]["done"], stages["thumbnails"]["total"]) == (0, 3)
        assert stages["embeddings"]["reason"] == "Nothing to do."
        listed = web.get(JOBS).json()["items"]
        assert listed[0]["id"] == "derivatives"
        assert listed[0]["reason_code"] == "paused-globally"
        assert web.get(f"{JOBS}/derivatives/log").json()["lines"] == []
        body = web.put(f"{JOBS}/derivatives/paused", json={"paused": True}).json()
        assert (body["state"], body["applied"]) == ("paused", 4)
        assert web.get(f"{JOBS}/derivatives").json()["state"] == "paused"
        assert web.put(f"{JOBS}/derivatives/paused", json={"paused": False}).json()["applied"] == 4
        web.put(f"{JOBS}/paused", json={"paused": False})
        assert chores.jobs.run_until_idle(project)
        node = web.get(f"{JOBS}/derivatives").json()
        assert node["state"] == "done"
        assert {child["id"]: (child["done"], child["total"]) for child in node["children"]}["thumbnails"] == (
            3,
            3,
        )
        assert web.get(JOBS).json()["items"] == []

    def test_a_decision_applies_to_what_has_not_started(
        self, web: Any, chores: Engine, project: Library
    ) -> None:
        """While its last job runs the row is still listed, but decisions about it have no effect."""
        reading = put(chores, project, "chore-read", {"items": 2}, total=2)
        with project.db.write() as conn:
            conn.exec_driver_sql("UPDATE job SET state = 'running' WHERE id = ?", (reading,))
        assert web.get(JOBS).json()["items"][0]["id"] == "derivatives"
        for answer in (
            web.put(f"{JOBS}/derivatives/paused", json={"paused": True}),
            web.post(f"{JOBS}/derivatives/cancel"),
            web.post(f"{JOBS}/derivatives/retry"),
        ):
            assert answer.status_code == 200
            assert (answer.json()["state"], answer.json()["applied"]) == ("running", 0)

    def test_cancel_of_the_import(
        self, web: Any, bare: Any, chores: Engine, project: Library, other: Library
    ) -> None:
        put(chores, project, "chore-first", {"items": 1})
        put(chores, other, "chore-first", {"items": 1})
        assert bare.get(f"{JOBS}/derivatives").json()["total"] == 2
        assert bare.get(JOBS).json()["items"][0]["total"] == 2
        assert bare.post(f"{JOBS}/derivatives/cancel").json()["applied"] == 2
        assert web.get(f"{JOBS}/derivatives").json()["state"] == "cancelled"


class TestLog:
    def test_newest_last_and_nothing_from_another_row(
        self, web: Any, chores: Engine, project: Library
    ) -> None:
        put(chores, project, "chore-refused", {"items": 2})
        job_id = put(chores, project, "chore-refused", {"items": 1})
        chores.jobs.run_until_idle(project)
        body = web.get(f"{JOBS}/{job_id}/log").json()
        assert (body["id"], body["count"]) == (job_id, 1)
        (line,) = body["lines"]
        assert (line["row_id"], line["source"], line["level"]) == (job_id, "job", "error")
        assert web.get(f"{JOBS}/{job_id}/log", params={"after": line["seq"]}).json()["lines"] == []

    def test_a_runs_events_and_its_steps_are_its_log(
        self, web: Any, chores: Engine, project: Library
    ) -> None:
        run = put(chores, project, "chore-unknown", {}, job_id="run-7")
        with project.db.write() as conn:
            enqueue_many(conn, [NewJob("chore-unknown", {}, "step", job_id="run-7:read")], parent_id=run)
            record_activity(conn, "workflow_started", "The run began", thread_id="run-7")
            record_activity(conn, "node_failed", "It failed", thread_id="run-7", node_id="read", error="why")
            record_activity(conn, "workflow_started", "Another began", thread_id="run-8")
        lines = web.get(f"{JOBS}/run-7/log").json()["lines"]
        assert [(x["source"], x["row_id"], x["message"]) for x in lines] == [
            ("run", "run-7", "The run began"),
            ("step", "run-7:read", "It failed"),
        ]
        assert lines[1]["data"] == {"type": "node_failed", "error": "why"}
        assert [x["message"] for x in web.get(f"{JOBS}/run-7:read/log").json()["lines"]] == ["It failed"]

    @pytest.mark.parametrize("params", [{"limit": 0}, {"limit": 5001}, {"after": -1}, {"limit": "x"}])
    def test_limits(self, web: Any, params: dict[str, Any]) -> None:
        expect_refusal(web.get(f"{JOBS}/x/log", params=params), 422, "invalid_request")

    def test_the_log_of_a_counted_row(self, web: Any, chores: Engine, project: Library) -> None:
        for n in range(2):
            put(chores, project, "chore-items", {"items": n})
        assert web.get(f"{JOBS}/waiting:chore-items/log").json()["lines"] == []


class TestTheEnginesOwnEvents:
    def read_events(self, web: Any) -> list[tuple[str, str, dict[str, Any], str | None]]:
        items = web.get("/api/activity").json()["items"]
        assert {item["type"] for item in items} <= {"system_info"}
        return [(item["level"], item["message"], item["metadata"], item["error"]) for item in items]

    def test_a_final_failure_is_logged_once_by_the_top_of_the_tree(
        self, web: Any, chores: Engine, project: Library
    ) -> None:
        done = put(chores, project, "chore-items", {"items": 1})
        alone = put(chores, project, "chore-refused", {"items": 1})
        parent = put(chores, project, "chore-items", {"items": 1})
        with project.db.write() as conn:
            enqueue_many(conn, [NewJob("chore-refused", {"items": 1}, "part")], parent_id=parent)
        chores.jobs.run_until_idle(project)
        assert web.get(f"{JOBS}/{done}").json()["state"] == "done"
        events = self.read_events(web)
        assert {level for level, *_ in events} == {"error"}
        assert {found["job_id"] for _, _, found, _ in events} == {alone, parent}
        assert len(events) == 2
        assert all(message.endswith(" failed.") and error for _, message, _, error in events)

    def test_a_resumed_interruption_is_logged(self, web: Any, chores: Engine, project: Library) -> None:
        put(chores, project, "chore-items", {"items": 1})
        with project.db.write() as conn:
            conn.exec_driver_sql("UPDATE job SET state = 'running'")
        chores.libraries.release(project.path)
        chores.jobs.detach(project)
        chores.libraries.get(project.path)
        ((level, message, found, _),) = self.read_events(web)
        assert (level, found) == ("warning", {"jobs": 1})
        assert message == "The engine had stopped while 1 job ran; it is continued."

    def test_a_migration_is_logged_with_its_snapshot(
        self, web: Any, chores: Engine, project: Library
    ) -> None:
        chores.run(None, "library.release", {"path": str(project.path)}, LOCAL_OWNER)
        with sqlite3.connect(project.path / "library.sqlite") as raw:
            raw.execute("UPDATE schema_version SET version = 0 WHERE family = 'jobs'")
        (item,) = web.get("/api/snapshots").json()["items"]
        ((level, message, found, _),) = self.read_events(web)
        assert (level, found) == ("info", {"snapshot_id": item["id"]})
        assert message.startswith("The tables were brought up")


class TestActivity:
    @pytest.fixture
    def events(self, project: Library) -> list[str]:
        ids = []
        with project.db.write() as conn:
            for number in range(5):
                ids.append(
                    record_activity(
                        conn,
                        "node_completed" if number % 2 else "workflow_started",
                        f"Event 100% über number {number}",
                        level="warning" if number == 3 else "info",
                        workflow_id=f"w{number % 2}",
                        batch_id="b" if number == 4 else None,
                        thread_id="t" if number == 2 else None,
                        metadata={"number": number},
                        duration_ms=number,
                    )
                )
                time.sleep(0.002)
        return ids

    def find_sequences(self, web: Any, **params: Any) -> list[int]:
        body = web.get("/api/activity", params=params).json()
        assert body["count"] == len(body["items"])
        return [item["metadata"]["number"] for item in body["items"]]

    def test_newest_first_with_every_filter(self, web: Any, events: list[str]) -> None:
        assert self.find_sequences(web) == [4, 3, 2, 1, 0]
        assert self.find_sequences(web, types=["node_completed"]) == [3, 1]
        assert self.find_sequences(web, types=["node_completed", "workflow_started"], levels=["warning"]) == [
            3
        ]
        assert self.find_sequences(web, workflow_id="w1") == [3, 1]
        assert self.find_sequences(web, batch_id="b") == [4]
        assert self.find_sequences(web, thread_id="t") == [2]
        assert self.find_sequences(web, search="NUMBER 2") == [2]
        assert self.find_sequences(web, search="100%") == [4, 3, 2, 1, 0]
        assert self.find_sequences(web, search="100_") == []
        assert self.find_sequences(web, search="ÜBER NUMBER 3") == [3]
        assert self.find_sequences(web, limit=2, offset=1) == [3, 2]
        at = web.get("/api/activity").json()["items"][2]["timestamp"]
        assert self.find_sequences(web, since=at) == [4, 3, 2]
        assert self.find_sequences(web, until=at) == [2, 1, 0]
        # A plus sign that was not percent-encoded arrives as a space.
        assert web.get("/api/activity?since=2000-01-31T12:00:00+02:00").json()["total"] == 5
        page = web.get("/api/activity", params={"limit": 2}).json()
        assert (page["total"], page["limit"], page["offset"]) == (5, 2, 0)
        assert set(page["items"][0]) == {
            "id", "type", "level", "timestamp", "message", "workflow_id", "batch_id", "thread_id", "node_id",
            "metadata", "duration_ms", "error",
        }  # fmt: skip

    @pytest.mark.parametrize(
        "params",
        [
            {"types": "no_such"},
            {"levels": "loud"},
            {"limit": 0},
            {"limit": 1001},
            {"offset": -1},
            {"since": "yesterday"},
            {"until": "99999-01-01"},
        ],
    )
    def test_filters_that_do_not_fit(self, web: Any, params: dict[str, Any]) -> None:
        expect_refusal(web.get("/api/activity", params=params), 422, "invalid_request")

    def test_it_is_only_ever_appended_to(self, project: Library, events: list[str]) -> None:
        for statement in ("UPDATE activity SET message = 'x'", "DELETE FROM activity"):
            with (
                pytest.raises(Exception, match="rows of activity are never changed"),
                project.db.write() as conn,
            ):
                conn.exec_driver_sql(statement)

    def test_a_type_of_its_own_invention_is_refused(self, project: Library) -> None:
        with pytest.raises(Invalid, match="is not a type of activity"), project.db.write() as conn:
            record_activity(conn, "party", "x")  # type: ignore[arg-type]

    def test_without_a_project_all_open_ones(
        self, bare: Any, chores: Engine, events: list[str], other: Library
    ) -> None:
        with other.db.write() as conn:
            record_activity(conn, "system_info", "elsewhere", metadata={"number": 9})
        with chores.state.write() as conn:
            record_activity(conn, "system_info", "the engine's own", metadata={"number": 10})
        assert self.find_sequences(bare, limit=3) == [10, 9, 4]


def test_statistics_count_paused_jobs_apart(web: Any, chores: Engine, project: Library) -> None:
    ids = [put(chores, project, "chore-items", {"items": n}) for n in range(2)]
    web.put(f"{JOBS}/{ids[0]}/paused", json={"paused": True})
    assert web.get("/api/library/stats").json()["jobs"] == {
        "waiting": 1, "running": 0, "paused": 1, "done": 0, "failed": 0, "cancelled": 0,
    }  # fmt: skip
