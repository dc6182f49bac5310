"""The lines of a page as a W3C AnnotationPage on its canvas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import Library, words_of
from armarium_documents.api import renditions
from armarium_iiif.errors import no_frame
from armarium_iiif.places import ANNOTATION, GRANULARITY, PRESENTATION, Places
from armarium_iiif.queries.canvases import PageCanvas, page_canvas
from armarium_iiif.texts import language_map, plain_value
from armarium_source_model.api import (
    CountingText,
    Reading,
    corners_of,
    get_pass,
    ladder_of_pass,
    measure_box,
    read_lines,
    reading_rule,
    rect_of,
    words_of_pass,
    working_pass,
)

Json = dict[str, Any]


class _Frames(NamedTuple):
    """Converts fractions of each picture of the page to pixels of its canvas."""

    canvas: tuple[int, int]
    primary: str | None
    others: Mapping[str, tuple[float, ...]]
    """Rendition to the six numbers from its fractions to the primary's; renditions whose transform is not known lack."""

    def box(
        self, rendition_id: str | None, rect: tuple[float, float, float, float]
    ) -> tuple[int, ...] | None:
        """Return x, y, w, h in canvas pixels, clipped to it; None if the measured picture cannot be placed."""
        x, y, w, h = rect
        if rendition_id is not None and rendition_id != self.primary and self.primary is not None:
            turn = self.others.get(rendition_id)
            if turn is None:
                return None
            a, b, c, d, e, f = turn
            x, y, w, h = measure_box([(a * u + c * v + e, b * u + d * v + f) for u, v in corners_of(rect)])
        width, height = self.canvas
        left = min(max(round(x * width), 0), width - 1)
        top = min(max(round(y * height), 0), height - 1)
        right = min(max(round((x + w) * width), left + 1), width)
        bottom = min(max(round((y + h) * height), top + 1), height)
        return left, top, right - left, bottom - top


def lines_page(
    library: Library, places: Places, document_id: str, *, by_word: bool = False, sought: str = ""
) -> Json:
    """Return the working pass's lines in reading order with their counting readings, by a few statements.

    by_word: each word by itself, where somebody placed it, in place of its line. sought: only lines with all these words
    (folded as search folds them), and of them these words where they were placed.
    NotFound for an unknown document; no_frame for one whose lines cannot be expressed in pixels.
    """
    with library.db.read() as conn:
        rule = reading_rule(conn)
        page = page_canvas(conn, document_id)
        pass_id, _ = working_pass(conn, document_id, rule)
        if pass_id is None:
            return _annotation_page(places, page, "no pass", [], 0)
        name = get_pass(conn, pass_id).name
        read = read_lines(conn, document_id, pass_id, rule)
        lines, texts = read.in_order("line"), read.line_texts()
        if lines and page.width is None:
            raise no_frame(page.name)
        ladder = ladder_of_pass(conn, document_id, pass_id)
        frames = frames_of(conn, page)
        sought_words = set(words_of(sought))
        standing = words_of_pass(conn, pass_id) if by_word or sought_words else {}
    items: list[Json] = []
    left_out = 0
    canvas = page.address(places)
    for line in lines:
        text = texts.get(line.id)
        if sought and (text is None or not sought_words or not sought_words.issubset(words_of(text.text))):
            continue
        parts = [(line.id, line.anchor.get("rendition_id"), rect_of(line), text)]
        if text is not None and (words := standing.get(line.id)):
            parts = [
                (f"{line.id}-{word.char_start}", word.rendition_id, word.rect, text._replace(text=word.text))
                for word in words
                if not sought_words or sought_words.intersection(words_of(word.text))
            ]
        for identity, rendition_id, rect, part_text in parts:
            box = frames.box(rendition_id, rect)
            if box is None:
                left_out += 1
                continue
            items.append(
                _annotation(
                    f"{places.lines(document_id)}#{identity}",
                    f"{canvas}#xywh={box[0]},{box[1]},{box[2]},{box[3]}",
                    part_text,
                    read.readings,
                    ladder.value("language", line.id),
                    "line" if identity == line.id else "word",
                )
            )
    return _annotation_page(places, page, name, items, left_out)


def frames_of(conn: Connection, page: PageCanvas) -> _Frames:
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
    text: CountingText | None,
    readings: Mapping[str, Reading],
    language: str | None,
    granularity: str,
) -> Json:
    """Return one line or word. An unread line has an empty text, so that its position can still be shown."""
    body: Json = {
        "type": "TextualBody",
        "value": text.text if text is not None else "",
        "format": "text/plain",
    }
    annotation: Json = {
        "id": identity,
        "type": "Annotation",
        "motivation": "supplementing",
        "textGranularity": granularity,
        "body": body,
        "target": target,
    }
    reading = readings.get(text.representation_id) if text is not None else None
    language = (reading.language if reading is not None else None) or language
    if language:
        body["language"] = language
    if reading is not None:
        body["creator"] = annotation["creator"] = _maker(reading)
        body["created"] = annotation["created"] = reading.created_at
    return annotation


def _maker(reading: Reading) -> Json:
    """Return who read a line: a person by name, else the program with its model."""
    if reading.provenance_kind == "human":
        return {"type": "Person", "name": reading.created_by or "a person"}
    program = dict.fromkeys(part for part in (reading.producer_tool, reading.producer_model) if part)
    named = " ".join(program) or reading.created_by or "a program"
    return {"type": "Software", "name": named}


def _annotation_page(
    places: Places, page: PageCanvas, pass_name: str, items: list[Json], left_out: int
) -> Json:
    answer: Json = {
        "@context": [ANNOTATION, GRANULARITY, PRESENTATION],
        "id": places.lines(page.document_id),
        "type": "AnnotationPage",
        "label": language_map(f"Lines of {plain_value(page.name)} ({pass_name})"),
        "items": items,
    }
    if left_out:
        many = "1 line is" if left_out == 1 else f"{left_out} lines are"
        answer["summary"] = language_map(
            f"{many} left out: measured on a picture whose position on this one is unknown.", "en"
        )
    return answer
