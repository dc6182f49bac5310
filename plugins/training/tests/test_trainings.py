"""Trainings on this machine over HTTP, with a trainer that goes through the motions: from the start to a usable model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from training_desk import Desk
from training_samples import LoopbackTrainer

from armarium.api import Engine
from armarium_source_model.api import armarium_source_model_rests_on_text
from armarium_testing.conformance import exercise_plugin
from armarium_testing.recipe_jobs import exercise_recipe_job
from armarium_training import starting
from armarium_training.jobs import training as jobs
from armarium_training.stale_models import taught_by

NOWHERE = "f" * 32


def test_what_taught_a_model_is_named_with_the_copies_of_its_pages(desk: Desk) -> None:
    page, lines = desk.page([f"line {number}" for number in range(12)])
    held, _ = desk.page(["kept"])
    training = desk.train([page], held_out_ids=[held], name="abbot")
    with desk.library.db.read() as conn:
        taught = taught_by(desk.library, conn, {training["reader_id"], "teacher"})
    assert {name: set(ids) for name, ids in taught.items()} == {training["reader_id"]: set(lines)}


def test_actions_conform(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "training", tmp_path / "kit") == []


def test_train_a_model_conforms(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    assert exercise_recipe_job(engine, "train-a-model", tmp_path / "kit") == []


def test_a_training_stops_when_it_no_longer_improves_and_lands(desk: Desk) -> None:
    page, lines = desk.page([f"line {number}" for number in range(12)])
    held, _ = desk.page(["kept"])
    desk.correct(lines[0], "line naught")
    training = desk.train([page], held_out_ids=[held], name="abbot", display_name="Abbot's hand")
    assert (training["state"], training["phase"], training["card"]) == ("done", "done", "linereader"), (
        training
    )
    assert [entry["phase"] for entry in training["history"]] == [
        "waiting",
        "preparing",
        "running",
        "landing",
        "done",
    ]
    assert training["reader_id"] == f"linereader-trained-{training['id']}"
    assert training["model_id"] is None
    assert desk.client.get("/api/training/jobs").json()["items"] == [training]
    # The loopback gets no better after its third epoch; five more are waited for.
    assert training["measured"]["epochs"] == 8
    assert len(training["last_lines"]) == 8
    assert training["training_set"]["lines_checked_by_a_person"] == 1
    assert training["request"]["teacher"] == "teacher"
    assert not (desk.library.derived_folder / "training" / training["id"]).exists()
    weights = desk.library.models / "hand" / f"{training['reader_id']}.onnx"
    assert weights.stat().st_size > 1_000_000
    (model,) = desk.client.get("/api/training/models").json()["items"]
    assert (model["id"], model["name"], model["kind"]) == (
        training["reader_id"],
        "Abbot's hand",
        "linereader-reader",
    )
    assert (model["trained_where"], model["location"], model["may_publish"]) == (
        "this-machine",
        "project",
        False,
    )
    assert model["licence"] is None
    assert model["base"] == "hand-base"
    assert model["evaluations"] == 0
    assert {"build": "hand", "here": True} in model["runs_on"]
    answer = desk.client.get("/api/training/model", params={"model": model["id"]}).json()
    assert answer["card"] == desk.card(model["id"])
    assert answer["evaluation_history"] == []
    assert [document["document_id"] for document in answer["card"]["training_set"]["documents"]] == [page]
    assert [kept["document_id"] for kept in answer["card"]["held_out"]] == [held]
    line = next(iter(answer["card"]["training_set"]["documents"][0]["texts"]))
    ((pass_id,),) = desk.rows("SELECT pass_id FROM segment WHERE id = ?", line)
    desk.read(page, pass_id, {line: "What another machine reads"}, "somebody else")
    assert in_doubt(desk, page) == []
    desk.do("representation.create", {"segment_id": line, "text": "Another text"})
    assert in_doubt(desk, page) == [("training-line", model["id"], line, "redo")]
    assert in_doubt(desk, held) == []
    with desk.library.db.read() as conn:
        assert desk.engine.jobs is not None
        assert conn is not None


def in_doubt(desk: Desk, page: str) -> list[tuple[str, str, str | None, str]]:
    """What this family says of a page rests on another text: kind, id, line, what to do."""
    (family,) = [
        one
        for one in desk.engine.points.collect(armarium_source_model_rests_on_text)
        if "training-line" in one.kinds
    ]
    with desk.library.db.read() as conn:
        rows = family.stale(conn, desk.library, [page])
    return [(row.kind, row.id, row.segment_id, row.todo) for row in rows]


def test_one_line_in_ten_is_for_validation(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []
    train = jobs.Training._train

    def looking(self: Any, trainer: Any, given: dict[str, Any]) -> None:
        seen.extend(json.loads((self.folder / "lines.json").read_text("utf-8"))["lines"])
        train(self, trainer, given)

    monkeypatch.setattr(jobs.Training, "_train", looking)
    page, _ = desk.page(["the same words"] * 21)
    desk.train([page], epochs=1)
    assert [number for number, one in enumerate(seen) if one["for_validation"]] == [9, 19]
    assert {item["text"] for item in seen} == {"the same words"}
    assert all(item["width"] >= 16 for item in seen)


def test_a_single_line_can_be_taught(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    assert desk.train([page], epochs=1)["state"] == "done"


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"scope_ids": []}, 422, "invalid_request"),
        ({"scope_ids": [NOWHERE]}, 404, None),
        ({"base": "nobody"}, 422, "base_missing"),
        ({"teacher": "nobody"}, 422, "nothing_to_teach"),
        ({"epochs": 0}, 422, "invalid_request"),
        ({"batch_size": 65}, 422, "invalid_request"),
        ({"pages_may_leave": True}, 422, "invalid_request"),
        ({"created_by": "me"}, 422, "invalid_request"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_it_is_queued(
    desk: Desk, more: dict[str, Any], status: int, code: str | None
) -> None:
    desk.give_trainers()
    page, _ = desk.page(["one"])
    body = {"scope_ids": [page], "teacher": "teacher", "base": "hand-base", **more}
    answer = desk.client.post("/api/training/linereader/here", json=body)
    assert answer.status_code == status, answer.text
    assert code is None or answer.json()["code"] == code
    assert desk.rows("SELECT id FROM job WHERE kind = 'train-on-this-machine'") == []


def test_a_scope_without_pages_or_with_empty_and_rejected_lines_alone(desk: Desk) -> None:
    desk.give_trainers()
    folder = desk.do("document.create", {"name": "Empty", "doc_type": "folder"})["id"]
    page, lines = desk.page(["", "null", "three"])
    desk.verdict(lines[2], "reject")
    for scope, code in ((folder, "no_pages"), (page, "nothing_to_teach")):
        body = {"scope_ids": [scope], "teacher": "teacher", "base": "hand-base"}
        answer = desk.client.post("/api/training/linereader/here", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_without_the_runtime_it_is_said_how_to_install_it(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    body = {"scope_ids": [page], "teacher": "teacher", "base": "hand-base"}
    answer = desk.client.post("/api/training/linereader/here", json=body)
    assert (answer.status_code, answer.json()["code"]) == (409, "runtime_missing")
    assert "armarium runtime install hand-trainer" in answer.json()["detail"]


def test_without_a_base_it_begins_from_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    page, _ = desk.page(["one"])
    training = desk.train([page], base=None, epochs=1)
    assert training["state"] == "done"
    assert desk.card(training["reader_id"])["base"] is None
    monkeypatch.setattr(starting, "trainers", lambda engine: [])
    for base, code in ((None, "no_trainer"), ("hand-base", "base_missing")):
        body = {"scope_ids": [page], "teacher": "teacher", "base": base}
        answer = desk.client.post("/api/training/linereader/here", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_a_thousand_identical_lines_are_a_set_as_any(desk: Desk) -> None:
    page, _ = desk.page(["the same line"] * 1_000)
    training = desk.train([page], epochs=1)
    assert (training["state"], training["training_set"]["lines"]) == ("done", 1_000)


def test_two_trainings_on_one_machine_are_taught_one_after_the_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach, at_work, most = jobs.Training._train, [0], [0]

    def count_train(self: Any, *given: Any) -> None:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        try:
            teach(self, *given)
        finally:
            at_work[0] -= 1

    monkeypatch.setattr(jobs.Training, "_train", count_train)
    page, _ = desk.page(["one"])
    begun = [desk.start([page], epochs=2) for _ in range(2)]
    desk.engine.jobs.run_until_idle(desk.library)
    assert [desk.training(one)["state"] for one in begun] == ["done", "done"]
    assert most == [1]
    assert len({desk.training(one)["reader_id"] for one in begun}) == 2


def test_without_a_base_the_projects_setting_says_who_trains(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    desk.do("library.set", {"trainer": "nobody"})
    body = {"scope_ids": [page], "teacher": "teacher"}
    answer = desk.client.post("/api/training/linereader/here", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "no_trainer")
    desk.do("library.set", {"trainer": LoopbackTrainer.name})
    assert desk.train([page], base=None, epochs=1)["state"] == "done"
    # A base has a trainer of its own.
    desk.do("library.set", {"trainer": "nobody"})
    assert desk.train([page], epochs=1)["state"] == "done"


@pytest.mark.parametrize("epoch", [1, 2])
def test_killed_at_the_end_of_an_epoch_it_goes_on_from_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, epoch: int
) -> None:
    page, _ = desk.page(["one"])
    job_id = desk.start([page], epochs=3)
    save = jobs.JobContext.save
    died: list[int] = []

    class Killed(BaseException):
        pass

    def dying(self: Any, kept: dict[str, Any], **more: Any) -> None:
        if len(kept["curve"]) == epoch and not died:
            died.append(1)
            raise RuntimeError("killed")
        save(self, kept, **more)

    monkeypatch.setattr(jobs.JobContext, "save", dying)
    desk.engine.jobs.run_until_idle(desk.library)
    assert desk.training(job_id)["state"] == "failed"
    assert died
    assert desk.training(job_id)["phase"] == "failed"
    desk.client.post(f"/api/activity/jobs/{job_id}/retry")
    desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(job_id)
    assert training["state"] == "done", training
    assert [point["epoch"] for point in training["curve"]] == [1, 2, 3]
    job = desk.client.get(f"/api/activity/jobs/{job_id}").json()
    assert (job["done"], job["total"], job["unit"]) == (3, 3, "epochs")


def test_a_worker_that_dies_or_refuses_fails_the_job_in_words(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    folder = desk.library.derived_folder / "training"
    folder.mkdir(parents=True)
    (folder / "die").touch()
    training = desk.train([page], epochs=2)
    assert training["state"] == "failed"
    assert "ended unexpectedly" in training["reason"]
    (folder / "refuse").touch()
    assert desk.train([page], epochs=2)["reason"] == "The lines cannot be taught."
    (folder / "refuse").unlink()
    assert desk.train([page], epochs=2)["state"] == "done"


def test_cancelled_before_it_starts_it_ends_at_once(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    job_id = desk.start([page])
    answer = desk.client.post(f"/api/training/jobs/{job_id}/cancel")
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    assert answer.json()["audit_id"]
    training = desk.training(job_id)
    assert (training["phase"], training["reader_id"]) == ("cancelled", None)
    for path in ("", "/cancel"):
        ask = desk.client.post if path else desk.client.get
        assert ask(f"/api/training/jobs/{NOWHERE}{path}").json()["code"] == "unknown_training"


def test_a_full_disk_at_landing_loses_no_training(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from armarium_training import model_files

    page, _ = desk.page(["one"])
    job_id = desk.start([page], epochs=1)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(model_files.shutil, "copyfileobj", full)
        desk.engine.jobs.run_until_idle(desk.library)
    training = desk.training(job_id)
    assert training["state"] == "failed"
    assert "No space left on device" in training["reason"]
    assert desk.client.get("/api/training/models").json()["count"] == 0
    assert list((desk.library.models / "hand").iterdir()) == []
    desk.client.post(f"/api/activity/jobs/{job_id}/retry")
    desk.engine.jobs.run_until_idle(desk.library)
    assert desk.training(job_id)["reader_id"]


def test_undo_takes_the_model_away_and_redo_brings_it_back(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    model = desk.train([page], epochs=1)["reader_id"]
    ((audit_id,),) = desk.rows("SELECT id FROM audit WHERE action_name = 'training.land'")
    before = desk.card_path(model).read_bytes()
    undone = desk.client.post(f"/api/actions/audit/{audit_id}/undo")
    assert undone.status_code == 200, undone.text
    assert desk.client.get("/api/training/models").json()["count"] == 0
    assert before == Path(f"{desk.card_path(model)}.undone").read_bytes()
    second_answer = desk.client.post(f"/api/actions/audit/{undone.json()['audit_id']}/undo")
    assert second_answer.status_code == 200, second_answer.text
    assert desk.card_path(model).read_bytes() == before


def test_a_global_copy_is_the_card_byte_for_byte_and_undo_removes_it(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    model = desk.train([page], epochs=1, not_for_release=False)["reader_id"]
    answer = desk.client.post("/api/training/models/make-global", json={"model": model})
    told = answer.json()
    assert (answer.status_code, told["model_id"], told["may_publish"]) == (200, model, True), told
    copied = Path(told["global_path"])
    assert copied.read_bytes() == (desk.library.models / "hand" / f"{model}.onnx").read_bytes()
    assert (copied.parent / f"{model}.card.json").read_bytes() == desk.card_path(model).read_bytes()
    assert desk.client.get("/api/training/models").json()["items"][0]["location"] == "both"
    second_answer = desk.client.post("/api/training/models/make-global", json={"model": model})
    assert (second_answer.status_code, second_answer.json()["code"]) == (409, "already_global")
    undone = desk.client.post(f"/api/actions/audit/{told['audit_id']}/undo")
    assert undone.status_code == 200
    assert not copied.exists()
    assert desk.client.get("/api/training/models").json()["items"][0]["location"] == "project"
    redone = desk.client.post(f"/api/actions/audit/{undone.json()['audit_id']}/undo")
    assert redone.status_code == 200
    assert copied.exists()
    unknown = desk.client.post("/api/training/models/make-global", json={"model": "hand-base"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_model")


@pytest.mark.parametrize(
    "written",
    ["", "[]", "{", '{"evaluations": [1, {"cer": "x"}], "base": 4, "not_for_release": 0}', "[" * 3000],
)
def test_a_card_that_a_person_broke_harms_nothing(desk: Desk, written: str) -> None:
    page, _ = desk.page(["one"])
    model = desk.train([page], epochs=1)["reader_id"]
    desk.card_path(model).write_text(written, "utf-8")
    (listed,) = desk.client.get("/api/training/models").json()["items"]
    assert (listed["id"], listed["may_publish"]) == (model, False)
    answer = desk.client.get("/api/training/model", params={"model": model})
    assert answer.status_code == 200, answer.text
    assert (
        desk.client.get("/api/training/model", params={"model": "hand-base"}).json()["code"]
        == "unknown_model"
    )
