"""A trainer that works in its reader's runtime, and its reader: doubles of kraken's that need nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from armarium_training.trainers import Trainer
from armarium_worker import Call, Handler, LineReading, LineShape, Page, Reader, WorkerContext


class Strips(Reader):
    """A reader whose models are files like kraken's, and which cuts lines as wide as they are."""

    name, label = "strips", "Strips"
    can = frozenset({"read_lines"})
    model_kind = "linereader"
    model_suffixes = (".safetensors",)
    reading_needs_model = True

    def read_lines(self, page: Page, lines: Sequence[LineShape]) -> Iterator[LineReading]:
        """What the model says."""
        for _ in lines:
            yield LineReading(Path(str(self.model)).read_text("utf-8"), 0.5)

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """With what a trainer asks."""
        return {**super().handlers(context), "line_pictures": _cut, "base": lambda call: dict(call.params)}


def _cut(call: Call) -> dict[str, Any]:
    widths = [round(line["rect"][2]) for line in call.params["lines"]]
    call.answer_binary = b"".join(b"\x00" * 120 * width for width in widths)
    return {"widths": widths}


class StripTrainer(Trainer):
    """Goes through the motions in its reader's runtime."""

    name, label = "strips", "Strips"
    worker = "strip_trainer:StripWorker"
    reader = "strips"
    suffix = (".safetensors", ".mlmodel")
    in_readers_runtime = True


class StripWorker:
    """Writes a model that says how many lines it was taught, and from what."""

    @classmethod
    def handlers(cls, context: WorkerContext) -> Mapping[str, Handler]:
        """The methods of a trainer's worker."""
        from armarium_testing.loopback_trainers import LineTrainer

        return {"epoch": LineTrainer.epoch, "finish": _finish}


def _finish(call: Call) -> dict[str, Any]:
    folder = Path(call.params["folder"])
    lines = json.loads((folder / "lines.json").read_text("utf-8"))["lines"]
    assert (folder / "pictures.bin").stat().st_size == 120 * sum(line["width"] for line in lines)
    base = (call.params.get("base") or {}).get("path")
    target = folder / "model.safetensors"
    target.write_text(f"{len(lines)} lines from {Path(base).name if base else 'nothing'}", "utf-8")
    return {"model": str(target)}
