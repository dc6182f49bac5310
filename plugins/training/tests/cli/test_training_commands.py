"""Training at the command line: a reader taught, measured, listed and made global, with reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from training_samples import LoopbackTrainer

from armarium_testing.command_line import Machine, Pictures
from armarium_training import starting


def test_a_reader_is_taught_measured_and_made_global(
    desk: Machine, pictures: Pictures, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "trainers", lambda engine: [LoopbackTrainer])
    pictures(["1.png", "2.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    desk.succeed("lines", "--reader", "pretend")
    desk.succeed("read", "--reader", "pretend")
    for item in desk.succeed("text", "--json").json["items"]:
        for number, span in enumerate(item["spans"]):
            given = {"segment_id": span["segment_id"], "text": f"linea {number + 1}!"}
            desk.succeed("action", "run", "representation.create", "-p", json.dumps(given))
    assert "No model has been trained here yet" in desk.succeed("models").out
    report = tmp_path / "taught.html"
    words = ("--teacher", "pretend", "--hold-out", "2.png", "--epochs", "2", "--report", str(report))
    taught = desk.succeed("train", "1.png", *words, "--name", "Abbot")
    assert "on 2 lines, 2 epochs" in taught.out
    assert "2 corrected lines on 1 page are held out. A bake-off compares" in taught.out
    assert "unmeasured" in desk.succeed("models").out
    assert f"armarium read --reader hand --model {taught_model(taught.out)}" in taught.out
    assert "<svg" in report.read_text("utf-8")
    assert "http" not in report.read_text("utf-8")
    (model,) = desk.succeed("models", "--json").json["items"]
    listed = desk.succeed("models").out
    assert "Abbot" in listed
    assert "unmeasured" in listed
    scores = tmp_path / "scores.html"
    answer = desk.succeed("evaluate", "pretend", model["id"], "--alone", "--report", str(scores)).out
    assert "pretend" in answer
    assert str(scores) in answer
    assert "data:image/png;base64," in scores.read_text("utf-8")
    assert "measured" in desk.succeed("models", model["id"]).out
    assert "misread most often" in scores.read_text("utf-8")
    place = next(desk.home.rglob(f"{model['id']}.card.json"))
    text = place.read_text("utf-8")
    place.write_text(
        json.dumps({**json.loads(text), "evaluations": [{"cer": "little", "pages": []}]}), "utf-8"
    )
    assert "measured" in desk.succeed("models", model["id"]).out
    place.write_text(text, "utf-8")
    assert "to all projects" in desk.succeed("models", model["id"], "--make-global").out
    assert desk.succeed("models", "--json").json["items"][0]["location"] == "both"
    assert (
        desk.succeed("read", "2.png", "--reader", "hand", "--model", model["id"], "--json").json["lines"] == 2
    )


def taught_model(words: str) -> str:
    """The model that the first word of the answer's first line names."""
    return words.split()[1]


def test_it_is_said_which_reader_takes_the_model(
    desk: Machine, pictures: Pictures, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The builds are those that `GET /api/training/model` names; here of a store whose reader is not the hand reader."""
    from armarium_training.queries import training as queries

    monkeypatch.setattr(starting, "trainers", lambda engine: [LoopbackTrainer])
    pictures(["1.png"])
    desk.succeed("create", "Kraken")
    desk.succeed("import", "pages")
    desk.succeed("lines", "--reader", "pretend")
    desk.succeed("read", "--reader", "pretend")
    builds = [{"build": "absent", "here": False}, {"build": "kraken", "here": True}]
    monkeypatch.setattr(queries, "_runs_on", lambda *_: builds)
    bare = desk.succeed(
        "action", "run", "document.create", "-p", '{"name": "9.png", "doc_type": "page"}', "--json"
    )
    pages = ("1.png", bare.json["result"]["id"])
    taught = desk.succeed("train", *pages, "--teacher", "pretend", "--epochs", "1")
    # A page that taught nothing is named, with the reason.
    assert "left out: 9.png: It has no picture." in taught.out
    assert f"armarium read --reader kraken --model {taught_model(taught.out)}" in taught.out


def test_what_cannot_be_done_is_said(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png"])
    desk.succeed("create", "Others")
    desk.succeed("import", "pages")
    assert "--make-global" in desk.expect_misuse("models", "--make-global")
    assert "no trained model" in desk.expect_refusal("models", "nobody", "--make-global")
    assert "No candidate was trained here" in desk.expect_refusal("evaluate")
    assert "runtime install hand-trainer" in desk.expect_refusal("train")


def test_pages_are_read_at_scale_and_it_is_said_how_that_stands(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png", "2.png"])
    desk.succeed("create", "Many")
    desk.succeed("import", "pages")
    answer = desk.succeed("read-at-scale", "--card", "pretend", "--shard-size", "1", "--json").json
    assert answer["counts"] == {"pending": 0, "submitted": 0, "landed": 2, "failed": 0}
    words = desk.succeed("read-at-scale", "--job", answer["job_id"]).out
    assert "2 landed, 0 already" in words
    assert "0 failed" in words
    assert "nothing" in desk.expect_refusal("read-at-scale", "--job", answer["job_id"], "--resend").lower()
    assert "with --job" in desk.expect_refusal("read-at-scale", "--cancel")
    assert "pages_may_leave" in desk.expect_refusal(
        "read-at-scale", "--card", "pretend", "--flavor", "t4-small"
    )


def test_trainings_of_detectors_and_of_vision_models_are_asked_for(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png", "2.png"])
    desk.succeed("create", "Layouts")
    desk.succeed("import", "pages")
    assert "at least 20 on 2 pages" in desk.expect_refusal("train-regions", "1.png", "--hold-out", "2.png")
    assert "--base" in desk.expect_refusal("train-vision")
    assert "model-8B" in desk.expect_refusal("train-vision", "--base", "model-8B")
    assert "can be used for training" in desk.expect_refusal("train-vision", "--base", "owner/model-8B")
