"""Where characters of a line's reading are now: in the counting reading, and in the page's text.

A mention stores the reading and the characters it was made on. What a correction, a split, a merge or another
working pass makes of these is worked out here on every request, and nothing is rewritten for it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, select

from armarium.api import is_among, json_text, raw_of
from armarium_documents.api import representations
from armarium_knowledge.errors import cuts_a_character, not_words, several_lines
from armarium_source_model.api import (
    PageTextResult,
    align_span,
    counting_of_segments,
    due_pages,
    follow_segment,
    move_span,
    page_text,
    page_texts,
    reading_rule,
    split_segments,
    text_fingerprint,
)

ON_LINE = ("segment_id", "representation_id", "segment_char_start", "segment_char_end")
"""The columns of a row on characters of a line: whose line, of which reading, from where to where."""


class Place(NamedTuple):
    """Characters of a line's counting reading, and of the page's text."""

    segment_id: str
    representation_id: str
    line_start: int
    line_end: int
    page_start: int
    page_end: int

    @property
    def columns(self) -> dict[str, Any]:
        """What a row on these characters says of where they are."""
        return dict(zip(ON_LINE, self[:4], strict=True))


class Line(NamedTuple):
    """The counting reading of a line, with its offset in the page's text."""

    segment_id: str
    representation_id: str
    text: str
    page_start: int


class Reading(NamedTuple):
    """A reading that mentions or evidence were made on, and when it was written."""

    text: str
    created_at: str | None


class PagePlaces:
    """The text of a page, and where the characters of its lines are in it. Computed once for many places."""

    def __init__(self, conn: Connection, document_id: str) -> None:
        page: PageTextResult = page_text(conn, document_id, rule=reading_rule(conn))
        spans = [
            (span.segment_id, span.representation_id, span.char_start, span.char_end)
            for span in page.assembled.spans
        ]
        self._take(conn, document_id, page.text, spans)
        self.pass_id = page.pass_id

    def _take(
        self, conn: Connection, document_id: str, text: str, spans: Iterable[tuple[str, str, int, int]]
    ) -> None:
        self.conn = conn
        self.document_id = document_id
        self.text = text
        self.lines = [
            Line(segment_id, reading, text[start:end], start) for segment_id, reading, start, end in spans
        ]
        self._by_segment: dict[str, Line] = {}
        for line in self.lines:
            self._by_segment.setdefault(line.segment_id, line)
        self._led: dict[tuple[str, str | None], list[Line]] = {}
        self._split: frozenset[str] | None = None
        self._readings: dict[str, Reading] = {}

    def line(self, segment_id: str) -> Line | None:
        """Return the line of that segment, if the text contains one."""
        return self._by_segment.get(segment_id)

    def know_readings(self, ids: Iterable[str]) -> None:
        """Load these readings in one query; `place` asks for those that were corrected."""
        missing = [reading_id for reading_id in dict.fromkeys(ids) if reading_id not in self._readings]
        if missing:
            table = representations.c
            query = select(table.id, table.content, table.created_at).where(is_among(table.id, missing))
            self._readings |= {row[0]: Reading(row[1] or "", row[2]) for row in self.conn.execute(query)}

    def _old_reading(self, representation_id: str) -> Reading:
        self.know_readings([representation_id])
        return self._readings.get(representation_id, Reading("", None))

    @property
    def _split_segments(self) -> frozenset[str]:
        if self._split is None:
            self._split = split_segments(self.conn, self.document_id)
        return self._split

    def _lines_now(self, segment_id: str, since: str | None) -> list[Line]:
        """Return the line of the segment, or those it was merged into or, after *since*, split into."""
        line = self.line(segment_id)
        # The first part of a line that was split keeps its id; what was read on it may be in another part.
        if line is not None and segment_id not in self._split_segments:
            return [line]
        if (segment_id, since) not in self._led:
            led_to = follow_segment(self.conn, segment_id, since)
            lines = [line for later_id in led_to if (line := self.line(later_id)) is not None]
            self._led[segment_id, since] = lines
        return self._led[segment_id, since]

    def place(self, segment_id: str, representation_id: str, start: int, end: int) -> Place | str:
        """Return where characters of a reading are now, or why that cannot be determined."""
        own = self.line(segment_id)
        if own is not None and own.representation_id == representation_id:
            return _place_in(own, start, end)
        old = self._old_reading(representation_id)
        lines = self._lines_now(segment_id, old.created_at)
        if not lines:
            return "Its line is not part of the page's text."
        span = move_span(start, end, old.text, "\n".join(line.text for line in lines))
        return span if isinstance(span, str) else _place_among(lines, *span)

    def find(self, row: Mapping[Any, Any]) -> Place | str:
        """Like `place`, of the characters of a row: a mention, a refusal, a piece of evidence."""
        return self.place(*(row[name] for name in ON_LINE))

    def words(self, place: Place) -> str:
        """Return the present words at *place*."""
        return self.text[place.page_start : place.page_end]

    def find_nearby(self, row: Mapping[Any, Any]) -> Place | None:
        """Like `find`; if the characters themselves were corrected, return those that replaced them."""
        exact = self.find(row)
        if isinstance(exact, Place):
            return exact
        segment_id, representation_id, start, end = (row[name] for name in ON_LINE)
        old = self._old_reading(representation_id)
        lines = self._lines_now(segment_id, old.created_at)
        span = align_span(start, end, old.text, "\n".join(line.text for line in lines))
        place = None if span is None else _place_among(lines, *span)
        return place if isinstance(place, Place) else None

    def pieces(self, start: int, end: int) -> list[Place]:
        """Return the characters *start* to *end* of the page's text, line by line. Invalid if they are not
        words in it.
        """
        words = self.text[start:end]
        if not start < end <= len(self.text) or not any(word.isalnum() for word in words):
            raise not_words(start, end, len(self.text))
        for offset in (start, end):
            if offset < len(self.text) and unicodedata.category(self.text[offset])[0] == "M":
                raise cuts_a_character(offset)
        places = []
        for line in self.lines:
            first, last = max(start, line.page_start), min(end, line.page_start + len(line.text))
            if first < last:
                places.append(_place_in(line, first - line.page_start, last - line.page_start))
        return places

    def piece(self, start: int, end: int) -> Place:
        """Like `pieces`, for characters on one line; Invalid if they cross its end."""
        places = self.pieces(start, end)
        if len(places) != 1 or (places[0].page_start, places[0].page_end) != (start, end):
            raise several_lines(start, end)
        return places[0]

    def fingerprint(self, segment_id: str) -> str | None:
        """Return the fingerprint of the present text of the segment's line; None if it is in no line of the text."""
        lines = [line] if (line := self.line(segment_id)) is not None else self._lines_now(segment_id, None)
        return text_fingerprint(lines[0].text) if len(lines) == 1 else None


class KeptPlaces(PagePlaces):
    """Some lines of a page, from its cached text: for callers that need only these, in a snapshot."""

    def __init__(
        self, conn: Connection, document_id: str, text: str, spans: Iterable[tuple[str, str, int, int]]
    ) -> None:
        self._whole: PagePlaces | None = None
        self._take(conn, document_id, text, spans)

    def place(self, segment_id: str, representation_id: str, start: int, end: int) -> Place | str:
        """Like `PagePlaces.place`; what is in none of these lines is looked for on the whole page."""
        place = super().place(segment_id, representation_id, start, end)
        if isinstance(place, Place):
            return place
        if self._whole is None:
            self._whole = PagePlaces(self.conn, self.document_id)
        return self._whole.place(segment_id, representation_id, start, end)


def kept_places(conn: Connection, segments_by_page: Mapping[str, set[str]]) -> dict[str, PagePlaces]:
    """Return for each page the places of the segments named; a page is left out if its text is not cached, or
    one of them is in none of its lines. Not for use in a step, since the texts are cached only at its end.
    """
    pages = raw_of(conn).execute(
        f"SELECT t.document_id, t.text, t.spans FROM {page_texts} t JOIN json_each(?) j ON j.value = t.document_id "
        f"WHERE NOT EXISTS (SELECT 1 FROM {due_pages} d WHERE d.document_id = t.document_id)",
        (json_text(list(segments_by_page)),),
    )
    spans = {}
    for document_id, text, written_lines in pages:
        lines = [line for line in orjson.loads(written_lines) if line[0] in segments_by_page[document_id]]
        if len({line[0] for line in lines}) == len(segments_by_page[document_id]):
            spans[document_id] = text, lines
    ids = [line[0] for _, lines in spans.values() for line in lines]
    counting = counting_of_segments(conn, ids, rule=reading_rule(conn))
    places_by_page: dict[str, PagePlaces] = {}
    for document_id, (text, lines) in spans.items():
        if all(line[0] in counting for line in lines):
            own = [
                (segment_id, counting[segment_id].representation_id, start, end)
                for segment_id, start, end in lines
            ]
            places_by_page[document_id] = KeptPlaces(conn, document_id, text, own)
    return places_by_page


def _place_among(lines: Sequence[Line], start: int, end: int) -> Place | str:
    """Return characters of *lines*, written one beneath the other, as a place in one of them."""
    for line in lines:
        if start < len(line.text):
            if end <= len(line.text):
                return _place_in(line, start, end)
            break
        start, end = start - len(line.text) - 1, end - len(line.text) - 1
    return "Its characters are divided between lines."


def _place_in(line: Line, start: int, end: int) -> Place:
    at = line.page_start
    return Place(line.segment_id, line.representation_id, start, end, at + start, at + end)


def places_of(places: PagePlaces, rows: Sequence[Any]) -> list[Place | str]:
    """Return where each of *rows* (mentions or refusals) of one page is now."""
    places.know_readings(
        row["representation_id"]
        for row in rows
        if (line := places.line(row["segment_id"])) is None
        or line.representation_id != row["representation_id"]
    )
    return [places.find(row) for row in rows]
