"""The workers of trainers, a detector and a converter that learn nothing and need nothing: they only follow the protocol, so
that everything else can be tested.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armarium_worker import Call, Handler, Refused, WorkerContext, write_whole

KIND = "loopback"
"""The `model_type` of the detectors."""


class Trainer(ABC):
    """Answers `finish`, and `epoch` with what is measured in the epoch with the number *epoch*."""

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of a trainer's worker."""
        return {"epoch": cls.epoch, "finish": cls.finish}

    @staticmethod
    @abstractmethod
    def epoch(call: Call) -> dict[str, Any]:
        """Do the epoch with the number *epoch*."""

    @staticmethod
    @abstractmethod
    def finish(call: Call) -> dict[str, Any]:
        """Write the model."""


class LineTrainer(Trainer):
    """The error rate falls for three epochs and then stays the same.

    A file `slow`, `refuse` or `die` next to the folder of the training makes it take a second per epoch,
    refuse, or exit.
    """

    @staticmethod
    def epoch(call: Call) -> dict[str, Any]:
        """Do the epochs up to the number *epoch*, recorded in a file."""
        folder, number = Path(call.params["folder"]), int(call.params["epoch"])
        path = folder / "checkpoint.json"
        epochs: list[dict[str, Any]] = json.loads(path.read_text()) if path.is_file() else []
        lines = _laid_out(call, "lines")
        if (folder.parent / "refuse").exists():
            raise Refused("The lines cannot be taught.")
        while len(epochs) < number:
            for step in range(10):
                call.check()
                call.progress(step, 10)
                if (folder.parent / "slow").exists():
                    time.sleep(0.1)
            if (folder.parent / "die").exists():
                (folder.parent / "die").unlink()
                os._exit(9)
            epoch = len(epochs) + 1
            epochs.append(_outcome(epoch, lines=len(lines), best=epoch <= 3, cer=0.5 / min(epoch, 3)))
            write_whole(path, json.dumps(epochs).encode())
        return epochs[number - 1]

    @staticmethod
    def finish(call: Call) -> dict[str, Any]:
        """Write a copy of the base with its letters in the file, as in a trained model; a few bytes if there is no base."""
        target = Path(call.params["folder"]) / "model.onnx"
        base = call.params.get("base") or {}
        data = Path(base["path"]).read_bytes() if base else b"model"
        if base and b"calibration" not in data:
            # A protobuf message can be extended by appending to it: here two properties of the model.
            for name in ("alphabet", "calibration"):
                entry = _field(0x0A, name.encode()) + _field(0x12, json.dumps(base[name]).encode())
                data += _field(0x72, entry)
        target.write_bytes(data)
        return {"model": str(target)}


class RegionTrainer(Trainer):
    """Its third epoch is the best. Its worker also answers `find_regions`, as a detector's does."""

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of a trainer's worker and of a detector's."""
        return {**super().handlers(context), "find_regions": find_regions}

    @staticmethod
    def epoch(call: Call) -> dict[str, Any]:
        """Do the epoch with the number *epoch*."""
        call.check()
        number = int(call.params["epoch"])
        taught = [page["part"] for page in _laid_out(call, "pages")].count("taught")
        return _outcome(number, lines=taught, best=number <= 3, map50=0.25 * min(number, 3))

    @staticmethod
    def finish(call: Call) -> dict[str, Any]:
        """Write a folder whose model contains the regions of the first page it was trained on."""
        pages = _laid_out(call, "pages")
        regions = next(page["regions"] for page in pages if page["part"] != "held-out")
        held_out_pages = [page for page in pages if page["part"] == "held-out" and page["regions"]]
        target = Path(call.params["folder"]) / "model" / "config.json"
        target.parent.mkdir(exist_ok=True)
        config = {"model_type": KIND, "regions": regions, "base": call.params.get("base")}
        write_whole(target, json.dumps(config).encode())
        return {
            "model": str(target),
            "map50": 0.75 if held_out_pages else None,
            "held_out_pages": len(held_out_pages),
            "classes": sorted({region["class"] for region in regions}),
        }


def find_regions(call: Call) -> dict[str, Any]:
    """Return the model's regions, each with a lower score than the one before, down to the least score."""
    path = Path(str(call.params["model"]))
    if not path.is_file():
        raise Refused("The detector's model no longer exists.")
    regions = json.loads(path.read_text("utf-8"))["regions"]
    scored = [{**region, "score": 1 / number} for number, region in enumerate(regions, 1)]
    at_least = call.params["at_least"]
    return {
        "regions": [region for region in scored if region["score"] >= (0.4 if at_least is None else at_least)]
    }


class VisionTrainer(Trainer):
    """Each epoch is a little better than the one before. Its worker also answers `convert`, as a converter's does."""

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of both workers."""
        return {**super().handlers(context), "convert": convert}

    @staticmethod
    def epoch(call: Call) -> dict[str, Any]:
        """Do the epoch with the number *epoch*."""
        number, count = int(call.params["epoch"]), len(_laid_out(call, "lines"))
        call.check()
        call.progress(count, count)
        return _outcome(number, lines=count, best=True, cer=0.5 / number)

    @staticmethod
    def finish(call: Call) -> dict[str, Any]:
        """Write folders that look like a model's and an adapter's."""
        folder = Path(call.params["folder"])
        model = {
            "model": folder / "merged" / "config.json",
            "adapter": folder / "adapter" / "adapter_config.json",
        }
        for config in model.values():
            config.parent.mkdir(exist_ok=True)
            config.write_text(json.dumps({"base": call.params["base"]}), "utf-8")
            (config.parent / "model.safetensors").write_bytes(b"weights")
        return {name: str(config) for name, config in model.items()}


def convert(call: Call) -> dict[str, Any]:
    """Copy the model."""
    source, target = Path(call.params["model"]).parent, Path(call.params["target"])
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    (target / "model.safetensors").write_bytes(b"half")
    return {"model": str(target / "config.json"), "bits": 4}


def _laid_out(call: Call, what: str) -> list[dict[str, Any]]:
    """Return the lines or pages of a training."""
    laid_out: list[dict[str, Any]] = json.loads(
        (Path(call.params["folder"]) / "lines.json").read_text("utf-8")
    )[what]
    return laid_out


def _outcome(number: int, **measured: Any) -> dict[str, Any]:
    used = {"device": "cpu", "threads": 1, "peak_memory_mb": 10, "added_memory_mb": 1}
    return {"epoch": number, "loss": 1 / number, "seconds": 0.01, **measured, **used}


def _field(tag: int, data: bytes) -> bytes:
    """Encode a protobuf field that contains bytes."""
    size, remaining = bytearray(), len(data)
    while remaining > 127:
        size.append(remaining % 128 + 128)
        remaining //= 128
    return bytes([tag, *size, remaining]) + data
