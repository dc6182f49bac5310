"""A drawing as outlines: its ink as closed paths of a vector picture."""

from __future__ import annotations

import cv2
import numpy

from armarium_layout.finding.ink import Pixels

SPECK = 6.0
"""Outlines smaller than so many square pixels are dirt."""
MOST_LETTERS = 900_000
"""The longest vector picture; a more detailed drawing is drawn with straighter lines."""


def trace_ink(ink: Pixels) -> str | None:
    """Return the SVG of *ink* (True: ink), as large as its array; None if nothing is drawn.

    Paths are closed and filled by the even-odd rule, so that holes stay open. Points are at the corners of
    pixels.
    """
    height, width = ink.shape
    # A border of paper, so that ink touching the edge is closed there too.
    framed = numpy.pad(ink.astype(numpy.uint8), 1)
    outlines, _ = cv2.findContours(framed, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    outlines_kept = [
        outline for outline in outlines if cv2.contourArea(outline) >= SPECK or len(outline) > 12
    ]
    if not outlines_kept:
        return None
    for tolerance in (0.7, 1.2, 2.0, 3.5, 6.0):
        paths = "".join(
            _path(cv2.approxPolyDP(outline, tolerance, True)[:, 0, :] - 1) for outline in outlines_kept
        )
        if len(paths) <= MOST_LETTERS:
            break
    else:
        return None
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
        f'<path fill-rule="evenodd" fill="#000" stroke="#000" stroke-width="1" stroke-linejoin="round" d="{paths}"/></svg>'
    )


def _path(points: Pixels) -> str:
    listed = points.tolist()
    # Offset by half a pixel: contours run through the middles of pixels.
    begin = f"M{listed[0][0] + 0.5:g} {listed[0][1] + 0.5:g}"
    return begin + "".join(f"L{x + 0.5:g} {y + 0.5:g}" for x, y in listed[1:]) + "Z"
