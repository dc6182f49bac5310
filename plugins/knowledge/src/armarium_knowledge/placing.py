"""Where characters of a line's reading are now: in the counting reading, and in the page's text.

A mention stores the reading and the characters it was made on. What a correction, a split, a merge or another
working pass makes of these is worked out here on every request, and nothing is rewritten for it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, select

from armarium.api import is_among, json_text, raw_of
from armarium_documents.api import representations
from armarium_knowledge.errors import cuts_a_character, not_words, several_lines
from armarium_source_model.api import (
    PageTextResult,
    counting_of_segments,
    due_pages,
    follow_segment,
    page_text,
    page_texts,
    reading_rule,
    span_in_new_text,
    text_fingerprint,
)


class Place(NamedTuple):
    """Characters of a line's counting reading, and of the page's text."""

    segment_id: str
    representation_id: str
    line_start: int
    line_end: int
    page_start: int
    page_end: int


class Line(NamedTuple):
    """The counting reading of a line, with its offset in the page's text."""

    segment_id: str
    representation_id: str
    text: str
    page_start: int


class PagePlaces:
    """The text of a page, and where the characters of its lines are in it. Computed once for many places."""

    def __init__(self, conn: Connection, document_id: str) -> None:
        found: PageTextResult = page_text(conn, document_id, rule=reading_rule(conn))
        spans = [
            (span.segment_id, span.representation_id, span.char_start, span.char_end)
            for span in found.assembled.spans
        ]
        self._take(conn, document_id, found.text, spans)

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
        self._led: dict[str, list[str]] = {}
        self._texts: dict[str, str] = {}

    def line(self, segment_id: str) -> Line | None:
        """Return the line of that segment, if the text contains one."""
        return self._by_segment.get(segment_id)

    def know_readings(self, ids: Iterable[str]) -> None:
        """Load these readings in one query; `place` asks for those that were corrected."""
        missing = [one for one in dict.fromkeys(ids) if one not in self._texts]
        if missing:
            table = representations.c
            rows = self.conn.execute(select(table.id, table.content).where(is_among(table.id, missing)))
            self._texts |= {row[0]: row[1] or "" for row in rows}

    def _old_text(self, representation_id: str) -> str:
        self.know_readings([representation_id])
        return self._texts.get(representation_id, "")

    def _lines_now(self, segment_id: str) -> list[Line]:
        line = self.line(segment_id)
        if line is not None:
            return [line]
        if segment_id not in self._led:
            self._led[segment_id] = follow_segment(self.conn, segment_id)
        return [line for one in self._led[segment_id] if (line := self.line(one)) is not None]

    def place(self, segment_id: str, representation_id: str, start: int, end: int) -> Place | str:
        """Return where characters of a reading are now, or why that cannot be determined."""
        lines = self._lines_now(segment_id)
        if not lines:
            return "Its line is not part of the page's text."
        if len(lines) == 1 and lines[0].representation_id == representation_id:
            return _place_in(lines[0], start, end)
        old = self._old_text(representation_id)
        why = ""
        found: list[Place] = []
        for line in lines:
            there = move_span(start, end, old, line.text)
            if isinstance(there, str):
                why = there
            else:
                found.append(_place_in(line, *there))
        if len(found) == 1:
            return found[0]
        return why if not found else "Its characters occur in several of the lines its line was split into."

    def place_nearby(self, segment_id: str, representation_id: str, start: int, end: int) -> Place | None:
        """As `place`; if the characters themselves were corrected, return those that replaced them."""
        exact = self.place(segment_id, representation_id, start, end)
        if isinstance(exact, Place):
            return exact
        lines = self._lines_now(segment_id)
        if len(lines) != 1:
            return None
        there = align_span(start, end, self._old_text(representation_id), lines[0].text)
        return None if there is None else _place_in(lines[0], *there)

    def pieces(self, start: int, end: int) -> list[Place]:
        """Return the characters *start* to *end* of the page's text, line by line. Invalid if they are not
        words in it.
        """
        words = self.text[start:end]
        if not start < end <= len(self.text) or not any(one.isalnum() for one in words):
            raise not_words(start, end, len(self.text))
        for offset in (start, end):
            if offset < len(self.text) and unicodedata.category(self.text[offset]) in ("Mn", "Me"):
                raise cuts_a_character(offset)
        found = []
        for line in self.lines:
            first, last = max(start, line.page_start), min(end, line.page_start + len(line.text))
            if first < last:
                found.append(_place_in(line, first - line.page_start, last - line.page_start))
        return found

    def piece(self, start: int, end: int) -> Place:
        """As `pieces`, for characters on one line; Invalid if they cross its end."""
        found = self.pieces(start, end)
        if len(found) != 1 or (found[0].page_start, found[0].page_end) != (start, end):
            raise several_lines(start, end)
        return found[0]

    def fingerprint(self, segment_id: str) -> str | None:
        """Return the fingerprint of the present text of the segment's line; None if it is in no line of the text."""
        lines = self._lines_now(segment_id)
        return text_fingerprint(lines[0].text) if len(lines) == 1 else None


class KeptPlaces(PagePlaces):
    """Some lines of a page, from its cached text: for callers that need only these, in a snapshot."""

    def __init__(
        self, conn: Connection, document_id: str, text: str, spans: Iterable[tuple[str, str, int, int]]
    ) -> None:
        self._take(conn, document_id, text, spans)


def kept_places(conn: Connection, wanted: Mapping[str, set[str]]) -> dict[str, PagePlaces]:
    """Return for each page of *wanted* the places of its segments; a page is left out if its text is not
    cached, or one of them is in none of its lines. Not for use in a step, since the texts are cached only at
    its end.
    """
    pages = raw_of(conn).execute(
        f"SELECT t.document_id, t.text, t.spans FROM {page_texts} t JOIN json_each(?) j ON j.value = t.document_id "
        f"WHERE NOT EXISTS (SELECT 1 FROM {due_pages} d WHERE d.document_id = t.document_id)",
        (json_text(list(wanted)),),
    )
    spans = {}
    for document_id, text, written in pages:
        lines = [one for one in orjson.loads(written) if one[0] in wanted[document_id]]
        if len({one[0] for one in lines}) == len(wanted[document_id]):
            spans[document_id] = text, lines
    ids = [one[0] for _, lines in spans.values() for one in lines]
    counting = counting_of_segments(conn, ids, rule=reading_rule(conn))
    found: dict[str, PagePlaces] = {}
    for document_id, (text, lines) in spans.items():
        if all(one[0] in counting for one in lines):
            own = [(one, counting[one].representation_id, start, end) for one, start, end in lines]
            found[document_id] = KeptPlaces(conn, document_id, text, own)
    return found


def _place_in(line: Line, start: int, end: int) -> Place:
    at = line.page_start
    return Place(line.segment_id, line.representation_id, start, end, at + start, at + end)


def move_span(start: int, end: int, old: str, new: str) -> tuple[int, int] | str:
    """Return where the same characters are in *new*: the only ones, or among several those in the same place;
    else why not.
    """
    there = span_in_new_text(start, end, old, new)
    if isinstance(there, str):
        beside = align_span(start, end, old, new)
        if beside is not None and new[beside[0] : beside[1]] == old[start:end]:
            return beside
    return there


def align_span(start: int, end: int, old: str, new: str) -> tuple[int, int] | None:
    """Return the characters of *new* in place of *start* to *end* of *old*; None if there are none."""
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    first = last = None
    for _, old_start, old_end, new_start, new_end in steps:
        if old_end <= start or old_start >= end:
            continue
        equal = old_end - old_start == new_end - new_start
        left = new_start + max(0, start - old_start) if equal else new_start
        right = new_end - max(0, old_end - end) if equal else new_end
        first = left if first is None else min(first, left)
        last = right if last is None else max(last, right)
    return None if first is None or last is None or first >= last else (first, last)


def places_of(places: PagePlaces, rows: Sequence[Any]) -> list[Place | str]:
    """Return where each of *rows* (mentions or refusals) of one page is now."""
    places.know_readings(
        row["representation_id"]
        for row in rows
        if (line := places.line(row["segment_id"])) is None
        or line.representation_id != row["representation_id"]
    )
    return [
        places.place(
            row["segment_id"], row["representation_id"], row["segment_char_start"], row["segment_char_end"]
        )
        for row in rows
    ]
