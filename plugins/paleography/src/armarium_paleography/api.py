"""What other families may use of paleography: its tables, what is said of segments, and the bundled fonts."""

from __future__ import annotations

from armarium_paleography.fonts import BundledFont, bundled_fonts
from armarium_paleography.models import (
    allographs,
    attributions,
    campaigns,
    facts,
    hands,
    instances,
    letterforms,
    members,
    signs,
)

__all__ = [
    "BundledFont",
    "allographs",
    "attributions",
    "bundled_fonts",
    "campaigns",
    "facts",
    "hands",
    "instances",
    "letterforms",
    "members",
    "signs",
]
