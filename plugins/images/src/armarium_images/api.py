"""What other families may use of images: where a derived child was cut, and how its points lie on the source."""

from __future__ import annotations

from collections.abc import Sequence

from armarium_images.models import cuts
from armarium_images.queries import Cut, cut_of

__all__ = ["Cut", "cut_of", "cuts", "to_source"]


def to_source(transform: Sequence[float], x: float, y: float) -> tuple[float, float]:
    """A point of a derived child (fractions) as fractions of its source's upright picture."""
    a, b, c, d, e, f = transform
    return a * x + c * y + e, b * x + d * y + f
