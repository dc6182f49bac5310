"""Undo and redo of taking a model in and of making it global: all or nothing, and never over another project's model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from training_desk import Desk

from armarium.api import Forbidden
from armarium.principals import LOCAL_OWNER


def land_model(desk: Desk) -> tuple[str, str]:
    """A model that was taken in, and that step."""
    page, _ = desk.page(["one"])
    model = str(desk.train([page], epochs=1)["reader_id"])
    ((audit_id,),) = desk.rows("SELECT id FROM audit WHERE action_name = 'training.land'")
    return model, str(audit_id)


def undo(desk: Desk, *audit_ids: str) -> Any:
    return desk.client.post("/api/actions/audit/undo", json={"audit_ids": list(audit_ids)})


def listed(desk: Desk) -> dict[str, str]:
    items = desk.client.get("/api/training/models").json()["items"]
    return {item["id"]: item["location"] for item in items}


def test_an_undo_that_is_refused_with_another_step_leaves_the_model(desk: Desk) -> None:
    model, audit_id = land_model(desk)
    ((begun,),) = desk.rows("SELECT id FROM audit WHERE action_name = 'training.start_here'")
    refused = undo(desk, audit_id, begun)
    assert (refused.status_code, refused.json()["reason"]) == (409, "not-undoable"), refused.text
    assert listed(desk) == {model: "project"}
    assert desk.card_path(model).is_file()


def test_undone_redone_and_both_taken_back_at_once_it_is_there(desk: Desk) -> None:
    model, audit_id = land_model(desk)
    undone = undo(desk, audit_id).json()["audit_ids"]
    redone = undo(desk, *undone).json()["audit_ids"]
    assert undo(desk, *redone, *undone).status_code == 200
    assert listed(desk) == {model: "project"}
    assert desk.rows("SELECT id FROM training_model") == [(model,)]


def test_a_model_whose_files_are_gone_cannot_be_brought_back(desk: Desk) -> None:
    model, audit_id = land_model(desk)
    undone = undo(desk, audit_id).json()["audit_ids"]
    Path(f"{desk.library.models / 'hand' / model}.onnx.undone").unlink()
    refused = undo(desk, *undone)
    answer = refused.json()
    assert (refused.status_code, answer["reason"], answer["because"]) == (409, "gone", "files_gone"), answer
    assert listed(desk) == {}


def test_redo_makes_nothing_global_over_what_is_there(desk: Desk) -> None:
    model, _ = land_model(desk)
    answer = desk.client.post("/api/training/models/make-global", json={"model": model}).json()
    undone = undo(desk, answer["audit_id"]).json()["audit_ids"]
    assert listed(desk) == {model: "project"}
    # Another project's model of that id has come there meanwhile.
    store = Path(answer["global_path"]).parent
    (store / f"{model}.onnx").write_bytes(b"another")
    (store / f"{model}.card.json").write_text(json.dumps({"id": model}), "utf-8")
    refused = undo(desk, *undone)
    assert (refused.status_code, refused.json()["because"]) == (409, "already_global"), refused.text
    assert (store / f"{model}.onnx").read_bytes() == b"another"


def test_redo_of_making_global_needs_the_model_in_the_project(desk: Desk) -> None:
    model, audit_id = land_model(desk)
    answer = desk.client.post("/api/training/models/make-global", json={"model": model}).json()
    undone = undo(desk, answer["audit_id"]).json()["audit_ids"]
    assert undo(desk, audit_id).status_code == 200
    refused = undo(desk, *undone)
    assert (refused.status_code, refused.json()["code"]) == (404, "unknown_model"), refused.text
    assert listed(desk) == {}


def test_an_undo_that_is_refused_with_another_step_leaves_the_global_copy(desk: Desk) -> None:
    model, _ = land_model(desk)
    answer = desk.client.post("/api/training/models/make-global", json={"model": model}).json()
    ((begun,),) = desk.rows("SELECT id FROM audit WHERE action_name = 'training.start_here'")
    assert undo(desk, answer["audit_id"], begun).status_code == 409
    assert listed(desk) == {model: "both"}


def test_an_undone_model_can_be_neither_read_with_nor_started_from(desk: Desk) -> None:
    model, audit_id = land_model(desk)
    page, _ = desk.page(["two"])
    undo(desk, audit_id)
    body = {"scope_ids": [page], "teacher": "teacher", "base": model}
    answer = desk.client.post("/api/training/linereader/here", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "base_missing"), answer.text
    candidate = {"model": model, "reader": "linereader"}
    answer = desk.client.post(
        "/api/evaluation/runs", json={"candidates": [candidate], "held_out_ids": [page]}
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "model_not_here"), answer.text


def test_a_result_that_lands_may_not_name_who_ranks_above_readers(desk: Desk) -> None:
    page = desk.picture(1)
    given = {
        "document_id": page,
        "checksum": "a" * 64,
        "name": "Far",
        "model": "far",
        "width": 4,
        "height": 4,
        "lines": [],
    }
    for provider, code in (("user", "not_a_person"), ("Text-Layer", "not_a_reader")):
        body = {"name": "training.land_page", "params": {**given, "provider": provider}}
        answer = desk.client.post("/api/actions/invoke", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert desk.rows("SELECT 1 FROM segment_pass") == []


def test_starts_of_work_cannot_be_undone(desk: Desk) -> None:
    land_model(desk)
    page, lines = desk.page(["one"])
    desk.correct(lines[0], "one")
    started = {
        "training.start_here": {"scope_ids": [page], "teacher": "teacher", "base": "hand-base"},
        "evaluation.run": {"held_out_ids": [page], "candidates": [{"model": "hand", "reader": "linereader"}]},
        "reading.start_at_scale": {"scope_ids": [page], "card": "hand", "flavor": "local"},
    }
    for name, params in started.items():
        audit_id = desk.engine.run(desk.library, name, params, LOCAL_OWNER).audit_id
        refused = undo(desk, audit_id)
        assert (refused.status_code, refused.json()["reason"]) == (409, "not-undoable"), name


def test_a_token_of_some_projects_makes_nothing_global_for_all(desk: Desk) -> None:
    model, _ = land_model(desk)
    bound = replace(LOCAL_OWNER, role="editor", libraries=frozenset({str(desk.library.path)}))
    with pytest.raises(Forbidden) as refused:
        desk.do("training.make_model_global", {"model": model}, bound)
    assert refused.value.code == "library_access_denied"
    answer = desk.client.post("/api/training/models/make-global", json={"model": model}).json()
    with pytest.raises(Forbidden):
        desk.engine.undo(desk.library, [answer["audit_id"]], bound)
    assert listed(desk) == {model: "both"}
