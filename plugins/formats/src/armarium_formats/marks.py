"""Lets families add to a page what lies beyond its texts (hands, signs, facts) before it is written, and take
it from one that was read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection

from armarium_formats.driver import Loss, MarkWords, as_losses
from armarium_formats.hookspecs import (
    armarium_formats_mark_page,
    armarium_formats_statements,
    armarium_formats_take_marks,
)
from armarium_formats.page_model import FACT_KINDS, PageHand, PageModel, PageSign, PageStatement, TextMark

if TYPE_CHECKING:
    from armarium.api import ActionContext, Engine

FACTS, HANDS, SIGNS, SAID = "editorial facts", "hands", "signs", "names, dates and other marks"
KINDS = (FACTS, HANDS, SIGNS, SAID)
SIGN = "sign"
_WIKIDATA = re.compile(r"Q\d+")
TAKEN = "taken"
"""What the extras of a page say under `marks` where its hands, signs and facts became rows of the project."""


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
    segments = {rows[segment.id]: segment for segment in page.walk() if segment.id in rows}
    losses: list[Loss] = []
    for lost in engine.points.ask(armarium_formats_mark_page, conn, page, segments, reading_ids):
        losses += lost
    return losses + drop_uncarried(page, driver)


def statements_about(engine: Engine, conn: Connection, document_id: str) -> list[PageStatement]:
    """Return what families state of a page's text as a whole."""
    answers = engine.points.ask(armarium_formats_statements, conn, document_id)
    return [PageStatement(**statement) for answer in answers for statement in answer]


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
            for mark in text.marks:
                kind = kind_of(mark)
                if kind not in carries:
                    start, end = mark.span_in(text.text)
                    counts[kind if kind != SAID else MarkWords(mark.kind, text.text[start:end]), why] += 1
            text.marks = [mark for mark in text.marks if kind_of(mark) in carries]
    return as_losses(counts)


def kind_of(mark: TextMark) -> str:
    """Return which of `KINDS` a mark is."""
    return SIGNS if mark.kind == SIGN else FACTS if mark.kind in FACT_KINDS else SAID


def identifier_of(attributes: Mapping[str, str]) -> str | None:
    """Return the address in an authority file by which a file identifies what is named, if it does."""
    for key in ("ref", "wikiData", "wikidata", "gnd", "viaf", "geonames", "URI"):
        value = attributes.get(key, "").strip().split(" ")[0]
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


def take_marks(ctx: ActionContext, read: ReadMarks) -> list[str]:
    """Let every family take what a file states; return the notes that this adds to the import."""
    if not read:
        return []
    if not are_taken(ctx.engine):
        count = len(read.hand_of) + sum(len(text.marks) for text in read.texts)
        return [
            f"{count} hands, signs and editorial facts of the file are kept as its markup: no installed "
            "family stores them."
        ]
    return [note for notes in ctx.engine.points.ask(armarium_formats_take_marks, ctx, read) for note in notes]


def are_taken(engine: Engine) -> bool:
    """Return whether some family stores what files state."""
    return engine.points.has_answer(armarium_formats_take_marks)
