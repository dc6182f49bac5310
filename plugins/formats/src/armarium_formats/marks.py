"""What families say of the lines of a page beyond their texts, set onto a page before it is written: hands, signs, facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import Connection

from armarium_formats.driver import Loss
from armarium_formats.page_model import PageModel, PageSegment

if TYPE_CHECKING:
    from armarium.api import Engine

EXTRAS = "page_marks"
FACTS, HANDS, SIGNS = "editorial facts", "hands", "signs"
KINDS = (FACTS, HANDS, SIGNS)
SIGN = "sign"


class PageMarker(Protocol):
    """Sets what a family says onto a page: put one into the plugin's `extras["page_marks"]`."""

    def mark(
        self,
        conn: Connection,
        page: PageModel,
        segments: Mapping[str, PageSegment],
        reading_ids: Mapping[str, str],
    ) -> list[Loss]:
        """Set `marks` of texts, `hand` of segments, `hands` and `signs` of *page*; what has no place there is a Loss.

        *segments* are those of the page by their ids in the project, *reading_ids* the reading that each holds.
        """
        ...


def mark_page(
    engine: Engine,
    conn: Connection,
    page: PageModel,
    rows: Mapping[str, str],
    reading_ids: Mapping[str, str],
    driver: Any,
) -> list[Loss]:
    """Let every family set its marks; what *driver* does not carry is taken off again and counted.

    *rows*: the ids of the page's segments in the project by those in the file.
    """
    segments = {rows[one.id]: one for one in page.walk() if one.id in rows}
    losses: list[Loss] = []
    for _, marker in engine.plugins.contributions(EXTRAS):
        losses += marker.mark(conn, page, segments, reading_ids)
    carries: frozenset[str] = getattr(driver, "carries", frozenset())
    counts = dict.fromkeys(KINDS, 0)
    for segment in page.walk():
        if segment.hand is not None and HANDS not in carries:
            counts[HANDS] += 1
            segment.hand = None
        for text in segment.texts:
            left = [one for one in text.marks if (SIGNS if one.kind == SIGN else FACTS) in carries]
            for one in text.marks:
                if one not in left:
                    counts[SIGNS if one.kind == SIGN else FACTS] += 1
            text.marks = left
    why = f"{driver.label} has no place for them; they stay with the page in the project"
    return losses + [Loss(what, count, why) for what, count in counts.items() if count]
