"""What other families may use of images: where a child was cut and how it maps to its source; pixels and
ink.
"""

from __future__ import annotations

from collections.abc import Sequence

from armarium_images.models import cuts
from armarium_images.pieces import Piece
from armarium_images.queries import Cut, cut_of, live_cuts, treated_rendition, was_unsplit
from armarium_images.treating import ink_of, plain, store, treat_picture

__all__ = [
    "Cut",
    "Piece",
    "cut_of",
    "cuts",
    "ink_of",
    "live_cuts",
    "plain",
    "store",
    "to_source",
    "treat_picture",
    "treated_rendition",
    "was_unsplit",
]


def to_source(transform: Sequence[float], x: float, y: float) -> tuple[float, float]:
    """Map a point of a derived child (fractions) to fractions of its source's upright picture."""
    a, b, c, d, e, f = transform
    return a * x + c * y + e, b * x + d * y + f
