"""What files say of characters: kept with a text that is read, set on the texts of a page that is written, and what has
no place any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from armarium_formats.driver import Loss, MarkWords, as_losses
from armarium_formats.marks import SIGN, TAKEN
from armarium_formats.markup.fragments import name_of
from armarium_formats.page_model import FACT_KINDS, PageSegment, PageText, TextMark
from armarium_source_model.api import Mark, placed_marks


def marks_to_keep(text: PageText) -> list[Mark]:
    """Return what moves with the words of a text. Signs are declared for a page, and stand in rows of their own."""
    return [
        Mark(mark.kind, *mark.span_in(text.text), dict(mark.stated), dict(mark.source))
        for mark in text.marks
        if mark.kind != SIGN
    ]


def between_breaks(text: PageText) -> PageText:
    """Return the text of a line or word without line breaks before and after it, which are never its own."""
    bare = text.text.strip("\r\n")
    if bare == text.text or not bare:
        return text
    ahead = len(text.text) - len(text.text.lstrip("\r\n"))

    def shift_place(place: int | None) -> int | None:
        return None if place is None else min(max(place - ahead, 0), len(bare))

    marks = [replace(mark, start=shift_place(mark.start), end=shift_place(mark.end)) for mark in text.marks]
    return replace(text, text=bare, marks=marks)


def mark_texts(
    conn: Connection, pass_id: str, segments: Mapping[str, PageSegment], extras: Mapping[str, Any]
) -> list[Loss]:
    """Set the marks of a pass on its texts, *segments* by their ids in the project; return those without a place.

    *extras* of the page say whether editorial facts are rows of the project, which are set from there.
    """
    placed = placed_marks(
        conn, pass_id, {key: segment.text for key, segment in segments.items() if segment.text}
    )
    has_rows = any((extras.get(driver) or {}).get("marks") == TAKEN for driver in ("tei", "pagexml"))
    for key, marks in placed.by_segment.items():
        segments[key].texts[0].marks = [
            TextMark(*mark) for mark in marks if not (has_rows and mark.kind in FACT_KINDS)
        ]
    return as_losses(
        Counter(
            (MarkWords(loss.mark.kind, loss.words or loss.mark.stated.get("text", "")), loss.why)
            for loss in placed.lost
            if not (has_rows and loss.mark.kind in FACT_KINDS)
        )
    )


def of_letters(extras: Mapping[str, Any]) -> list[str]:
    """Return what a file says of the very letters of a text, beyond its marks."""
    labels = []
    for driver, element in (("alto", "String"), ("pagexml", "TextEquiv")):
        stored = extras.get(driver) or {}
        labels += [f"attribute {element}/@{key}" for key in stored.get("attributes") or () if key != "index"]
        labels += [f"element {element}/{name_of(fragment)}" for fragment in stored.get("elements") or ()]
        labels += ["element Word/Glyph"] * len(stored.get("glyphs") or ())
    return labels


def lost_with_letters(counts: Mapping[str, int], *, empty: int = 0) -> list[Loss]:
    """Return as losses what was said of letters that were corrected, and *empty* texts of the file."""
    why = "it was said of the letters of a text that has been corrected since"
    nothing = "an empty text is not a reading, and is not written"
    lost = {(what, why): count for what, count in counts.items()}
    return as_losses({**lost, ("empty texts of the file", nothing): empty})
