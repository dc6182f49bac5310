"""Samples of the lines of a selection, by which its error rate is stated: what is sent, stored and answered."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import Column, Index, Table, Text

from armarium.api import (
    HIDDEN,
    Json,
    Message,
    Params,
    Record,
    SourceText,
    paged,
    provenance_columns,
    record,
    reference,
    tracked,
)
from armarium_checking.records.checks import Id, Name, metadata
from armarium_documents.api import documents
from armarium_source_model.api import segments

Way = Literal["blind", "confirm"]
Policy = Literal["diplomatic", "layout-insensitive", "lenient", "accent-blind"]
MOST_LINES = 5_000


class SampleCreate(Params):
    """The selection whose error rate is asked for, and how exactly."""

    scope_ids: Annotated[
        list[Id], Field(max_length=10_000, description="Documents and folders; none: the whole project")
    ] = []
    query: Annotated[
        Name | None, Field(description="Only pages that this search finds, in the query language")
    ] = None
    hand_id: Annotated[Id | None, Field(description="Only lines attributed to this hand")] = None
    reader: Annotated[
        Name | None,
        Field(description="Measure the readings of this model or reader; default: the texts that count"),
    ] = None
    half_width: Annotated[
        float, Field(ge=0.0005, le=0.5, description="Wanted half-width of the 95 % interval")
    ] = 0.01
    lines: Annotated[
        int | None,
        Field(ge=10, le=MOST_LINES, description="How many lines to draw; default: as the half-width needs"),
    ] = None
    seed: Annotated[
        int, Field(ge=0, lt=2**31, description="The same seed draws the same lines of the same selection")
    ] = 1
    way: Annotated[
        Way, Field(description="blind: transcribed without seeing what was read; confirm: compared with it")
    ] = "blind"
    policy: Annotated[Policy, Field(description="What counts as an error")] = "layout-insensitive"


class SampleId(Params):
    sample_id: Id


class SampleExtend(Params):
    """How many lines to draw in addition."""

    sample_id: Id
    lines: Annotated[int, Field(ge=1, le=MOST_LINES)]


@record(
    metadata,
    "quality_sample",
    tracked(label="sample", names=("scope_ids",)),
    # The bounds of the bands of confidence, and how many lines were left out because their text taught the reader.
    Column("bands", Json, nullable=False, info=HIDDEN),
    last=provenance_columns(),
    hint="The list of samples has the right one.",
)
class Sample(SampleCreate, Record):
    """A sample: lines drawn at random from a selection."""

    lines: int
    taught: int


Samples = paged(Sample)
samples = Sample.table

sample_pages = Table(
    "quality_page",
    metadata,
    Column("id", Text, primary_key=True),
    reference("sample_id", "quality_sample.id"),
    reference("document_id", documents.c.id),
    # The run of pages that it is in, how many lines it has in each band, and its text when the sample was drawn.
    Column("part", Text, nullable=False),
    Column("lines", Json, nullable=False),
    Column("fingerprint", Text, nullable=False),
    info=tracked(label="page of a sample", document="document_id", heeds_locks=False),
)
"""The pages of a sampled selection: what the lines drawn stand for."""


@record(
    metadata,
    "quality_line",
    tracked(
        label="line of a sample", document="document_id", heeds_locks=False, large=("read_text", "truth")
    ),
    reference("sample_id", "quality_sample.id", index=False),
    reference("document_id", documents.c.id),
    reference("segment_id", segments.c.id),
    Column("part", Text, nullable=False, info=HIDDEN),
    Column("band", Text, nullable=False, info=HIDDEN),
    Column("read_text", Text, nullable=False, info=HIDDEN),
    Index("ix_quality_line_sample", "sample_id", "number"),
    hint="The lines of its sample have the right one.",
)
class SampleLine(Record):
    """A line of a sample. What was read is not told before a blind line is answered."""

    sample_id: str
    document_id: str
    segment_id: str
    number: int
    truth: str | None
    illegible: bool
    answered_by: str | None
    answered_at: str | None


SampleLines = paged(SampleLine)
sample_lines = SampleLine.table


class LineAnswer(Params):
    """What stands in the line: its text; or that it is what was read, in a sample that is confirmed; or that nobody can
    read it, so that it does not count.
    """

    line_id: Id
    text: Annotated[SourceText | None, Field(max_length=10_000)] = None
    confirmed: bool = False
    illegible: bool = False
    replace: Annotated[bool, Field(description="Replace an answer that was given already")] = False


class LineShown(Message):
    """A line to answer: its picture is at `picture`. `read_text`: what was read, where that may be seen."""

    line_id: str
    segment_id: str
    document_id: str
    number: int
    picture: str
    read_text: str | None
    left: Annotated[int, Field(description="How many lines of the sample are not answered yet")]


class NextLine(Message):
    """The next line to answer; null: all are answered, or lie on pages that are gone."""

    line: LineShown | None


class Interval(Message):
    """A rate with its 95 % interval; `more_lines`: how many more answered lines halve the interval."""

    rate: float
    low: float
    high: float
    half_width: float
    more_lines: int


class StratumRate(Message):
    """A stratum: a run of pages, or a band of confidence. `bad`: even the lower limit of its rate is above that of the
    whole.
    """

    what: Literal["pages", "confidence"]
    name: str
    first_document_id: str | None
    last_document_id: str | None
    lines: int
    answered: int
    cer: float | None
    low: float | None
    high: float | None
    bad: bool


class ErrorRate(Sample):
    """The error rate of the selection, estimated from the answered lines of its sample.

    cer, wer, lines_to_width (how many more lines bring the wanted half-width): null while too few lines are answered.
    population: the lines it stands for. gone: pages that are deleted since. stated_at: when the last line was answered. changed: pages whose text is another one since, of which the rate says nothing any more. statement: all of it
    in a sentence, as exports carry it.
    """

    population: int
    pages: int
    answered: int
    illegible: int
    persons: list[str]
    cer: Interval | None
    wer: Interval | None
    lines_to_width: int | None
    strata: list[StratumRate]
    gone: int
    changed: int
    holds: bool
    stated_at: str | None
    statement: str | None
