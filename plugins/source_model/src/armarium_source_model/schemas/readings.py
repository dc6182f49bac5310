"""Requests and answers about readings, the counting reading and the text of a page."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from armarium.api import Message, Params, ProperName, SourceText, Spelling, answer_of, listed, paged
from armarium_documents.api import representations
from armarium_source_model.schemas.fields import Fraction, Id, Language, ReadingText, Script, Word
from armarium_source_model.schemas.orders import OrderBasis


class Correct(Params):
    """A new reading of a segment that corrects the one that counts."""

    segment_id: Id
    text: ReadingText
    kind: Word = "transcription"
    expected_counting_id: Id | None = None
    level: Word | None = None
    language: Language | None = None
    script: Script | None = None


class Correction(Params):
    segment_id: Id
    text: ReadingText
    expected_counting_id: Id | None = None


class CorrectMany(Params):
    """New readings of several segments, each correcting the counting one."""

    kind: Word = "transcription"
    corrections: Annotated[list[Correction], Field(min_length=1, max_length=10_000)]


class Choose(Params):
    segment_id: Id
    kind: Word = "transcription"
    representation_id: Id | None


class Retract(Params):
    representation_id: Id


class PlacesIn(Params):
    """Where the letters of a reading stand, in fractions of the picture that was read."""

    rendition_id: Id | None = None
    frame: Annotated[
        tuple[float, float, float, float, float, float],
        Field(
            description="x and y of the corner of the line's area, its side along the line, its side across"
        ),
    ]
    letters: Annotated[
        list[Annotated[int, Field(ge=-1, le=10_000)]],
        Field(
            max_length=100_000, description="Start, end, top, bottom, probability of each, in ten-thousandths"
        ),
    ]
    others: dict[str, list[tuple[SourceText, Fraction | None]]] = Field(default_factory=dict)
    fit: Fraction | None = None


class ReadingIn(Params):
    segment_id: Id
    text: SourceText
    places: Annotated[PlacesIn | None, Field(description="Of its grapheme clusters, in order")] = None
    confidence: Fraction | None = None
    provider: Word | None = None
    """Who read this line, where that is not who read the others."""
    model: Word | None = None


class TakeReadings(Params):
    """A reader's readings of lines of one page."""

    document_id: Id
    pass_id: Id
    provider: Word
    model: Word | None = None
    kind: Word = "transcription"
    level: Word | None = None
    run_id: Id | None = None
    readings: Annotated[list[ReadingIn], Field(max_length=50_000)]


class KindCreate(Params):
    """A kind of reading this project uses besides the seeded ones."""

    key: Annotated[
        str,
        Spelling(
            r"^[a-z][a-z0-9_-]{0,63}$",
            "a key of at most 64 small letters, digits, _ and -, of which the first is a letter",
        ),
    ]
    label: ProperName


class KindOut(Message):
    key: str
    label: str
    builtin: bool


@answer_of(representations)
class ReadingOut(Message):
    """A reading: a content representation of one segment."""

    segment_id: str
    counting: bool
    superseded_by: str | None
    stale: bool


class CountingOut(Message):
    """disputed: the newest of several readings by persons, none of which was chosen."""

    representation_id: str | None
    basis: str
    labelled_machine: bool
    disputed: bool


class ReadingList(Message):
    segment_id: str
    items: list[ReadingOut]
    count: int
    counting: dict[str, CountingOut]


class Unplaced(Message):
    id: str
    why: str


class CorrectedReading(ReadingOut):
    unplaced: list[Unplaced] = []


CorrectedReadings = listed(CorrectedReading, "CorrectedReadings", "What was written, in the order requested.")


class ChoiceOut(Message):
    segment_id: str
    kind: str
    representation_id: str | None
    counting: CountingOut


class TakenReadings(Message):
    representation_ids: list[str]


class TextSpan(Message):
    char_start: int
    char_end: int
    segment_id: str
    representation_id: str
    direction: str
    confidence: float | None = None
    """Of the reading, 0 to 1; null where its reader or writer gave none. Only with `confidence=true`."""


class OmittedSegment(Message):
    segment_id: str
    reason: str
    pass_id: str | None = None


class PassRead(Message):
    """A pass of a page that has lines read."""

    pass_id: str
    name: str
    lines_read: int


MadeBy: TypeAlias = Literal["person", "checked", "agent", "machine", "import", "unknown"]


class MadeLines(Message):
    """Lines with text whose counting readings came about in the same way."""

    by: Annotated[
        MadeBy,
        Field(
            description="checked: of another origin, and chosen, confirmed or declared ground truth by a person"
        ),
    ]
    name: Annotated[
        str | None,
        Field(description="The model or reader, the agent, or the imported file; persons are not named"),
    ]
    lines: int
    words: str


class PageCoverage(Message):
    """How far a page is, by its working pass; `unread`: lines without a text."""

    document_id: str
    name: str
    has_thumbnail: bool
    pass_id: str | None
    lines: int
    unread: int
    ground_truth: bool
    made: list[MadeLines]


Coverage = paged(PageCoverage, "Coverage", "How far pages are, in the order of the folder or of the request.")


class PageText(Message):
    """order_basis: by what its lines are in order; in doubt, `PUT /api/reading-orders/document/{document_id}/columns`
    settles it. read_elsewhere, notice: if the pass the page is read by has no text, which other passes do.
    """

    document_id: str
    text: str
    pass_id: str | None
    pass_basis: str
    pass_name: str | None
    order_id: str | None
    order_basis: OrderBasis
    spans: list[TextSpan]
    omitted: list[OmittedSegment]
    read_elsewhere: list[PassRead]
    notice: str | None
