"""The conversion of older results: one step per page, counts of done and remaining, named problems, the
report marked as seen.
"""

from __future__ import annotations

from typing import Any

import pytest
from batch_files import rows
from starlette.testclient import TestClient

from armarium.api import ActionContext
from armarium.engine import Engine
from armarium.errors import Conflict, Forbidden, NotFound
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.libraries import Library
from armarium_formats.queries.conversion import status
from armarium_source_model.api import page_text

LINE = {"bbox": [0.1, 0.1, 0.8, 0.05], "text": "Dear Sir", "level": "line"}


def old_page(engine: Engine, library: Library, *boxes: dict[str, Any]) -> tuple[str, str]:
    """Create a page with one older result; return the ids of the page and of the artifact."""

    def run(name: str, params: dict[str, Any]) -> dict[str, Any]:
        return engine.run(library, name, params, LOCAL_OWNER).result or {}

    document = run("document.create", {"name": "p", "doc_type": "page"})["id"]
    geometry = {"text": "Dear Sir", "provider": "reader", "boxes": list(boxes or (LINE,))}
    artifact = run(
        "artifact.create",
        {"document_id": document, "artifact_type": "transcription", "ocr_geometry": geometry},
    )["id"]
    return str(document), str(artifact)


def start(engine: Engine, library: Library) -> str:
    outcome = engine.run(library, "conversion.start", {}, LOCAL_OWNER)
    assert outcome.result is not None
    return str(outcome.result["run_id"])


def test_a_project_without_older_results_has_no_conversion(client: TestClient) -> None:
    assert client.get("/api/conversion/status").json() == {
        "state": "none",
        "run_id": None,
        "done": 0,
        "total": 0,
        "left": 0,
        "counts": {"passes": 0, "segments": 0, "readings": 0},
        "problems": [],
        "started_at": None,
        "finished_at": None,
        "seen_at": None,
        "seen_by": None,
    }


def test_older_results_become_passes(engine: Engine, library: Library, client: TestClient) -> None:
    for _ in range(3):
        old_page(engine, library)
    assert client.get("/api/conversion/status").json()["left"] == 3
    run_id = start(engine, library)
    waiting = client.get("/api/conversion/status").json()
    assert (waiting["state"], waiting["run_id"], waiting["left"]) == ("waiting", run_id, 3)
    with pytest.raises(Conflict, match="already running"):
        start(engine, library)
    assert client.post(f"/api/conversion/{run_id}/seen").status_code == 409
    engine.jobs.run_until_idle(library)
    answer = client.get("/api/conversion/status").json()
    assert (answer["state"], answer["done"], answer["total"], answer["left"]) == ("done", 3, 3, 0)
    assert answer["counts"] == {"passes": 3, "segments": 3, "readings": 3}
    assert answer["problems"] == []
    assert answer["started_at"] <= answer["finished_at"]
    with pytest.raises(Conflict, match="nothing to do"):
        start(engine, library)


AGENT = Principal("machine", "an agent", "editor", token_kind="agent")


@pytest.mark.parametrize(("who", "maker"), [(LOCAL_OWNER, "human"), (AGENT, "unknown")])
def test_results_drawn_by_a_person_keep_human_provenance_if_a_person_started_the_job(
    engine: Engine, library: Library, who: Principal, maker: str
) -> None:
    """The job keeps human provenance as the action does, so the person's text still precedes a newer machine
    pass.
    """
    document = engine.run(library, "document.create", {"name": "p", "doc_type": "page"}, LOCAL_OWNER).result
    assert document is not None
    for provider, words in (("user", "Dear Sir"), ("reader", "Deer Sir")):
        params = {
            "document_id": document["id"],
            "artifact_type": "transcription",
            "ocr_geometry": {"provider": provider, "boxes": [{**LINE, "text": words}]},
        }
        engine.run(library, "artifact.create", params, LOCAL_OWNER)
    engine.run(library, "conversion.start", {}, who)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        for table in ("segment_pass", "segment", "content_representation"):
            found = conn.exec_driver_sql(f"SELECT DISTINCT provenance_kind FROM {table} ORDER BY 1").scalars()
            assert list(found) == sorted([maker, "workflow"])
        text = page_text(conn, document["id"])
    assert (text.text, text.pass_basis) == (
        ("Dear Sir", "human-touched") if maker == "human" else ("Deer Sir", "newest-machine-unchosen")
    )


def test_boxes_without_a_rectangle_are_reported(engine: Engine, library: Library) -> None:
    document, artifact = old_page(engine, library, LINE)

    def damage(ctx: ActionContext) -> None:
        ctx.conn.exec_driver_sql(
            "UPDATE artifact SET ocr_geometry = json_insert(ocr_geometry, '$.boxes[#]', json('{\"bbox\": null}'))"
        )

    # What a run from long ago left behind.
    engine.run(library, "document.create", {"name": "Beside"}, LOCAL_OWNER, in_transaction=damage)
    start(engine, library)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        (problem,) = status(conn)["problems"]
    assert (problem["artifact_id"], problem["document_id"]) == (artifact, document)
    assert "1 of its 2 boxes" in problem["why"]


def test_a_page_that_cannot_be_converted_is_named_and_left(engine: Engine, library: Library) -> None:
    document, artifact = old_page(engine, library)
    old_page(engine, library)
    engine.run(library, "document.lock", {"document_id": document, "locked": True}, LOCAL_OWNER)
    editor = Principal("person", "helper", "editor")
    engine.run(library, "conversion.start", {}, editor)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        found = status(conn)
    assert (found["state"], found["done"], found["total"], found["left"]) == ("done", 1, 2, 1)
    assert [(problem["artifact_id"], problem["document_id"]) for problem in found["problems"]] == [
        (artifact, document)
    ]
    assert "locked" in found["problems"][0]["why"]


def test_a_page_whose_conversion_was_undone_remains_to_be_converted(engine: Engine, library: Library) -> None:
    old_page(engine, library)
    run_id = start(engine, library)
    engine.jobs.run_until_idle(library)
    steps = [row[0] for row in rows(library, "SELECT id FROM audit WHERE set_id = ?", run_id)]
    engine.undo(library, steps, LOCAL_OWNER)
    with library.db.read() as conn:
        found = status(conn)
    assert (found["done"], found["left"]) == (0, 1)
    assert start(engine, library) != run_id


def test_a_conversion_that_failed_says_why(
    engine: Engine, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    import armarium_formats.jobs.conversion as conversion
    from armarium.errors import Broken

    old_page(engine, library)
    run_id = start(engine, library)

    def fail(ctx: Any, after: str) -> Any:
        raise Broken("The table is damaged.")

    monkeypatch.setattr(conversion, "_next", fail)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        found = status(conn, run_id)
    assert (found["state"], found["left"]) == ("failed", 1)
    assert "damaged" in found["problems"][-1]["why"]


def test_undoing_the_start_cancels_the_waiting_job_and_a_redo_queues_it_again(
    engine: Engine, library: Library
) -> None:
    old_page(engine, library)

    def state() -> tuple[str, int]:
        ((job,),) = rows(library, "SELECT state FROM job WHERE kind = 'convert-older-results'")
        return job, rows(library, "SELECT count(*) FROM segment_pass")[0][0]

    started = engine.run(library, "conversion.start", {}, LOCAL_OWNER)
    undone = engine.undo(library, [started.audit_id], LOCAL_OWNER)
    assert state() == ("cancelled", 0)
    again = engine.undo(library, undone["audit_ids"], LOCAL_OWNER)
    assert state() == ("waiting", 0)
    engine.jobs.run_until_idle(library)
    assert state() == ("done", 1)
    # The job's work is its own steps; undoing the start of a finished run undoes none of it.
    engine.undo(library, again["audit_ids"], LOCAL_OWNER)
    assert state() == ("done", 1)


def test_a_person_has_seen_the_report(engine: Engine, library: Library, client: TestClient) -> None:
    old_page(engine, library)
    run_id = start(engine, library)
    engine.jobs.run_until_idle(library)
    answer = client.post(f"/api/conversion/{run_id}/seen")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["run_id"], answer.json()["seen_by"]) == (run_id, answer.json()["seen_by"])
    assert answer.json()["seen_at"] is not None
    second_answer = client.post(f"/api/conversion/{run_id}/seen").json()
    assert second_answer["seen_at"] == answer.json()["seen_at"]
    engine.undo(library, [answer.json()["audit_id"]], LOCAL_OWNER)
    assert client.get("/api/conversion/status").json()["seen_at"] is None
    with pytest.raises(Forbidden):
        engine.run(library, "conversion.seen", {"run_id": run_id}, Principal("machine", "agent", "editor"))
    assert client.post("/api/conversion/nothing/seen").status_code == 404
    with pytest.raises(NotFound), library.db.read() as conn:
        status(conn, "nothing")


def test_releasing_a_project_says_that_a_conversion_was_stopped(engine: Engine, library: Library) -> None:
    old_page(engine, library)
    run_id = start(engine, library)
    with library.db.write() as conn:
        conn.exec_driver_sql("UPDATE job SET state = 'running' WHERE id = ?", (run_id,))
    released = engine.run(None, "library.release", {"path": str(library.path)}, LOCAL_OWNER).result
    assert released is not None
    assert released["conversion_stopped"] is True
