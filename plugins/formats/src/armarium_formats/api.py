"""What other families and format drivers may use: the page model, the driver contract, the table of
imported files, a page as a file.
"""

from __future__ import annotations

from armarium_formats.batches.disk import scratch
from armarium_formats.catalogue import file_ending, kept_driver
from armarium_formats.citing import cite_page
from armarium_formats.driver import (
    Format,
    FormatDriver,
    Loss,
    MarkWords,
    ReadContext,
    WriteContext,
    WrittenPage,
    as_losses,
)
from armarium_formats.keeping import keep_models
from armarium_formats.marks import (
    MarkedText,
    ReadMarks,
    identifier_of,
    statements_about,
)
from armarium_formats.models import format_imports
from armarium_formats.numbers import count_noun, parse_unsigned
from armarium_formats.page_model import (
    FACT_KINDS,
    PageHand,
    PageModel,
    PageOrder,
    PageSegment,
    PageSign,
    PageText,
    Point,
    SegmentKind,
    TextMark,
)
from armarium_formats.placed_words import WordOfLine, words_of_page
from armarium_formats.queries.exchange import export as export_page
from armarium_formats.queries.exchange import page_of_pass
from armarium_formats.queries.placed import page_to_place
from armarium_formats.schemas.exchange import PastMoment
from armarium_formats.taken_pages import TakenPage

__all__ = [
    "FACT_KINDS",
    "Format",
    "FormatDriver",
    "Loss",
    "MarkWords",
    "MarkedText",
    "PageHand",
    "PageModel",
    "PageOrder",
    "PageSegment",
    "PageSign",
    "PageText",
    "PastMoment",
    "Point",
    "ReadContext",
    "ReadMarks",
    "SegmentKind",
    "TakenPage",
    "TextMark",
    "WordOfLine",
    "WriteContext",
    "WrittenPage",
    "as_losses",
    "cite_page",
    "count_noun",
    "export_page",
    "file_ending",
    "format_imports",
    "identifier_of",
    "keep_models",
    "kept_driver",
    "page_of_pass",
    "page_to_place",
    "parse_unsigned",
    "scratch",
    "statements_about",
    "words_of_page",
]
