"""The trainer of layout detectors: its score against COCO's own, and in its runtime, where that is installed, a tiny detector."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import armarium_worker
from armarium.api import Settings
from armarium.runtimes.installer import pinned_versions
from armarium.runtimes.registry import interpreter, read_marker
from armarium_region_trainer.scoring import (
    FoundRegion,
    TrueRegion,
    distinct,
    intersection_over_union,
    mean_average_precision,
    sure_from,
)
from armarium_training.trainers import REGION_TORCH
from armarium_worker import WorkerProcess, WorkerRefused

PACKAGE = Path(__file__).parents[1] / "src" / "armarium_region_trainer"
TRAINER, DETECTOR = (
    "armarium_region_trainer.trainer:RegionTrainer",
    "armarium_region_trainer.detector:Detector",
)


@pytest.fixture(scope="module")
def python() -> Path:
    """The interpreter of an installed runtime; skips in words where there is none.

    ARMARIUM_TEST_REGION_TRAINER names an interpreter that has torch, transformers and scipy; else the engine's own runtime
    is looked for.
    """
    if answer := os.environ.get("ARMARIUM_TEST_REGION_TRAINER"):
        return Path(answer)
    folder = Settings().state_dir / "runtimes" / REGION_TORCH.name
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        if read_marker(place) is not None:
            return interpreter(place)
    pytest.skip("The trainer's runtime is not installed here (armarium runtime install region-trainer).")


TINY = """
import sys
import torch
from transformers import RTDetrConfig, RTDetrForObjectDetection, RTDetrResNetConfig
torch.manual_seed(1)
backbone = RTDetrResNetConfig(embedding_size=8, hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], layer_type="basic",
    out_features=["stage2", "stage3", "stage4"])
RTDetrForObjectDetection(RTDetrConfig(backbone_config=backbone, use_timm_backbone=False, use_pretrained_backbone=False,
    freeze_backbone_batch_norms=False, encoder_in_channels=[8, 16, 16], encoder_hidden_dim=16, encoder_ffn_dim=32,
    encoder_attention_heads=2, decoder_in_channels=[16, 16, 16], d_model=16, decoder_ffn_dim=32, decoder_layers=1,
    decoder_attention_heads=2, num_queries=20, num_denoising=0, id2label={0: "other"}, label2id={"other": 0},
)).save_pretrained(sys.argv[1])
"""


@pytest.fixture(scope="module")
def tiny(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The config.json of a detector of a few thousand weights that were drawn by chance."""
    folder = tmp_path_factory.mktemp("tiny") / "tiny"
    subprocess.run([python, "-c", TINY, folder], check=True, capture_output=True)
    return folder / "config.json"


def laid_out(folder: Path, taught: int = 2) -> None:
    """Pages with a dark block each: some *taught*, then one for validation, one held out."""
    from PIL import Image

    folder.mkdir()
    told = []
    for number, part in enumerate((*["taught"] * taught, "validation", "held-out")):
        left, top = 0.1 + 0.07 * (number % 7), 0.1 + 0.13 * (number % 5)
        image = Image.new("RGB", (100, 120), (230, 225, 210))
        image.paste(
            (30, 30, 30), (int(left * 100), int(top * 120), int(left * 100) + 40, int(top * 120) + 36)
        )
        image.save(folder / f"{number}.png")
        told.append(
            {
                "file": f"{number}.png",
                "regions": [{"class": "text", "rect": [left, top, 0.4, 0.3]}],
                "part": part,
            }
        )
    (folder / "lines.json").write_text(json.dumps({"pages": told}), "utf-8")


def start_worker(target: str, python: Path) -> WorkerProcess:
    return WorkerProcess(target, python=python, packages={PACKAGE.name: PACKAGE})


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_detector_from_nothing_learns_to_find_a_block(python: Path, tmp_path: Path) -> None:
    folder = tmp_path / "training"
    laid_out(folder, taught=10)
    given: dict[str, Any] = {
        "folder": str(folder),
        "image_size": 128,
        "batch_size": 2,
        "max_pixels": 1_000_000,
    }
    trainer = start_worker(TRAINER, python)
    try:
        best = 0.0
        for number in range(1, 61):
            best = max(best, trainer.call("epoch", {**given, "epoch": number})["map50"])
            if best > 0.9:
                break
        # The loss of this family weighs a region by how well it is found, and so rises at first; regions found are the measure.
        assert best > 0.5, best
        made = trainer.call("finish", given)
    finally:
        trainer.kill()
    finder = start_worker(DETECTOR, python)
    asked = {
        "image": str(folder / "10.png"),
        "max_pixels": 1_000_000,
        "at_least": None,
        "model": made["model"],
    }
    try:
        surest = finder.call("find_regions", asked)["regions"][0]
    finally:
        finder.kill()
    assert surest["class"] == "text"
    assert intersection_over_union(tuple(surest["rect"]), (0.31, 0.1, 0.4, 0.3)) > 0.5, surest


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_tiny_detector_goes_on_after_a_kill_and_finds_regions(
    python: Path, tiny: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "training"
    laid_out(folder)
    given: dict[str, Any] = {
        "folder": str(folder),
        "base": {"path": str(tiny)},
        "image_size": 96,
        "batch_size": 2,
        "max_pixels": 1_000_000,
    }
    trainer = start_worker(TRAINER, python)
    try:
        told = [trainer.call("epoch", {**given, "epoch": number}) for number in range(1, 4)]
    finally:
        trainer.kill()
    assert all(0 <= item["map50"] <= 1 for item in told)
    assert told[0]["best"]
    assert len({item["loss"] for item in told}) == len(told)
    (folder / "checkpoint.part").write_bytes(b"half of a checkpoint")
    trainer = start_worker(TRAINER, python)
    try:
        again = trainer.call("epoch", {**given, "epoch": 3})
        assert again == told[-1]
        made = trainer.call("finish", given)
    finally:
        trainer.kill()
    assert 0 <= made["map50"] <= 1
    assert (made["held_out_pages"], made["classes"]) == (1, ["text"])
    finder = start_worker(DETECTOR, python)
    asked = {
        "image": str(folder / "0.png"),
        "max_pixels": 1_000_000,
        "at_least": 0.01,
        "model": made["model"],
    }
    try:
        regions = finder.call("find_regions", asked)["regions"]
        scores = [item["score"] for item in regions]
        assert scores == sorted(scores, reverse=True)
        for region in regions:
            x, y, w, h = region["rect"]
            assert region["class"] == "text"
            assert 0 <= x < x + w <= 1.0001
            assert 0 <= y < y + h <= 1.0001
        with pytest.raises(WorkerRefused, match="more pixels"):
            finder.call("find_regions", {**asked, "max_pixels": 10})
        with pytest.raises(WorkerRefused, match="no longer exists"):
            finder.call("find_regions", {**asked, "model": str(tmp_path / "config.json")})
    finally:
        finder.kill()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("written", ["{}", '{"model_type": "detr"}', "["])
def test_a_base_that_is_no_detector_is_refused(python: Path, tmp_path: Path, written: str) -> None:
    laid_out(tmp_path / "training")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "config.json").write_text(written, "utf-8")
    given = {"folder": str(tmp_path / "training"), "base": {"path": str(tmp_path / "base" / "config.json")}}
    trainer = start_worker(TRAINER, python)
    try:
        with pytest.raises(WorkerRefused, match="no detector"):
            trainer.call("epoch", {**given, "epoch": 1})
    finally:
        trainer.kill()


def by_chance(seed: int) -> tuple[list[list[FoundRegion]], list[list[TrueRegion]]]:
    """Six pages with regions of three kinds, and what a mediocre detector found: shifted, doubled, missed, made up."""
    chance = random.Random(seed)
    pages_found, pages_known = [], []
    for _ in range(6):
        known, found = [], []
        for _ in range(chance.randrange(6)):
            box = (chance.random(), chance.random(), chance.uniform(0.05, 0.5), chance.uniform(0.05, 0.5))
            known.append(TrueRegion(chance.randrange(3), box))
        for one in known:
            for _ in range(chance.randrange(3)):
                x, y, w, h = (value + chance.gauss(0, 0.05) for value in one.box)
                kind = one.kind if chance.random() < 0.9 else chance.randrange(3)
                # Few scores, so that some are equal.
                found.append(
                    FoundRegion(kind, (x, y, max(w, 0.01), max(h, 0.01)), chance.randrange(1, 20) / 20)
                )
        found.append(FoundRegion(chance.randrange(3), (0.4, 0.4, 0.1, 0.1), chance.randrange(1, 20) / 20))
        pages_found.append(found)
        pages_known.append(known)
    return pages_found, pages_known


COCO = """
import contextlib, io, json, sys
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
answers = []
for found, known in json.load(sys.stdin):
    kinds = sorted({kind for page in known for kind, _ in page})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {"images": [{"id": n + 1} for n in range(len(known))], "categories": [{"id": k + 1} for k in range(3)],
            "annotations": []}
        for number, page in enumerate(known):
            for kind, box in page:
                truth.dataset["annotations"].append({"id": len(truth.dataset["annotations"]) + 1, "image_id": number + 1,
                    "category_id": kind + 1, "bbox": box, "area": box[2] * box[3], "iscrowd": 0})
        truth.createIndex()
        told = truth.loadRes([{"image_id": n + 1, "category_id": kind + 1, "bbox": box, "score": score}
            for n, page in enumerate(found) for kind, box, score in page])
        judge = COCOeval(truth, told, "bbox")
        judge.evaluate(), judge.accumulate()
    precision = judge.eval["precision"][0, :, :, 0, -1]
    precision = precision[precision > -1]
    answers.append(float(precision.mean()) if precision.size else None)
json.dump(answers, sys.stdout)
"""


def test_the_score_is_cocos_own() -> None:
    """Against pycocotools, of this environment or of the one that ARMARIUM_TEST_REGION_TRAINER names."""
    python = os.environ.get("ARMARIUM_TEST_REGION_TRAINER", sys.executable)
    if subprocess.run([python, "-c", "import pycocotools"], capture_output=True, check=False).returncode:
        pytest.skip("pycocotools is not installed here; with it mAP50 is compared (pip install pycocotools).")
    cases = [by_chance(seed) for seed in range(200)]
    json_text = json.dumps([[found, known] for found, known in cases])
    result = subprocess.run([python, "-c", COCO], input=json_text, capture_output=True, check=True, text=True)
    ours = [mean_average_precision(found, known) for found, known in cases]
    assert len({round(mine, 3) for mine in ours if mine is not None}) > 100
    for our, cocos in zip(ours, json.loads(result.stdout), strict=True):
        assert our == pytest.approx(cocos, abs=1e-9)


def test_scores_that_can_be_worked_out_by_hand() -> None:
    box, far = (0.0, 0.0, 0.2, 0.2), (0.7, 0.7, 0.2, 0.2)
    known = [[TrueRegion(0, box), TrueRegion(0, far)]]
    assert mean_average_precision([[]], [[]]) is None
    assert mean_average_precision([[]], known) == 0
    assert mean_average_precision([[FoundRegion(0, box, 0.9), FoundRegion(0, far, 0.8)]], known) == 1
    # One of two found: precision 1 up to half of the recall, 51 of 101 points.
    assert mean_average_precision([[FoundRegion(0, box, 0.9)]], known) == pytest.approx(51 / 101)
    # Found twice, the second is wrong: it does no harm behind the right one, and halves the precision before it.
    assert (
        mean_average_precision([[FoundRegion(0, far, 0.9), FoundRegion(0, far, 0.8)]], [[TrueRegion(0, far)]])
        == 1
    )
    assert (
        mean_average_precision([[FoundRegion(0, box, 0.9), FoundRegion(0, far, 0.8)]], [[TrueRegion(0, far)]])
        == 0.5
    )
    assert intersection_over_union(box, far) == 0
    assert intersection_over_union(box, box) == 1
    assert intersection_over_union((0, 0, 2, 1), (1, 0, 2, 1)) == pytest.approx(1 / 3)


def test_how_sure_to_be_is_where_most_are_right() -> None:
    box, far, wrong = (0.0, 0.0, 0.2, 0.2), (0.7, 0.7, 0.2, 0.2), (0.4, 0.4, 0.1, 0.1)
    known = [[TrueRegion(0, box), TrueRegion(0, far)]]
    some = [FoundRegion(0, box, 0.9), FoundRegion(0, far, 0.5), FoundRegion(0, wrong, 0.3)]
    assert sure_from([some], known) == pytest.approx(0.4)
    assert sure_from([[FoundRegion(0, wrong, 0.3)]], known) is None
    assert sure_from([[]], known) is None
    twice = [FoundRegion(0, box, 0.9), FoundRegion(1, (0.0, 0.0, 0.2, 0.19), 0.8), FoundRegion(0, far, 0.7)]
    assert distinct(twice) == [twice[0], twice[2]]


def test_every_package_of_the_runtime_is_pinned_and_no_address_is_named() -> None:
    path = PACKAGE / REGION_TORCH.requirements
    text = path.read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(pinned_versions(path)) == len(lines)
    assert "://" not in text


def test_its_modules_are_looked_at_without_anything_heavy() -> None:
    code = (
        "import sys, armarium_region_trainer.trainer, armarium_region_trainer.detector;"
        "assert not {'torch', 'transformers', 'scipy', 'PIL', 'numpy'} & set(sys.modules)"
    )
    roots = [str(PACKAGE.parent), str(Path(armarium_worker.__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
