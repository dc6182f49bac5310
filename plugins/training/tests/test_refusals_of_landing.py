"""What a training cannot take in, lay out or write, said in words; and shapes that no page can hold."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from training_desk import Desk

from armarium.api import Conflict, Invalid, why_not_of
from armarium.principals import LOCAL_OWNER
from armarium_training import cards, whole_files
from armarium_training.actions import training as actions
from armarium_training.compute import Compute, LocalCompute
from armarium_training.compute_hub import HubCompute
from armarium_training.jobs import training as jobs
from armarium_training.trainers import HandTrainer, Trainer, trainer_of


def full(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_is_said_wherever_a_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "source").write_bytes(b"x")
    monkeypatch.setattr(os, "replace", full)
    for write in (
        lambda: cards.write_card(tmp_path / "a.card.json", {}),
        lambda: actions.copy_file(tmp_path / "source", tmp_path / "b"),
        lambda: whole_files.write_whole(tmp_path / "c", b"x"),
    ):
        with pytest.raises(Conflict, match="No space left on device") as refused:
            write()
        assert refused.value.code == "no_room"
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_result_of_the_hub_that_finds_no_room_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = object.__new__(HubCompute)
    ended = {"id": "far", "status": {"stage": "COMPLETED"}, "labels": {}}
    for name, answer in (("_list_jobs", lambda: [ended]), ("_last_lines", lambda _: ()), ("_result", full)):
        monkeypatch.setattr(hub, name, answer, raising=False)
    with pytest.raises(
        Conflict, match=r"came back from the model hub .* \(No space left on device\)"
    ) as refused:
        hub.ask(["far"])
    assert (refused.value.status, refused.value.code) == (409, "no_room")


def test_pictures_that_find_no_room_fail_the_training_in_words(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, _ = desk.page(["one"])
    replace = os.replace

    def sometimes_full(source: Any, target: Any) -> None:
        if Path(target).name == "pictures.bin":
            full()
        replace(source, target)

    monkeypatch.setattr(os, "replace", sometimes_full)
    assert "pictures.bin could not be written" in desk.train([page])["reason"]


def test_only_a_finished_training_is_taken_in(desk: Desk) -> None:
    answer = desk.client.post(
        "/api/actions/invoke", json={"action": "training.land", "params": {"job_id": "0" * 32}}
    )
    if answer.status_code == 422:
        answer = desk.client.post(
            "/api/actions/invoke", json={"name": "training.land", "params": {"job_id": "0" * 32}}
        )
    assert (answer.status_code, answer.json()["code"]) == (409, "not_finished"), answer.text
    with pytest.raises(Invalid):
        desk.do("training.land", {"job_id": "../../etc"}, LOCAL_OWNER)


def test_what_changes_between_the_start_and_the_turn_of_a_training(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, lines = desk.page(["one"])
    job_id = desk.start([page])
    desk.verdict(lines[0], "reject")
    desk.engine.jobs.run_until_idle(desk.library)
    assert desk.training(job_id)["reason"].startswith("No line of these pages can be used for training")
    other, _ = desk.page(["two"])
    with monkeypatch.context() as patched:
        patched.setattr("armarium_training.laying_out.lines_of", lambda *_: ([], []))
        training = desk.train([other])
    assert training["state"] == "failed"
    with monkeypatch.context() as patched:
        patched.setattr(jobs.Path, "is_relative_to", lambda *_: False)
        training = desk.train([other], epochs=1)
    assert training["reason"] == "The trainer wrote no model."


def test_regions_that_no_model_may_have_when_their_turn_comes(desk: Desk) -> None:
    desk.give_trainers()
    pages = [desk.picture(2) for _ in range(3)]
    for page in pages:
        pass_id = desk.do("segment.pass_create", {"document_id": page, "name": "Drawn"})["id"]
        made = [
            {
                "document_id": page,
                "pass_id": pass_id,
                "kind": "region",
                "anchor": {"rect": [0.1, 0.05 + 0.09 * number, 0.8, 0.08]},
            }
            for number in range(10)
        ]
        desk.do("segment.create_many", {"segments": made})
    body = {"scope_ids": pages[:2], "held_out_ids": pages[2:], "epochs": 1}
    job_id = desk.client.post("/api/training/regions/here", json=body).json()["job_id"]
    for page in pages[:2]:
        desk.do("rights.set", {"target_kind": "document", "target_id": page, "model_use": "none"})
    desk.engine.jobs.run_until_idle(desk.library)
    assert "at least 20 on 2 pages" in desk.training(job_id)["reason"]
    assert desk.client.post("/api/training/regions/here", json=body).json()["code"] == "too_few_regions"


def test_a_driver_that_is_no_trainer_or_place_is_turned_away(desk: Desk) -> None:
    for base, driver, name in ((Trainer, HandTrainer, "hand"), (Compute, LocalCompute, "local")):
        assert why_not_of(base, name, driver) is None
        assert "not a class derived" in (why_not_of(base, "x", object) or "")
        assert f"calls itself {name}" in (why_not_of(base, "x", driver) or "")
    with pytest.raises(Conflict, match="hand-trainer"):
        trainer_of(desk.engine, "linereader")


def test_shapes_that_no_page_can_hold_leave_a_line_its_box(desk: Desk) -> None:
    page = desk.picture(2)
    line = {
        "rect": [10, 10, 100, 20],
        "text": "one",
        "polygon": [[0, 0], [0, 0], [0, 0]],
        "baseline": [[1, 1], [1, 1]],
    }
    nowhere = {"rect": [900, 10, 10, 10], "text": "outside"}
    given = {
        "document_id": page,
        "checksum": "a" * 64,
        "name": "Far",
        "provider": "far",
        "model": "far",
        "width": 400,
        "height": 120,
        "lines": [line, nowhere],
    }
    first, second_outcome = desk.do("training.land_page", given), desk.do("training.land_page", given)
    assert (first["already"], second_outcome["already"], first["pass_id"] == second_outcome["pass_id"]) == (
        False,
        True,
        True,
    )
    ((baseline, text),) = desk.rows(
        "SELECT s.baseline, r.content FROM segment s JOIN content_representation r ON r.segment_id = s.id"
    )
    assert (baseline, text) == (None, "one")
