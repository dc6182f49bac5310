"""kraken's trainer: when it is chosen and refused, its plumbing with a double, and in kraken's runtime a few epochs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from strip_trainer import Strips, StripTrainer
from training_desk import Desk

from armarium.api import Settings
from armarium.runtimes.registry import interpreter, read_marker
from armarium_reader_kraken.reader import KRAKEN
from armarium_reading.api import READERS
from armarium_training.trainers import GROUP, KrakenTrainer, is_here, runtime_of, trainers
from armarium_worker import (
    WorkerProcess,
    WorkerRefused,
)

PACKAGE = Path(__file__).parents[2] / "reader_kraken" / "src" / "armarium_reader_kraken"


def give(desk: Desk) -> None:
    """Let the engine find the double, and no other trainer of lines."""
    desk.engine.drivers.give(READERS, Strips.name, Strips)
    desk.engine.drivers.give(GROUP, StripTrainer.name, StripTrainer)


def start(desk: Desk, scope: list[str], **more: Any) -> Any:
    body = {"scope_ids": scope, "teacher": "teacher", **more}
    return desk.client.post("/api/training/linereader/here", json=body)


def test_a_kraken_model_as_base_chooses_kraken_and_says_which_runtime_is_missing(desk: Desk) -> None:
    page, _ = desk.page(["one", "two"])
    folder = desk.library.models / "linereader"
    folder.mkdir(parents=True)
    (folder / "old-hand.safetensors").write_bytes(b"weights")
    for named in ("old-hand", "old-hand.safetensors"):
        answer = start(desk, [page], base=named)
        assert (answer.status_code, answer.json()["code"]) == (409, "runtime_missing"), answer.text
        assert "armarium runtime install kraken" in answer.json()["detail"]
    answer = start(desk, [page], base="no-hand")
    assert (answer.status_code, answer.json()["code"]) == (422, "base_missing")
    kraken = next(trainer for trainer in trainers(desk.engine) if trainer.name == "kraken")
    assert kraken is KrakenTrainer
    assert runtime_of(desk.engine, kraken) is KRAKEN
    assert not is_here(desk.engine, kraken)


def test_a_trainer_in_its_readers_runtime_teaches_from_a_model_and_the_result_reads_at_once(
    desk: Desk,
) -> None:
    give(desk)
    page, _ = desk.page(["one", "two", "three"])
    other, lines = desk.page(["", ""])
    made = []
    for base in (None, "first"):
        if base is not None:
            (desk.library.models / "linereader" / "first.safetensors").write_text("first", "utf-8")
        answer = start(desk, [page], epochs=2, **({} if base is None else {"base": base}))
        assert answer.status_code == 200, answer.text
        desk.engine.jobs.run_until_idle(desk.library)
        training = desk.training(answer.json()["job_id"])
        assert training["state"] == "done", training
        made.append(training["reader_id"])
    assert [(desk.library.models / "linereader" / f"{item}.safetensors").read_text() for item in made] == [
        "3 lines from nothing",
        "3 lines from first.safetensors",
    ]
    model = desk.client.get("/api/training/model", params={"model": made[1]}).json()
    assert (model["base"], [run["build"] for run in model["runs_on"]]) == ("first", ["kraken", "strips"])
    stated = {"scope_ids": [other], "reader": "strips", "model": made[1]}
    desk.do("reading.read_lines", stated)
    desk.engine.jobs.run_until_idle(desk.library)
    statement = "SELECT content FROM content_representation WHERE segment_id = ?"
    assert desk.rows(statement, lines[0]) == [("3 lines from first.safetensors",)]


@pytest.fixture(scope="module")
def python() -> Path:
    """kraken's interpreter: ARMARIUM_TEST_KRAKEN names one, else the engine's own runtime; skips in words."""
    if answer := os.environ.get("ARMARIUM_TEST_KRAKEN"):
        return Path(answer)
    folder = Settings().state_dir / "runtimes" / "kraken"
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        if read_marker(place) is not None:
            return interpreter(place)
    pytest.skip("The kraken runtime is not installed here (armarium runtime install kraken).")


def laid_out(folder: Path) -> None:
    """Eight typed lines, 120 pixels high."""
    from PIL import Image, ImageDraw, ImageFont

    folder.mkdir()
    font, data, told = ImageFont.load_default(60), b"", []
    for number in range(8):
        text = ("dei anno", "anno dei")[number % 2]
        image = Image.new("L", (int(font.getlength(text)) + 40, 120), 235)
        ImageDraw.Draw(image).text((20, 20), text, 30, font=font)
        data += image.tobytes()
        told.append({"text": text, "width": image.width, "for_validation": number > 5})
    (folder / "pictures.bin").write_bytes(data)
    (folder / "lines.json").write_text(json.dumps({"lines": told}), "utf-8")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_kraken_trains_goes_on_after_a_kill_and_reads_with_what_came_of_it(
    python: Path, tmp_path: Path
) -> None:
    def start_worker(target: str) -> WorkerProcess:
        return WorkerProcess(target, python=python, packages={PACKAGE.name: PACKAGE})

    folder = tmp_path / "training"
    laid_out(folder)
    given = {"folder": str(folder), "batch_size": 2}
    trainer = start_worker("armarium_reader_kraken.trainer:KrakenTrainer")
    try:
        told = [trainer.call("epoch", {**given, "epoch": number}) for number in (1, 2)]
    finally:
        trainer.kill()
    assert [(item["epoch"], item["lines"], item["validation_lines"]) for item in told] == [
        (1, 6, 2),
        (2, 6, 2),
    ]
    assert told[1]["loss"] < told[0]["loss"]
    # Killed between the checkpoint and the list of epochs, the epoch is done again.
    (folder / "part-last.ckpt").write_bytes(b"half of a checkpoint")
    trainer = start_worker("armarium_reader_kraken.trainer:KrakenTrainer")
    try:
        assert trainer.call("epoch", {**given, "epoch": 2}) == told[1]
        made = trainer.call("finish", given)
        wrong = tmp_path / "wrong.safetensors"
        wrong.write_bytes(b"no model")
        second = tmp_path / "second"
        laid_out(second)
        with pytest.raises(WorkerRefused, match="not a kraken model"):
            trainer.call("epoch", {"folder": str(second), "base": {"path": str(wrong)}, "epoch": 1})
        grown = trainer.call("epoch", {"folder": str(second), "base": {"path": made["model"]}, "epoch": 1})
        assert grown["lines"] == 6
    finally:
        trainer.kill()
    from PIL import Image

    Image.new("L", (400, 200), 235).save(tmp_path / "page.png")
    reader = start_worker("armarium_reader_kraken.reader:KrakenReader")
    asked = {
        "image": str(tmp_path / "page.png"),
        "max_pixels": 1_000_000,
        "lines": [{"rect": [10, 40, 300, 80]}],
    }
    try:
        assert len(reader.call("read_lines", {**asked, "model": made["model"]})["readings"]) == 1
        cut = reader.call("line_pictures", asked)
        assert cut["widths"][0] > 0
    finally:
        reader.kill()
