"""Embeds pictures of lines with the convolutional part of the base model, before its recurrent layers.

Runs in a worker process, as the reader does; it never downloads.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarium_reader_hand import WEIGHTS
from armarium_reader_hand.model import MARGIN, STEP, STEPS
from armarium_reader_hand.onnx_bytes import as_output
from armarium_reader_hand.picture import HEIGHT, Grey
from armarium_worker import LineShape, Refused, flatten_image
from armarium_worker.server import Call, Handler, WorkerContext

EYES = "eyes"
"""The output of the convolutional part: (steps, lines, LENGTH), before the first LSTM."""
TOGETHER = 8
"""Lines that are run together."""
LENGTH = 320
"""Numbers of a vector: the mean of what the eyes see along the line."""

Vectors = NDArray[np.float32]


class LineEyes:
    """Converts pictures of lines (`picture.line_picture`) to vectors."""

    def __init__(self, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # Batches run in parallel: threads within one batch spend much of their time waiting for each other.
        options.intra_op_num_threads, options.inter_op_num_threads = 1, 1
        self.hands = ThreadPoolExecutor(max(1, threads))
        options.log_severity_level = 3
        weights = files("armarium_reader_hand").joinpath(WEIGHTS).read_bytes()
        self.session = onnxruntime.InferenceSession(
            weights + as_output(EYES), options, ["CPUExecutionProvider"]
        )

    def vectors(self, pictures: Sequence[Grey]) -> Vectors:
        """Return a vector of unit length for each picture: (pictures, LENGTH)."""
        unit_vectors = np.zeros((len(pictures), LENGTH), dtype=np.float32)
        # Similar widths together: each is padded to the widest of its batch.
        order = sorted(range(len(pictures)), key=lambda number: pictures[number].shape[1])
        batches = [order[start : start + TOGETHER] for start in range(0, len(order), TOGETHER)]
        for batch, batch_vectors in zip(
            batches, self.hands.map(lambda batch: self._see(pictures, batch), batches), strict=True
        ):
            unit_vectors[batch] = batch_vectors
        return unit_vectors

    def _see(self, pictures: Sequence[Grey], batch: Sequence[int]) -> Vectors:
        steps = [max(1, -(-pictures[number].shape[1] // STEP)) for number in batch]
        lines = np.zeros((len(batch), 1, HEIGHT, max(steps) * STEP + MARGIN), dtype=np.float32)
        for line, number in zip(lines, batch, strict=True):
            line[0, :, : pictures[number].shape[1]] = pictures[number] / np.float32(255)
        inputs = {"lines": lines, "steps": STEPS * np.array(steps, dtype=np.int32)}
        (features,) = self.session.run([EYES], inputs)
        means = np.stack(
            [features[:count, place].astype(np.float32).mean(axis=0) for place, count in enumerate(steps)]
        )
        return means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)  # type: ignore[no-any-return]


class LineLooking:
    """The worker: keeps the model loaded.

    Stored vectors are told apart by its name: a model that sees otherwise gets another, and lines are looked at anew.
    """

    def __init__(self, context: WorkerContext) -> None:
        self.context = context
        self.eyes: LineEyes | None = None

    @classmethod
    def handlers(cls, context: WorkerContext) -> dict[str, Handler]:
        """Return the methods that the engine calls."""
        return {"look": cls(context).look}

    def look(self, call: Call) -> dict[str, Any]:
        """Params: image, max_pixels, lines[] {rect, polygon?, baseline?} in pixels. Result: vectors (base64, float16), length."""
        from PIL import Image

        from armarium_reader_hand.crops import cut_line
        from armarium_reader_hand.picture import line_picture

        path = Path(str(call.params["image"]))
        if not path.is_file():
            raise Refused("The page picture no longer exists; is the project's folder complete?")
        if self.eyes is None:
            self.eyes = LineEyes(self.context.threads)
        with Image.open(path) as image:
            if image.width * image.height > int(call.params["max_pixels"]):
                raise Refused("The page picture has more pixels than the engine allows.")
            if image.mode == "RGB":
                # A JPEG's luminance is decoded alone; other formats ignore this.
                image.draft("L", image.size)
            page = np.asarray(flatten_image(image, "L"))

        def cut(line: dict[str, Any]) -> Grey:
            shape = LineShape(tuple(line["rect"]), line.get("polygon") or (), line.get("baseline") or ())
            return line_picture(cut_line(page, shape))

        pictures = list(self.eyes.hands.map(cut, call.params["lines"]))
        vectors = self.eyes.vectors(pictures).astype(np.float16)
        return {"vectors": base64.b64encode(vectors.tobytes()).decode(), "length": LENGTH}
