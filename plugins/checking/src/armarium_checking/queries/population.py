"""The lines of a selection with the texts that are measured: those that count, or those of one reader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from armarium.api import json_text, raw_of
from armarium_documents.api import representations
from armarium_source_model.api import page_texts, segments, text_fingerprint

_TEXTS = f"""
SELECT t.document_id, t.text, t.spans, t.fingerprint FROM json_each(?) j JOIN {page_texts} t ON t.document_id = j.value
ORDER BY j.key
"""
_READ = f"""
SELECT r.segment_id, r.content, r.confidence, r.producer_tool, r.producer_model, r.provenance_kind = 'human'
FROM json_each(?) j JOIN {representations} r ON r.document_id = j.value AND r.kind = 'transcription'
WHERE r.segment_id IS NOT NULL AND NOT r.retracted ORDER BY r.created_at, r.id
"""
_LINE_OF_WORD = f"""
SELECT s.id, s.parent_segment_id FROM json_each(?) j JOIN {segments} s ON s.document_id = j.value
WHERE s.kind = 'word' AND s.parent_segment_id IS NOT NULL AND s.deleted_at IS NULL
"""
_BY_READER = f"""
SELECT r.document_id, s.pass_id, r.segment_id, r.content, r.confidence, r.producer_tool, r.producer_model
FROM json_each(?1) j JOIN {representations} r ON r.document_id = j.value AND r.kind = 'transcription'
JOIN {segments} s ON s.id = r.segment_id AND s.kind = 'line' AND s.deleted_at IS NULL
WHERE NOT r.retracted AND ?2 IN (r.producer_model, r.producer_tool) ORDER BY j.key, r.created_at, r.id
"""
_TAUGHT_BOXES = f"""
SELECT s.document_id, s.bbox_x, s.bbox_y, s.bbox_w, s.bbox_h FROM json_each(?) j JOIN {segments} s ON s.id = j.value
"""


class TextLine(NamedTuple):
    """A line with the text that is measured, how sure the machine was of it, and by which names that machine goes;
    neither is known of a person's."""

    segment_id: str
    text: str
    confidence: float | None
    models: frozenset[str]
    by_person: bool


class PageOfLines(NamedTuple):
    """A page with its lines, and the fingerprint of its text."""

    document_id: str
    lines: list[TextLine]
    fingerprint: str


def population(conn: Connection, pages: Sequence[str], reader: str | None) -> Iterator[PageOfLines]:
    """Yield those of *pages* that have lines with a text, in their order; with a *reader*, the lines of its newest pass
    with its newest readings.
    """
    yield from _of_reader(conn, pages, reader) if reader is not None else _that_count(conn, pages)


def _that_count(conn: Connection, pages: Sequence[str]) -> Iterator[PageOfLines]:
    raw, listed = raw_of(conn), json_text(list(pages))
    read: dict[tuple[str, str], tuple[Any, ...]] = {}
    for segment_id, content, *makers in raw.execute(_READ, (listed,)):
        read[segment_id, content] = tuple(makers)
    line_of = dict(raw.execute(_LINE_OF_WORD, (listed,)).fetchall())
    for document_id, text, spans, fingerprint in raw.execute(_TEXTS, (listed,)).fetchall():
        parts: dict[str, list[tuple[str, tuple[Any, ...]]]] = defaultdict(list)
        for segment_id, start, end in orjson.loads(spans):
            words = text[start:end]
            makers = read.get((segment_id, words), (None, None, None, False))
            parts[line_of.get(segment_id, segment_id)].append((words, makers))
        lines = [_join_words(segment_id, of_line) for segment_id, of_line in parts.items()]
        if lines:
            yield PageOfLines(document_id, lines, fingerprint)


def _join_words(segment_id: str, parts: Sequence[tuple[str, tuple[Any, ...]]]) -> TextLine:
    sure = [maker[0] for _, maker in parts if maker[0] is not None]
    return TextLine(
        segment_id,
        " ".join(words for words, _ in parts),
        min(sure) if sure else None,
        frozenset(name for _, maker in parts for name in maker[1:3] if name),
        all(maker[3] for _, maker in parts),
    )


def _of_reader(conn: Connection, pages: Sequence[str], reader: str) -> Iterator[PageOfLines]:
    by_pass: dict[str, dict[str, dict[str, TextLine]]] = defaultdict(dict)
    for document_id, pass_id, segment_id, content, confidence, *names in raw_of(conn).execute(
        _BY_READER, (json_text(list(pages)), reader)
    ):
        # The pass that was read last comes last.
        of_pass = by_pass[document_id].pop(pass_id, {})
        of_pass[segment_id] = TextLine(
            segment_id, content, confidence, frozenset(name for name in names if name), False
        )
        by_pass[document_id][pass_id] = of_pass
    for document_id, passes in by_pass.items():
        lines = list(passes[list(passes)[-1]].values())
        yield PageOfLines(document_id, lines, text_fingerprint("\n".join(line.text for line in lines)))


def without_taught(
    conn: Connection, pages: Sequence[PageOfLines], taught: Mapping[str, Collection[str]]
) -> tuple[list[PageOfLines], int]:
    """Return *pages* without the lines whose text taught the reader that read them, and how many these are: a line that a
    model was taught, one that lies in its place in another pass, and all of a page it was taught as a whole.
    """
    taught_pages = {page_id for ids in taught.values() for page_id in ids}
    if not taught_pages:
        return list(pages), 0
    raw = raw_of(conn)
    boxes: dict[str, dict[str, list[tuple[float, ...]]]] = {}
    for model, ids in taught.items():
        of_model = boxes.setdefault(model, defaultdict(list))
        for document_id, *box in raw.execute(_TAUGHT_BOXES, (json_text(sorted(ids)),)):
            of_model[document_id].append(tuple(box))
    touched = {document_id for of_model in boxes.values() for document_id in of_model}
    lines = [line.segment_id for page in pages if page.document_id in touched for line in page.lines]
    place = {
        row[0]: tuple(row[1:])
        for row in raw.execute(
            f"SELECT s.id, s.bbox_x, s.bbox_y, s.bbox_w, s.bbox_h FROM json_each(?) j JOIN {segments} s ON s.id = j.value",
            (json_text(lines),),
        )
    }

    def is_taught(document_id: str, line: TextLine) -> bool:
        for model in line.models & taught.keys():
            if document_id in taught[model] or line.segment_id in taught[model]:
                return True
            own = place.get(line.segment_id)
            if own is not None and any(
                _holds_middle(own, box) or _holds_middle(box, own)
                for box in boxes[model].get(document_id, ())
            ):
                return True
        return False

    remaining, out = [], 0
    for page in pages:
        untaught = [line for line in page.lines if not is_taught(page.document_id, line)]
        out += len(page.lines) - len(untaught)
        if untaught:
            remaining.append(page._replace(lines=untaught))
    return remaining, out


def _holds_middle(box: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether the middle of *other* lies in *box*; each is x, y, width, height."""
    x, y = other[0] + other[2] / 2, other[1] + other[3] / 2
    return box[0] <= x <= box[0] + box[2] and box[1] <= y <= box[1] + box[3]
