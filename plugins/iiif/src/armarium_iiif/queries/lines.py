"""The lines of a page as a W3C AnnotationPage on its canvas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import Library, json_text, raw_of
from armarium_documents.api import renditions, representations
from armarium_iiif.errors import NoFrame
from armarium_iiif.places import ANNOTATION, GRANULARITY, PRESENTATION, Places
from armarium_iiif.queries.canvases import PageCanvas, page_canvas
from armarium_iiif.texts import language_map, plain_value
from armarium_source_model.api import (
    CountingText,
    counting_readings,
    get_pass,
    ladder_of_pass,
    line_sequence,
    reading_rule,
    segments,
    working_pass,
)

Json = dict[str, Any]

_LINES = f"""
SELECT id, bbox_x, bbox_y, bbox_w, bbox_h, json_extract(anchor, '$.rendition_id')
FROM {segments} WHERE pass_id = ? AND kind = 'line' AND deleted_at IS NULL
"""

_READINGS = f"""
SELECT r.id, r.language, r.provenance_kind, r.created_by, r.producer_tool, r.producer_model, r.created_at
FROM {segments} s JOIN {representations} r ON r.segment_id = s.id
WHERE s.pass_id = ? AND s.kind = ? AND s.deleted_at IS NULL AND r.kind = 'transcription' AND NOT r.retracted
"""

_WORDS = f"""
SELECT w.id, w.parent_segment_id FROM {segments} w WHERE w.pass_id = ? AND w.kind = 'word' AND w.deleted_at IS NULL
AND w.parent_segment_id IN (SELECT value FROM json_each(?))
"""


class _Frames(NamedTuple):
    """Converts fractions of each picture of the page to pixels of its canvas."""

    canvas: tuple[int, int]
    primary: str | None
    others: Mapping[str, tuple[float, ...]]
    """Rendition to the six numbers from its fractions to the primary's; renditions whose transform is not known lack."""

    def box(
        self, rendition_id: str | None, rect: tuple[float, float, float, float]
    ) -> tuple[int, ...] | None:
        """Return x, y, w, h in canvas pixels, clipped to it; None if the measured picture cannot be
        placed.
        """
        x, y, w, h = rect
        if rendition_id is not None and rendition_id != self.primary and self.primary is not None:
            turn = self.others.get(rendition_id)
            if turn is None:
                return None
            a, b, c, d, e, f = turn
            xs = [a * u + c * v + e for u in (x, x + w) for v in (y, y + h)]
            ys = [b * u + d * v + f for u in (x, x + w) for v in (y, y + h)]
            x, y, w, h = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
        width, height = self.canvas
        left = min(max(round(x * width), 0), width - 1)
        top = min(max(round(y * height), 0), height - 1)
        right = min(max(round((x + w) * width), left + 1), width)
        bottom = min(max(round((y + h) * height), top + 1), height)
        return left, top, right - left, bottom - top


def lines_page(library: Library, places: Places, document_id: str) -> Json:
    """Return the working pass's lines in reading order with their counting readings, by a few statements.

    NotFound for an unknown document; NoFrame for one whose lines cannot be expressed in pixels.
    """
    with library.db.read() as conn:
        rule = reading_rule(conn)
        page = page_canvas(conn, document_id)
        pass_id, _ = working_pass(conn, document_id, rule)
        if pass_id is None:
            return _annotation_page(places, page, "no pass", [], 0)
        name = get_pass(conn, pass_id).name
        rows = {row[0]: row for row in raw_of(conn).execute(_LINES, (pass_id,))}
        if rows and page.width is None:
            raise NoFrame(page.name)
        texts = counting_readings(conn, pass_id, rule=rule, words=False)
        order = line_sequence(conn, document_id, pass_id, rule)
        makers = {row[0]: row for row in raw_of(conn).execute(_READINGS, (pass_id, "line"))}
        unread = [one for one in rows if one not in texts or not texts[one].text]
        if unread and (words := raw_of(conn).execute(_WORDS, (pass_id, json_text(unread))).fetchall()):
            makers |= {row[0]: row for row in raw_of(conn).execute(_READINGS, (pass_id, "word"))}
            texts = texts | _texts_of_words(dict(words), order, counting_readings(conn, pass_id, rule=rule))
        ladder = ladder_of_pass(conn, document_id, pass_id)
        frames = _frames(conn, page)
    items: list[Json] = []
    left_out = 0
    canvas = page.address(places)
    for segment_id in order:
        row = rows.get(segment_id)
        if row is None:
            continue
        box = frames.box(row[5], (row[1], row[2], row[3], row[4]))
        if box is None:
            left_out += 1
            continue
        items.append(
            _annotation(
                f"{places.lines(document_id)}#{segment_id}",
                f"{canvas}#xywh={box[0]},{box[1]},{box[2]},{box[3]}",
                texts.get(segment_id),
                makers,
                ladder.value("language", segment_id),
            )
        )
    return _annotation_page(places, page, name, items, left_out)


def _texts_of_words(
    lines: Mapping[str, str], order: Sequence[str], texts: Mapping[str, CountingText]
) -> dict[str, CountingText]:
    """Return the texts that words give to lines without a reading (*lines*: word to line), as in the page's
    text.
    """
    found: dict[str, CountingText] = {}
    for word_id in order:
        line_id, said = lines.get(word_id), texts.get(word_id)
        if line_id is not None and said is not None and said.text:
            before = found.get(line_id)
            found[line_id] = said if before is None else before._replace(text=f"{before.text} {said.text}")
    return found


def _frames(conn: Connection, page: PageCanvas) -> _Frames:
    others: dict[str, tuple[float, ...]] = {}
    primary: str | None = None
    for row in conn.execute(
        renditions.select()
        .with_only_columns(renditions.c.id, renditions.c.is_primary, renditions.c.transform)
        .where(renditions.c.document_id == page.document_id)
    ):
        if row.is_primary:
            primary = row.id
        elif row.transform is not None:
            others[row.id] = tuple(float(number) for number in row.transform)
    return _Frames((page.width or 1, page.height or 1), primary, others)


def _annotation(
    identity: str,
    target: str,
    reading: CountingText | None,
    makers: Mapping[str, Any],
    language: str | None,
) -> Json:
    """Return one line. An unread line has an empty text, so that its position can still be shown."""
    body: Json = {
        "type": "TextualBody",
        "value": reading.text if reading is not None else "",
        "format": "text/plain",
    }
    made: Json = {
        "id": identity,
        "type": "Annotation",
        "motivation": "supplementing",
        "textGranularity": "line",
        "body": body,
        "target": target,
    }
    maker = makers.get(reading.representation_id) if reading is not None else None
    language = (maker[1] if maker is not None else None) or language
    if language:
        body["language"] = language
    if maker is not None:
        body["creator"] = made["creator"] = _maker(maker)
        body["created"] = made["created"] = maker[6]
    return made


def _maker(row: Any) -> Json:
    """Return who read a line: a person by name, else the program with its model."""
    _, _, kind, created_by, tool, model, _ = row
    if kind == "human":
        return {"type": "Person", "name": created_by or "a person"}
    named = " ".join(dict.fromkeys(one for one in (tool, model) if one)) or created_by or "a program"
    return {"type": "Software", "name": named}


def _annotation_page(
    places: Places, page: PageCanvas, pass_name: str, items: list[Json], left_out: int
) -> Json:
    made: Json = {
        "@context": [ANNOTATION, GRANULARITY, PRESENTATION],
        "id": places.lines(page.document_id),
        "type": "AnnotationPage",
        "label": language_map(f"Lines of {plain_value(page.name)} ({pass_name})"),
        "items": items,
    }
    if left_out:
        many = "1 line is" if left_out == 1 else f"{left_out} lines are"
        made["summary"] = language_map(
            f"{many} left out: measured on a picture whose position on this one is unknown.", "en"
        )
    return made
