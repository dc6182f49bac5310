"""Lets families add to a page what lies beyond its texts (hands, signs, facts) before it is written, and take
it from one that was read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sqlalchemy import Connection

from armarium_formats.driver import Loss, MarkWords, as_losses
from armarium_formats.page_model import FACT_KINDS, PageHand, PageModel, PageSegment, PageSign, TextMark

if TYPE_CHECKING:
    from armarium.api import ActionContext, Engine

EXTRAS = "page_marks"
TAKERS = "mark_takers"
FACTS, HANDS, SIGNS, SAID = "editorial facts", "hands", "signs", "names, dates and other marks"
KINDS = (FACTS, HANDS, SIGNS, SAID)
SIGN = "sign"
_WIKIDATA = re.compile(r"Q\d+")
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
    return losses + drop_uncarried(page, driver)


def drop_uncarried(page: PageModel, driver: Any) -> list[Loss]:
    """Remove the hands and marks that *driver* has no place for; return them as losses."""
    carries: frozenset[str] = getattr(driver, "carries", frozenset())
    counts: Counter[tuple[str | MarkWords, str]] = Counter()
    why = f"{driver.label} has no place for them; they stay with the page in the project"
    for segment in page.walk():
        if segment.hand is not None and HANDS not in carries:
            counts[HANDS, why] += 1
            segment.hand = None
        for text in segment.texts:
            if not text.marks:
                continue
            for one in text.marks:
                kind = kind_of(one)
                if kind not in carries:
                    start, end = one.span_in(text.text)
                    counts[kind if kind != SAID else MarkWords(one.kind, text.text[start:end]), why] += 1
            text.marks = [one for one in text.marks if kind_of(one) in carries]
    return as_losses(counts)


def kind_of(mark: TextMark) -> str:
    """Return which of `KINDS` a mark is."""
    return SIGNS if mark.kind == SIGN else FACTS if mark.kind in FACT_KINDS else SAID


def identifier_of(stated: Mapping[str, str]) -> str | None:
    """Return the address in an authority file by which a file identifies what is named, if it does."""
    for key in ("ref", "wikiData", "wikidata", "gnd", "viaf", "geonames", "URI"):
        value = stated.get(key, "").strip().split(" ")[0]
        if value.startswith(("http://", "https://")):
            return value
        if value and key.casefold() == "wikidata" and _WIKIDATA.fullmatch(value):
            return f"https://www.wikidata.org/entity/{value}"
        if value and key == "gnd":
            return f"https://d-nb.info/gnd/{value}"
        if value and key in ("viaf", "geonames") and value.isdecimal():
            return f"https://viaf.org/viaf/{value}" if key == "viaf" else f"https://sws.geonames.org/{value}/"
    return None


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
    pass_id: str
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
