"""The refusals of georeferencing, one sentence each that a person can act on."""

from __future__ import annotations

from armarium.api import Conflict, Invalid, missing

unknown_point = missing(
    "control point", "List the control points of its pass to find the right id.", key="point_id"
)
unknown_segment = missing("segment", "The segments of its page have the right one.")
unknown_entity = missing("entity", "List the entities to find the right id.", key="entity_id")


class BadPlace(Invalid):
    """Coordinates, a reference system or a plane that cannot be used."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, code="bad_place")


class TooFewPoints(Invalid):
    """The type that was chosen needs more or other control points than the pass has."""

    def __init__(self, kind: str, needed: int, have: int, sentence: str) -> None:
        super().__init__(sentence, code="too_few_points", type=kind, needed=needed, have=have)


class NoTransform(Conflict):
    """A shape on the ground was requested for a pass without a usable transformation."""

    def __init__(self, pass_id: str, sentence: str) -> None:
        super().__init__(sentence, code="no_transform", pass_id=pass_id)


class NoShape(Conflict):
    """The segment has no place on the ground, although its pass has a transformation."""

    def __init__(self, segment_id: str, why: str) -> None:
        super().__init__(
            f"Segment {segment_id} has no shape on the ground: {why}", code="no_shape", id=segment_id
        )


def no_picture(name: str) -> Conflict:
    """409: the size of the picture in pixels, and so its proportions, are unknown."""
    return Conflict(
        f"“{name}” has no picture of known size, so its proportions are unknown and no map can be fitted. "
        "Add the page's picture first.",
        code="no_picture",
    )


def no_map(name: str, problem: str | None) -> Conflict:
    """409: none of the page's passes has a transformation."""
    why = problem or "Set control points on one of its passes, then choose the type of its transformation."
    return Conflict(f"“{name}” has no place on the ground yet. {why}", code="no_transform")


def pass_withdrawn(pass_id: str) -> Conflict:
    """409: the pass was withdrawn."""
    return Conflict(f"Pass {pass_id} was withdrawn; restore it first.", code="pass_deleted", id=pass_id)


def segment_withdrawn(segment_id: str) -> Conflict:
    """409: the segment was deleted or merged into another."""
    return Conflict(
        f"Segment {segment_id} was deleted or merged into another; name a live one.",
        code="segment_deleted",
        id=segment_id,
    )


def other_pass(segment_id: str, pass_id: str) -> Invalid:
    """422: the segment of a control point must belong to its pass."""
    return Invalid(
        f"Segment {segment_id} does not belong to the pass {pass_id}; name a segment of that pass, or x and "
        "y.",
        code="other_pass",
        id=segment_id,
    )


def other_page(segment_id: str) -> Invalid:
    """422: the segment belongs to another page."""
    return Invalid(
        f"Segment {segment_id} belongs to another page; name segments of one page.",
        code="other_page",
        id=segment_id,
    )


def point_there(segment_id: str, point_id: str) -> Conflict:
    """409: the segment already is a control point, and its middle can be only one."""
    return Conflict(
        f"Segment {segment_id} is already a control point ({point_id}); change that one.",
        code="already_exists",
        id=point_id,
    )


def placed_by_person(point_id: str) -> Conflict:
    """409: a machine's place would not count beside a person's."""
    return Conflict(
        f"A person stated where the control point {point_id} is, and that continues to count. Add a point "
        "of your own at another segment, or ask a person to move this one.",
        code="persons_place",
        id=point_id,
    )


def provisional(given: str, sentence: str) -> Invalid:
    """422: the id only stands for a box of an older result."""
    return Invalid(sentence, code="provisional_id", id=given)


def bad_annotation(why: str) -> Invalid:
    """422: the request is not a georeference annotation of this picture."""
    return Invalid(
        f"This is not a georeference annotation that can be used here: {why}", code="bad_annotation"
    )


def bad_date(given: str) -> Invalid:
    """422: not a date."""
    return Invalid(
        f"{given[:40]!r} is not a date. Write 1650, 1650-06 or 1650-06-24, and -0043 for the year 44 before "
        "Christ.",
        code="bad_date",
    )


def no_places(entity_id: str) -> Conflict:
    """409: no installed family has entities."""
    return Conflict(
        f"No plugin of this engine has entities, so nothing is known of {entity_id}. Install the family "
        "knowledge.",
        code="no_entities",
    )


def merged_entity(entity_id: str, into: str) -> Conflict:
    """409: the entity was merged into another."""
    return Conflict(f"Entity {entity_id} was merged into {into}; ask for that one.", code="merged", id=into)


def no_gazetteer() -> Invalid:
    """422: no file was named."""
    return Invalid(
        "Name the gazetteer as file: a table (CSV, TSV) with a column name, GeoJSON, or Linked Places Format.",
        code="no_gazetteer",
    )


def bad_gazetteer(why: str) -> Invalid:
    """422: the file is not a gazetteer."""
    return Invalid(f"The gazetteer cannot be read: {why}", code="bad_gazetteer")
