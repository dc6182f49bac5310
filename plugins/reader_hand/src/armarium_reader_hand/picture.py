"""The picture of a line as the model sees it; training and reading share this one function."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]

HEIGHT = 64
"""Pixels: the shipped model, and what is trained from it, sees lines of this height. Older trained models see 48."""
WIDEST = 64
"""Heights: a longer line is squeezed to this width."""
NARROWEST = 16
"""Pixels: a shorter line gets paper on its right up to it."""
PAPER, INK = 75, 1
"""Percentiles of grey that are taken for paper and for the darkest ink."""
FAINTEST = 24
"""Grey levels: a smaller difference of ink and paper is not stretched to full contrast, so that empty paper stays empty."""


def line_picture(grey: Grey, high: int = HEIGHT) -> Grey:
    """Scale a grey line (height, width) to a height of *high* and turn it to ink: 0 is paper, 255 the darkest stroke."""
    height, width = grey.shape
    target = min(WIDEST * high, max(1, round(width * high / height)))
    scaled: Any = cv2.resize(
        grey, (target, high), interpolation=cv2.INTER_AREA if height > high else cv2.INTER_CUBIC
    )
    paper, ink = (float(level) for level in np.percentile(scaled, (PAPER, INK)))
    contrast = max(FAINTEST, paper - ink)
    levels = np.clip((paper - np.arange(256)) * (255 / contrast), 0, 255).astype(np.uint8)
    out: Grey = levels[scaled]
    if target < NARROWEST:
        out = np.pad(out, ((0, 0), (0, NARROWEST - target)))
    return out
