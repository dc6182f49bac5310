"""What other families may use of paleography: its tables, and the records about segments."""

from __future__ import annotations

from armarium_paleography.records.hands import attributions, campaigns, hands, members
from armarium_paleography.records.marks import allographs, facts, instances, letterforms, signs

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
