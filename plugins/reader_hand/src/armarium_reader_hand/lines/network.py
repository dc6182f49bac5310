"""Runs the network of the line finder on a page that is scaled to what it was trained with."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from armarium_reader_hand.lines.maps import CODE, MULTIPLE, STRIDE

FINDER = "finder.onnx"
PIXELS = 1280 * 960
"""About how many pixels of a page the network is given."""
LONGEST = 3072
"""Pixels: no side of what it is given is longer, nor shorter than a MULTIPLE."""
ENLARGED = 2.5
"""No picture is enlarged more."""

Floats = NDArray[np.float32]


@dataclass
class Maps:
    """For each place of a page, from 0 to 1: whether a baseline, an end of a line, the band of the small letters is there;
    and how far a line that is there reaches above and below its baseline. Lengths are in places.
    """

    base: Floats
    ends: Floats
    core: Floats
    above: Floats
    below: Floats
    scale: tuple[float, float]
    """Pixels of the page for a place, across and down."""


class LineNetwork:
    """The network, loaded once."""

    def __init__(self, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = max(1, threads), 1
        options.log_severity_level = 3
        weights = files("armarium_reader_hand.lines").joinpath(FINDER).read_bytes()
        self.session: Any = onnxruntime.InferenceSession(weights, options, ["CPUExecutionProvider"])

    def maps(self, grey: NDArray[np.uint8], finer: float = 1.0) -> Maps:
        """Look at a page of grey levels, *finer* times as closely as usual."""
        height, width = grey.shape
        scale = min((PIXELS / (height * width)) ** 0.5 * finer, ENLARGED, LONGEST / max(height, width))
        across, down = (max(1, round(side * scale)) for side in (width, height))
        shrunk = cv2.resize(
            grey, (across, down), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        )
        more = [-side % MULTIPLE for side in (down, across)]
        padded = cv2.copyMakeBorder(shrunk, 0, more[0], 0, more[1], cv2.BORDER_REPLICATE)
        page = padded[None, None].astype(np.float32) / 255
        output = self.session.run(None, {"page": page})[0][0][:, : -(-down // STRIDE), : -(-across // STRIDE)]
        shares = 1 / (1 + np.exp(-np.clip(output[:3], -30, 30)))
        reach = np.exp2(np.clip(output[3:], 0, 4) * (255 / 4 / CODE)) / STRIDE
        base, ends, core = shares
        above, below = reach
        return Maps(base, ends, core, above, below, scale=(STRIDE * width / across, STRIDE * height / down))
