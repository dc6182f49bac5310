"""What other families may use of paleography: its tables, and the records about segments."""

from __future__ import annotations

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
    "allographs",
    "attributions",
    "campaigns",
    "facts",
    "hands",
    "instances",
    "letterforms",
    "members",
    "signs",
]
