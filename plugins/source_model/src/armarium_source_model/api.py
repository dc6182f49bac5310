"""What other families may use of the source model: its tables, the order of a page, its text, bulk writes."""

from __future__ import annotations

from armarium_documents.api import representations
from armarium_source_model.cer import CannotScore, Score, normalise, score, total_rate, word_rate
from armarium_source_model.counting import Counting, PassBasis, ReadingRule
from armarium_source_model.errors import UnknownKind
from armarium_source_model.facts import KEYS, Holder, Ladder, PageFacts, Statement
from armarium_source_model.geometry import (
    BadGeometry,
    SoundGeometry,
    SoundPoints,
    clip_points,
    pixel_bounds,
    rect_around,
    sound_baseline,
    sound_geometry,
    sound_pixels,
    sound_polygon,
    validate_baseline,
    validate_points,
    validate_polygon,
    validate_rect,
)
from armarium_source_model.models import forwardings, passes, reading_choices, segments
from armarium_source_model.order import Shape, page_slope, reading_sequence
from armarium_source_model.queries.drawing import page_drawing, page_drawing_png
from armarium_source_model.queries.facts import ladder_of_pass, page_facts
from armarium_source_model.queries.orders import standing_order, written_order
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
    counting_of_document,
    counting_of_segment,
    reading_kind_keys,
    readings_of,
)
from armarium_source_model.queries.readings import counting_of_pass as counting_readings
from armarium_source_model.queries.segments import get_segment, segments_of
from armarium_source_model.queries.settings import resolve_settings
from armarium_source_model.queries.staleness import (
    Derived,
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
from armarium_source_model.text import text_fingerprint
from armarium_source_model.writes import (
    MadePass,
    NewPass,
    NewReading,
    StatedFacts,
    add_readings,
    add_segments,
    create_pass,
    create_passes,
)

__all__ = [
    "IS_PROVISIONAL",
    "KEYS",
    "ONE_PASS_A_FILE",
    "BadGeometry",
    "CannotScore",
    "Counting",
    "CountingText",
    "Derived",
    "Holder",
    "Ladder",
    "MadePass",
    "NewPass",
    "NewReading",
    "NewSegment",
    "PageFacts",
    "PageTextResult",
    "PassBasis",
    "ProvisionalPass",
    "ReadingRule",
    "ReadySegments",
    "Score",
    "Shape",
    "SoundGeometry",
    "SoundPoints",
    "StatedFacts",
    "Statement",
    "UnknownKind",
    "add_readings",
    "add_segments",
    "clip_points",
    "counting_of_document",
    "counting_of_segment",
    "counting_readings",
    "create_pass",
    "create_passes",
    "forwardings",
    "get_pass",
    "get_segment",
    "is_provisional",
    "ladder_of_pass",
    "line_sequence",
    "list_passes",
    "normalise",
    "notice_of_text_elsewhere",
    "order_walk",
    "page_drawing",
    "page_drawing_png",
    "page_facts",
    "page_slope",
    "page_text",
    "pass_sequence",
    "passes",
    "pixel_bounds",
    "provisional_pass",
    "reading_choices",
    "reading_kind_keys",
    "reading_rule",
    "reading_sequence",
    "readings_of",
    "ready_segments",
    "rect_around",
    "representations",
    "resolve_settings",
    "score",
    "segment_fingerprints",
    "segments",
    "segments_of",
    "sound_baseline",
    "sound_geometry",
    "sound_pixels",
    "sound_polygon",
    "stale_readings",
    "stale_rows",
    "standing_order",
    "text_fingerprint",
    "total_rate",
    "validate_baseline",
    "validate_points",
    "validate_polygon",
    "validate_rect",
    "word_rate",
    "working_pass",
    "written_order",
]
