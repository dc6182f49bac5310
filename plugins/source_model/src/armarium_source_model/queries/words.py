"""Where the words of a page's lines stand: their own segments, or what the reader of a line said of its letters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from armarium.api import AsOf, graphemes, is_among, query
from armarium_source_model.letters import XY
from armarium_source_model.models import segments
from armarium_source_model.queries.letters import is_as_read, stored_places
from armarium_source_model.queries.passes import reading_rule
from armarium_source_model.queries.provisional_text import is_provisional
from armarium_source_model.queries.readings import CountingText, counting_of_pass, counting_of_segments
from armarium_source_model.queries.segments import segments_of
from armarium_source_model.queries.text import pass_to_read
from armarium_source_model.schemas.lines import PageWords


class WordOnPage(NamedTuple):
    """A word of a line's text, the characters from `char_start` up to `char_end`, with its corners in fractions of the picture."""

    line_id: str
    segment_id: str | None
    text: str
    char_start: int
    char_end: int
    corners: tuple[XY, XY, XY, XY]
    probability: float | None
    rendition_id: str | None

    @property
    def rect(self) -> tuple[float, float, float, float]:
        """Return the upright box around it: x, y, width, height."""
        xs, ys = [x for x, _ in self.corners], [y for _, y in self.corners]
        return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def words_of_pass(conn: Connection, pass_id: str) -> dict[str, list[WordOnPage]]:
    """Return the words of each line in the order of its text; lines whose words nobody placed are left out."""
    counting = counting_of_pass(conn, pass_id, rule=reading_rule(conn))
    return _words_on(conn, segments_of(conn, pass_id, "line"), segments_of(conn, pass_id, "word"), counting)


def words_of_lines(conn: Connection, line_ids: Sequence[str]) -> dict[str, list[WordOnPage]]:
    """Like `words_of_pass`, of the live lines *line_ids*, of whatever passes, by as many statements."""
    live = select(segments).where(segments.c.deleted_at.is_(None)).order_by(segments.c.id)
    lines = list(conn.execute(live.where(is_among(segments.c.id, line_ids))))
    inside = list(
        conn.execute(live.where(is_among(segments.c.parent_segment_id, line_ids), segments.c.kind == "word"))
    )
    counting = counting_of_segments(conn, [row.id for row in (*lines, *inside)], rule=reading_rule(conn))
    return _words_on(conn, lines, inside, counting)


def _words_on(
    conn: Connection, lines: list[Row[Any]], words: list[Row[Any]], counting: Mapping[str, CountingText]
) -> dict[str, list[WordOnPage]]:
    inside: dict[str, list[Row[Any]]] = {}
    for row in words:
        inside.setdefault(row.parent_segment_id or "", []).append(row)
    placed = stored_places(conn, [reading.representation_id for reading in counting.values()])
    words_by_line: dict[str, list[WordOnPage]] = {}
    for line in lines:
        text, rows = counting.get(line.id), inside.get(line.id, ())
        stored = placed.get(text.representation_id) if text is not None else None
        if text is not None and stored is not None and is_as_read(line, stored):
            starts = [0]
            for letter in graphemes(text.text):
                starts.append(starts[-1] + len(letter))
            words_by_line[line.id] = [
                WordOnPage(
                    line.id,
                    None,
                    word.text,
                    starts[word.first],
                    starts[word.end],
                    word.corners,
                    word.probability,
                    stored.rendition_id,
                )
                for word in stored.places.words(text.text)
            ]
        elif rows and (own := _of_segments(line.id, text and text.text, rows, counting)):
            words_by_line[line.id] = own
    return words_by_line


def _of_segments(
    line_id: str, text: str | None, rows: list[Row[Any]], counting: Mapping[str, CountingText]
) -> list[WordOnPage]:
    """Return a line's own words as they stand in its text (None: they are its text); none if they are others."""
    words = [(row, counting[row.id].text if row.id in counting else "") for row in rows]
    tokens = list(re.finditer(r"\S+", " ".join(word for _, word in words) if text is None else text))
    from_left = sorted(words, key=lambda word: word[0].bbox_x)
    for order in (words, from_left, from_left[::-1]):
        if [word for _, word in order] == [token.group() for token in tokens]:
            return [
                WordOnPage(
                    line_id,
                    row.id,
                    word,
                    token.start(),
                    token.end(),
                    _corners(row),
                    row.confidence,
                    row.anchor.get("rendition_id"),
                )
                for (row, word), token in zip(order, tokens, strict=True)
            ]
    return []


def _corners(row: Row[Any]) -> tuple[XY, XY, XY, XY]:
    points = row.anchor.get("polygon") or ()
    if len(points) == 4:
        first, second, third, fourth = ((x, y) for x, y in points)
        return first, second, third, fourth
    x, y, w, h = row.anchor["rect"]
    return (x, y), (x + w, y), (x + w, y + h), (x, y + h)


@query(
    "/api/segments/document/{document_id}/words",
    summary="Where the words of a page stand",
    answer=PageWords,
    refusals=(404, 409),
    as_of=AsOf("document_id"),
)
def read_page_words(conn: Connection, document_id: str, pass_id: str | None = None) -> dict[str, Any]:
    """List the words of the lines of the pass the page is read by, or of the one named, as far as they were placed."""
    row = None
    if pass_id is None or not is_provisional(pass_id):
        row, _, _ = pass_to_read(conn, document_id, pass_id, None, reading_rule(conn))
    words = [] if row is None else [word for line in words_of_pass(conn, row.id).values() for word in line]
    return {
        "document_id": document_id,
        "pass_id": None if row is None else row.id,
        "words": [word._asdict() for word in words],
    }
