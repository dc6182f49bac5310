"""What other families and format drivers may use: the page model, the driver contract, the table of
imported files, a page as a file.
"""

from __future__ import annotations

from armarium_formats.batches.disk import scratch as scratch
from armarium_formats.catalogue import file_ending as file_ending
from armarium_formats.catalogue import kept_driver as kept_driver
from armarium_formats.citing import cite_page as cite_page
from armarium_formats.driver import Format as Format
from armarium_formats.driver import FormatDriver as FormatDriver
from armarium_formats.driver import Loss as Loss
from armarium_formats.driver import MarkWords as MarkWords
from armarium_formats.driver import ReadContext as ReadContext
from armarium_formats.driver import WriteContext as WriteContext
from armarium_formats.driver import WrittenPage as WrittenPage
from armarium_formats.driver import as_losses as as_losses
from armarium_formats.keeping import keep_models as keep_models
from armarium_formats.marks import MarkedText as MarkedText
from armarium_formats.marks import ReadMarks as ReadMarks
from armarium_formats.marks import identifier_of as identifier_of
from armarium_formats.marks import statements_about as statements_about
from armarium_formats.models import format_imports as format_imports
from armarium_formats.numbers import count_noun as count_noun
from armarium_formats.numbers import parse_unsigned as parse_unsigned
from armarium_formats.page_model import FACT_KINDS as FACT_KINDS
from armarium_formats.page_model import PageHand as PageHand
from armarium_formats.page_model import PageModel as PageModel
from armarium_formats.page_model import PageOrder as PageOrder
from armarium_formats.page_model import PageSegment as PageSegment
from armarium_formats.page_model import PageSign as PageSign
from armarium_formats.page_model import PageText as PageText
from armarium_formats.page_model import Point as Point
from armarium_formats.page_model import SegmentKind as SegmentKind
from armarium_formats.page_model import TextMark as TextMark
from armarium_formats.placed_words import WordOfLine as WordOfLine
from armarium_formats.placed_words import words_of_page as words_of_page
from armarium_formats.queries.exchange import export_page as export_page
from armarium_formats.queries.exchange import page_of_pass as page_of_pass
from armarium_formats.queries.placed import page_to_place as page_to_place
from armarium_formats.schemas.exchange import PastMoment as PastMoment
from armarium_formats.taken_pages import TakenPage as TakenPage
