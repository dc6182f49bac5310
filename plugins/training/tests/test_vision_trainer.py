"""The vision trainer in its own runtime, where that is installed: a tiny model learns, is converted, and reads."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import armarium_worker
from armarium.api import Settings
from armarium.runtimes.installer import pinned_versions
from armarium.runtimes.registry import interpreter, read_marker
from armarium_training.trainers import VISION_TORCH
from armarium_vision_trainer.lines import transcription_in
from armarium_worker import WorkerProcess, WorkerRefused, distance

PACKAGE = Path(__file__).parents[1] / "src" / "armarium_vision_trainer"
READER = Path(__file__).parents[2] / "reader_vision" / "src" / "armarium_reader_vision"


def runtime_python() -> Path:
    """The interpreter of an installed runtime; skips in words where there is none.

    ARMARIUM_TEST_VISION_TRAINER names an interpreter that has transformers, peft and bitsandbytes; else the engine's own
    runtime is looked for.
    """
    if answer := os.environ.get("ARMARIUM_TEST_VISION_TRAINER"):
        return Path(answer)
    folder = Settings().state_dir / "runtimes" / VISION_TORCH.name
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        if read_marker(place) is not None:
            return interpreter(place)
    pytest.skip("The trainer's runtime is not installed here (armarium runtime install vision-trainer).")


@pytest.fixture(scope="module")
def python() -> Path:
    return runtime_python()


@pytest.fixture(scope="module")
def tiny(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The config.json of a model of a few thousand weights that were drawn by chance."""
    folder = tmp_path_factory.mktemp("tiny")
    script = Path(__file__).with_name("tiny_vision_model.py")
    subprocess.run([python, script, folder], check=True, capture_output=True)
    return folder / "config.json"


def picture(shade: int) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (64, 32), (shade, shade, shade)).save(file, "PNG")
    return file.getvalue()


def laid_out(folder: Path, texts: list[str]) -> None:
    folder.mkdir()
    pictures = [picture(20 + 200 * (number % 2)) for number in range(len(texts))]
    (folder / "pictures.bin").write_bytes(b"".join(pictures))
    told = [
        {"bytes": len(data), "prompt": "read", "answer": text, "text": text, "for_validation": False}
        for data, text in zip(pictures, texts, strict=True)
    ]
    (folder / "lines.json").write_text(json.dumps({"lines": told}), "utf-8")


def start_worker(target: str, python: Path, package: Path = PACKAGE) -> WorkerProcess:
    return WorkerProcess(target, python=python, packages={package.name: package})


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_tiny_model_learns_goes_on_after_a_kill_and_reads_in_four_bits(
    python: Path, tiny: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "training"
    laid_out(folder, ["a b c", "d e f"] * 2)
    given: dict[str, Any] = {"folder": str(folder), "base": {"path": str(tiny)}, "rank": 8, "batch_size": 1}
    trainer = start_worker("armarium_vision_trainer.trainer:VisionTrainer", python)
    losses = []
    try:
        for number in range(1, 7):
            told = trainer.call("epoch", {**given, "epoch": number})
            losses.append(told["loss"])
        assert losses[-1] < losses[0], losses
        assert (told["lines"], told["unusable"], told["device"]) == (4, 0, "cpu")
    finally:
        trainer.kill()
    trainer = start_worker("armarium_vision_trainer.trainer:VisionTrainer", python)
    try:
        again = trainer.call("epoch", {**given, "epoch": 6})
        assert (again["loss"], again["epoch"]) == (losses[-1], 6)
        made = trainer.call("finish", given)
    finally:
        trainer.kill()
    assert (Path(made["adapter"]).parent / "adapter_model.safetensors").is_file()
    converter = start_worker("armarium_vision_trainer.converter:FourBit", python)
    try:
        converted = converter.call("convert", {"model": made["model"], "target": str(tmp_path / "four")})
    finally:
        converter.kill()
    assert (converted["bits"], converted["layers"]) == (4, 14)
    quantization = json.loads(Path(converted["model"]).read_text("utf-8"))["quantization_config"]
    assert quantization["load_in_4bit"] is True
    page = tmp_path / "page.png"
    page.write_bytes(picture(20))
    reader = start_worker("armarium_reader_vision.reader:VisionReader", python, READER)
    try:
        for model in (made["model"], converted["model"]):
            asked = {"image": str(page), "model": model, "lines": [{"rect": [0, 0, 64, 32]}]}
            (reading,) = reader.call("read_lines", asked)["readings"]
            assert isinstance(reading["text"], str)
    finally:
        reader.kill()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_base_that_is_no_model_is_refused(python: Path, tmp_path: Path) -> None:
    laid_out(tmp_path / "training", ["a"])
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "config.json").write_text("{}", "utf-8")
    given = {"folder": str(tmp_path / "training"), "base": {"path": str(tmp_path / "base" / "config.json")}}
    trainer = start_worker("armarium_vision_trainer.trainer:VisionTrainer", python)
    try:
        with pytest.raises(WorkerRefused, match="not an image-text model"):
            trainer.call("epoch", {**given, "epoch": 1})
    finally:
        trainer.kill()


def test_every_package_of_the_runtime_is_pinned_and_no_address_is_named() -> None:
    path = PACKAGE / VISION_TORCH.requirements
    text = path.read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(pinned_versions(path)) == len(lines)
    assert "://" not in text


def test_its_modules_are_looked_at_without_anything_heavy() -> None:
    code = (
        "import sys, armarium_vision_trainer.trainer, armarium_vision_trainer.converter;"
        "assert not {'torch', 'transformers', 'peft', 'PIL'} & set(sys.modules)"
    )
    roots = [str(PACKAGE.parent), str(Path(armarium_worker.__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (" Dear  Sir\n", "Dear Sir"),
        ('{"reasons": "long s", "transcription": "Dear Sir"}', "Dear Sir"),
        ("<think>\nperhaps Sir\n</think>\nDear Sir", "Dear Sir"),
        ('{"reasons": "cut off', '{"reasons": "cut off'),
        ('{"transcription": 3}', '{"transcription": 3}'),
        ("", ""),
    ],
)
def test_the_transcription_is_found_in_the_answer_of_every_arm(answer: str, text: str) -> None:
    assert transcription_in(answer) == text


def test_distances_of_texts() -> None:
    assert [distance(*two) for two in (("", ""), ("kitten", "sitting"), ("abc", ""))] == [0, 3, 3]
