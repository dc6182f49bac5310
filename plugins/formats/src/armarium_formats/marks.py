"""Lets families add to a page what lies beyond its texts (hands, signs, facts) before it is written, and take
it from one that was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlalchemy import Connection

from armarium_formats.driver import Loss
from armarium_formats.opening import Size
from armarium_formats.page_model import PageHand, PageModel, PageSegment, PageSign, TextMark
from armarium_formats.turning import turn_point

if TYPE_CHECKING:
    from armarium.api import ActionContext, Engine

EXTRAS = "page_marks"
TAKERS = "mark_takers"
FACTS, HANDS, SIGNS = "editorial facts", "hands", "signs"
KINDS = (FACTS, HANDS, SIGNS)
SIGN = "sign"
TAKEN = "taken"
"""What the extras of a page say under `marks` where its hands, signs and facts became rows of the project."""


class PageMarker(Protocol):
    """Adds a family's facts to a page: put one into the plugin's `extras["page_marks"]`."""

    def mark(
        self,
        conn: Connection,
        page: PageModel,
        segments: Mapping[str, PageSegment],
        reading_ids: Mapping[str, str],
    ) -> list[Loss]:
        """Set `marks` of texts, `hand` of segments, `hands` and `signs` of *page*; what has no place there is
        a Loss.

        *segments* are those of the page by their ids in the project, *reading_ids* the reading of each.
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
    """Let every family set its marks; what *driver* does not carry is removed again and counted.

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


class MarkedText(NamedTuple):
    """What a file states about the characters of a segment's text; representation_id is None if it has no
    text.
    """

    segment_id: str
    representation_id: str | None
    marks: Sequence[TextMark]


@dataclass(frozen=True)
class ReadMarks:
    """What an imported file states about the lines of a page beyond their texts."""

    document_id: str
    hands: Mapping[str, PageHand]
    signs: Mapping[str, PageSign]
    hand_of: Sequence[tuple[str, str]]
    """Segments with the key of the hand that each is of."""
    texts: Sequence[MarkedText]

    def __bool__(self) -> bool:
        return bool(self.hand_of or self.texts)


class MarkTaker(Protocol):
    """Writes a family's rows from what a file states: put one into the plugin's `extras["mark_takers"]`."""

    def take(self, ctx: ActionContext, read: ReadMarks) -> list[str]:
        """Write them within the step of the import; what has no place becomes a sentence of its notes.

        Called once the segments and readings of the page are written; an exception refuses the whole import.
        """
        ...


class TakenPage(NamedTuple):
    """An imported page for `PageTaker`: its pass, and what its reader kept of the file."""

    document_id: str
    pass_id: str
    rendition_id: str | None
    model: PageModel
    size: Size
    """Of the picture as displayed, in pixels."""
    orientation: int = 1

    def fraction(self, x: float, y: float) -> tuple[float, float] | None:
        """Return where a pixel of the stored picture is on the page, in fractions; None for one beyond it."""
        width, height = self.size
        stored = (height, width) if self.orientation >= 5 else self.size
        x, y = turn_point((x, y), stored, self.orientation)
        at = x / width, y / height
        return at if 0 <= at[0] <= 1 and 0 <= at[1] <= 1 else None


class PageTaker(Protocol):
    """Writes a family's rows from what the reader of one format kept of a page: put one into the plugin's
    `extras["page_takers"]`.
    """

    format: str
    """The name of the format's driver."""

    def take(self, ctx: ActionContext, page: TakenPage) -> list[str]:
        """Write them within the step of the import; return sentences for its notes."""
        ...


def take_page(ctx: ActionContext, format_name: str, page: TakenPage) -> list[str]:
    """Let the families that know a format take what its reader kept; return the notes that this adds."""
    takers = [one for _, one in ctx.engine.plugins.contributions("page_takers") if one.format == format_name]
    return [note for taker in takers for note in taker.take(ctx, page)]


def take_marks(ctx: ActionContext, read: ReadMarks) -> list[str]:
    """Let every family take what a file states; return the notes that this adds to the import."""
    if not read:
        return []
    takers = [taker for _, taker in ctx.engine.plugins.contributions(TAKERS)]
    if not takers:
        count = len(read.hand_of) + sum(len(one.marks) for one in read.texts)
        return [
            f"{count} hands, signs and editorial facts of the file are kept as its markup: no installed "
            "family stores them."
        ]
    return [note for taker in takers for note in taker.take(ctx, read)]


def are_taken(engine: Engine) -> bool:
    """Return whether some family stores what files state."""
    return any(True for _ in engine.plugins.contributions(TAKERS))
