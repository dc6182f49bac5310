"""What other families may use of the source model: its tables, the order of a page, its text, bulk writes."""

from __future__ import annotations

from armarium_source_model.cer import POLICIES, CannotScore, normalise, score, total_rate, word_rate
from armarium_source_model.counting import CONFIRMED_LINES, ReadingRule
from armarium_source_model.cutting import cut_segment, lean_of
from armarium_source_model.errors import SegmentDeleted, UnknownKind, refuse_provisional, unknown_segment
from armarium_source_model.facts import (
    KEYS,
    PageFacts,
)
from armarium_source_model.folding import (
    HYPHENS,
    FoldedText,
    Word,
    fold_letters,
    fold_lines,
    fold_text,
    goes_on,
    places_of_words,
    words_of,
)
from armarium_source_model.geometry import (
    BadGeometry,
    SoundPoints,
    pixel_bounds,
    sound_pixels,
)
from armarium_source_model.models import (
    due_pages,
    forwardings,
    links,
    order_entries,
    page_texts,
    page_words,
    passes,
    reading_orders,
    segments,
)
from armarium_source_model.queries.facts import ladder_of_pass, page_facts, page_language_sql
from armarium_source_model.queries.forwarding import follow, split_segments
from armarium_source_model.queries.forwarding import live_segments as follow_segment
from armarium_source_model.queries.orders import list_orders, standing_order, written_order
from armarium_source_model.queries.orders import walk as order_walk
from armarium_source_model.queries.passes import (
    ONE_PASS_A_FILE,
    get_pass,
    list_passes,
    notice_of_text_elsewhere,
    reading_rule,
    working_pass,
)
from armarium_source_model.queries.provisional_text import (
    IS_PROVISIONAL,
    ProvisionalPass,
    is_provisional,
    provisional_pass,
)
from armarium_source_model.queries.readings import (
    CountingText,
    counting_of_segment,
    counting_of_segments,
    reading_kind_keys,
    standing_choices,
)
from armarium_source_model.queries.readings import counting_of_pass as counting_readings
from armarium_source_model.queries.segments import get_segment, segments_of
from armarium_source_model.queries.settings import resolve_settings
from armarium_source_model.queries.staleness import (
    DerivedRow,
    RestsOnText,
    StaleRow,
    segment_fingerprints,
    stale_readings,
    stale_rows,
)
from armarium_source_model.queries.text import (
    PageTextResult,
    line_sequence,
    page_text,
    pass_sequence,
)
from armarium_source_model.segment_rows import NewSegment, ReadySegments, ready_segments
from armarium_source_model.spans import (
    ReadingChange,
    ReadingCopier,
    SegmentFollower,
    SpanMover,
    Why,
    span_in_new_text,
)
from armarium_source_model.text import first_strong_direction, text_fingerprint
from armarium_source_model.writes import (
    MadePass,
    NewPass,
    NewReading,
    StatedFacts,
    add_readings,
    add_segments,
    create_pass,
    create_passes,
    refuse_provider,
    set_transformation,
)

__all__ = [
    "CONFIRMED_LINES",
    "HYPHENS",
    "IS_PROVISIONAL",
    "KEYS",
    "ONE_PASS_A_FILE",
    "POLICIES",
    "BadGeometry",
    "CannotScore",
    "CountingText",
    "DerivedRow",
    "FoldedText",
    "MadePass",
    "NewPass",
    "NewReading",
    "NewSegment",
    "PageFacts",
    "PageTextResult",
    "ProvisionalPass",
    "ReadingChange",
    "ReadingCopier",
    "ReadingRule",
    "ReadySegments",
    "RestsOnText",
    "SegmentDeleted",
    "SegmentFollower",
    "SoundPoints",
    "SpanMover",
    "StaleRow",
    "StatedFacts",
    "UnknownKind",
    "Why",
    "Word",
    "add_readings",
    "add_segments",
    "counting_of_segment",
    "counting_of_segments",
    "counting_readings",
    "create_pass",
    "create_passes",
    "cut_segment",
    "due_pages",
    "first_strong_direction",
    "fold_letters",
    "fold_lines",
    "fold_text",
    "follow",
    "follow_segment",
    "forwardings",
    "get_pass",
    "get_segment",
    "goes_on",
    "is_provisional",
    "ladder_of_pass",
    "lean_of",
    "line_sequence",
    "links",
    "list_orders",
    "list_passes",
    "normalise",
    "notice_of_text_elsewhere",
    "order_entries",
    "order_walk",
    "page_facts",
    "page_language_sql",
    "page_text",
    "page_texts",
    "page_words",
    "pass_sequence",
    "passes",
    "pixel_bounds",
    "places_of_words",
    "provisional_pass",
    "reading_kind_keys",
    "reading_orders",
    "reading_rule",
    "ready_segments",
    "refuse_provider",
    "refuse_provisional",
    "resolve_settings",
    "score",
    "segment_fingerprints",
    "segments",
    "segments_of",
    "set_transformation",
    "sound_pixels",
    "span_in_new_text",
    "split_segments",
    "stale_readings",
    "stale_rows",
    "standing_choices",
    "standing_order",
    "text_fingerprint",
    "total_rate",
    "unknown_segment",
    "word_rate",
    "words_of",
    "working_pass",
    "written_order",
]
