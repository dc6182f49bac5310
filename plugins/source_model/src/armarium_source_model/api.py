"""What other families may use of the source model: its tables, the order of a page, its text, bulk writes."""

from __future__ import annotations

from armarium_source_model.cer import total_rate
from armarium_source_model.counting import ReadingRule
from armarium_source_model.errors import UnknownKind
from armarium_source_model.facts import (
    KEYS,
    PageFacts,
)
from armarium_source_model.geometry import (
    BadGeometry,
    SoundPoints,
    pixel_bounds,
    sound_pixels,
)
from armarium_source_model.models import (
    forwardings,
    links,
    passes,
    segments,
)
from armarium_source_model.moved_spans import Corrected
from armarium_source_model.moved_spans import placed as span_in_new_text
from armarium_source_model.queries.facts import ladder_of_pass, page_facts
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
    reading_kind_keys,
    standing_choices,
)
from armarium_source_model.queries.readings import counting_of_pass as counting_readings
from armarium_source_model.queries.segments import get_segment, segments_of
from armarium_source_model.queries.settings import resolve_settings
from armarium_source_model.queries.staleness import (
    Derived,
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
    "Corrected",
    "CountingText",
    "Derived",
    "MadePass",
    "NewPass",
    "NewReading",
    "NewSegment",
    "PageFacts",
    "PageTextResult",
    "ProvisionalPass",
    "ReadingRule",
    "ReadySegments",
    "RestsOnText",
    "SoundPoints",
    "StaleRow",
    "StatedFacts",
    "UnknownKind",
    "add_readings",
    "add_segments",
    "counting_readings",
    "create_pass",
    "create_passes",
    "follow_segment",
    "forwardings",
    "get_pass",
    "get_segment",
    "is_provisional",
    "ladder_of_pass",
    "line_sequence",
    "links",
    "list_orders",
    "list_passes",
    "notice_of_text_elsewhere",
    "order_walk",
    "page_facts",
    "page_text",
    "pass_sequence",
    "passes",
    "pixel_bounds",
    "provisional_pass",
    "reading_kind_keys",
    "reading_rule",
    "ready_segments",
    "resolve_settings",
    "segment_fingerprints",
    "segments",
    "segments_of",
    "sound_pixels",
    "span_in_new_text",
    "stale_readings",
    "stale_rows",
    "standing_choices",
    "standing_order",
    "text_fingerprint",
    "total_rate",
    "working_pass",
    "written_order",
]
