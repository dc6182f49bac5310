"""Where the letters of a line stand: as its reader said, by its words, or worked out by alignment with the hand reader."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Row

from armarium.api import Principal, ServiceError, find_withheld, graphemes
from armarium_documents.api import PageImage, page_image, still_image
from armarium_reading.errors import evidence_needs_line, evidence_withheld, no_such_reading
from armarium_reading.queries.reading import shape_in_pixels
from armarium_reading.readers import Choice, choose
from armarium_source_model.api import (
    Frame,
    LetterPlaces,
    counting_of_segment,
    counting_of_segments,
    frame_of,
    get_segment,
    is_as_read,
    reading_rule,
    readings_named,
    refuse_provisional,
    runs_down,
    segments_of,
    share_out,
    stored_places,
    unpacked_places,
)

if TYPE_CHECKING:
    from armarium.api import Engine, Library

ALIGNER = "hand"
"""The reader with whose output texts are aligned."""
POOR = 0.05
"""Fit below which the reader would hardly read the text there: few texts of other lines reach it, and most right ones."""
Corners = Sequence[tuple[float, float]]


def on_picture(packed: Mapping[str, Any], picture: PageImage) -> dict[str, Any]:
    """Return the places that a worker packed, with the frame in fractions of the picture that it was given."""
    sides = [picture.width, picture.height] * 3
    frame = [value / side for value, side in zip(packed["frame"], sides, strict=True)]
    told = {name: packed[name] for name in ("letters", "others", "fit") if name in packed}
    return {"rendition_id": picture.rendition_id, "frame": frame, **told}


class _Letter(NamedTuple):
    corners: Corners
    probability: float | None = None
    others: Sequence[tuple[str, float]] = ()


@dataclass
class _Places:
    """The letters of a text with their corners, in fractions of the picture; who says so, and what is to be said of it."""

    source: str
    letters: Sequence[_Letter]
    """Of the source `words`: one for each word."""
    frame: Frame | None
    fit: float | None = None
    model: str | None = None
    notice: str | None = None


class Question(NamedTuple):
    """What evidence is of: a line, its text, and the picture on which it stands, with its shape there in pixels."""

    segment: Row[Any]
    representation_id: str | None
    text: str
    picture: PageImage
    shape: dict[str, Any]

    @property
    def outline(self) -> Corners:
        """Return its outline in pixels."""
        return outline_of(self.shape)

    @property
    def frame(self) -> Frame | None:
        """Return its frame in pixels."""
        down = runs_down(self.outline, self.shape.get("direction"), self.text)
        return frame_of(self.outline, self.shape.get("baseline", ()), runs_down=down)


def outline_of(shape: Mapping[str, Any]) -> Corners:
    """Return the polygon of a line, else its rect."""
    if "polygon" in shape:
        return [(x, y) for x, y in shape["polygon"]]
    x, y, w, h = shape["rect"]
    return [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]


def evidence_of(
    engine: Engine,
    library: Library,
    principal: Principal,
    segment_id: str,
    *,
    representation_id: str | None = None,
    text: str | None = None,
    afresh: bool = False,
) -> dict[str, Any]:
    """Return where the letters of a text stand on a line: of the reading named, of the one that counts, or of *text*.

    What a reader stored is answered unless it is asked for *afresh*, or the line has another shape now. Raises NotFound,
    Forbidden (evidence_withheld), Invalid for a segment that is no line.
    """
    refuse_provisional(segment_id)
    notice = None
    found: _Places | None = None
    with library.db.read() as conn:
        asked = question_of(library, conn, segment_id, representation_id, text)
        if not asked.text.strip():
            found = _Places(
                "none", (), asked.frame, notice="The line has no text, so no letters stand on it."
            )
        elif text is None and asked.representation_id is not None and not afresh:
            stored = stored_places(conn, [asked.representation_id]).get(asked.representation_id)
            if stored is not None and stored.rendition_id not in (None, asked.picture.rendition_id):
                notice = (
                    "The page has another picture than the one that was read; its letters were placed anew."
                )
            elif stored is not None and not is_as_read(asked.segment, stored):
                notice = "The line has another shape than when it was read; its letters were placed anew."
            elif stored is not None:
                found = _of_places("reader", stored.places, fit=stored.fit)
        if found is None and not afresh:
            found = _by_words(conn, asked)
    if found is None:
        withheld = find_withheld(library, principal, [asked.segment.document_id], "local-model")
        if why := withheld.get(asked.segment.document_id):
            raise evidence_withheld(why)
        found = _align(engine, library, asked)
    found.notice = found.notice or notice
    return _answer(asked, found)


def question_of(
    library: Library, conn: Connection, segment_id: str, representation_id: str | None, text: str | None
) -> Question:
    """Return the line with *text*, else with the reading named, else with the one that counts."""
    row = get_segment(conn, segment_id)
    if row.kind == "region":
        raise evidence_needs_line(segment_id)
    if text is None:
        counting = counting_of_segment(conn, segment_id, "transcription", reading_rule(conn))
        representation_id = representation_id or counting.representation_id
        reading = (
            readings_named(conn, [representation_id]).get(representation_id) if representation_id else None
        )
        if representation_id is not None and (reading is None or reading.segment_id != segment_id):
            raise no_such_reading(representation_id, segment_id)
        text = "" if reading is None else reading.content
    picture = page_image(library, conn, row.document_id)
    shape = shape_in_pixels(conn, row, picture.width, picture.height)
    return Question(row, representation_id, text, picture, shape)


def _by_words(conn: Connection, asked: Question) -> _Places | None:
    """Return where the line's words stand, and nothing of their letters; None if they are not those of the text."""
    rows = [
        row
        for row in segments_of(conn, asked.segment.pass_id, "word")
        if row.parent_segment_id == asked.segment.id
    ]
    counting = counting_of_segments(conn, [row.id for row in rows], rule=reading_rule(conn))
    width, height = asked.picture.width, asked.picture.height
    words = []
    for row in rows:
        outline = outline_of(shape_in_pixels(conn, row, width, height))
        text = counting[row.id].text if row.id in counting else ""
        words.append((text, _Letter([(x / width, y / height) for x, y in outline], row.confidence)))
    words.sort(key=lambda word: min(x for x, _ in word[1].corners))
    tokens = asked.text.split()
    for order in (words, words[::-1]):
        if tokens and [text for text, _ in order] == tokens:
            frame = asked.frame
            frame = None if frame is None else frame.in_units(1 / width, 1 / height)
            return _Places("words", [place for _, place in order], frame)
    return None


def align_texts(
    engine: Engine, library: Library, asked: Sequence[Question]
) -> tuple[list[Mapping[str, Any]], Choice]:
    """Return what the hand reader says of texts on lines of one page: places, or why there are none; and which model it was."""
    choice: Choice = choose(engine, library, reader=ALIGNER, method="align_lines")
    picture = asked[0].picture
    with still_image(library, picture) as path:
        params = {
            "image": str(path),
            "width": picture.width,
            "height": picture.height,
            **choice.params(None, engine.settings.max_image_pixels),
            "lines": [one.shape for one in asked],
            "texts": [one.text for one in asked],
        }
        answer = engine.workers.call(choice.runtime, choice.target, "align_lines", params)
    return answer["places"], choice


def _align(engine: Engine, library: Library, asked: Question) -> _Places:
    """Align the text with the hand reader's output; shares of the line where the two have nothing in common."""
    frame, picture = asked.frame, asked.picture
    try:
        (told,), choice = align_texts(engine, library, [asked])
    except ServiceError as refusal:
        return _share_of_line(asked, frame, refusal.detail)
    if "why" in told:
        return _share_of_line(asked, frame, told["why"])
    placed = on_picture(told, picture)
    places = unpacked_places(placed["frame"], placed)
    found = _of_places("aligned", places, fit=told.get("fit"), model=choice.model_name)
    letters = [letter for letter in graphemes(asked.text) if not letter.isspace()]
    known = sum(letter.probability is not None for letter in found.letters)
    if 2 * known < len(letters):
        why = (
            f"{choice.reader.label} does not know {len(letters) - known} of the text's {len(letters)} letters"
        )
        return _share_of_line(asked, frame, f"{why}; each has its share of the line.")
    if found.fit is not None and found.fit < POOR:
        found.notice = (
            "The reader would hardly read this text here: it is that of another line, or written in letters that the reader "
            "seldom saw. Its letters were placed as well as can be."
        )
    return found


def _share_of_line(asked: Question, frame: Frame | None, why: str) -> _Places:
    if frame is None:
        return _Places("none", (), None, notice=why)
    places = share_out(frame.in_units(1 / asked.picture.width, 1 / asked.picture.height), asked.text)
    found = _of_places("estimate", places)
    found.notice = why
    return found


def _of_places(
    source: str, places: LetterPlaces, *, fit: float | None = None, model: str | None = None
) -> _Places:
    letters = [
        _Letter(places.corners(at, at + 1), one.probability, places.others.get(at, ()))
        for at, one in enumerate(places.letters)
    ]
    return _Places(source, letters, places.frame, fit, model)


def _answer(asked: Question, found: _Places) -> dict[str, Any]:
    """Return the letters and words of the text with their places. Blanks are left out: nothing stands there."""
    letters: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    at, placed = 0, iter(found.letters)
    of_words = found.source == "words"
    for letter in re.findall(r"\s+|\S+", asked.text) if of_words else graphemes(asked.text):
        start, at = at, at + len(letter)
        blank = letter.isspace()
        one = None if blank and of_words else next(placed, None)
        if blank or one is None:
            words.append({})
            continue
        told = {
            "text": letter,
            "char_start": start,
            "char_end": at,
            **_place(one.corners),
            "probability": one.probability,
            "others": [{"text": other, "probability": sure} for other, sure in one.others],
        }
        letters.append(told)
        if not words or not words[-1]:
            words.append({"char_start": start, "letters": []})
        words[-1]["letters"].append(told)
    frame = found.frame
    return {
        "segment_id": asked.segment.id,
        "document_id": asked.segment.document_id,
        "representation_id": asked.representation_id,
        "rendition_id": asked.picture.rendition_id,
        "text": asked.text,
        "source": found.source,
        "model": found.model,
        "fit": found.fit,
        "notice": found.notice,
        "frame": None if frame is None else [frame.point(x, y) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))],
        "characters": [] if of_words else letters,
        "words": [_word(asked.text, word) for word in words if word],
    }


def _word(text: str, word: Mapping[str, Any]) -> dict[str, Any]:
    letters = word["letters"]
    start, end = word["char_start"], letters[-1]["char_end"]
    sure = [one["probability"] for one in letters if one["probability"] is not None]
    points = [point for one in letters for point in one["corners"]]
    return {
        "text": text[start:end],
        "char_start": start,
        "char_end": end,
        **_place(points),
        "probability": sum(sure) / len(sure) if sure else None,
    }


def _place(points: Corners) -> dict[str, Any]:
    """Return points within the page as they are, and the upright box around them, in fractions."""
    kept = [(min(1.0, max(0.0, x)), min(1.0, max(0.0, y))) for x, y in points]
    xs, ys = [x for x, _ in kept], [y for _, y in kept]
    corners = kept if len(kept) == 4 else _around(xs, ys)
    return {"rect": [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)], "corners": corners}


def _around(xs: Sequence[float], ys: Sequence[float]) -> Corners:
    return [(min(xs), min(ys)), (max(xs), min(ys)), (max(xs), max(ys)), (min(xs), max(ys))]
