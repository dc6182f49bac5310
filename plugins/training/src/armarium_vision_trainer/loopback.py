"""A trainer and a converter of vision models that learn nothing and need nothing, so that everything else can
be tested.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armarium_worker import Call, Handler, WorkerContext


class Loopback:
    """Answers `epoch`, `finish` and `convert` as the trainer and the converter do."""

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """Return the methods of both workers."""
        return {"epoch": epoch, "finish": finish, "convert": convert}


def epoch(call: Call) -> dict[str, Any]:
    """Do the epoch with the number *epoch*, each a little better than the one before."""
    folder, number = Path(call.params["folder"]), int(call.params["epoch"])
    count = len(json.loads((folder / "lines.json").read_text("utf-8"))["lines"])
    call.check()
    call.progress(count, count)
    return {
        "epoch": number,
        "loss": 1 / number,
        "cer": 0.5 / number,
        "lines": count,
        "seconds": 0.01,
        "best": True,
        "device": "cpu",
        "threads": 1,
        "peak_memory_mb": 10,
        "added_memory_mb": 1,
    }


def finish(call: Call) -> dict[str, Any]:
    """Write a folder that looks like a model's."""
    folder = Path(call.params["folder"])
    for name, config in (("merged", "config.json"), ("adapter", "adapter_config.json")):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / config).write_text(json.dumps({"base": call.params["base"]}), "utf-8")
        (folder / name / "model.safetensors").write_bytes(b"weights")
    return {
        "model": str(folder / "merged" / "config.json"),
        "adapter": str(folder / "adapter" / "adapter_config.json"),
    }


def convert(call: Call) -> dict[str, Any]:
    """Copy the model."""
    source, target = Path(call.params["model"]).parent, Path(call.params["target"])
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    (target / "model.safetensors").write_bytes(b"half")
    return {"model": str(target / "config.json"), "bits": 4}
