"""The stream of a run: a snapshot before it starts, then events, resumable by number; it always ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from small_jobs import WorkflowProject, edge, node, two_steps

from armarium.principals import LOCAL_OWNER
from armarium_testing.model_provider import LoopbackProvider
from armarium_workflows import stream
from armarium_workflows.stream import RunStream


@pytest.fixture(autouse=True)
def _poll_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "EVERY", 0.01)


def parse_frames(frames: bytes) -> list[dict[str, Any]]:
    """Return the events of a stream, with their number and kind."""
    found = []
    for block in frames.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if lines:
            found.append({**json.loads(lines["data"]), "event": lines["event"], "id": int(lines["id"])})
    return found


def follow_run(
    project: WorkflowProject, thread: str, meanwhile: Any = None, **more: Any
) -> list[dict[str, Any]]:
    """Return the events of a run to its end; *meanwhile* is called after the first."""

    async def collect() -> bytes:
        listener = RunStream(
            project.engine, project.library, LOCAL_OWNER, thread, more.get("after"), more.get("deltas", False)
        )
        found = b""
        async for event in listener.events():
            found += event
            if meanwhile is not None and found.count(b"event:") == 1:
                await asyncio.to_thread(meanwhile)
        return found

    return parse_frames(asyncio.run(asyncio.wait_for(collect(), 30)))


def test_a_stream_can_be_opened_before_the_run_starts(project: WorkflowProject) -> None:
    pages = project.pages(2)
    thread = project.start(project.save(two_steps()), pages)
    events = follow_run(project, thread, project.idle)
    kinds = [event["kind"] for event in events]
    assert (kinds[0], events[0]["data"]["run"]["status"], kinds[-1]) == ("snapshot", "waiting", "end")
    lasting = [kind for kind in kinds if kind not in ("node_progress", "lane_waiting")]
    node = ["node_started", "node_completed"]
    page = ["page_started", "page_completed"] * 2
    begun = ["snapshot", "workflow_started", *node]
    assert lasting[: len(begun)] == begun
    assert sorted(lasting) == sorted([*begun, *node * 3, *page * 2, "workflow_completed", "end"])
    completed = [event for event in events if event["kind"] == "page_completed"]
    assert sorted(one["document_id"] for one in completed) == sorted(pages * 2)
    assert all(
        event["thread_id"] == thread and event["seq"] == event["id"] and event["event"] == event["kind"]
        for event in events
    )


def test_a_stream_is_resumed_after_the_last_event_seen(project: WorkflowProject) -> None:
    thread = project.start(project.save(two_steps()), project.pages(1))
    first = follow_run(project, thread, project.idle)
    lasting = [
        one for one in first if one["kind"] not in ("snapshot", "node_progress", "lane_waiting", "end")
    ]
    seen = lasting[3]
    answer = project.client.get(
        f"/api/workflow-execution/threads/{thread}/stream", headers={"Last-Event-ID": str(seen["id"])}
    )
    assert answer.headers["content-type"].startswith("text/event-stream")
    second_frames = parse_frames(answer.content)
    assert [item["kind"] for item in second_frames] == [
        "snapshot",
        *(one["kind"] for one in lasting[4:]),
        "end",
    ]
    assert [second_frame["id"] for second_frame in second_frames[1:-1]] == [
        second_frame["id"] for second_frame in lasting[4:]
    ]


def test_the_stream_reports_pause_and_resume_and_sends_heartbeats(
    project: WorkflowProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "QUIET", 0.0)
    thread = project.start_held(two_steps(), project.pages(1))

    def pause_again() -> None:
        url = f"/api/workflow-execution/threads/{thread}"
        project.client.put("/api/activity/jobs/paused", json={"paused": True})
        project.client.post(f"{url}/resume")
        project.client.post(f"{url}/pause")
        project.client.post(f"{url}/resume")
        project.client.put("/api/activity/jobs/paused", json={"paused": False})
        project.idle()

    events = follow_run(project, thread, pause_again)
    assert events[0]["data"]["run"]["status"] == "paused"
    kinds = [event["kind"] for event in events if event["kind"] in ("workflow_paused", "workflow_resumed")]
    assert kinds == ["workflow_resumed", "workflow_paused", "workflow_resumed"]
    assert [event["kind"] for event in events][-2:] == ["workflow_completed", "end"]


def test_an_unknown_event_number_causes_a_resync(project: WorkflowProject) -> None:
    thread = project.run(two_steps(), project.pages(1))["thread_id"]
    assert [one["kind"] for one in follow_run(project, thread, after=10**9)] == ["resync", "snapshot", "end"]


def test_the_stream_reports_failed_pages_and_runs(project: WorkflowProject) -> None:
    (bad,) = project.pages(1)
    thread = project.start(project.save(two_steps(bad=[bad])), [bad])
    events = follow_run(project, thread, project.idle)
    by_kind = {event["kind"]: event for event in events}
    assert (by_kind["page_failed"]["document_id"], by_kind["page_failed"]["message"]) == (
        bad,
        "The page is torn.",
    )
    assert by_kind["workflow_failed"]["error"].startswith("No page could be done.")


def test_a_step_that_a_chain_skips_has_a_stream_that_ends(project: WorkflowProject) -> None:
    (bad,) = project.pages(1)
    failing, other = project.save(two_steps(bad=[bad])), project.save(two_steps())
    steps = [
        {"id": one, "workflow_id": flow, "name": one} for one, flow in (("bad", failing), ("next", other))
    ]
    chain = project.client.post("/api/chains", json={"name": "A chain", "steps": steps}).json()["id"]
    answer = project.client.post(
        f"/api/chains/{chain}/execute-steps", json={"inputs": {"scope_ids": [bad]}}
    ).json()
    events = follow_run(project, answer["steps"][1]["thread_id"], project.idle)
    assert [event["kind"] for event in events] == ["snapshot", "workflow_cancelled", "end"]
    assert events[0]["data"]["run"]["status"] == "waiting"


def test_a_run_that_is_deleted_while_it_streams_ends_the_stream(project: WorkflowProject) -> None:
    thread = project.start(project.save(two_steps()), project.pages(1))

    def delete() -> None:
        project.client.post(f"/api/workflow-execution/threads/{thread}/cancel")
        answer = project.client.post("/api/workflow-execution/runs/delete", json={"thread_ids": [thread]})
        assert answer.json()["deleted"] == 1

    assert follow_run(project, thread, delete)[-1]["kind"] == "end"
    assert project.client.get(f"/api/workflow-execution/threads/{thread}/stream").status_code == 404


def asking_workflow() -> dict[str, Any]:
    """Return a workflow that passes pages through a job that asks a model."""
    nodes = [node("pages", "input"), node("ask", "small-ask"), node("result", "output")]
    edges = [edge("pages.pages", "ask.page_image"), edge("ask.result", "result.value")]
    return {"name": "Asking", "nodes": nodes, "edges": edges}


@pytest.mark.parametrize("deltas", [True, False])
def test_pieces_of_answers_are_streamed_only_to_followers(project: WorkflowProject, deltas: bool) -> None:
    with LoopbackProvider() as provider:
        provider.add_to(project.engine, "Loopback")
        provider.answers = ["Dear Sir and Madam"]
        (page,) = project.pages(1)
        before = project.engine.events.seq
        thread = project.start(project.save(asking_workflow()), [page])
        found = follow_run(project, thread, project.idle, deltas=deltas)
    pieces = [item["data"] for item in found if item["kind"] == "model_delta"]
    assert project.marks() == [(page, "Dear Sir and Madam")]
    assert [bool(request["body"].get("stream")) for request in provider.asked] == [deltas]
    assert "".join(piece["text"] for piece in pieces) == ("Dear Sir and Madam" if deltas else "")
    assert {(piece["thread_id"], piece["document_id"]) for piece in pieces} == (
        {(thread, page)} if deltas else set()
    )
    published = [one.kind for one in project.engine.events.since(before) or ()]
    assert ("model_delta" in published) is deltas, "where nobody follows nothing is published"


def test_pieces_about_pages_a_follower_may_not_see_are_left_out(
    project: WorkflowProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, hidden = project.pages(2)
    thread = project.start_held(two_steps(), [seen])
    monkeypatch.setattr(
        stream,
        "find_withheld",
        lambda library, who, ids, use: {identity: "Restricted." for identity in ids if identity == hidden},
    )

    def speak() -> None:
        for page in (hidden, seen):
            data = {"thread_id": thread, "document_id": page, "segment_id": None, "text": page}
            project.engine.events.publish("model_delta", data, str(project.library.path))
        project.client.post(f"/api/workflow-execution/threads/{thread}/resume")
        project.idle()

    found = follow_run(project, thread, speak, deltas=True)
    assert [item["data"]["text"] for item in found if item["kind"] == "model_delta"] == [seen]
