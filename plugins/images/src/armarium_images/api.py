"""What other families may use of images: where a child was cut and how it maps to its source; pixels and ink."""

from __future__ import annotations

from collections.abc import Sequence

from armarium_images.models import cuts as cuts
from armarium_images.pieces import Piece as Piece
from armarium_images.queries import Cut as Cut
from armarium_images.queries import cut_of as cut_of
from armarium_images.queries import live_cuts as live_cuts
from armarium_images.queries import treated_rendition as treated_rendition
from armarium_images.queries import was_unsplit as was_unsplit
from armarium_images.treating import ink_of as ink_of
from armarium_images.treating import plain as plain
from armarium_images.treating import store as store
from armarium_images.treating import treat_picture as treat_picture


def to_source(transform: Sequence[float], x: float, y: float) -> tuple[float, float]:
    """Map a point of a derived child (fractions) to fractions of its source's upright picture."""
    a, b, c, d, e, f = transform
    return a * x + c * y + e, b * x + d * y + f
