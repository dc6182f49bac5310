"""Where the letters of a line stand on the page, from the columns of RapidOCR's network at which it saw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium_reader_rapidocr.crops import TALL, sides
from armarium_worker import LinePlaces, Sign, places_of_signs

if TYPE_CHECKING:
    import numpy

    Corners = numpy.ndarray[Any, Any]


def letter_places(text: str, word_results: Any, corners: Corners, *, is_turned: bool) -> LinePlaces | None:
    """Return the places of the letters that RapidOCR *word_results* (its WordInfo) in the picture cut from within *corners*.

    *is_turned*: the picture was turned by 180 degrees before it was read. Positions go back through that, through the
    quarter turn of vertical writing and through the perspective of the cut.
    """
    import cv2
    import numpy as np

    columns = [column for word in word_results.word_cols for column in word]
    inked = [place for place, sign in enumerate(text) if not sign.isspace()]
    if not columns or len(columns) != len(inked) or len(word_results.confs) != len(text):
        return None
    middles = [(column + 0.5) / word_results.line_txt_len for column in columns]
    half = (middles[-1] - middles[0]) / max(1, len(text) - 1) / 2 or 0.5
    width, height = sides(corners)
    down = height >= TALL * width
    # The picture as it was cut, before any turn, is the unit square.
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32)
    back = cv2.getPerspectiveTransform(square, corners.astype(np.float32))
    signs = []
    for number, place in enumerate(inked):
        start, end = middles[number] - half, middles[number] + half
        if number and inked[number - 1] == place - 1:
            start = (middles[number - 1] + middles[number]) / 2
        if number + 1 < len(inked) and inked[number + 1] == place + 1:
            end = (middles[number] + middles[number + 1]) / 2
        start, end = max(0.0, start), min(1.0, end)
        if is_turned:
            start, end = 1 - end, 1 - start
        box = (
            [(0, start), (1, start), (1, end), (0, end)]
            if down
            else [(start, 0), (end, 0), (end, 1), (start, 1)]
        )
        area = cv2.perspectiveTransform(np.array([box], dtype=np.float32), back)[0]
        signs.append(
            Sign(text[place], [(float(x), float(y)) for x, y in area], float(word_results.confs[place]))
        )
    first, last = (corners[0], corners[3]) if down else (corners[0], corners[1])
    return places_of_signs(text, signs, (float(last[0] - first[0]), float(last[1] - first[1])))
