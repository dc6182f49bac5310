"""Pictures of one pixel and of twenty thousand, where a user meets them: trained on, measured on, read at scale."""

from __future__ import annotations

import json
from typing import Any

import pytest
import training_readers
from training_desk import Desk

from armarium_reading.api import READERS
from armarium_training.jobs import training as jobs

SIZES = [(1, 1), (20_000, 20), (20, 20_000), (1, 20_000)]


@pytest.mark.parametrize("size", SIZES)
def test_lines_of_any_picture_are_laid_out_for_the_trainer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    seen: list[dict[str, Any]] = []
    train = jobs.Training._train

    def looking(self: Any, trainer: Any, given: dict[str, Any]) -> None:
        seen.extend(json.loads((self.folder / "lines.json").read_text("utf-8"))["lines"])
        assert (self.folder / "pictures.bin").stat().st_size == 64 * sum(item["width"] for item in seen)
        train(self, trainer, given)

    monkeypatch.setattr(jobs.Training, "_train", looking)
    page, _ = desk.page(["one", "two"], size=size)
    training = desk.train([page], epochs=1)
    assert (training["state"], training["training_set"]["lines"]) == ("done", 2), training
    assert [item["text"] for item in seen] == ["one", "two"]


@pytest.mark.parametrize("size", SIZES)
def test_any_picture_is_measured_on(desk: Desk, size: tuple[int, int]) -> None:
    page, lines = desk.page(["one"], size=size)
    desk.correct(lines[0], "one")
    given = {"candidates": [{"model": "hand", "reader": "linereader"}], "held_out_ids": [page]}
    answer = desk.client.post("/api/evaluation/runs", json={**given, "add_out_of_the_box": False})
    desk.engine.jobs.run_until_idle(desk.library)
    told = desk.client.get(f"/api/evaluation/runs/{answer.json()['job_id']}").json()
    assert told["state"] == "done", told
    (model,) = told["result"]["models"]
    assert model["measured"], model
    assert model["totals"]["diplomatic"]["reference_chars"] == 3


def test_any_picture_is_read_at_scale(desk: Desk) -> None:
    for reader in training_readers.ALL:
        desk.engine.drivers.give(READERS, reader.name, reader)
    pages = [desk.picture(1, size=size) for size in SIZES]
    body = {"scope_ids": pages, "card": "careful", "flavor": "local", "longest": 256}
    job_id = desk.client.post("/api/reading-at-scale", json=body).json()["job_id"]
    desk.engine.jobs.run_until_idle(desk.library)
    answer = desk.client.get(f"/api/reading-at-scale/jobs/{job_id}").json()
    assert (answer["state"], answer["landing"]["landed"]) == ("done", len(SIZES)), answer


def test_a_picture_that_is_no_picture_is_missing_and_the_others_are_taught(desk: Desk) -> None:
    page, _ = desk.page(["one"])
    broken, _ = desk.page(["two"])
    ((checksum,),) = desk.rows("SELECT checksum FROM rendition WHERE document_id = ?", broken)
    place = desk.library.objects.path(checksum)
    place.chmod(0o600)
    place.write_bytes(b"no picture")
    training = desk.train([page, broken], epochs=1)
    assert (training["state"], training["training_set"]["lines"]) == ("done", 1), training
    assert [entry["document_id"] for entry in training["training_set"]["missing"]] == [broken]
