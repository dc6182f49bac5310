"""The refusals of georeferencing, one sentence each that a person can act on."""

from __future__ import annotations

from armarium.api import Conflict, Invalid, missing
from armarium_documents.api import asks_backwards

unknown_point = missing(
    "control point", "List the control points of its pass to find the right id.", key="point_id"
)
unknown_segment = missing("segment", "The segments of its page have the right one.")
unknown_entity = missing("entity", "List the entities to find the right id.", key="entity_id")

not_lon_lat = Invalid.saying(
    "not_lon_lat", "{given!r} is not a place: write longitude and latitude in degrees, as in 2.35,48.86."
)


bad_place = Invalid.saying("bad_place", "{sentence}")


too_few_points = Invalid.saying("too_few_points", "{sentence}", type="kind", needed="needed", have="have")
no_transform = Conflict.saying("no_transform", "{sentence}", pass_id="pass_id")
no_shape = Conflict.saying(
    "no_shape", "Segment {segment_id} has no shape on the ground: {why}", id="segment_id"
)


no_picture = Conflict.saying(
    "no_picture",
    "“{name}” has no picture of known size, so its proportions are unknown and no map can be fitted. Add "
    "the page's picture first.",
)


def no_map(name: str, problem: str | None) -> Conflict:
    """409: none of the page's passes has a transformation."""
    why = problem or "Set control points on one of its passes, then choose the type of its transformation."
    return Conflict(f"“{name}” has no place on the ground yet. {why}", code="no_transform")


pass_withdrawn = Conflict.saying(
    "pass_deleted", "Pass {pass_id} was withdrawn; restore it first.", id="pass_id"
)
segment_withdrawn = Conflict.saying(
    "segment_deleted",
    "Segment {segment_id} was deleted or merged into another; name a live one.",
    id="segment_id",
)
other_pass = Invalid.saying(
    "other_pass",
    "Segment {segment_id} does not belong to the pass {pass_id}; name a segment of that pass, or x and y.",
    id="segment_id",
)
other_page = Invalid.saying(
    "other_page", "Segment {segment_id} belongs to another page; name segments of one page.", id="segment_id"
)
point_there = Conflict.saying(
    "already_exists",
    "Segment {segment_id} is already a control point ({point_id}); change that one.",
    id="point_id",
)
placed_by_person = Conflict.saying(
    "persons_place",
    "A person stated where the control point {point_id} is, and that continues to count. Add a point of "
    "your own at another segment, or ask a person to move this one.",
    id="point_id",
)


provisional = Invalid.saying("provisional_id", "{sentence}", id="given")
bad_annotation = Invalid.saying(
    "bad_annotation", "This is not a georeference annotation that can be used here: {why}"
)


def bad_date(written: str) -> Invalid:
    """422: not a date, or an interval that ends before it begins."""
    if asks_backwards(written):
        return Invalid(
            f"{written[:40]} ends before it begins; the earlier date comes first.", code="bad_date"
        )
    return Invalid(
        f"{written[:40]!r} is not a date. Write 1650, 1650-06 or 1650-06-24, and -0043 for the year 44 before "
        "Christ.",
        code="bad_date",
    )


no_places = Conflict.saying(
    "no_entities",
    "No plugin of this engine has entities, so nothing is known of {entity_id}. Install the family "
    "knowledge.",
)
merged_entity = Conflict.saying(
    "merged", "Entity {entity_id} was merged into {into}; ask for that one.", id="into"
)
no_gazetteer = Invalid.saying(
    "no_gazetteer",
    "Name the gazetteer as file: a table (CSV, TSV) with a column name, GeoJSON, or Linked Places Format.",
)
bad_gazetteer = Invalid.saying("bad_gazetteer", "The gazetteer cannot be read: {why}")
