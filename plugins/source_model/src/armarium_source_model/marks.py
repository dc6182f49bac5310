"""What an imported file states of characters (names, dates, abbreviations, styles, markup), and where these are now.

A segment keeps such marks beside the text on which they were read, and no later step rewrites them: where they are is
worked out from the readings that count whenever it is asked. So it is right after every correction, split, merge, rival
reading, undo and redo, and for text that came from the segment by another way: typed again, or carried across a match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import json_text, raw_of, words_of
from armarium_documents.api import representations
from armarium_source_model.folding import HYPHENS
from armarium_source_model.models import segments
from armarium_source_model.queries.forwarding import live_segments, split_segments
from armarium_source_model.spans import move_span

MARKS = "marks"
"""Where the metadata of a segment has its marks: `text`, and `of` it [kind, start, end, stated, source] each."""
MARKS_OF = "marks_of"
"""Where the metadata of a segment names the segment whose marks are its own as well."""
NAMES = ("person", "place", "organization")
ABBREVIATION = "abbreviation"
EDITED = ("expansion", "corr", "reg")
"""What an abbreviation and the like state of the text that an editor reads instead."""
DIVIDED = "divided"
"""A part of a word that goes on over the end of its line: `whole` is the word; the part of a line that begins with
one says `goes_on`."""


class Mark(NamedTuple):
    """A statement about characters of a text, with what the file says of it and how the file writes it."""

    kind: str
    start: int
    end: int
    stated: Mapping[str, str]
    source: Mapping[str, str]


class LostMark(NamedTuple):
    """A mark whose words cannot be placed any more, and why."""

    mark: Mark
    words: str
    why: str


@dataclass
class PlacedMarks:
    """The marks of a pass on the texts that count, by segment, and those that have no place."""

    by_segment: dict[str, list[Mark]] = field(default_factory=dict)
    lost: list[LostMark] = field(default_factory=list)


class _Origin(NamedTuple):
    """The marks of one text, and the segments in which its words are to be looked for."""

    text: str
    marks: Sequence[Mark]
    targets: Sequence[str]
    is_gone: bool = False
    """Whether its segment was deleted, and its words with it."""


def as_metadata(text: str, marks: Iterable[Mark]) -> dict[str, Any]:
    """Return what the metadata of a segment says of the marks of its text."""
    return {MARKS: {"text": text, "of": [list(mark) for mark in marks]}}


def has_marks(conn: Connection, pass_id: str) -> bool:
    """Return whether a segment of the pass has marks, or those of another."""
    query = f"SELECT EXISTS (SELECT 1 FROM {segments} WHERE pass_id = ? AND instr(metadata, '\"{MARKS}') > 0)"
    return bool(raw_of(conn).execute(query, (pass_id,)).fetchone()[0])


def placed_marks(conn: Connection, pass_id: str, texts: Mapping[str, str]) -> PlacedMarks:
    """Return where the marks of a pass are in *texts*, the text of each of its segments that has one."""
    placed = PlacedMarks()
    if not has_marks(conn, pass_id) and not _lenders(conn, pass_id):
        return placed
    for origin in _origins(conn, pass_id, texts, frozenset()):
        lines = [line for line in dict.fromkeys(origin.targets) if texts.get(line)]
        whole = "\n".join(texts[line] for line in lines)
        for mark in origin.marks:
            span = move_span(mark.start, mark.end, origin.text, whole) if lines else _NO_TEXT
            place = span if isinstance(span, str) else _place_among(lines, texts, *span)
            if isinstance(place, str):
                if not origin.is_gone:
                    placed.lost.append(LostMark(mark, origin.text[mark.start : mark.end], place))
                continue
            line, start, end = place
            moved = mark._replace(start=start, end=end)
            of_line = placed.by_segment.setdefault(line, [])
            if moved not in of_line:
                of_line.append(moved)
    return placed


def words_meant(conn: Connection, pass_id: str, lines: Sequence[tuple[str, str]]) -> list[str]:
    """Return words that a page is found by though its text lacks them: expansions and the like, and words that a file
    says go on over the end of a line. *lines*: (segment, text) of the page, in order.
    """
    if not has_marks(conn, pass_id):
        return []
    texts = dict(lines)
    marks = placed_marks(conn, pass_id, texts).by_segment
    phrases: list[str] = []
    before = ""
    for segment_id, text in lines:
        for mark in marks.get(segment_id, ()):
            phrases += [mark.stated[key] for key in (*EDITED, "whole") if mark.stated.get(key)]
            if (
                mark.kind == DIVIDED
                and mark.stated.get("goes_on")
                and mark.start == 0
                and "whole" not in mark.stated
            ):
                phrases.append((before.split() or [""])[-1].rstrip(HYPHENS) + text[: mark.end])
        before = text
    return [word for phrase in phrases for word in words_of(phrase)]


_NO_TEXT = "Its line has no text."
_DIVIDED = "Its characters are divided between lines."


def _place_among(
    lines: Sequence[str], texts: Mapping[str, str], start: int, end: int
) -> tuple[str, int, int] | str:
    for line in lines:
        length = len(texts[line])
        if start < length or start == end == length:
            return (line, start, end) if end <= length else _DIVIDED
        start, end = start - length - 1, end - length - 1
    return _DIVIDED


def _origins(
    conn: Connection, pass_id: str, texts: Mapping[str, str], visited: frozenset[str]
) -> Iterator[_Origin]:
    query = (
        f"SELECT id, parent_segment_id, kind, json_extract(metadata, '$.{MARKS}'), deleted_at, document_id FROM {segments} "
        f"WHERE pass_id = ? AND instr(metadata, '\"{MARKS}') > 0 AND json_extract(metadata, '$.{MARKS}') IS NOT NULL "
        "ORDER BY id"
    )
    rows = raw_of(conn).execute(query, (pass_id,)).fetchall()
    split = split_segments(conn, rows[0][5]) if rows else frozenset()
    for identity, parent, kind, marks_json, deleted, _ in rows:
        stored = orjson.loads(marks_json)
        led = [identity] if deleted is None and identity not in split else live_segments(conn, identity)
        targets = [segment_id for segment_id in led if texts.get(segment_id)]
        if kind == "word" and parent and not targets:
            # The word has no text of its own any more; that of its line has its words.
            targets = live_segments(conn, parent)
        yield _Origin(stored["text"], [Mark(*values) for values in stored["of"]], targets or led, not led)
    lenders = _lenders(conn, pass_id)
    lent: dict[str, dict[str, None]] = {}
    for borrower, lender, _ in lenders:
        for lender_id in (lender, *live_segments(conn, lender)):
            lent.setdefault(lender_id, {})[borrower] = None
    for other, is_retraced in _passes_of(conn, lenders).items():
        if other in visited or other == pass_id:
            continue
        for origin in _origins(conn, other, _texts_there(lent), visited | {pass_id}):
            targets = [mine for target in origin.targets for mine in lent.get(target, ())]
            if targets or (is_retraced and not origin.is_gone):
                yield origin._replace(targets=targets)


def _texts_there(lent: Mapping[str, Any]) -> dict[str, str]:
    return dict.fromkeys(lent, "there")


_LENDERS = f"""
SELECT id, json_extract(metadata, '$.{MARKS_OF}'), 1 FROM {segments}
WHERE pass_id = :pass AND deleted_at IS NULL AND instr(metadata, '"{MARKS_OF}"') > 0
UNION
SELECT s.id, o.segment_id, 0 FROM {segments} s JOIN {representations} r ON r.segment_id = s.id
JOIN {representations} o ON o.id = r.derived_from_representation_id
WHERE s.pass_id = :pass AND s.deleted_at IS NULL AND NOT r.retracted AND o.segment_id <> s.id
"""


def _lenders(conn: Connection, pass_id: str) -> list[tuple[str, str, bool]]:
    """Return (segment, segment whose text it has, whether it was typed again) of a pass."""
    rows = raw_of(conn).execute(_LENDERS, {"pass": pass_id}).fetchall()
    return [(row[0], row[1], bool(row[2])) for row in rows if row[1] is not None]


def _passes_of(conn: Connection, lenders: Sequence[tuple[str, str, bool]]) -> dict[str, bool]:
    """Return the passes of the lenders, and whether a text was typed again from one."""
    retraced_by_pass: dict[str, bool] = {}
    if lenders:
        ids = json_text([lender[1] for lender in lenders])
        query = f"SELECT s.id, s.pass_id FROM json_each(?) j JOIN {segments} s ON s.id = j.value"
        passes = dict(raw_of(conn).execute(query, (ids,)).fetchall())
        for _, lender, is_retraced in lenders:
            if lender in passes:
                retraced_by_pass[passes[lender]] = retraced_by_pass.get(passes[lender], False) or is_retraced
    return retraced_by_pass
