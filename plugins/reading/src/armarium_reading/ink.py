"""What the ink says of another text than was read: both aligned with the hand reader's output for the line."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine, Library, NotFound, Principal, ServiceError, find_withheld, graphemes
from armarium_reading.evidence import Question, align_texts, question_of

LEAST_FIT = 1e-9


def ink_says(
    engine: Engine,
    library: Library,
    conn: Connection,
    principal: Principal,
    lines: Sequence[tuple[str, str, str]],
    seconds: float,
) -> Mapping[int, float]:
    """Return what forced alignment says: a page at a time, that with the first line first, until the time is over. Nothing is
    said of pages that are withheld from models, and of any line where the hand reader is not installed.
    """
    until = time.monotonic() + seconds
    pages: dict[str, list[tuple[int, Question, Question]]] = defaultdict(list)
    for number, (segment_id, text, other) in enumerate(lines):
        try:
            read = question_of(library, conn, segment_id, None, text)
        except NotFound:
            # The page has no picture.
            continue
        pages[read.segment.document_id].append((number, read, read._replace(text=other)))
    withheld = find_withheld(library, principal, pages, "local-model")
    gains: dict[int, float] = {}
    for document_id, questions in pages.items():
        if time.monotonic() > until:
            break
        if document_id in withheld:
            continue
        both = [question for _, read, other in questions for question in (read, other)]
        try:
            places = align_texts(engine, library, both)[0]
        except ServiceError:
            break
        for (number, read, proposed), here, there in zip(questions, places[::2], places[1::2], strict=True):
            if "why" not in here and "why" not in there:
                gains[number] = _likelihood(proposed.text, there) - _likelihood(read.text, here)
    return gains


def _likelihood(text: str, places: Mapping[str, Any]) -> float:
    """Return the logarithm of a text's likelihood, of which the fit is the mean over its letters and one more."""
    letters = sum(not letter.isspace() for letter in graphemes(text))
    return (letters + 1) * math.log(max(LEAST_FIT, places["fit"]))
