"""Judges whether a page's lines look handwritten: a small classifier of ink that exposes a print reader's
nonsense.

It judges pictures, not readings: a print reader can be confident about nonsense. Coarse scans of print may
look handwritten to it, so a page is called handwritten only if the reader was less confident than it is on
print (`confidence.SURE`). The weights are in `handwriting.json`, produced by `training/handwriting.py` next
to this package. On sources it was not trained on, it recognised 93 of 100 handwritten lines and 89 of 100
printed ones; of the handwritten documents, 95 of 100 scored above the highest printed one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

    Grey = NDArray[np.uint8]
    Values = NDArray[np.float32]

HEIGHT = 48
"""Height in pixels to which a line is scaled for the classifier."""

MOST_LINES = 24
"""How many lines of a page are examined, spread over it."""

FEWEST_LINES = 3
"""With fewer lines, no judgement is given."""

ORIENTATIONS = 12


def page_score(picture: Image.Image, outlines: Sequence[Sequence[Sequence[float]]]) -> float | None:
    """Return how much the lines of *picture* look handwritten: above 0 they do. None if too few lines have ink.

    *outlines* are the lines' polygons in pixels of *picture*.
    """
    import numpy as np
    from PIL import ImageOps

    step = max(1, len(outlines) // MOST_LINES)
    grey = ImageOps.exif_transpose(picture).convert("L")
    features = [line_features(line) for line in _cut(grey, outlines[::step][:MOST_LINES])]
    rows = [row for row in features if row is not None]
    if len(rows) < FEWEST_LINES:
        return None
    return float(np.median(scores(np.stack(rows))))


def scores(rows: Values) -> Values:
    """Return the classifier's scores for rows of `line_features`; above 0 means handwritten."""
    import numpy as np

    mean, spread, first, first_bias, second, second_bias, threshold = _weights()
    hidden = np.tanh(np.clip((rows - mean) / spread, -5, 5) @ first + first_bias)
    answer: Values = hidden @ second + second_bias - threshold
    return answer


@cache
def _weights() -> tuple[Any, ...]:
    import numpy as np

    stored = json.loads(files("armarium_reading").joinpath("handwriting.json").read_text("utf-8"))
    names = ("mean", "spread", "first", "first_bias", "second", "second_bias", "threshold")
    return tuple(np.asarray(stored[name], dtype=np.float32) for name in names)


def _cut(grey: Image.Image, outlines: Iterable[Sequence[Sequence[float]]]) -> Iterable[Grey]:
    """Return each line's own area, HEIGHT pixels high, with paper around its outline."""
    import numpy as np
    from PIL import Image, ImageDraw

    for outline in outlines:
        xs, ys = [point[0] for point in outline], [point[1] for point in outline]
        box = (
            max(0, int(min(xs))),
            max(0, int(min(ys))),
            min(grey.width, int(max(xs)) + 1),
            min(grey.height, int(max(ys)) + 1),
        )
        if box[2] - box[0] < 8 or box[3] - box[1] < 8:
            continue
        line = grey.crop(box)
        paper = int(np.percentile(np.asarray(line), 80))
        mask = Image.new("L", line.size, 0)
        ImageDraw.Draw(mask).polygon([(x - box[0], y - box[1]) for x, y in outline], fill=255)
        clean = Image.composite(line, Image.new("L", line.size, paper), mask)
        width = max(8, round(line.width * HEIGHT / line.height))
        yield np.asarray(clean.resize((width, HEIGHT), Image.Resampling.BILINEAR))


def line_features(grey: Grey) -> Values | None:
    """Return what distinguishes handwriting from print in one line (HEIGHT, width): directions of edges,
    profile, gaps, strokes.

    None where there is too little ink or the line is shorter than it is high.
    """
    import numpy as np

    values = grey.astype(np.float32)
    paper, ink = np.percentile(values, (80, 2))
    shade = np.clip((paper - values) / max(paper - ink, 20.0), 0, 1)
    black = shade > 0.45
    if shade.shape[1] < HEIGHT or black.mean() < 0.005:
        return None
    down, across = np.gradient(shade)
    edges = np.histogram(
        np.arctan2(down, across) % np.pi, bins=ORIENTATIONS, range=(0, np.pi), weights=np.hypot(down, across)
    )[0]
    profile = shade.mean(1)
    profile = profile / (profile.max() + 1e-6)
    slopes = np.diff(profile)
    core = np.flatnonzero(profile > 0.5)
    body = max(int(core[-1]) + 1 - int(core[0]), 4)
    columns = np.flatnonzero(black.any(0))
    first, last = int(columns[0]), int(columns[-1]) + 1
    zone = black[core[0] : core[-1] + 1, first:last]
    inked = zone.any(0)
    gaps, words = _runs(~inked), _runs(inked)
    strokes = _all_runs(zone[:: max(1, body // 6)])
    stems = _all_runs(black[:, first:last:5].T)
    row = [
        *(edges / (edges.sum() + 1e-6)),
        body / HEIGHT,
        slopes.max(),
        -slopes.min(),
        np.sort(slopes)[-3:].sum(),
        -np.sort(slopes)[:3].sum(),
        profile.std(),
        (profile > 0.15).mean(),
        len(gaps) / max((last - first) / body, 1),
        words.mean() / body if len(words) else 9.0,
        np.percentile(words, 90) / body if len(words) else 9.0,
        gaps.std() / gaps.mean() if len(gaps) > 2 else 0.0,
        (~inked).mean(),
        np.median(strokes) / body,
        strokes.std() / strokes.mean(),
        (strokes > 2 * np.median(strokes)).mean(),
        np.median(stems) / body,
        stems.std() / stems.mean(),
        black.mean(),
    ]
    return np.asarray(row, dtype=np.float32)


def _runs(row: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the lengths of the unbroken runs of true values."""
    import numpy as np

    edges = np.diff(np.concatenate([[0], row.astype(np.int8), [0]]))
    lengths: NDArray[np.int64] = np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
    return lengths


def _all_runs(rows: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the lengths of the runs in several rows together; a single 1 if there are none."""
    import numpy as np

    padded = np.pad(rows, ((0, 0), (0, 1)))
    lengths = _runs(padded.ravel())
    return lengths if len(lengths) else np.ones(1, dtype=np.int64)
