"""Cuts the picture of one line out of a decoded page, straightened along its baseline, without its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium_worker import LineShape

if TYPE_CHECKING:
    import numpy

    Image = numpy.ndarray[Any, Any]

LOWEST = 4
"""Pixels: a line lower or narrower than this is widened to it, so that there is something to read."""
TALL = 1.5
"""A line this many times higher than wide is vertical writing and is turned to lie."""


def cut_line(image: Image, line: LineShape) -> Image:
    """Return the line's picture; its box is rotated so that the baseline (or the shape) is level."""
    import cv2
    import numpy as np

    corners = line_box(line)
    width, height = sides(corners)
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), target)
    # Only the part around the line is processed, not the whole page.
    cut = cv2.warpPerspective(
        image, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.rot90(cut) if height >= TALL * width else cut


def sides(corners: Image) -> tuple[int, int]:
    """Return the width and height of the picture that is cut from within four corners."""
    width = round(float(max(_length(corners[0], corners[1]), _length(corners[3], corners[2]))))
    height = round(float(max(_length(corners[0], corners[3]), _length(corners[1], corners[2]))))
    return max(LOWEST, width), max(LOWEST, height)


def line_box(line: LineShape) -> Image:
    """Return the four corners, clockwise from the upper left, of the rotated box around a line."""
    import numpy as np

    points = np.array(line.outline, dtype=np.float64)
    if len(line.polygon) < 3:
        return points
    if len(points) == 4:
        return _clockwise(points)
    along = _direction(line)
    across = np.array([-along[1], along[0]])
    lengths, heights = points @ along, points @ across
    low, high = lengths.min(), lengths.max()
    top, bottom = heights.min(), heights.max()
    return np.array(
        [
            along * along_share + across * across_share
            for along_share, across_share in ((low, top), (high, top), (high, bottom), (low, bottom))
        ]
    )


def _direction(line: LineShape) -> Image:
    """Return the unit vector of the writing: that of the baseline, else of the shape's longer side."""
    import cv2
    import numpy as np

    if len(line.baseline) >= 2:
        (x0, y0), (x1, y1) = line.baseline[0], line.baseline[-1]
        vector = np.array([x1 - x0, y1 - y0], dtype=np.float64)
    else:
        box = cv2.boxPoints(cv2.minAreaRect(np.array(line.polygon, dtype=np.float32)))
        sides = [box[1] - box[0], box[2] - box[1]]
        vector = np.array(max(sides, key=lambda side: float(np.hypot(*side))), dtype=np.float64)
    length = float(np.hypot(*vector))
    if length == 0:
        return np.array([1.0, 0.0])
    unit = vector / length
    return -unit if unit[0] < 0 else unit


def _clockwise(points: Image) -> Image:
    """Return four corners in the order upper left, upper right, lower right, lower left."""
    import numpy as np

    by_x = points[np.argsort(points[:, 0], kind="stable")]
    left, right = by_x[:2], by_x[2:]
    upper_left, lower_left = left[np.argsort(left[:, 1], kind="stable")]
    upper_right, lower_right = right[np.argsort(right[:, 1], kind="stable")]
    return np.array([upper_left, upper_right, lower_right, lower_left])


def _length(side: Any, other: Any) -> float:
    import numpy as np

    return float(np.hypot(*(side - other)))
