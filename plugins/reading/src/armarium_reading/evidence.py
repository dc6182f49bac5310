"""Where the letters of a line stand: as its reader said, by its words, or worked out by alignment with the hand reader."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from armarium.api import Engine, Library, Principal, ServiceError, find_withheld, graphemes
from armarium_documents.api import PageImage, page_image, still_image
from armarium_reading.errors import evidence_needs_line, evidence_withheld, no_such_reading
from armarium_reading.queries.reading import shape_in_pixels
from armarium_reading.readers import Choice, choose
from armarium_source_model.api import (
    Frame,
    LetterPlaces,
    corners_of,
    counting_of_segment,
    counting_of_segments,
    frame_of,
    get_segment,
    is_as_read,
    measure_box,
    other_texts,
    outline_of,
    reading_rule,
    readings_named,
    refuse_provisional,
    runs_down,
    segments_of,
    share_out,
    stored_places,
    unpacked_places,
)

ALIGNER = "hand"
"""The reader with whose output texts are aligned."""
POOR = 0.05
"""Fit below which the reader would hardly read the text there: few texts of other lines reach it, and most right ones."""
Corners = Sequence[tuple[float, float]]


def on_picture(packed: Mapping[str, Any], picture: PageImage) -> dict[str, Any]:
    """Return the places that a worker packed, with the frame in fractions of the picture that it was given."""
    sides = [picture.width, picture.height] * 3
    frame = [value / side for value, side in zip(packed["frame"], sides, strict=True)]
    fields = {name: packed[name] for name in ("letters", "others", "fit") if name in packed}
    return {"rendition_id": picture.rendition_id, "frame": frame, **fields}


class _Letter(NamedTuple):
    corners: Corners
    probability: float | None = None
    others: Sequence[tuple[str, float | None]] = ()


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
    others: Sequence[Sequence[tuple[str, float | None]]] = ()
    """Of each word: its other readings."""


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
        return [(x, y) for x, y in outline_of(self.shape)]

    @property
    def frame(self) -> Frame | None:
        """Return its frame in pixels."""
        down = runs_down(self.outline, self.shape.get("direction"), self.text)
        return frame_of(self.outline, self.shape.get("baseline", ()), runs_down=down)


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
    places: _Places | None = None
    with library.db.read() as conn:
        question = question_of(library, conn, segment_id, representation_id, text)
        if not question.text.strip():
            places = _Places(
                "none", (), question.frame, notice="The line has no text, so no letters stand on it."
            )
        elif text is None and question.representation_id is not None and not afresh:
            stored = stored_places(conn, [question.representation_id]).get(question.representation_id)
            if stored is not None and stored.rendition_id not in (None, question.picture.rendition_id):
                notice = (
                    "The page has another picture than the one that was read; its letters were placed again."
                )
            elif stored is not None and not is_as_read(question.segment, stored):
                notice = "The line has another shape than when it was read; its letters were placed again."
            elif stored is not None:
                places = _of_places("reader", stored.places, fit=stored.fit)
        if places is None and not afresh:
            places = _by_words(conn, question)
        if places is not None and question.segment.kind == "word" and text is None:
            counting = counting_of_segments(conn, [segment_id], rule=reading_rule(conn))
            places.others = [list(other_texts(conn, counting).get(segment_id, {}).items())]
    if places is None:
        withheld = find_withheld(library, principal, [question.segment.document_id], "local-model")
        if why := withheld.get(question.segment.document_id):
            raise evidence_withheld(why)
        places = _align(engine, library, question)
    places.notice = places.notice or notice
    return _answer(question, places)


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


def _by_words(conn: Connection, question: Question) -> _Places | None:
    """Return where the line's words stand, with their letters if each was read with them; None if they are not those of the text."""
    rows = [
        row
        for row in segments_of(conn, question.segment.pass_id, "word")
        if row.parent_segment_id == question.segment.id
    ]
    counting = counting_of_segments(conn, [row.id for row in rows], rule=reading_rule(conn))
    width, height = question.picture.width, question.picture.height
    words = []
    stored = stored_places(conn, [reading.representation_id for reading in counting.values()])
    others = other_texts(conn, counting)
    letters: dict[int, Sequence[_Letter]] = {}
    for row in rows:
        outline = outline_of(shape_in_pixels(conn, row, width, height))
        text = counting[row.id].text if row.id in counting else ""
        place = [(x / width, y / height) for x, y in outline]
        words.append((text, _Letter(place, row.confidence, list(others.get(row.id, {}).items()))))
        as_read = stored.get(counting[row.id].representation_id) if row.id in counting else None
        if (
            as_read is not None
            and as_read.rendition_id in (None, question.picture.rendition_id)
            and is_as_read(row, as_read)
        ):
            letters[id(words[-1][1])] = _of_places("reader", as_read.places).letters
    words.sort(key=lambda word: min(x for x, _ in word[1].corners))
    tokens = question.text.split()
    for order in (words, words[::-1]):
        if tokens and [text for text, _ in order] == tokens:
            frame = question.frame
            frame = None if frame is None else frame.in_units(1 / width, 1 / height)
            if len(letters) == len(order):
                placed = (letter for _, place in order for letter in letters[id(place)])
                every = [
                    _Letter(()) if letter.isspace() else next(placed) for letter in graphemes(question.text)
                ]
                return _Places("reader", every, frame, others=[place.others for _, place in order])
            places = [place for _, place in order]
            return _Places("words", places, frame, others=[place.others for place in places])
    return None


def align_texts(
    engine: Engine, library: Library, questions: Sequence[Question]
) -> tuple[list[Mapping[str, Any]], Choice]:
    """Return what the hand reader says of texts on lines of one page: places, or why there are none; and which model it was."""
    choice: Choice = choose(engine, library, reader=ALIGNER, method="align_lines")
    picture = questions[0].picture
    with still_image(library, picture) as path:
        params = {
            "image": str(path),
            "width": picture.width,
            "height": picture.height,
            **choice.params(None, engine.settings.max_image_pixels),
            "lines": [question.shape for question in questions],
            "texts": [question.text for question in questions],
        }
        answer = engine.workers.call(choice.runtime, choice.target, "align_lines", params)
    return answer["places"], choice


def _align(engine: Engine, library: Library, question: Question) -> _Places:
    """Align the text with the hand reader's output; shares of the line where the two have nothing in common."""
    frame, picture = question.frame, question.picture
    try:
        (packed,), choice = align_texts(engine, library, [question])
    except ServiceError as refusal:
        return _share_of_line(question, frame, refusal.detail)
    if "why" in packed:
        return _share_of_line(question, frame, packed["why"])
    placed = on_picture(packed, picture)
    places = unpacked_places(placed["frame"], placed)
    aligned = _of_places("aligned", places, fit=packed.get("fit"), model=choice.model_name)
    letters = [letter for letter in graphemes(question.text) if not letter.isspace()]
    known = sum(letter.probability is not None for letter in aligned.letters)
    if 2 * known < len(letters):
        why = (
            f"{choice.reader.label} does not know {len(letters) - known} of the text's {len(letters)} letters"
        )
        return _share_of_line(question, frame, f"{why}; each has its share of the line.")
    if aligned.fit is not None and aligned.fit < POOR:
        aligned.notice = (
            "The reader would hardly read this text here: it is that of another line, or written in letters that the reader "
            "seldom saw. Its letters were placed as well as can be."
        )
    return aligned


def _share_of_line(question: Question, frame: Frame | None, why: str) -> _Places:
    if frame is None:
        return _Places("none", (), None, notice=why)
    places = share_out(frame.in_units(1 / question.picture.width, 1 / question.picture.height), question.text)
    estimated = _of_places("estimate", places)
    estimated.notice = why
    return estimated


def _of_places(
    source: str, places: LetterPlaces, *, fit: float | None = None, model: str | None = None
) -> _Places:
    letters = [
        _Letter(places.corners(at, at + 1), letter.probability, places.others.get(at, ()))
        for at, letter in enumerate(places.letters)
    ]
    return _Places(source, letters, places.frame, fit, model)


def _answer(question: Question, places: _Places) -> dict[str, Any]:
    """Return the letters and words of the text with their places. Blanks are left out: nothing stands there."""
    letters: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    at, placed = 0, iter(places.letters)
    of_words = places.source == "words"
    for letter in re.findall(r"\s+|\S+", question.text) if of_words else graphemes(question.text):
        start, at = at, at + len(letter)
        blank = letter.isspace()
        place = None if blank and of_words else next(placed, None)
        if blank or place is None:
            words.append({})
            continue
        entry = {
            "text": letter,
            "char_start": start,
            "char_end": at,
            **_place(place.corners),
            "probability": place.probability,
            "others": _others(place.others),
        }
        letters.append(entry)
        if not words or not words[-1]:
            words.append({"char_start": start, "letters": []})
        words[-1]["letters"].append(entry)
    frame = places.frame
    return {
        "segment_id": question.segment.id,
        "document_id": question.segment.document_id,
        "representation_id": question.representation_id,
        "rendition_id": question.picture.rendition_id,
        "text": question.text,
        "source": places.source,
        "model": places.model,
        "fit": places.fit,
        "notice": places.notice,
        "frame": None if frame is None else [frame.point(x, y) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))],
        "characters": [] if of_words else letters,
        "words": [
            _word(question.text, word, others)
            for word, others in zip_longest(filter(None, words), places.others, fillvalue=())
            if word
        ],
    }


def _word(text: str, word: Any, others: Sequence[tuple[str, float | None]]) -> dict[str, Any]:
    letters = word["letters"]
    start, end = word["char_start"], letters[-1]["char_end"]
    sure = [letter["probability"] for letter in letters if letter["probability"] is not None]
    points = [point for letter in letters for point in letter["corners"]]
    return {
        "text": text[start:end],
        "char_start": start,
        "char_end": end,
        **_place(points),
        "probability": sum(sure) / len(sure) if sure else None,
        "others": _others(others),
    }


def _others(others: Sequence[tuple[str, float | None]]) -> list[dict[str, Any]]:
    return [{"text": other, "probability": sure} for other, sure in others]


def _place(points: Corners) -> dict[str, Any]:
    """Return points within the page as they are, and the upright box around them, in fractions."""
    inside = [(min(1.0, max(0.0, x)), min(1.0, max(0.0, y))) for x, y in points]
    rect = measure_box(inside)
    return {"rect": [*rect], "corners": inside if len(inside) == 4 else [*corners_of(rect)]}
